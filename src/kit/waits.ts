/**
 * What a test began and nobody waited for. A promise that was forgotten goes on beside the test and
 * fails where nobody sees it: whoever ends the cluster can ask here, and say which one it was.
 */
import { toErrorData } from '../base/errors.js';
import { plain } from '../base/plain.js';

/** A promise that knows whether anybody asked for its outcome: `await` does, by `then`. */
class Wait<T> extends Promise<T> {
  isAwaited = false;

  /** What comes of it is an ordinary promise. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  override then<V = T, E = never>(
    onValue?: ((value: T) => V | PromiseLike<V>) | null,
    onError?: ((error: unknown) => E | PromiseLike<E>) | null,
  ): Promise<V | E> {
    this.isAwaited = true;
    return super.then(onValue, onError);
  }

  /** Its failure is told by somebody else, and is no unhandled one. */
  quiet(): void {
    void super.then(undefined, () => undefined);
  }
}

interface Begun {
  readonly what: string;
  readonly wait: Wait<unknown>;
  state: string;
}

function framesOf({ stack = '' }: Error): string {
  const from = stack.search(/^ +at /m);
  return from < 0 ? '' : stack.slice(from);
}

/** The same error, its own frames behind those of the call. */
function askedFrom(call: string, error: unknown): unknown {
  if (!(error instanceof Error) || error.stack?.includes(call) === true) return error;
  error.stack = `${error.name}: ${error.message}\n${call}\n${framesOf(error)}`;
  return error;
}

export class Waits {
  readonly #begun: Begun[] = [];
  #isTold = false;

  /** From here on whoever calls this tells what was forgotten. */
  tell(): void {
    this.#isTold = true;
  }

  /**
   * What fails does so in a turn of its own, where the test is on no stack: it gets the frames of
   * this call, so that a runner shows the line that asked.
   *
   * @param what  as the test calls it: `caughtUp`
   */
  add<T>(what: string, outcome: Promise<T>): Promise<T> {
    const call = framesOf(new Error(what));
    const wait = new Wait<T>((resolve, reject) => {
      outcome.then(resolve, (error: unknown) => reject(askedFrom(call, error) as Error));
    });
    const begun: Begun = { what, wait, state: 'was still waiting when the test ended' };
    outcome.then(
      () => (begun.state = 'was over in time, but nobody waited for it'),
      (error: unknown) => (begun.state = `failed (${plain(toErrorData(error).message)})`),
    );
    if (this.#isTold) wait.quiet();
    this.#begun.push(begun);
    return wait;
  }

  /** One line for each that nobody awaited, in the order in which they were begun. */
  forgotten(): string[] {
    const left = this.#begun.filter(({ wait }) => !wait.isAwaited);
    return left.map(({ what, state }) => `${what} ${state}: await it`);
  }
}
