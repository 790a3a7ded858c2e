/**
 * Many seeds over the cores: each thread plays whole seeds, one after the other, so that a seed
 * never depends on how many threads there are. Reports come in the order in which they are done.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { LockstepError, toErrorData } from '../base/errors.js';
import { decide } from '../verdict/decide.js';
import type { Verdict } from '../verdict/types.js';
import type { SwarmReport } from './swarm-run.js';

export interface SweepOptions {
  readonly first: number;
  readonly seeds: number;
  readonly cores: number;
  /** Seeds under way are finished, no others are begun. */
  readonly signal?: AbortSignal;
  readonly onReport: (report: SwarmReport) => void;
}

/** What one call of a worker plays: these seeds. */
export interface SweepTask {
  readonly first: number;
  readonly seeds: number;
}

/** The summary of a sweep; `coverage` counts the faults that fell, by kind. */
export interface SweepSummary {
  readonly schema: 1;
  readonly verdict: Verdict;
  readonly seeds: number;
  readonly failed: readonly {
    readonly seed: number;
    readonly property: string;
    readonly text: string;
    readonly replay: string;
  }[];
  readonly seedsPerSecond: number;
  readonly simulatedSeconds: number;
  readonly wallSeconds: number;
  readonly timesRealTime: number;
  readonly coverage: Readonly<Record<string, number>>;
}

const SEEDS_A_TASK = 8;

/** Errors: harness, when a worker ends before its seeds do. */
export async function sweep(options: SweepOptions): Promise<void> {
  const { cores, signal } = options;
  const pool = new Piscina<SweepTask, readonly SwarmReport[]>({
    filename: workerFile().href,
    minThreads: cores,
    maxThreads: cores,
  });
  const tasks = tasksOf(options);
  // Two tasks a thread: the next one waits there when one is done.
  const feed = async (): Promise<void> => {
    for (const task of tasks) {
      if (signal?.aborted === true) return;
      for (const report of await play(pool, task)) options.onReport(report);
    }
  };
  try {
    await Promise.all(Array.from({ length: 2 * cores }, feed));
  } finally {
    await pool.destroy();
  }
}

/** Collects what a sweep says. @param replayOf  the command that plays a seed again */
export class SweepTally {
  readonly #reports: SwarmReport[] = [];
  readonly #replayOf: (seed: number) => string;

  constructor(replayOf: (seed: number) => string) {
    this.#replayOf = replayOf;
  }

  get seeds(): number {
    return this.#reports.length;
  }

  add(report: SwarmReport): void {
    this.#reports.push(report);
  }

  /** @param complete  false: it was ended early, so that what was not found may still be there */
  summary(wallMs: number, complete: boolean): SweepSummary {
    const reports = this.#reports.sort((one, other) => one.seed - other.seed);
    const failed = reports.flatMap(({ seed, failure }) =>
      failure === null ? [] : [{ ...failure, seed }],
    );
    const simulatedMs = reports.reduce((sum, report) => sum + report.simulatedMs, 0);
    const ended = complete ? [] : [{ verdict: 'inconclusive', text: 'ended early' } as const];
    return {
      schema: 1,
      verdict: decide([...failed, ...ended]),
      seeds: reports.length,
      failed: failed.map(({ seed, property, text }) => {
        return { seed, property, text, replay: this.#replayOf(seed) };
      }),
      seedsPerSecond: tenths((reports.length * 1_000) / wallMs),
      simulatedSeconds: tenths(simulatedMs / 1_000),
      wallSeconds: tenths(wallMs / 1_000),
      timesRealTime: tenths(simulatedMs / wallMs),
      coverage: coverageOf(reports),
    };
  }
}

async function play(
  pool: Piscina<SweepTask, readonly SwarmReport[]>,
  task: SweepTask,
): Promise<readonly SwarmReport[]> {
  try {
    return await pool.run(task);
  } catch (error) {
    const { first, seeds } = task;
    const text = `the worker of seeds ${first} to ${first + seeds - 1} ended`;
    throw new LockstepError('harness', `${text}: ${toErrorData(error).message}`);
  }
}

function* tasksOf({ first, seeds }: SweepOptions): Generator<SweepTask> {
  for (let done = 0; done < seeds; done += SEEDS_A_TASK) {
    yield { first: first + done, seeds: Math.min(SEEDS_A_TASK, seeds - done) };
  }
}

function coverageOf(reports: readonly SwarmReport[]): Record<string, number> {
  const coverage = new Map<string, number>();
  for (const { installed } of reports) {
    for (const [kind, count] of Object.entries(installed)) {
      coverage.set(kind, (coverage.get(kind) ?? 0) + count);
    }
  }
  return Object.fromEntries([...coverage].sort(([one], [other]) => (one < other ? -1 : 1)));
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}

/** The compiled worker, also when this file itself runs from its source (under a test runner). */
function workerFile(): URL {
  const source = import.meta.url.endsWith('.ts');
  const file = new URL(`${source ? '../../dist' : '../..'}/workers/simulation.js`, import.meta.url);
  if (existsSync(fileURLToPath(file))) return file;
  throw new LockstepError('harness', 'worker simulation.js is not built: npm run build');
}
