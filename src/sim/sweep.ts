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
  /** No further seeds are begun, and what is under way is given up. */
  readonly signal?: AbortSignal;
  /** False: enough was seen, the sweep ends. */
  readonly onReport: (report: SeedReport) => boolean;
}

/** What one call of a worker plays: these seeds, in this order. */
export interface SweepTask {
  readonly subject: SweepSubject;
  readonly seeds: readonly number[];
  /** Each seed once, with its trace. */
  readonly traced: boolean;
}

export interface SeedOutcome {
  readonly report: SeedReport;
  readonly trace: Uint8Array | null;
}

/** A drawn run takes milliseconds, a scenario may take seconds. */
const SEEDS_A_TASK = { drawn: 4, scenario: 1 } as const;

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
  const blocks = blocksOf(options.seeds, SEEDS_A_TASK[options.subject.kind]);
  const ordered = new Ordered(options.onReport, ending);
  let next = 0;
  const feed = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      const block = blocks.next();
      if (block.done === true) return;
      const at = next++;
      const played = other === null ? one.play(block.value) : playTwice(block.value, one, other);
      const reports = await played;
      if (ending.signal.aborted) return;
      ordered.done(at, reports);
    }
  };
  const feeds = Promise.all(Array.from({ length: one.threads }, feed));
  // What is given up fails when its pool closes, and nobody waits for it.
  feeds.catch(() => undefined);
  try {
    if (!ending.signal.aborted) await Promise.race([feeds, ended]);
  } finally {
    signal?.removeEventListener('abort', end);
    end();
  }
}

/** The other pool plays the block backwards, on a thread that never has a task of this one. */
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

/** Hands reports on in the order of their blocks; as few wait as threads are ahead of one. */
class Ordered {
  readonly #onReport: (report: SeedReport) => boolean;
  readonly #ending: AbortController;
  readonly #waiting = new Map<number, readonly SeedReport[]>();
  #next = 0;

  /** @param ending  once it is aborted, by enough or by a signal, no report is handed on */
  constructor(onReport: (report: SeedReport) => boolean, ending: AbortController) {
    this.#onReport = onReport;
    this.#ending = ending;
  }

  done(at: number, reports: readonly SeedReport[]): void {
    this.#waiting.set(at, reports);
    for (;;) {
      const due = this.#waiting.get(this.#next);
      if (due === undefined) return;
      this.#waiting.delete(this.#next++);
      for (const report of due) {
        if (this.#ending.signal.aborted) return;
        if (!this.#onReport(report)) this.#ending.abort();
      }
    }
  }
}

function* blocksOf(seeds: Iterable<number>, size: number): Generator<readonly number[]> {
  let block: number[] = [];
  for (const seed of seeds) {
    block.push(seed);
    if (block.length < size) continue;
    yield block;
    block = [];
  }
  if (block.length > 0) yield block;
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
