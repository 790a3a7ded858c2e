/**
 * Plays a plan on a driver: starts the cluster, opens the origin, injects what is due by time,
 * waits until every living replica caught up or the run must end, has the copies judged and says
 * what came of it. Whatever happens, the cluster is closed.
 */
import { toErrorData } from '../base/errors.js';
import type { Hasher } from '../base/hasher.js';
import type { SeqRange } from '../stream/types.js';
import { decide } from '../verdict/decide.js';
import { judge, type Judgement } from '../verdict/judge.js';
import type { RunTimeline } from '../verdict/timeline.js';
import type { Reason, RunSummary } from '../verdict/types.js';
import type { ClusterEvent, Driver, RunningCluster } from './driver.js';
import { faultsOn } from './checks.js';
import { RunRecord } from './record.js';
import type { Plan } from './types.js';

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

export interface PlayResult {
  readonly summary: RunSummary;
  readonly reasons: readonly Reason[];
  readonly differences: Judgement['differences'];
  readonly timeline: RunTimeline;
  readonly stallFromMs: number | null;
  /** What the comparison took; null when nothing was compared. */
  readonly comparedInMs: number | null;
}

const STEP_MS = 5;
const LEADER_WAIT_MS = 15_000;
/** A target that does not exist when its time comes is waited for as long as this. */
const TARGET_WAIT_MS = 10_000;
/** As long as this when nothing is left to be mirrored. */
const TARGET_WAIT_AT_REST_MS = 500;
/** Beyond the allowed stall, before a run that stands still is ended. */
const STALL_GRACE_MS = 3_000;

/** A driver may let hours pass within one turn of this thread: signals and timers get theirs. */
const BREATHE_EVERY_MS = 50;

/**
 * Errors: usage, when the driver finds that the plan asks for what is not there; and whatever
 * `onEvent` throws, once the cluster is closed.
 */
