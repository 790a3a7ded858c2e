/** What no part of a scenario can tell alone: references between faults, times, and the budget. */
import { usageError } from '../base/errors.js';
import { formatDuration } from '../base/units.js';
import { DRIVERS } from './schema.js';
import { breaksMember, endsMember, restartMsOf } from './budget.js';
import type {
  ContentChange,
  DriverName,
  FaultKind,
  FaultPlan,
  MadeOriginPlan,
  OriginPlan,
} from './types.js';
import { nearest } from './words.js';

const CONTENT_CHANGES: readonly FaultKind[] = [
  'originDelete',
  'originPurge',
  'originExpire',
  'originRecreate',
] satisfies readonly ContentChange[];

/** A fault, and the path of what it was planned from: a repeated one was planned more than once. */
export interface Written {
  readonly where: string;
  readonly plan: FaultPlan;
}

/** Every id is one fault's, `after` names another one, and none waits for itself. */
export function checkReferences(written: readonly Written[]): void {
  const known = new Map<string, FaultPlan>();
  for (const { where, plan } of written) {
    if (known.has(plan.id)) throw usageError(`${where}.id`, plan.id, 'used once only');
    known.set(plan.id, plan);
  }
  /** Those that are known to begin with a time or a state. */
  const rooted = new Set<FaultPlan>();
  for (const { where, plan } of written) {
    const { id, trigger } = plan;
    if (trigger.kind !== 'after') continue;
    if (trigger.fault === id || !known.has(trigger.fault)) {
      const others = [...known.keys()].filter((other) => other !== id);
      const expected = `the id of another fault${nearest(trigger.fault, others)}`;
      throw usageError(`${where}.after`, trigger.fault, expected);
    }
    const chain = chainOf(plan, known, rooted);
    if (chain === null) {
      const expected = 'a fault that comes before: they wait for each other';
      throw usageError(`${where}.after`, trigger.fault, expected);
    }
    for (const fault of chain) rooted.add(fault);
  }
}

/** A live origin is somebody's: faults that would change what it holds are refused. */
export function checkLive(written: readonly Written[], origin: OriginPlan): void {
  if (origin.kind !== 'nats') return;
  for (const { where, plan } of written) {
    const { kind } = plan.action;
    if (!CONTENT_CHANGES.includes(kind)) continue;
    throw usageError(where, kind, 'possible on a live origin: it is read and never changed');
  }
}

/** What lies behind every message that a made origin ever has can be neither deleted nor purged. */
export function checkContent(written: readonly Written[], origin: OriginPlan): void {
  if (origin.kind === 'nats' || origin.kind === 'module') return;
  const lives = written.map(({ plan: { action } }) =>
    action.kind === 'originRecreate' ? action.messages : 0,
  );
  const last = lives.reduce((most, each) => Math.max(most, each), lastOf(origin));
  for (const { where, plan } of written) {
    const { action } = plan;
    if (action.kind === 'originDelete' && 'first' in action.range && action.range.first > last) {
      const expected = `within the origin, which ends at ${last}`;
      throw usageError(`${where}.originDelete`, action.range.first, expected);
    }
    if (action.kind !== 'originPurge' || typeof action.to !== 'number') continue;
    if (action.to <= last + 1) continue;
    const expected = `at most ${last + 1}: the origin ends at ${last}`;
    throw usageError(`${where}.originPurge`, action.to, expected);
  }
}

/** The last sequence of an origin, its sentinel not counted. */
function lastOf(origin: MadeOriginPlan): number {
  if (origin.kind !== 'synthetic') return origin.last;
  return origin.gaps.reduce((last, { count }) => last + count, origin.messages);
}

/**
 * A bounded load at a known rate has an end, and a fault behind it would hit nothing. Without a
 * rate, or behind a state, the time is not known beforehand: such a fault may turn out uncovered.
 */
