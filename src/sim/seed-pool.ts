/**
 * Threads that play seeds. A thread that ends before its seeds do (a crash, the bound on its
 * memory, a seed without end) is a fault of lockstep and never one of the cluster: it is
 * reported with the seeds that it played, and the others go on.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { LockstepError, toErrorData } from '../base/errors.js';
import type { SeedReport } from '../verdict/sweep.js';
import type { SweepSubject } from './seeds.js';
import type { SeedOutcome, SweepTask } from './sweep.js';

/** Megabytes of heap of one thread; the streams themselves lie outside of it. */
const HEAP_MB = 1_024;
/** Real time, for one seed: what takes longer never ends. */
const TASK_LIMIT_MS = 600_000;
/** Milliseconds: a thread that has no core for so long ends. */
const IDLE_MS = 2_000;

/** Cores that a pool shares with others: it plays on one that it took, for as long as a task. */
export interface CorePool {
  /** Rejects when the signal comes while it waits. */
  take(signal: AbortSignal): Promise<Disposable>;
}

export interface SeedPoolOptions {
  readonly subject: SweepSubject;
  /** The compiled worker, where it is not lockstep's own. */
  readonly worker?: URL;
  readonly heapMb?: number;
  /** Not given: this pool has all its threads' cores to itself. */
  readonly shared?: CorePool | undefined;
}

export class SeedPool implements AsyncDisposable {
  readonly threads: number;
  readonly #pool: Piscina<SweepTask, SeedOutcome>;
  readonly #subject: SweepSubject;
  readonly #shared: CorePool | undefined;
  readonly #closing = new AbortController();

  /** Errors: harness, when the worker is not built. */
  constructor(threads: number, { subject, worker, heapMb = HEAP_MB, shared }: SeedPoolOptions) {
    this.threads = threads;
    this.#subject = subject;
    this.#shared = shared;
    this.#pool = new Piscina({
      filename: (worker ?? workerFile()).href,
      // Of those who share, each has as many threads as it gets cores.
      minThreads: shared === undefined ? threads : 1,
      maxThreads: threads,
      idleTimeout: IDLE_MS,
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
    });
    // Said beside a task: an answer of a thread that was given up already, or the end of one that
    // played nothing. Whatever concerns a seed comes with its task.
    this.#pool.on('error', () => undefined);
  }

  /** One after the other. */
  async play(seeds: readonly number[]): Promise<readonly SeedReport[]> {
    return (await this.#row(seeds, false)).map(({ report }) => report);
  }

  /** One after the other, each once, with everything that happened. */
  trace(seeds: readonly number[]): Promise<readonly SeedOutcome[]> {
    return this.#row(seeds, true);
  }

  /** What is under way is given up, and fails. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    return this.#pool.destroy();
  }

  async #row(seeds: readonly number[], traced: boolean): Promise<readonly SeedOutcome[]> {
    const outcomes: SeedOutcome[] = [];
    for (const seed of seeds) outcomes.push(await this.#run(seed, traced));
    return outcomes;
  }

  async #run(seed: number, traced: boolean): Promise<SeedOutcome> {
    const ended = await this.#try(seed, traced);
    if (typeof ended !== 'string') return ended;
    // On a fresh thread, to tell whether it was this seed or what the thread had played before.
    const again = await this.#try(seed, traced);
    return lost(seed, typeof again === 'string' ? again : `${ended}, but not when played alone`);
  }

  /** Text: how the worker ended. */
  async #try(seed: number, traced: boolean): Promise<SeedOutcome | string> {
    const { signal } = this.#closing;
    try {
      using _core = await this.#shared?.take(signal);
      const task = { subject: this.#subject, seed, traced };
      return await this.#pool.run(task, { signal: AbortSignal.timeout(TASK_LIMIT_MS) });
    } catch (error) {
      if (signal.aborted) throw error;
      return toErrorData(error).message;
    }
  }
}

function lost(seed: number, how: string): SeedOutcome {
  const text = `its worker ended: ${how}`;
  const failure = { verdict: 'harness', property: 'worker', text } as const;
  return { report: { seed, failure, simulatedMs: 0, cells: {} }, trace: null };
}

/** The compiled worker, also when this file itself runs from its source (under a test runner). */
function workerFile(): URL {
  const source = import.meta.url.endsWith('.ts');
  const file = new URL(`${source ? '../../dist' : '../..'}/workers/simulation.js`, import.meta.url);
  if (existsSync(fileURLToPath(file))) return file;
  throw new LockstepError('harness', 'worker simulation.js is not built: npm run build');
}
