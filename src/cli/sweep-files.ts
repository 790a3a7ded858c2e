/** What a sweep leaves behind: a JUnit report, its summary, and the events of seeds that failed. */
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { LockstepError, toErrorData } from '../base/errors.js';
import { loadHasher } from '../base/hasher.js';
import { junitOf } from '../report/junit.js';
import { playSeed, type SweepSubject } from '../sim/seeds.js';
import { bodyOf, encodeEvent } from '../verdict/events.js';
import type { SweepSummary } from '../verdict/sweep.js';
import { openIn } from '../kit/output.js';

/** Of a sweep that goes on after failures, the first few. */
const EVENT_FILES_MAX = 10;

export class SweepFiles {
  readonly #junit: string | undefined;
  readonly #dir: string | undefined;

  /** Both places are tried before the sweep, not after it. Errors: usage. */
  constructor({ junit, outDir }: { readonly junit?: string; readonly outDir?: string }) {
    this.#junit = junit;
    this.#dir = outDir;
    if (junit !== undefined) closeSync(opened('--junit', junit));
    if (outDir !== undefined) closeSync(openIn(outDir, 'summary.json'));
  }

  async ended(summary: SweepSummary, subject: SweepSubject | null): Promise<void> {
    if (this.#junit !== undefined) writeFileSync(this.#junit, junitOf(summary));
    if (this.#dir === undefined) return;
    const file = join(this.#dir, 'summary.json');
    writeFileSync(file, `${JSON.stringify(summary, null, 2)}\n`);
    if (subject === null) return;
    // What lockstep itself failed at might end this process as well.
    const played = summary.failed.filter(({ verdict }) => verdict !== 'harness');
    for (const { seed } of played.slice(0, EVENT_FILES_MAX)) await this.#events(subject, seed);
  }

  async #events(subject: SweepSubject, seed: number): Promise<void> {
    const faults = subject.kind === 'drawn' ? [] : subject.plan.faults;
    const kinds = new Map(faults.map(({ id, action }) => [id, action.kind]));
    const file = openIn(this.#dir!, `seed-${seed}.ndjson`);
    await playSeed(subject, seed, await loadHasher(), {
      onEvent: (event) => {
        const body = bodyOf(event, kinds);
        if (body !== null) writeSync(file, `${encodeEvent(event.atMs, body)}\n`);
      },
    });
    closeSync(file);
  }
}

function opened(flag: string, path: string): number {
  try {
    return openSync(path, 'w');
  } catch (error) {
    const { message } = toErrorData(error);
    throw new LockstepError('usage', `${flag}: ${path}: cannot be written to (${message})`);
  }
}
