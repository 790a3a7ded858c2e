/**
 * One run of a plan on a running cluster, step by step: whoever takes the steps, `play` or a test,
 * injects what is due, gives up what did not come, ends when the plan says so and has the copies
 * judged in the same way.
 */
import { toErrorData } from '../base/errors.js';
import type { Hasher } from '../base/hasher.js';
import type { SeqRange } from '../stream/types.js';
import { decide } from '../verdict/decide.js';
import { judge, type Judgement } from '../verdict/judge.js';
import type { RunTimeline } from '../verdict/timeline.js';
import type { Reason, RunSummary } from '../verdict/types.js';
import type { RunningCluster } from './driver.js';
import type { RunRecord, Violation } from './record.js';
import type { FaultPlan, Plan } from './types.js';

export interface PlayResult {
  readonly summary: RunSummary;
  readonly reasons: readonly Reason[];
  readonly differences: Judgement['differences'];
  readonly violations: readonly Violation[];
  readonly timeline: RunTimeline;
  readonly stallFromMs: number | null;
  /** What the comparison took; null when nothing was compared. */
  readonly comparedInMs: number | null;
  /** Whether everything that replicas hold was compared, as far as all of them came. */
  readonly complete: boolean;
  /** A signal or the time limit ended it: what it found is not what it would have come to. */
  readonly cutShort: boolean;
}

/** What the copies were found to hold. */
export interface Outcome {
  readonly judgement: Judgement;
  readonly comparedInMs: number;
}

interface Due {
  readonly fault: FaultPlan;
  readonly sinceMs: number;
  /** Null: its target did not exist when it was last tried. */
  attempt: Promise<void> | null;
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

export class Run {
  readonly #plan: Plan;
  readonly #cluster: RunningCluster;
  readonly #record: RunRecord;
  readonly #signals: readonly (AbortSignal | undefined)[];
  #breathedMs = performance.now();
  /** Faults whose time came and that did not fall yet, by position. */
  readonly #due = new Map<number, Due>();
  readonly #begun = new Set<number>();
  #startedMs = 0;
  #elected: Promise<boolean> | null = null;
  #opened: Promise<boolean> | null = null;

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

  /** Waits for the first leader. False: the run is over before it began. */
  elect(): Promise<boolean> {
    this.#elected ??= this.#elect();
    return this.#elected;
  }

  async #elect(): Promise<boolean> {
    const cluster = this.#cluster;
    this.#startedMs = cluster.now();
    for (const at of this.#record.faults.impossible()) cluster.disarm(at);
    while (cluster.leader() === null) {
      if (this.#mustStop()) return false;
      if (cluster.now() - this.#startedMs > LEADER_WAIT_MS) {
        const text = `no leader within ${LEADER_WAIT_MS} ms of the start`;
        this.#record.overdue(text, this.#startedMs);
        return false;
      }
      await this.#pause();
    }
    return true;
  }

  /** Opens the origin once there is a leader; once, however often it is called. */
  open(): Promise<boolean> {
    this.#opened ??= this.#open();
    return this.#opened;
  }

  async #open(): Promise<boolean> {
    if (!(await this.elect())) return false;
    this.#record.served(this.#cluster.now());
    await this.#cluster.serve();
    return true;
  }

