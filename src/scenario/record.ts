/** What is known of a run while it goes on and at its end: events in, reasons and summary out. */
import type { Slot } from '../base/member.js';
import type { Judgement } from '../verdict/judge.js';
import { RecoveryWatch, type Recovery } from '../verdict/recovery.js';
import { StallClock, type Stall } from '../verdict/stall.js';
import { Tally } from '../verdict/tally.js';
import { Timeline, type RunTimeline } from '../verdict/timeline.js';
import type {
  FaultStatus,
  FaultSummary,
  LedgerReport,
  Reason,
  RunSummary,
  Verdict,
} from '../verdict/types.js';
import { stateText } from './arms.js';
import type { ClusterEvent, Driver } from './driver.js';
import type { FaultKind, FaultPlan, Plan } from './types.js';

interface FaultRecord {
  readonly fault: FaultPlan;
  status: FaultStatus | 'waiting';
  target: Slot | null;
  atMs: number | null;
  reason: string | null;
  recovery: Recovery | null;
}

export class RunRecord {
  ledger: LedgerReport | null = null;
  readonly #plan: Plan;
  readonly #driver: Driver;
  readonly #tally = new Tally();
  readonly #timeline = new Timeline();
  readonly #clock = new StallClock();
  readonly #recovery = new RecoveryWatch();
  readonly #faults: readonly FaultRecord[];
  readonly #last = new Map<Slot, number>();
  readonly #reasons: Reason[] = [];
  readonly #late: { readonly who: string; readonly byMs: number }[] = [];
  #servedMs: number | null = null;
  #firstDeliveryMs: number | null = null;
  #endedMs: number | null = null;
  #originLast = 0;
  #originMessages = 0;
  #condition: { readonly condition: string; readonly reason: string } | null = null;
  #stall: Stall = { ms: 0, fromMs: null };

