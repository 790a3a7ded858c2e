/** What became of each fault of a run: waiting, due, decided; and what it took to come back. */
import { slotsOf, type Slot } from '../base/member.js';
import type { Silence } from '../verdict/stall.js';
import { RecoveryWatch, type Recovery } from '../verdict/recovery.js';
import type { FaultStatus, FaultSummary, OriginStrikes, Reason } from '../verdict/types.js';
import { stateText } from './arms.js';
import { durationMs, isAtWork, restartMsOf } from './budget.js';
import type { Driver, FaultEvent } from './driver.js';
import { dueAfter, startedAt } from './following.js';
import { selectionText, targetWord } from './links.js';
import { hasMet, refusedBy } from './met.js';
import { unreachable } from './triggers.js';
import type { FaultKind, FaultPlan, Plan, Trigger } from './types.js';

interface FaultRecord {
  readonly fault: FaultPlan;
  /** When it was added to a run that went on already; null: it was there from the start. */
  readonly sinceMs: number | null;
  status: FaultStatus | 'waiting';
  /** Its state was reached by a member that could not strike itself. */
  isDue: boolean;
  target: Slot | null;
  /** Whom a fault of links parted. */
  links: string | null;
  /** When it was installed. */
  atMs: number | null;
  /** When its time was over; null: it is not, as far as anybody was told. */
  overMs: number | null;
  /** When it was decided, in whatever way. */
  decidedMs: number | null;
  reason: string | null;
  recovery: Recovery | null;
  /** Of one that waits to be met: what it struck. Of the origin's faults, the origin knows. */
  struck: number;
  /** It ended its member, and did not bring it back. */
  isAway: boolean;
}

/** A flap is one only if the member that was deposed is the next one elected (case B1). */
interface Flap {
  readonly record: FaultRecord;
  readonly slot: Slot;
  readonly atMs: number;
}

const TOO_LATE = 'the run was over before its time';

export class FaultBook {
  readonly #plan: Plan;
  readonly #driver: Driver;
  readonly #recovery: RecoveryWatch;
  readonly #faults: FaultRecord[] = [];
  readonly #byId = new Map<string, FaultRecord>();
  #flaps: Flap[] = [];

  constructor(plan: Plan, driver: Driver) {
    this.#plan = plan;
    this.#driver = driver;
    this.#recovery = new RecoveryWatch(slotsOf(plan.replicas));
    for (const fault of plan.faults) this.add(fault, null);
  }

  /** In the order of their positions. */
  get plans(): readonly FaultPlan[] {
    return this.#faults.map(({ fault }) => fault);
  }

  // What happens.

  /**
   * Returns its position.
   *
   * @param sinceMs  when it was added to a run that goes on; null: it is one of the plan's
   */
  add(fault: FaultPlan, sinceMs: number | null): number {
    const cannot = unreachable(fault.trigger) ?? this.#driver.cannot(fault.action, this.#plan);
    const unseen = cannot === null ? this.#unseen(fault.trigger) : null;
    const reason = cannot ?? unseen;
    const record: FaultRecord = {
      fault,
      sinceMs,
      status: cannot !== null ? 'skipped' : unseen === null ? 'waiting' : 'uncovered',
      isDue: false,
      target: null,
      links: null,
      atMs: null,
      overMs: null,
      decidedMs: reason === null ? null : (sinceMs ?? Number.NEGATIVE_INFINITY),
      reason,
      recovery: null,
      struck: 0,
      isAway: false,
    };
    this.#byId.set(fault.id, record);
    return this.#faults.push(record) - 1;
  }

  event(event: FaultEvent): void {
    const record = this.#record(event.id);
    if (event.state === 'healed') return this.#healed(record, event);
    record.status = event.state;
    record.target = event.slot;
    record.links = event.links?.text ?? null;
    record.reason = event.reason ?? null;
    record.decidedMs = event.atMs;
    if (event.state !== 'installed') return;
    const { slot, atMs, links } = event;
    const hit = slot === null ? (links?.outvoted ?? []) : [slot];
    record.atMs = atMs;
    record.recovery = this.#recovery.fault(atMs, hit, isAtWork(record.fault.action));
    if (record.fault.action.kind !== 'flap' || slot === null) return;
    this.#flaps.push({ record, slot, atMs });
  }

  due(id: string): void {
    this.#record(id).isDue = true;
  }