  /** One more fault. Its fate is told like that of the plan's own. */
  async add(fault: FaultPlan): Promise<void> {
    const at = this.#record.faults.add(fault, this.#cluster.now());
    // What the driver cannot do is disarmed before anybody could meet its state.
    if (this.#record.faults.isDecided(fault.id)) this.#cluster.disarm(at);
    await this.#cluster.add(fault);
    if (this.#record.faults.isDecided(fault.id)) this.#cluster.disarm(at);
  }

  /** Injects what is due and lets a little time pass. */
  async step(): Promise<void> {
    await this.#attend();
    await this.#pause();
  }

  async toItsEnd(): Promise<void> {
    if (!(await this.open())) return;
    while (!this.#isOver()) {
      await this.#attend();
      await this.#pause();
    }
    this.#cluster.release();
    for (const { attempt } of [...this.#due.values()]) await attempt;
    for (const at of [...this.#due.keys()]) this.#giveUp(at);
    if (this.#record.faults.hasWaiting()) {
      this.#record.faults.lastSeen(await this.#cluster.lastSeen(), this.#cluster.now());
    }
  }

  /** Ends the run: the cluster is halted, and every copy compared with the ledger. */
  async judged(hasher: Hasher): Promise<Outcome> {
    const cluster = this.#cluster;
    this.#record.ended(cluster.now(), cluster.origin);
    const startedAt = cluster.now();
    const judgement = await judgeAll(cluster, hasher, this.#record);
    return { judgement, comparedInMs: cluster.now() - startedAt };
  }

  async #pause(): Promise<void> {
    await this.#cluster.pause(STEP_MS);
    if (performance.now() - this.#breathedMs < BREATHE_EVERY_MS) return;
    await new Promise((resolve) => setImmediate(resolve));
    this.#breathedMs = performance.now();
  }

  #mustStop(): boolean {
    if (this.#signals.some((signal) => signal?.aborted === true)) {
      this.#record.cutShort('ended by a signal before the run was over');
      return true;
    }
    if (this.#record.harnessFailed) return true;
    const elapsed = this.#cluster.now() - this.#startedMs;
    if (elapsed < this.#plan.timeLimitMs) return false;
    this.#record.cutShort(`the time limit of ${this.#plan.timeLimitMs} ms was hit`);
    return true;
  }

  #isOver(): boolean {
    if (this.#mustStop()) return true;
    if (this.#isAtRest()) {
      const { faults } = this.#record;
      if (faults.awaitsReturn() || faults.awaitsTime(this.#begun)) return false;
      return this.#due.size === 0;
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

  /** Injects what is due; gives up a state that did not come in time, with what was last seen. */
  async #attend(): Promise<void> {
    this.#injectDue();
    for (const at of this.#record.expired(this.#cluster.now())) {
      if (!this.#begun.has(at) && this.#cluster.disarm(at)) {
        this.#begun.add(at);
        const seen = await this.#cluster.lastSeen();
        this.#record.faults.lastSeen(seen, this.#cluster.now(), at);
      }
    }
  }

  /**
   * Only here faults that wait for their targets are tried again, once a step: none of them lets
   * time pass by itself, so that how long a breath takes changes nothing in virtual time.
   */
  #injectDue(): void {
    const now = this.#cluster.now();
    this.#record.faults.plans.forEach((fault, at) => {
      if (!this.#begun.has(at) && this.#record.isDue(fault, now)) {
        this.#begun.add(at);
        this.#due.set(at, { fault, sinceMs: now, attempt: null });
      }
      const due = this.#due.get(at);
      if (due?.attempt !== null) return;
      if (now > due.sinceMs + this.#targetWaitMs()) this.#giveUp(at);
      else due.attempt = this.#attempt(at, due);
    });
  }

  async #attempt(at: number, due: Due): Promise<void> {
    try {
      if (await this.#cluster.inject(at)) this.#due.delete(at);
    } catch (error) {
      this.#due.delete(at);
      this.#record.reason('harness', toErrorData(error).message);
    }
    due.attempt = null;
  }

  #targetWaitMs(): number {
    if (this.#isAtRest()) return TARGET_WAIT_AT_REST_MS;
    return this.#cluster.targetWaitMs ?? TARGET_WAIT_MS;
  }

  #giveUp(at: number): void {
    const { fault } = this.#due.get(at)!;
    this.#due.delete(at);
    const why = 'its target did not exist when its time came';
    this.#record.faults.gaveUp(fault, this.#cluster.now(), why);
  }
}

async function judgeAll(
  cluster: RunningCluster,
  hasher: Hasher,
  record: RunRecord,
): Promise<Judgement> {
  await cluster.halt();
  // Copies first: whatever is still on its way to the origin reaches them later than it. What they
  // hold is in the origin when that is read.
  const copies = await Promise.all(
    cluster.living().map(async (slot) => ({ slot, reader: await asked(cluster.copy(slot)) })),
  );
  const ledger = await asked(cluster.ledger);
  record.ledger = ledger.answer;
  record.faults.ended(ledger.answer.strikes, cluster.now());
  // What was not reached is not lost: the run says by other means that it did not come so far.
  // What a copy was seen to have it has to have still.
  const reached = copies.map(({ slot, reader }) =>
    Math.max(reader.answer.state.last, record.lastOf(slot)),
  );
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

/** @param outcome  null: the run failed before anything was compared */
export function resultOf(record: RunRecord, outcome: Outcome | null, replay: string): PlayResult {
  const judgement = outcome?.judgement ?? null;
  const reasons = record.reasons(judgement);
  return {
    summary: record.summary(judgement, decide(reasons), replay),
    reasons,
    differences: judgement?.differences ?? [],
    violations: record.violations(),
    timeline: record.timeline(),
    stallFromMs: record.stallFromMs(),
    comparedInMs: outcome?.comparedInMs ?? null,
    complete: judgement?.complete ?? false,
    cutShort: record.isCutShort,
  };
}
