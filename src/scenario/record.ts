/** What is known of a run while it goes on and at its end: events in, reasons and summary out. */
import type { Slot } from '../base/member.js';
import type { ReplicaEvent } from '../replica/types.js';
import { Busy } from '../verdict/busy.js';
import type { Judgement } from '../verdict/judge.js';
import type { StreamState } from '../stream/types.js';
import { silentMs, StallClock, type Stall } from '../verdict/stall.js';
import { Tally } from '../verdict/tally.js';
import { Timeline, type RunTimeline } from '../verdict/timeline.js';
import type { FaultSummary, LedgerReport, Reason, RunSummary, Verdict } from '../verdict/types.js';
import type { ClusterEvent, Driver, FaultEvent } from './driver.js';
import { FaultBook, tenths } from './fault-book.js';
import type { FaultPlan, Plan } from './types.js';

/** A property that a driver checks while a run goes on, and where it does not hold. */
export type Violation = Pick<
  Extract<ClusterEvent, { kind: 'violation' }>,
  'property' | 'slot' | 'seq' | 'text'
>;

export class RunRecord {
  ledger: LedgerReport | null = null;
  readonly faults: FaultBook;
  readonly #plan: Plan;
  readonly #driver: Driver;
  readonly #tally: Tally;
  readonly #timeline = new Timeline();
  readonly #clock = new StallClock();
  readonly #last = new Map<Slot, number>();
  readonly #reasons: Reason[] = [];
  readonly #violations: Violation[] = [];
  readonly #busy = new Busy();
  /** What had not come when its time was over, and since when it was waited for. */
  readonly #overdue: { readonly text: string; readonly fromMs: number }[] = [];
  #servedMs: number | null = null;
  #firstDeliveryMs: number | null = null;
  #endedMs: number | null = null;
  #originLast = 0;
  #originMessages = 0;
  /** The most that any member held at a time. */
  readonly #reached = { last: 0, messages: 0 };
  #isCutShort = false;
  /** What stopped the mirror of whoever leads; null: it goes on. */
  #condition: {
    readonly slot: Slot;
    readonly condition: string;
    readonly reason: string;
  } | null = null;
  #stall: Stall = { ms: 0, fromMs: null, toMs: null };

  constructor(plan: Plan, driver: Driver) {
    this.#plan = plan;
    this.#driver = driver;
    this.#tally = new Tally(driver.unseen);
    this.faults = new FaultBook(plan, driver);
  }

  get harnessFailed(): boolean {
    return this.#reasons.some(({ verdict }) => verdict === 'harness');
  }

  get stallAtMostMs(): number {
    return this.#plan.expect.stallAtMostMs[this.#driver.name];
  }

  reason(verdict: Reason['verdict'], text: string): void {
    if (!this.#reasons.some((known) => known.text === text)) this.#reasons.push({ verdict, text });
  }

  /** The cluster owed this since then, and is no longer waited for: it stalled, or was held up. */
  overdue(text: string, fromMs: number): void {
    this.#overdue.push({ text, fromMs });
  }

  /** It does not go on to its end: what had not happened by then is held against nobody. */
  cutShort(why: string): void {
    this.#isCutShort = true;
    this.reason('inconclusive', why);
  }

  get isCutShort(): boolean {
    return this.#isCutShort;
  }

  add(event: ClusterEvent): void {
    switch (event.kind) {
      case 'replica':
        return this.#replicaEvent(event);
      case 'progress':
        this.#last.set(event.slot, Math.max(event.last, this.#last.get(event.slot) ?? 0));
        this.#reached.last = Math.max(this.#reached.last, event.last);
        this.#reached.messages = Math.max(this.#reached.messages, event.messages);
        this.#clock.progress(event.slot, event.atMs, event.last);
        return this.faults.progress(event.slot, event.atMs, event.last);
      case 'fault':
        return this.#faultEvent(event);
      case 'due':
        return this.faults.due(event.id);
      case 'firstDelivery':
        this.#firstDeliveryMs = event.atMs;
        return;
      case 'late':
        return this.#busy.add(event);
      case 'exit':
        this.#last.delete(event.slot);
        this.faults.gone(event.slot, event.by);
        if (this.#condition?.slot === event.slot) this.#condition = null;
        return this.#timeline.exit(event.slot, event.atMs, event.reason);
      case 'violation':
        this.#violations.push(event);
        return this.reason('violated', `${event.property}: ${event.text}`);
      case 'harness':
        return this.reason('harness', event.reason);
      case 'note':
        return this.#timeline.note(event.atMs, 'origin', event.text);
      case 'handedOut':
        return;
    }
  }

  served(atMs: number): void {
    this.#servedMs = atMs;
    this.#clock.start(atMs);
  }

  ended(atMs: number, origin: { readonly last: number; readonly messages: number }): void {
    const { origin: plan } = this.#plan;
    this.#endedMs = atMs;
    this.#originLast = origin.last;
    this.#originMessages = origin.messages;
    const paceMs = plan.rate === null ? 0 : 1000 / plan.rate;
    this.#stall = this.#clock.longest(atMs, origin.last, paceMs, this.faults.silences());
  }

  /** The furthest that this member was seen in this life of it. */
  lastOf(slot: Slot): number {
    return this.#last.get(slot) ?? 0;
  }

  isCaughtUp(living: readonly Slot[], last: number): boolean {
    return living.length > 0 && living.every((slot) => this.lastOf(slot) >= last);
  }

  /**
   * How long nothing moved. Once one member holds everything, those behind it may be held by a
   * fault: the time that they have begins when the last of the faults is over.
   */
  standsStillMs(nowMs: number, last: number): number {
    const since = this.#clock.lastProgressMs();
    if (since === null) return 0;
    const from = this.#isReached(last) ? Math.max(since, this.faults.lastsUntilMs()) : since;
    return nowMs - from - silentMs(from, nowMs, this.faults.silences());
  }

  /** Nothing moves any more: who is behind others stays so. That all are is the clock's to tell. */
  stoodStill(living: readonly Slot[], last: number): void {
    if (this.#plan.beyondQuorum || this.#plan.expect.mirror !== 'running') return;
    if (!this.#isReached(last)) return;
    const fromMs = this.#clock.lastProgressMs() ?? 0;
    for (const slot of living) {
      const reached = this.lastOf(slot);
      if (reached >= last) continue;
      this.overdue(`${slot} ended at ${reached}; the origin ends at ${last}`, fromMs);
    }
  }

  /**
   * Whether the mirror stopped for good and nothing is under way any more: it will not catch up.
   */
  hasStopped(living: readonly Slot[]): boolean {
    const lasts = new Set(living.map((slot) => this.lastOf(slot)));
    return this.#condition !== null && lasts.size === 1;
  }

  isDue(fault: FaultPlan, nowMs: number): boolean {
    return this.faults.isDue(fault, this.#firstDeliveryMs, nowMs);
  }

  /** What became of a fault so far. */
  fault(id: string): FaultSummary {
    return this.faults.summary(id, this.#zeroMs);
  }

  /** Faults whose state did not come in time, by their position in the plan. */
  expired(nowMs: number): number[] {
    return this.faults.expired(this.#servedMs ?? nowMs, nowMs);
  }

  reasons(judgement: Judgement | null): Reason[] {
    const reasons = [...this.#reasons];
    if (judgement !== null) reasons.push(...violations(judgement, this.#tally.mismatches));
    if (judgement?.replicas.length === 0) {
      reasons.push({ verdict: 'inconclusive', text: 'no replica was left to be compared' });
    }
    if (this.#endedMs !== null) reasons.push(...this.#livenessReasons(this.#endedMs));
    if (judgement !== null) reasons.push(...this.#stateReasons(judgement, reasons));
    for (const kind of this.#plan.expect.covered) reasons.push(...this.faults.uncovered(kind));
    return reasons;
  }

  summary(judgement: Judgement | null, verdict: Verdict, replay: string): RunSummary {
    const { skip, replicas, seed } = this.#plan;
    const ledger = this.ledger;
    const counts = { ok: 0, lost: 0, duplicated: 0, reordered: 0, corrupt: 0, phantom: 0 };
    const elapsedMs = tenths(this.#elapsedMs());
    return {
      schema: 1,
      verdict,
      driver: this.#driver.name,
      seed,
      elapsedMs,
      origin: {
        ...(ledger?.origin ?? { first: 0, last: 0, messages: 0, deleted: 0 }),
        sentinel: ledger?.sentinel ?? null,
        tailGap: ledger?.tailGap ?? null,
      },
      replicas: judgement?.replicas ?? [],
      messages: judgement?.counts ?? { ...counts, unknown: this.#originMessages },
      skip: this.#tally.skip(replicas === 1 ? 'direct' : skip),
      leadership: this.#tally.leadership,
      mirror: this.#tally.mirror,
      faults: this.faults.summaries(this.#zeroMs),
      stallMs: tenths(this.#stall.ms),
      reasons: this.reasons(judgement),
      rate: this.#rate(elapsedMs),
      replay,
    };
  }

  /** Properties that were found broken while the run went on. */
  violations(): Violation[] {
    const found = this.#violations.map(({ property, slot, seq, text }) => {
      return { property, slot, seq, text };
    });
    const { mismatches } = this.#tally;
    if (mismatches === 0) return found;
    const text = mismatchText(mismatches);
    return [...found, { property: 'applied in place', slot: null, seq: null, text }];
  }

  /** Times count from the first delivery. */
  timeline(): RunTimeline {
    return this.#timeline.report(this.#zeroMs);
  }

  stallFromMs(): number | null {
    return this.#stall.fromMs === null ? null : this.#stall.fromMs - this.#zeroMs;
  }

  #isReached(last: number): boolean {
    return [...this.#last.values()].some((reached) => reached >= last);
  }

  get #zeroMs(): number {
    return this.#firstDeliveryMs ?? this.#servedMs ?? 0;
  }

  #elapsedMs(): number {
    return this.#endedMs === null ? 0 : this.#endedMs - (this.#servedMs ?? this.#endedMs);
  }

  /** Of what was mirrored. Once everything is, the time that faults still take is no part of it. */
  #rate(elapsedMs: number): RunSummary['rate'] {
    const { last, messages } = this.#reached;
    const isWhole = this.#endedMs !== null && last >= this.#originLast;
    const servedMs = this.#servedMs ?? 0;
    const tookMs = isWhole ? (this.#clock.lastProgressMs() ?? servedMs) - servedMs : elapsedMs;
    const perSecond = (count: number): number =>
      tookMs <= 0 ? 0 : Math.round((count * 1000) / tookMs);
    return {
      messagesPerSecond: perSecond(isWhole ? this.#originMessages : messages),
      sequencesPerSecond: perSecond(isWhole ? this.#originLast : last),
    };
  }

  #replicaEvent({ slot, atMs, event }: Extract<ClusterEvent, { kind: 'replica' }>): void {
    this.#tally.add(event);
    this.#timeline.add(slot, atMs, event);
    if (event.kind === 'propose' && event.refused !== null) {
      this.faults.refused(slot, atMs, event.refused.code);
    }
    if (event.kind === 'role') this.#roleEvent(slot, atMs, event);
    if (event.kind === 'condition') {
      const { condition, reason } = event;
      this.#condition = condition === 'running' ? null : { slot, condition, reason };
    }
  }

  /** What stopped the mirror of the leader before may not stop that of the next one. */
  #roleEvent(slot: Slot, atMs: number, { role, cause }: ReplicaEvent & { kind: 'role' }): void {
    if (cause === 'overrun') this.faults.overrun(slot);
    if (role !== 'leader') return;
    this.faults.leader(slot, atMs);
    this.#condition = null;
  }

  #faultEvent(event: FaultEvent): void {
    const kind = this.faults.kindOf(event.id);
    this.#timeline.note(
      event.atMs,
      event.slot ?? event.links?.text ?? 'origin',
      faultText(kind, event),
    );
    this.faults.event(event);
  }

  /**
   * Copies that end otherwise than the scenario says. One that falls short of it is late, not
   * wrong, in a run that did not come to its end or that owes no progress.
   */
  #stateReasons({ replicas }: Judgement, others: readonly Reason[]): Reason[] {
    const expected = this.#plan.expect.state;
    if (expected === null || this.#isCutShort) return [];
    const isExcused = others.some(({ verdict }) => verdict !== 'violated');
    const mayFallShort = this.#plan.beyondQuorum || isExcused;
    const wanted = stateText(expected);
    return replicas.flatMap((state) => {
      const found = stateText(state);
      if (found === wanted || (mayFallShort && state.last < expected.last)) return [];
      return [{ verdict: 'violated', text: `${state.id} holds ${found}; expected ${wanted}` }];
    });
  }

  #livenessReasons(endedMs: number): Reason[] {
    const reasons = this.#overdue.map(({ text, fromMs }) =>
      this.#busy.unlessLate(text, fromMs, endedMs),
    );
    reasons.push(...this.#mirrorReasons(endedMs));
    const limit = this.stallAtMostMs;
    const { fromMs, toMs, ms } = this.#stall;
    const { beyondQuorum, expect } = this.#plan;
    if (beyondQuorum || expect.mirror !== 'running' || ms <= limit) return reasons;
    const text = `nothing moved for ${Math.round(ms)} ms, allowed are ${limit} ms`;
    // A stall that is longer than anything allowed has begun.
    const reason = this.#busy.unlessLate(text, fromMs!, toMs!);
    if (!reasons.some((known) => known.text === reason.text)) reasons.push(reason);
    return reasons;
  }

  /** A mirror that ends otherwise than the scenario says. */
  #mirrorReasons(endedMs: number): Reason[] {
    const { mirror } = this.#plan.expect;
    const ended = this.#condition?.condition ?? 'running';
    if (ended === mirror) return [];
    const why = this.#condition === null ? '' : `: ${this.#condition.reason}`;
    const meant = ended === 'running' ? '' : `; if it is meant: expect: { mirror: ${ended} }`;
    const text = `the mirror is ${ended}, expected ${mirror}${why}${meant}`;
    const verdict = mirror === 'diverged' ? 'violated' : 'stalled';
    if (ended !== 'running') return [{ verdict, text }];
    // One that runs may still have stopped, had the run begun, come to its end, or had its time.
    if (this.#isCutShort || this.harnessFailed || this.#overdue.length > 0) return [];
    if (this.#isReached(this.#originLast)) return [{ verdict, text }];
    const late = this.#busy.unlessLate(text, this.#clock.lastProgressMs() ?? 0, endedMs);
    return [late.verdict === 'inconclusive' ? late : { verdict, text }];
  }
}

function stateText({ first, last, messages, deleted }: StreamState): string {
  return `${first} to ${last}, ${messages} messages, ${deleted} deleted`;
}

function violations(judgement: Judgement, mismatches: number): Reason[] {
  const reasons: Reason[] = judgement.differences.map(({ kind, replica, seq, text }) => ({
    verdict: 'violated',
    text: `${kind} at ${seq} on ${replica}: ${text}`,
  }));
  if (mismatches > 0) {
    reasons.push({ verdict: 'violated', text: mismatchText(mismatches) });
  }
  if (!judgement.complete) {
    reasons.push({ verdict: 'inconclusive', text: 'the comparison was not finished in time' });
  }
  return reasons;
}

function mismatchText(mismatches: number): string {
  return `${mismatches} committed commands did not follow the last sequence`;
}

function faultText(kind: string, { state, reason }: { state: string; reason?: string }): string {
  if (state === 'installed') return kind;
  return `${kind} ${state}${reason === undefined ? '' : `: ${reason}`}`;
}
