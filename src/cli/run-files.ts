/** What `--out-dir` keeps of a run: every event as NDJSON, and the summary. */
import {
  closeSync,
  fstatSync,
  ftruncateSync,
  statSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { LockstepError, toErrorData } from '../base/errors.js';
import type { ClusterEvent } from '../scenario/driver.js';
import type { PlayResult } from '../scenario/play.js';
import type { DriverName, FaultKind, Plan } from '../scenario/types.js';
import { bodyOf, encodeEvent, type RunEventBody } from '../verdict/events.js';
import { version } from '../kit/version.js';
import { openIn } from '../kit/output.js';

export class RunFiles implements Disposable {
  readonly #dir: string;
  readonly #file: number;
  readonly #faults: ReadonlyMap<string, FaultKind>;
  readonly #plan: Plan;
  readonly #driver: DriverName;
  /** A run that cannot even start leaves an earlier one's events as they are. */
  #begun = false;
  #lastMs = 0;

  constructor(dir: string, plan: Plan, driver: DriverName) {
    this.#dir = dir;
    this.#file = openIn(dir, 'events.ndjson', 'a');
    // What cannot be written at the end is better known before the run.
    closeSync(openIn(dir, 'summary.json', 'a'));
    this.#faults = new Map(plan.faults.map(({ id, action }) => [id, action.kind]));
    this.#plan = plan;
    this.#driver = driver;
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
    const isEmpty = fstatSync(this.#file).size === 0;
    closeSync(this.#file);
    if (isEmpty) unlinkSync(join(this.#dir, 'events.ndjson'));
    const summary = join(this.#dir, 'summary.json');
    if (statSync(summary).size === 0) unlinkSync(summary);
  }

  #begin(): void {
    this.#begun = true;
    ftruncateSync(this.#file);
    const { name, seed } = this.#plan;
    this.#write(0, { kind: 'run', name, driver: this.#driver, seed, version: version() });
    this.#write(0, { kind: 'config', plan: this.#plan });
  }

  #write(atMs: number, body: RunEventBody): void {
    if (!this.#begun) this.#begin();
    try {
      writeSync(this.#file, `${encodeEvent(atMs, body)}\n`);
    } catch (error) {
      const { message } = toErrorData(error);
      throw new LockstepError('harness', `--out-dir: ${this.#dir}: ${message}`);
    }
  }
}
