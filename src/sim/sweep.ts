/**
 * Many seeds over the cores: each thread plays whole seeds, one after the other, so that a seed
 * never depends on how many threads there are. Reports come in the order of the seeds, so that
 * what a sweep finds first depends on its seeds alone.
 */
import type { SeedReport } from '../verdict/sweep.js';
import { notTheSame, type SweepSubject } from './seeds.js';
import { SeedPool, type SeedPoolOptions } from './seed-pool.js';
import { firstDifference } from './trace.js';

export interface SweepOptions extends SeedPoolOptions {
  readonly seeds: Iterable<number>;
  readonly cores: number;
  /** Every seed is played twice, on two threads and in two orders, and has to be the same. */
  readonly checkDeterminism?: boolean;
  /** No further seeds are begun, and what is under way is given up; what has ended is reported. */
  readonly signal?: AbortSignal;
  /** False: enough was seen, the sweep ends. */
  readonly onReport: (report: SeedReport) => boolean;
}

/** What one call of a worker plays. */
export interface SweepTask {
  readonly subject: SweepSubject;
  readonly seed: number;
  /** Once, with its trace. */
  readonly traced: boolean;
}

export interface SeedOutcome {
  readonly report: SeedReport;
  readonly trace: Uint8Array | null;
}

/** Seeds that are played in one order and in the other. */
const SEEDS_A_ROW = 4;

/** Resolves when the seeds are through, enough was seen, or the signal came. */
export async function sweep(options: SweepOptions): Promise<void> {
  const { cores, signal, checkDeterminism = false } = options;
  const ending = new AbortController();
  const end = (): void => ending.abort();
  signal?.addEventListener('abort', end);
  if (signal?.aborted === true) end();
  const ended = new Promise<void>((resolve) => {
    ending.signal.addEventListener('abort', () => resolve(), { once: true });
  });
  await using one = new SeedPool(checkDeterminism ? Math.ceil(cores / 2) : cores, options);
  await using other = checkDeterminism ? new SeedPool(one.threads, options) : null;
  const rows = rowsOf(options.seeds, other === null ? 1 : SEEDS_A_ROW);
  const ordered = new Ordered(options.onReport);
  let next = 0;
  const feed = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      const row = rows.next();
      if (row.done === true) return;
      const at = next++;
      const reports = await (other === null
        ? one.play(row.value)
        : playTwice(row.value, one, other));
      if (ending.signal.aborted) return;
      if (!ordered.done(at, reports)) end();
    }
  };
  const feeds = Promise.all(Array.from({ length: one.threads }, feed));
  // What is given up fails when its pool closes, and nobody waits for it.
  feeds.catch(() => undefined);
  try {
    if (!ending.signal.aborted) await Promise.race([feeds, ended]);
    ordered.rest();
  } finally {
    signal?.removeEventListener('abort', end);
    end();
  }
}

/** The other pool plays the row backwards, on threads that never have a seed of this one. */
async function playTwice(
  seeds: readonly number[],
  one: SeedPool,
  other: SeedPool,
): Promise<readonly SeedReport[]> {
  const [outcomes, backwards] = await Promise.all([
    one.trace(seeds),
    other.trace([...seeds].reverse()),
  ]);
  return outcomes.map(({ report, trace }, at) => {
    const again = backwards[seeds.length - 1 - at]!;
    // A worker that ended has no trace, and its report says so.
    if (trace === null) return report;
    if (again.trace === null) return again.report;
    const difference = firstDifference(trace, again.trace);
    return difference === null ? report : { ...report, failure: notTheSame(difference) };
  });
}

/** Hands reports on in the order of their rows; as few wait as threads are ahead of one. */
class Ordered {
  readonly #onReport: (report: SeedReport) => boolean;
  readonly #waiting = new Map<number, readonly SeedReport[]>();
  #next = 0;
  #isEnough = false;

  constructor(onReport: (report: SeedReport) => boolean) {
    this.#onReport = onReport;
  }

  /** False: enough was seen. */
  done(at: number, reports: readonly SeedReport[]): boolean {
    this.#waiting.set(at, reports);
    while (this.#waiting.has(this.#next)) this.#handOn(this.#next++);
    return !this.#isEnough;
  }

  /** Those that waited for others which were given up: what they found is found. */
  rest(): void {
    for (const at of [...this.#waiting.keys()].sort((a, b) => a - b)) this.#handOn(at);
  }

  #handOn(at: number): void {
    for (const report of this.#waiting.get(at)!) this.#isEnough ||= !this.#onReport(report);
    this.#waiting.delete(at);
  }
}

function* rowsOf(seeds: Iterable<number>, size: number): Generator<readonly number[]> {
  let row: number[] = [];
  for (const seed of seeds) {
    row.push(seed);
    if (row.length < size) continue;
    yield row;
    row = [];
  }
  if (row.length > 0) yield row;
}

/**
 * Seeds from `first` on; of a shard those at its positions, whoever plays the others.
 * @param count  null: without end
 * @param shard  the `index`-th of `of`, from 1
 */
export function* seedsOf(
  first: number,
  count: number | null,
  shard: { readonly index: number; readonly of: number } | null,
): Generator<number> {
  const { index, of } = shard ?? { index: 1, of: 1 };
  for (let at = index - 1; count === null || at < count; at += of) yield first + at;
}