  constructor(plan: Plan, driver: Driver) {
    this.#plan = plan;
    this.#driver = driver;
    this.#faults = plan.faults.map((fault) => {
      const cannot = driver.cannot(fault.action, plan);
      return {
        fault,
        status: cannot === null ? 'waiting' : 'skipped',
        target: null,
        atMs: null,
        reason: cannot,
        recovery: null,
      };
    });
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

  add(event: ClusterEvent): void {
    switch (event.kind) {
      case 'replica':
        return this.#replicaEvent(event);
      case 'progress':
        this.#last.set(event.slot, Math.max(event.last, this.#last.get(event.slot) ?? 0));
        this.#clock.progress(event.slot, event.atMs, event.last);
        return this.#recovery.progress(event.slot, event.atMs, event.last);
      case 'fault':
        return this.#faultEvent(event);
      case 'firstDelivery':
        this.#firstDeliveryMs = event.atMs;
        return;
      case 'late':
        this.#late.push({ who: event.who, byMs: event.byMs });
        return;
      case 'exit':
        this.#last.delete(event.slot);
        this.#recovery.gone(event.slot);
        return this.#timeline.exit(event.slot, event.atMs, event.reason);
      case 'violation':
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
    this.#stall = this.#clock.longest(atMs, origin.last, paceMs);
  }

  skipped(fault: FaultPlan, reason: string): void {
    const record = this.#faults.find((known) => known.fault === fault);
    if (record?.status !== 'waiting') return;
    record.status = 'uncovered';
    record.reason = reason;
  }

  isCaughtUp(living: readonly Slot[], last: number): boolean {
    return living.length > 0 && living.every((slot) => (this.#last.get(slot) ?? 0) >= last);
  }

  standsStillMs(nowMs: number): number {
    const since = this.#clock.lastProgressMs();
    return since === null ? 0 : nowMs - since;
  }

  /** Whether a fault that waits for a time has reached it. */
  isDue({ id, trigger }: FaultPlan, nowMs: number): boolean {
    const record = this.#faults.find(({ fault }) => fault.id === id)!;
    if (record.status !== 'waiting') return false;
    if (trigger.kind === 'time') {
      return this.#firstDeliveryMs !== null && nowMs - this.#firstDeliveryMs >= trigger.atMs;
    }
    if (trigger.kind === 'state') return false;
    const other = this.#faults.find(({ fault }) => fault.id === trigger.fault);
    if (other?.status !== 'installed' || other.atMs === null) return false;
    return nowMs - other.atMs >= trigger.delayMs;
  }

  /**
   * Whether some fault's time is still to come; those relative to one that will not come are not.
   */
  awaitsTime(begun: ReadonlySet<number>): boolean {
    return this.#faults.some(({ fault, status }, at) => {
      if (status !== 'waiting' || begun.has(at) || fault.trigger.kind === 'state') return false;
      if (fault.trigger.kind === 'time') return true;
      const { trigger } = fault;
      return this.#faults.find((other) => other.fault.id === trigger.fault)?.status === 'installed';
    });
  }

  hasWaitingFaults(): boolean {
    return this.#faults.some(({ status }) => status === 'waiting');
  }

  /** Faults that the driver cannot inject, by their position in the plan. */
  impossible(): number[] {
    return this.#faults.flatMap(({ status }, at) => (status === 'skipped' ? [at] : []));
  }

  /** Faults whose state did not come in time, by their position in the plan. */
  expired(nowMs: number): number[] {
    const since = this.#servedMs ?? nowMs;
    return this.#faults.flatMap(({ fault: { trigger }, status }, at) =>
      status === 'waiting' && trigger.kind === 'state' && nowMs - since > trigger.withinMs
        ? [at]
        : [],
    );
  }

  /** What still waits will not come: one fault, or at the end of the run all of them. */
  lastSeen(seen: ReadonlyMap<string, number>, only?: number): void {
    this.#faults.forEach((record, at) => {
      if (record.status !== 'waiting' || (only !== undefined && only !== at)) return;
      const { id, trigger } = record.fault;
      record.status = 'uncovered';
      if (trigger.kind === 'state') {
        const value = (seen.get(id) ?? 0).toLocaleString('en');
        const waited = only === undefined ? '' : ` ${trigger.withinMs / 1000} s`;
        record.reason = `waited${waited} for ${stateText(trigger.state)}; last seen ${value}`;
      } else {
        record.reason =
          trigger.kind === 'after'
            ? `${trigger.fault} was not installed`
            : 'the run was over before its time';
      }
    });
  }

  reasons(judgement: Judgement | null): Reason[] {
    const reasons = [...this.#reasons];
    if (judgement !== null) reasons.push(...violations(judgement, this.#tally.mismatches));
    if (this.#endedMs !== null) reasons.push(...this.#livenessReasons());
    for (const kind of this.#plan.expect.covered) reasons.push(...this.#uncovered(kind));
    return reasons;
  }

  summary(judgement: Judgement | null, verdict: Verdict, replay: string): RunSummary {
    const { skip, replicas, seed } = this.#plan;
    const ledger = this.ledger;
    const counts = { ok: 0, lost: 0, duplicated: 0, reordered: 0, corrupt: 0, phantom: 0 };
    const elapsedMs = round(this.#elapsedMs());
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
      faults: this.#faults.map((record) => this.#faultSummary(record)),
      stallMs: round(this.#stall.ms),
      rate: this.#rate(elapsedMs),
      replay,
    };
  }

  /** Times count from the first delivery. */
  timeline(): RunTimeline {
    return this.#timeline.report(this.#zeroMs);
  }

  stallFromMs(): number | null {
    return this.#stall.fromMs === null ? null : this.#stall.fromMs - this.#zeroMs;
  }

  /** Why no fault of a demanded kind happened; nothing when one did. An unsure one is none. */
  #uncovered(kind: FaultKind): Reason[] {
    const ofKind = this.#faults.filter(({ fault }) => fault.action.kind === kind);
    if (ofKind.some(({ status }) => status === 'installed')) return [];
    if (ofKind.length === 0) {
      const on = this.#driver.name;
      const text = `${kind} is demanded, and no fault of the scenario is one on ${on}`;
      return [{ verdict: 'uncovered', text }];
    }
    return ofKind.map(({ fault, status, reason }) => ({
      verdict: 'uncovered',
      text: `${kind} (${fault.id}) was ${status}: ${reason ?? 'the run ended first'}`,
    }));
  }

  get #zeroMs(): number {
    return this.#firstDeliveryMs ?? this.#servedMs ?? 0;
  }

  #elapsedMs(): number {
    return this.#endedMs === null ? 0 : this.#endedMs - (this.#servedMs ?? this.#endedMs);
  }

  #rate(elapsedMs: number): RunSummary['rate'] {
    const perSecond = (count: number): number =>
      elapsedMs === 0 ? 0 : Math.round((count * 1000) / elapsedMs);
    return {
      messagesPerSecond: perSecond(this.#originMessages),
      sequencesPerSecond: perSecond(this.#originLast),
    };
  }

  #replicaEvent({ slot, atMs, event }: Extract<ClusterEvent, { kind: 'replica' }>): void {
    this.#tally.add(event);
    this.#timeline.add(slot, atMs, event);
    if (event.kind === 'role' && event.role === 'leader') this.#recovery.leader(slot, atMs);
    if (event.kind === 'condition' && event.condition !== 'running') this.#condition = event;
  }

  #faultEvent(event: Extract<ClusterEvent, { kind: 'fault' }>): void {
    const record = this.#faults.find(({ fault }) => fault.id === event.id)!;
    const { kind } = record.fault.action;
    this.#timeline.note(event.atMs, event.slot ?? 'origin', faultText(kind, event));
    if (event.state === 'healed') return;
    record.status = event.state;
    record.target = event.slot;
    record.reason = event.reason ?? null;
    if (event.state !== 'installed') return;
    record.atMs = event.atMs;
    record.recovery = this.#recovery.fault(event.atMs, event.slot);
  }

  #faultSummary({ fault, status, target, atMs, reason, recovery }: FaultRecord): FaultSummary {
    const since = (ms: number | null | undefined): number | null =>
      ms === null || ms === undefined ? null : round(ms);
    return {
      kind: fault.action.kind,
      target: target ?? targetText(fault),
      status: status === 'waiting' ? 'uncovered' : status,
      ...(reason === null ? {} : { reason }),
      atMs: atMs === null ? null : round(atMs - this.#zeroMs),
      newLeaderMs: since(recovery?.newLeaderMs),
      firstMessageMs: since(recovery?.firstMessageMs),
      caughtUpMs: since(recovery?.caughtUpMs),
    };
  }

  #livenessReasons(): Reason[] {
    const reasons: Reason[] = [];
    const { mirror } = this.#plan.expect;
    const ended = this.#condition?.condition ?? 'running';
    if (ended !== mirror) {
      const verdict = mirror === 'diverged' ? 'violated' : 'stalled';
      const why = this.#condition === null ? '' : `: ${this.#condition.reason}`;
      reasons.push({ verdict, text: `the mirror is ${ended}, expected ${mirror}${why}` });
    }
    const limit = this.stallAtMostMs;
    if (this.#plan.beyondQuorum || mirror !== 'running' || this.#stall.ms <= limit) return reasons;
    const late = this.#late.sort((a, b) => b.byMs - a.byMs)[0];
    if (late === undefined) {
      const text = `nothing moved for ${Math.round(this.#stall.ms)} ms, allowed are ${limit} ms`;
      reasons.push({ verdict: 'stalled', text });
    } else {
      const text = `machine too busy: ${late.who} late by ${(late.byMs / 1000).toFixed(1)} s`;
      reasons.push({ verdict: 'inconclusive', text });
    }
    return reasons;
  }
}

function violations(judgement: Judgement, mismatches: number): Reason[] {
  const reasons: Reason[] = judgement.differences.map(({ kind, replica, seq, text }) => ({
    verdict: 'violated',
    text: `${kind} at ${seq} on ${replica}: ${text}`,
  }));
  if (mismatches > 0) {
    const text = `${mismatches} committed commands did not follow the last sequence`;
    reasons.push({ verdict: 'violated', text });
  }
  if (!judgement.complete) {
    reasons.push({ verdict: 'inconclusive', text: 'the comparison was not finished in time' });
  }
  return reasons;
}

function faultText(kind: string, { state, reason }: { state: string; reason?: string }): string {
  if (state === 'installed') return kind;
  return `${kind} ${state}${reason === undefined ? '' : `: ${reason}`}`;
}

function targetText({ target }: FaultPlan): string {
  if (target === null) return 'origin';
  return target.kind === 'slot' ? target.slot : target.kind;
}

function round(ms: number): number {
  return Math.round(ms * 10) / 10;
}