  /** A proposal of this member was refused by its log. */
  refused(slot: Slot, atMs: number, code: string): void {
    const armed = this.#faults.filter(({ fault: { action }, target, overMs }) => {
      const isOf = action.kind === 'failPropose' && action.code === code && target === slot;
      return isOf && (overMs === null || atMs <= overMs);
    });
    refusedBy(armed, atMs);
  }

  /** This leader stepped down because it was overrun. */
  overrun(slot: Slot): void {
    for (const record of this.#faults) {
      if (record.fault.action.kind === 'overrun' && record.target === slot) record.struck = 1;
    }
  }

  /** What was armed and met nothing by the end did not happen. */
  ended(strikes: OriginStrikes | undefined, nowMs: number): void {
    for (const { record, slot } of this.#flaps) {
      record.status = 'indeterminate';
      record.reason = `nobody was elected after ${slot} was deposed`;
    }
    this.#flaps = [];
    for (const record of this.#faults) {
      if (record.status !== 'installed' || hasMet(record, this.#faults, strikes)) continue;
      record.status = 'uncovered';
      record.recovery = null;
      record.reason = 'armed, and nothing came that it could have struck';
      record.decidedMs = nowMs;
    }
  }

  leader(slot: Slot, atMs: number): void {
    this.#recovery.leader(slot, atMs);
    for (const flap of this.#flaps) {
      if (slot === flap.slot || atMs <= flap.atMs) continue;
      flap.record.status = 'indeterminate';
      flap.record.reason = `${slot} was elected in place of ${flap.slot}`;
    }
    this.#flaps = this.#flaps.filter((flap) => atMs <= flap.atMs);
  }

  progress(slot: Slot, atMs: number, last: number): void {
    this.#recovery.progress(slot, atMs, last);
  }

  /** @param by  the fault that ended this member; not given: none of the run's did */
  gone(slot: Slot, by?: string): void {
    this.#recovery.gone(slot);
    // What held it down holds nobody any more, and is not told of again.
    for (const record of this.#faults) if (record.target === slot) record.overMs ??= record.atMs;
    if (by === undefined) return;
    const record = this.#record(by);
    record.struck = 1;
    record.isAway = true;
  }

  /** Its target did not exist when its time came, nor for as long as it was waited for. */
  gaveUp(fault: FaultPlan, nowMs: number, reason: string): void {
    const record = this.#record(fault.id);
    if (record.status !== 'waiting') return;
    record.status = 'uncovered';
    record.decidedMs = nowMs;
    record.reason = reason;
  }

  /** What still waits will not come: one fault, or at the end of the run all of them. */
  lastSeen(seen: ReadonlyMap<string, number>, nowMs: number, only?: number): void {
    this.#faults.forEach((record, at) => {
      if (record.status !== 'waiting' || (only !== undefined && only !== at)) return;
      const { id, trigger } = record.fault;
      record.status = 'uncovered';
      record.decidedMs = nowMs;
      const hasBegun =
        trigger.kind === 'after' && startedAt(this.#record(trigger.fault), trigger) !== null;
      record.reason = hasBegun ? TOO_LATE : unmet(trigger, seen.get(id) ?? 0, only !== undefined);
    });
  }

  // What is asked.

  /** Whether a fault that is to be injected has reached its time, or its state elsewhere. */
  isDue({ id, trigger }: FaultPlan, firstDeliveryMs: number | null, nowMs: number): boolean {
    const { status, isDue } = this.#record(id);
    if (status !== 'waiting') return false;
    switch (trigger.kind) {
      case 'time':
        return firstDeliveryMs !== null && nowMs - firstDeliveryMs >= trigger.atMs;
      case 'state':
        return isDue;
      case 'after': {
        const dueMs = dueAfter(this.#record(trigger.fault), trigger);
        return dueMs !== null && nowMs >= dueMs;
      }
    }
  }

  /**
   * Whether some fault's time is still to come; those relative to one that will not come are not.
   */
  awaitsTime(begun: ReadonlySet<number>): boolean {
    return this.#faults.some(({ fault: { trigger }, status, isDue }, at) => {
      if (status !== 'waiting' || begun.has(at)) return false;
      if (trigger.kind === 'state') return isDue;
      return trigger.kind === 'time' || startedAt(this.#record(trigger.fault), trigger) !== null;
    });
  }

  /** Whether a member that a fault ended is still to come back. */
  awaitsReturn(): boolean {
    return this.#faults.some(({ fault, isAway }) => isAway && restartMsOf(fault.action) !== null);
  }

  /** When the last fault that lasts for a while, of those in force, is over by its own time. */
  lastsUntilMs(): number {
    const ends = this.#faults.map(({ fault: { action }, atMs }) =>
      atMs === null ? Number.NEGATIVE_INFINITY : atMs + durationMs(action),
    );
    return Math.max(Number.NEGATIVE_INFINITY, ...ends);
  }

  hasWaiting(): boolean {
    return this.#faults.some(({ status }) => status === 'waiting');
  }

  /** Faults that the driver cannot inject, or not see due, by their position in the plan. */
  impossible(): number[] {
    return this.#faults.flatMap(({ status }, at) => (status === 'waiting' ? [] : [at]));
  }

  /** Faults whose state did not come in time, by their position in the plan. */
  expired(sinceMs: number, nowMs: number): number[] {
    return this.#faults.flatMap(({ fault: { trigger }, sinceMs: addedMs, status, isDue }, at) =>
      status === 'waiting' &&
      !isDue &&
      trigger.kind === 'state' &&
      nowMs - Math.max(sinceMs, addedMs ?? sinceMs) > trigger.withinMs
        ? [at]
        : [],
    );
  }

  isDecided(id: string): boolean {
    return this.#record(id).status !== 'waiting';
  }

  /** When a fault kept the origin from giving anything. */
  silences(): Silence[] {
    return this.#faults.flatMap(({ fault: { action }, atMs }) =>
      action.kind === 'stallOrigin' && atMs !== null
        ? [{ fromMs: atMs, toMs: atMs + action.forMs }]
        : [],
    );
  }

  kindOf(id: string): FaultKind {
    return this.#record(id).fault.action.kind;
  }

  /** Why no fault of a demanded kind happened; nothing when one did. An unsure one is none. */
  uncovered(kind: FaultKind): Reason[] {
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

  /** @param zeroMs  what times are told from */
  summaries(zeroMs: number): FaultSummary[] {
    return this.#faults.map((record) => summaryOf(record, zeroMs));
  }

  summary(id: string, zeroMs: number): FaultSummary {
    return summaryOf(this.#record(id), zeroMs);
  }

  #healed(record: FaultRecord, { slot, atMs }: FaultEvent): void {
    record.overMs ??= atMs;
    if (record.recovery !== null) this.#recovery.healed(record.recovery);
    if (!record.isAway) return;
    record.isAway = false;
    if (slot !== null) this.#recovery.returned(slot);
  }

  #unseen(trigger: Trigger): string | null {
    return trigger.kind === 'state' ? (this.#driver.cannotSee?.(trigger.state) ?? null) : null;
  }

  #record(id: string): FaultRecord {
    return this.#byId.get(id)!;
  }
}

