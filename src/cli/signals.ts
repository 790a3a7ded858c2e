/** What a signal asks of a command: to end early, and to leave nothing behind. */
import { constants } from 'node:os';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** Added to a signal's number by a shell. */
const SHELL = 128;
/** A key typed once may come twice: from the terminal, and from npm, which passes it on. */
const SAME_WITHIN_MS = 500;

/**
 * Listens until it is disposed. The first signal asks; the second ends the process as if nobody
 * listened.
 */
export class Signals implements Disposable {
  readonly #abort = new AbortController();
  #first: { readonly signal: NodeJS.Signals; readonly atMs: number } | null = null;

  constructor() {
    for (const signal of SIGNALS) process.on(signal, this.#note);
  }

  /** Aborted by the first signal. */
  get asked(): AbortSignal {
    return this.#abort.signal;
  }

  /** What a shell sees of a process that the signal ended. */
  get exitCode(): number {
    return this.#first === null ? 0 : SHELL + constants.signals[this.#first.signal];
  }

  [Symbol.dispose](): void {
    for (const signal of SIGNALS) process.off(signal, this.#note);
  }

  readonly #note = (signal: NodeJS.Signals): void => {
    if (this.#first === null) {
      this.#first = { signal, atMs: performance.now() };
      this.#abort.abort();
    } else if (performance.now() - this.#first.atMs > SAME_WITHIN_MS) {
      this[Symbol.dispose]();
      process.kill(process.pid, signal);
    }
  };
}