export function checkTimes(written: readonly Written[], origin: OriginPlan): void {
  // How many messages a module holds is known once it is loaded.
  if (origin.rate === null || origin.kind === 'module') return;
  const endMs = Math.round((origin.messages / origin.rate) * 1_000_000) / 1_000;
  const known = byId(written.map(({ plan }) => plan));
  /** When a fault strikes at the earliest; null: nobody knows beforehand. */
  const times = new Map<FaultPlan, number | null>();
  for (const { where, plan } of written) {
    for (const fault of chainOf(plan, known, times)!.reverse()) {
      times.set(fault, timeOf(fault, known, times));
    }
    const fromMs = times.get(plan)!;
    if (fromMs === null || fromMs <= endMs) continue;
    const { trigger } = plan;
    const key = trigger.kind === 'time' ? 'at' : isStroke(trigger) ? 'every' : 'delay';
    const expected = `before the last message, which comes at ${formatDuration(endMs)}`;
    throw usageError(`${where}.${key}`, formatDuration(fromMs), expected);
  }
}

function timeOf(
  { trigger }: FaultPlan,
  known: ReadonlyMap<string, FaultPlan>,
  times: ReadonlyMap<FaultPlan, number | null>,
): number | null {
  if (trigger.kind === 'time') return trigger.atMs;
  if (trigger.kind === 'state') return null;
  const before = times.get(known.get(trigger.fault)!)!;
  return before === null ? null : before + trigger.delayMs;
}

function isStroke(trigger: FaultPlan['trigger']): boolean {
  return trigger.kind === 'after' && trigger.settled;
}

/**
 * What breaks more than a cluster tolerates on every way that a run can take is refused at once;
 * what may is decided when each fault fires. A killed member stays down, so kills by role strike
 * one member each; kills of one slot, or of a slot that had the role, strike the same.
 */
export function checkBudget(faults: readonly FaultPlan[], replicas: number): void {
  const tolerated = Math.floor((replicas - 1) / 2);
  for (const driver of DRIVERS) {
    const here = faultsOn(faults, driver);
    const away = here.find(({ action }) => breaksMember(action));
    const broken = Math.max(killsOf(here), away === undefined ? 0 : 1);
    if (broken <= tolerated) continue;
    const word = killsOf(here) === broken ? 'kill' : away!.action.kind;
    const found = `${word} ${broken} of ${replicas}`;
    throw usageError('faults', found, `within the ${tolerated} tolerated; beyondQuorum lifts that`);
  }
}

/** The least number of members that these faults kill for good, if all of them strike. */
function killsOf(faults: readonly FaultPlan[]): number {
  const slots = new Set<string>();
  let byRole = 0;
  for (const { action, target } of faults) {
    if (!endsMember(action.kind) || restartMsOf(action) !== null) continue;
    if (target?.kind === 'slot') slots.add(target.slot);
    else byRole++;
  }
  return Math.max(slots.size, byRole);
}

/** Faults that exist on a driver: one is absent from it too when what it waits for is. */
export function faultsOn(faults: readonly FaultPlan[], driver: DriverName): FaultPlan[] {
  const known = byId(faults);
  const exists = new Map<FaultPlan, boolean>();
  for (const plan of faults) {
    for (const fault of chainOf(plan, known, exists)!.reverse()) {
      const { on, trigger } = fault;
      const isHere = on?.includes(driver) ?? true;
      const before = trigger.kind === 'after' ? known.get(trigger.fault) : undefined;
      exists.set(fault, isHere && (before === undefined || exists.get(before) === true));
    }
  }
  return faults.filter((fault) => exists.get(fault) === true);
}

function byId(faults: readonly FaultPlan[]): Map<string, FaultPlan> {
  return new Map(faults.map((fault) => [fault.id, fault]));
}

/**
 * A fault, the one that it waits for, and so on, up to one that is settled already, which is left
 * out; null when that comes back to one of them.
 */
function chainOf(
  fault: FaultPlan,
  known: ReadonlyMap<string, FaultPlan>,
  settled: { has(fault: FaultPlan): boolean },
): FaultPlan[] | null {
  const chain = new Set<FaultPlan>();
  let next: FaultPlan | undefined = fault;
  while (next !== undefined && !settled.has(next)) {
    if (chain.has(next)) return null;
    chain.add(next);
    const { trigger }: FaultPlan = next;
    next = trigger.kind === 'after' ? known.get(trigger.fault) : undefined;
  }
  return [...chain];
}