export async function play(plan: Plan, options: PlayOptions): Promise<PlayResult> {
  const onDriver = { ...plan, faults: faultsOn(plan.faults, options.driver.name) };
  const record = new RunRecord(onDriver, options.driver);
  const listener = new Listener(options.onEvent);
  const listen = (event: ClusterEvent): void => {
    record.add(event);
    listener.tell(event);
  };
  let judgement: Judgement | null = null;
  let comparedInMs: number | null = null;
  let begun = false;
  try {
    await using cluster = await options.driver.start(onDriver, listen);
    begun = true;
    await new Run(onDriver, cluster, record, [options.signal, listener.failed]).toItsEnd();
    record.ended(cluster.now(), cluster.origin);
    const startedAt = cluster.now();
    judgement = await judgeAll(cluster, options.hasher, record);
    comparedInMs = cluster.now() - startedAt;
  } catch (error) {
    const { code, message } = toErrorData(error);
    // No run came of it, so none is reported.
    if (!begun && code === 'usage') throw error;
    record.reason('harness', message);
  }
  listener.throwIfFailed();
  const reasons = record.reasons(judgement);
  return {
    summary: record.summary(judgement, decide(reasons), options.replay),
    reasons,
    differences: judgement?.differences ?? [],
    timeline: record.timeline(),
    stallFromMs: record.stallFromMs(),
    comparedInMs,
  };
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

async function judgeAll(
  cluster: RunningCluster,
  hasher: Hasher,
  record: RunRecord,
): Promise<Judgement> {
  await cluster.halt();
  const ledger = await asked(cluster.ledger);
  const copies = await Promise.all(
    cluster.living().map(async (slot) => ({ slot, reader: await asked(cluster.copy(slot)) })),
  );
  record.ledger = ledger.answer;
  record.faults.ended(ledger.answer.strikes, cluster.now());
  // What was not reached is not lost: the run says by other means that it did not come so far.
  const reached = copies.map(({ reader }) => reader.answer.state.last);
  const upTo = Math.min(ledger.answer.origin.last, ...reached);
  return judge({ ledger, copies, upTo, hasher });
}

/** A reader that was asked for its report once: nothing moves any more, so it stays true. */
async function asked<R, S>(reader: {
  report(): Promise<R>;
  records(range: SeqRange): Promise<S>;
}): Promise<{ answer: R; report(): Promise<R>; records(range: SeqRange): Promise<S> }> {
  const answer = await reader.report();
  return {
    answer,
    report: () => Promise.resolve(answer),
    records: (range) => reader.records(range),
  };
}

class Run {
  readonly #plan: Plan;
  readonly #cluster: RunningCluster;
  readonly #record: RunRecord;
  readonly #signals: readonly (AbortSignal | undefined)[];
  #breathedMs = performance.now();
  readonly #injecting = new Set<Promise<void>>();
  readonly #begun = new Set<number>();
  #startedMs = 0;

  constructor(
    plan: Plan,
    cluster: RunningCluster,
    record: RunRecord,
    signals: readonly (AbortSignal | undefined)[],
  ) {
    this.#plan = plan;
    this.#cluster = cluster;
    this.#record = record;
    this.#signals = signals;
  }

  async toItsEnd(): Promise<void> {
    const cluster = this.#cluster;
    this.#startedMs = cluster.now();
    for (const at of this.#record.faults.impossible()) cluster.disarm(at);
    if (!(await this.#electFirst())) return;
    this.#record.served(cluster.now());
    await cluster.serve();
    while (!this.#isOver()) {
      this.#injectDue();
      await this.#expire();
      await this.#pause();
    }
    cluster.release();
    await Promise.all(this.#injecting);
    if (this.#record.faults.hasWaiting()) {
      this.#record.faults.lastSeen(await cluster.lastSeen(), cluster.now());
    }
  }

  async #electFirst(): Promise<boolean> {
    const cluster = this.#cluster;
    while (cluster.leader() === null) {
      if (this.#mustStop()) return false;
      if (cluster.now() - this.#startedMs > LEADER_WAIT_MS) {
        this.#record.reason('stalled', `no leader within ${LEADER_WAIT_MS} ms of the start`);
        return false;
      }
      await this.#pause();
    }
    return true;
  }

  async #pause(): Promise<void> {
    await this.#cluster.pause(STEP_MS);
    if (performance.now() - this.#breathedMs < BREATHE_EVERY_MS) return;
    await new Promise((resolve) => setImmediate(resolve));
    this.#breathedMs = performance.now();
  }

  #mustStop(): boolean {
    if (this.#signals.some((signal) => signal?.aborted === true)) {
      this.#record.reason('inconclusive', 'ended by a signal before the run was over');
      return true;
    }
    if (this.#record.harnessFailed) return true;
    const elapsed = this.#cluster.now() - this.#startedMs;
    if (elapsed < this.#plan.timeLimitMs) return false;
    this.#record.reason('inconclusive', `the time limit of ${this.#plan.timeLimitMs} ms was hit`);
    return true;
  }

  #isOver(): boolean {
    if (this.#mustStop()) return true;
    if (this.#isAtRest()) {
      return this.#injecting.size === 0 && !this.#record.faults.awaitsTime(this.#begun);
    }
    const living = this.#cluster.living();
    const { last } = this.#cluster.origin;
    const allowed = this.#record.stallAtMostMs + STALL_GRACE_MS;
    if (this.#record.standsStillMs(this.#cluster.now(), last) <= allowed) return false;
    this.#record.stoodStill(living, last);
    return true;
  }

  /** Whether nothing more is to come: everything was mirrored, or the mirror stopped for good. */
  #isAtRest(): boolean {
    const living = this.#cluster.living();
    const caughtUp = this.#record.isCaughtUp(living, this.#cluster.origin.last);
    return caughtUp || this.#record.hasStopped(living);
  }

  #injectDue(): void {
    this.#plan.faults.forEach((fault, at) => {
      if (this.#begun.has(at) || !this.#record.isDue(fault, this.#cluster.now())) return;
      this.#begun.add(at);
      const injection = this.#inject(at)
        .catch((error: unknown) => {
          this.#record.reason('harness', toErrorData(error).message);
        })
        .finally(() => this.#injecting.delete(injection));
      this.#injecting.add(injection);
    });
  }

  /** A state that did not come within its limit is given up, with what was last seen of it. */
  async #expire(): Promise<void> {
    for (const at of this.#record.expired(this.#cluster.now())) {
      if (!this.#begun.has(at) && this.#cluster.disarm(at)) {
        this.#begun.add(at);
        const seen = await this.#cluster.lastSeen();
        this.#record.faults.lastSeen(seen, this.#cluster.now(), at);
      }
    }
  }

  async #inject(at: number): Promise<void> {
    const since = this.#cluster.now();
    while (!(await this.#cluster.inject(at))) {
      const waited = this.#cluster.now() - since;
      const limit = this.#isAtRest() ? TARGET_WAIT_AT_REST_MS : TARGET_WAIT_MS;
      if (waited > limit || this.#mustStop()) {
        const why = 'its target did not exist when its time came';
        this.#record.faults.gaveUp(this.#plan.faults[at]!, this.#cluster.now(), why);
        return;
      }
      await this.#pause();
    }
  }
}
