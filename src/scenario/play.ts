/**
 * Plays a plan on a driver: starts the cluster, opens the origin, injects what is due by time,
 * waits until every living replica caught up or the run must end, has the copies judged and says
 * what came of it. Whatever happens, the cluster is closed.
 */
import { toErrorData } from '../base/errors.js';
import type { Hasher } from '../base/hasher.js';
import { faultsOn } from './checks.js';
import type { ClusterEvent, Driver } from './driver.js';
import { loaded } from './own-origin.js';
import { RunRecord } from './record.js';
import { resultOf, Run, type Outcome, type PlayResult } from './run.js';
import type { Plan } from './types.js';

export type { PlayResult } from './run.js';

export interface PlayOptions {
  readonly driver: Driver;
  readonly hasher: Hasher;
  /** The command that plays this run again. */
  readonly replay: string;
  /** Ends the run early; the verdict is then inconclusive. */
  readonly signal?: AbortSignal;
  /** Told of every event as it comes. */
  readonly onEvent?: (event: ClusterEvent) => void;
}

/**
 * Errors: usage, when the driver finds that the plan asks for what is not there; and whatever
 * `onEvent` throws, once the cluster is closed.
 */
export async function play(given: Plan, options: PlayOptions): Promise<PlayResult> {
  const plan = await loaded(given);
  const onDriver = { ...plan, faults: faultsOn(plan.faults, options.driver.name) };
  const record = new RunRecord(onDriver, options.driver);
  const listener = new Listener(options.onEvent);
  const listen = (event: ClusterEvent): void => {
    record.add(event);
    listener.tell(event);
  };
  let outcome: Outcome | null = null;
  let begun = false;
  try {
    const { signal } = options;
    signal?.throwIfAborted();
    await using cluster = await options.driver.start(onDriver, listen, { signal });
    begun = true;
    const run = new Run(onDriver, cluster, record, [signal, listener.failed]);
    await run.toItsEnd();
    outcome = await run.judged(options.hasher);
  } catch (error) {
    const { code, message } = toErrorData(error);
    const isUnbegun = !begun && options.signal?.aborted === true;
    // No run came of it, so none is reported.
    if (!begun && !isUnbegun && code === 'usage') throw error;
    if (isUnbegun) record.cutShort('ended by a signal before the run began');
    // Nobody knows what became of what a cluster that runs did not answer in time.
    else record.reason(begun && code === 'timeout' ? 'inconclusive' : 'harness', message);
  }
  listener.throwIfFailed();
  return resultOf(record, outcome, options.replay);
}

/** Passes events on. What the other side throws ends the run, and is thrown when it is over. */
class Listener {
  readonly #onEvent: ((event: ClusterEvent) => void) | undefined;
  readonly #failure = new AbortController();

  constructor(onEvent: ((event: ClusterEvent) => void) | undefined) {
    this.#onEvent = onEvent;
  }

  get failed(): AbortSignal {
    return this.#failure.signal;
  }

  tell(event: ClusterEvent): void {
    if (this.failed.aborted) return;
    try {
      this.#onEvent?.(event);
    } catch (error) {
      this.#failure.abort(error);
    }
  }

  throwIfFailed(): void {
    this.failed.throwIfAborted();
  }
}
