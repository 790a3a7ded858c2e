/**
 * The control plane: comlink over a worker's own port. Each call is raced against the worker's exit
 * and a deadline, and answers with a value or an error's data, never with a hang.
 */
import { Worker, type Transferable, type WorkerOptions } from 'node:worker_threads';
import * as Comlink from 'comlink';
import nodeEndpoint from 'comlink/dist/esm/node-adapter.mjs';
import { LockstepError, type Reply } from '../base/errors.js';

type Calls<T> = {
  readonly [K in keyof T]: T[K] extends (
    ...args: infer A
  ) => Reply<infer R> | Promise<Reply<infer R>>
    ? { args: A; value: R }
    : never;
};

/** How a worker ended. */
export interface WorkerExit {
  readonly code: number;
  /** The error that ended it, if it was one: an uncaught throw, or memory beyond its limit. */
  readonly error: string | null;
}

export class ControlledWorker<T extends object> {
  readonly name: string;
  readonly #worker: Worker;
  readonly #remote: Comlink.Remote<T>;
  readonly #exited: Promise<WorkerExit>;
  /** What to do with each call under way should the worker end before it answers. */
  readonly #abandon = new Set<() => void>();
  #exit: WorkerExit | null = null;
  #error: string | null = null;

  constructor(name: string, file: URL, options: WorkerOptions = {}) {
    this.name = name;
    this.#worker = new Worker(file, { ...options, name });
    this.#remote = Comlink.wrap<T>(nodeEndpoint(this.#worker));
    this.#worker.on('error', (error) => {
      this.#error = error instanceof Error ? (error.stack ?? error.message) : String(error);
    });
    this.#exited = new Promise((resolve) => {
      this.#worker.once('exit', (code) => {
        this.#exit = { code, error: this.#error };
        for (const abandon of this.#abandon) abandon();
        resolve(this.#exit);
      });
    });
  }

  get threadId(): number {
    return this.#worker.threadId;
  }

  /** Set once the worker ended. */
  get exit(): WorkerExit | null {
    return this.#exit;
  }

  /** Resolves when the worker ends, however it does. */
  get exited(): Promise<WorkerExit> {
    return this.#exited;
  }

  /** Errors: timeout (outcome unknown), workerExited, and whatever code the worker answers with. */
  async call<K extends keyof T & string>(
    method: K,
    args: Calls<T>[K]['args'],
    options: {
      readonly deadlineMs: number;
      readonly transfer?: Transferable[];
    },
  ): Promise<Calls<T>[K]['value']> {
    if (this.#exit !== null) throw this.#gone(method);
    const sent = options.transfer === undefined ? args : withTransfer(args, options.transfer);
    const remote = this.#remote as unknown as Record<
      string,
      (...all: unknown[]) => Promise<unknown>
    >;
    let giveUp: (error: LockstepError) => void;
    const unanswered = new Promise<never>((_, reject) => {
      giveUp = reject;
    });
    const timer = setTimeout(() => {
      const text = `${this.name}: no answer to ${method} within ${options.deadlineMs} ms`;
      giveUp(new LockstepError('timeout', text, { worker: this.name, method }));
    }, options.deadlineMs);
    // A reaction to `exited` would be kept until the worker ends, one for every call.
    const abandon = (): void => giveUp(this.#gone(method));
    this.#abandon.add(abandon);
    try {
      const call = remote[method]!(...sent) as Promise<Reply<Calls<T>[K]['value']>>;
      const reply = await Promise.race([call, unanswered]);
      if (reply.ok) return reply.value;
      throw new LockstepError(reply.error.code, reply.error.message, reply.error.detail);
    } finally {
      clearTimeout(timer);
      this.#abandon.delete(abandon);
    }
  }

  /** Ends the worker and waits until it is gone. Idempotent. */
  async terminate(): Promise<void> {
    await this.#worker.terminate();
    await this.#exited;
  }

  #gone(method: string): LockstepError {
    const exit = this.#exit;
    const why = exit?.error ?? `code ${exit?.code ?? 0}`;
    return new LockstepError('workerExited', `${this.name} ended before ${method}: ${why}`, {
      worker: this.name,
      method,
    });
  }
}

function withTransfer(args: unknown[], transfer: Transferable[]): unknown[] {
  const [first, ...rest] = args;
  return [Comlink.transfer(first, transfer), ...rest];
}
