/** What `--out-dir` keeps of a run: every event as NDJSON, and the summary. */
import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { LockstepError, toErrorData } from '../base/errors.js';
import type { ClusterEvent } from '../scenario/driver.js';
import type { PlayResult } from '../scenario/play.js';
import type { DriverName, FaultKind, Plan } from '../scenario/types.js';
import { bodyOf, encodeEvent, type RunEventBody } from '../verdict/events.js';
import { version } from './version.js';

export class RunFiles implements Disposable {
  readonly #dir: string;
  readonly #file: number;
  readonly #faults: ReadonlyMap<string, FaultKind>;
  #lastMs = 0;

  constructor(dir: string, plan: Plan, driver: DriverName) {
    this.#dir = dir;
    this.#file = openIn(dir, 'events.ndjson');
    this.#faults = new Map(plan.faults.map(({ id, action }) => [id, action.kind]));
    const { name, seed } = plan;
    this.#write(0, { kind: 'run', name, driver, seed, version: version() });
    this.#write(0, { kind: 'config', plan });
  }

  event(event: ClusterEvent): void {
    this.#lastMs = event.atMs;
    const body = bodyOf(event, this.#faults);
    if (body !== null) this.#write(event.atMs, body);
  }

  ended({ summary, reasons, differences }: PlayResult): void {
    for (const { kind, replica, seq, text } of differences) {
      this.#write(this.#lastMs, { kind: 'violation', property: kind, slot: replica, seq, text });
    }
    this.#write(this.#lastMs, { kind: 'summary', summary, reasons });
    writeFileSync(join(this.#dir, 'summary.json'), `${JSON.stringify(summary, null, 2)}\n`);
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }

  #write(atMs: number, body: RunEventBody): void {
    writeSync(this.#file, `${encodeEvent(atMs, body)}\n`);
  }
}

/** Errors: usage, when the directory cannot be made or written to. */
export function openIn(dir: string, name: string): number {
  try {
    mkdirSync(dir, { recursive: true });
    return openSync(join(dir, name), 'w');
  } catch (error) {
    const { message } = toErrorData(error);
    throw new LockstepError('usage', `--out-dir: ${dir}: cannot be written to (${message})`);
  }
}