function summaryOf(record: FaultRecord, zeroMs: number): FaultSummary {
  const { fault, status, target, links, atMs, reason, recovery } = record;
  return {
    kind: fault.action.kind,
    target: target ?? links ?? targetText(fault),
    status: status === 'waiting' ? 'uncovered' : status,
    ...(reason === null ? {} : { reason }),
    atMs: atMs === null ? null : tenths(atMs - zeroMs),
    newLeaderMs: tenthsOrNull(recovery?.newLeaderMs),
    firstMessageMs: tenthsOrNull(recovery?.firstMessageMs),
    caughtUpMs: tenthsOrNull(recovery?.caughtUpMs),
  };
}

function unmet(trigger: Trigger, seen: number, inTime: boolean): string {
  switch (trigger.kind) {
    case 'state': {
      const waited = inTime ? `waited ${trigger.withinMs / 1000} s` : 'waited';
      const last = seen.toLocaleString('en');
      return `${waited} for ${stateText(trigger.state)}; last seen ${last}`;
    }
    case 'after':
      return `${trigger.fault} was not installed`;
    case 'time':
      return TOO_LATE;
  }
}

function targetText({ action, target }: FaultPlan): string {
  if (target !== null) return targetWord(target);
  return 'links' in action ? selectionText(action.links) : 'origin';
}

export function tenths(ms: number): number {
  return Math.round(ms * 10) / 10;
}

function tenthsOrNull(ms: number | null | undefined): number | null {
  return ms === null || ms === undefined ? null : tenths(ms);
}
