/** What no part of a scenario can tell alone: references between faults, times, and the budget. */
import { usageError } from '../base/errors.js';
import { formatDuration } from '../base/units.js';
import { DRIVERS } from './schema.js';
import type { DriverName, FaultPlan, OriginPlan } from './types.js';
import { nearest } from './words.js';

/** Kinds of faults that delete, purge or make anew what an origin holds. */
const CHANGES_ORIGIN = /^origin[A-Z]/;

/** Every id is one fault's, `after` names another one, and none waits for itself. */
export function checkReferences(faults: readonly FaultPlan[]): void {
  const ids = faults.map(({ id }) => id);
  ids.forEach((id, index) => {
    if (ids.indexOf(id) !== index) throw usageError(`faults[${index}].id`, id, 'used once only');
  });
  faults.forEach(({ id, trigger }, index) => {
    if (trigger.kind !== 'after') return;
    const where = `faults[${index}].after`;
    if (trigger.fault === id || !ids.includes(trigger.fault)) {
      const others = ids.filter((other) => other !== id);
      const expected = `the id of another fault${nearest(trigger.fault, others)}`;
      throw usageError(where, trigger.fault, expected);
    }
    if (chainOf(faults, index) === null) {
      throw usageError(where, trigger.fault, 'a fault that comes before: they wait for each other');
    }
  });
}

/** A live origin is somebody's: faults that would change what it holds are refused. */
export function checkLive(faults: readonly FaultPlan[], origin: OriginPlan): void {
  if (origin.kind !== 'nats') return;
  faults.forEach(({ action }, index) => {
    if (!CHANGES_ORIGIN.test(action.kind)) return;
    const expected = 'possible on a live origin: it is read and never changed';
    throw usageError(`faults[${index}]`, action.kind, expected);
  });
}

/**
 * A bounded load at a known rate has an end, and a fault behind it would hit nothing. Without a
 * rate, or behind a state, the time is not known beforehand: such a fault may turn out uncovered.
 */
export function checkTimes(faults: readonly FaultPlan[], origin: OriginPlan): void {
  if (origin.rate === null) return;
  const endMs = Math.round((origin.messages / origin.rate) * 1_000_000) / 1_000;
  faults.forEach(({ trigger }, index) => {
    const chain = chainOf(faults, index) ?? [];
    const root = chain.at(-1)?.trigger;
    if (root?.kind !== 'time') return;
    const delays = chain.map((fault) =>
      fault.trigger.kind === 'after' ? fault.trigger.delayMs : 0,
    );
    const fromMs = delays.reduce((sum, delay) => sum + delay, root.atMs);
    if (fromMs <= endMs) return;
    const where = `faults[${index}].${trigger.kind === 'time' ? 'at' : 'delay'}`;
    const expected = `before the last message, which comes at ${formatDuration(endMs)}`;
    throw usageError(where, formatDuration(fromMs), expected);
  });
}

/**
 * What breaks more than a cluster tolerates on every way that a run can take is refused at once;
 * what may is decided when each fault fires. A killed member stays down, so kills by role strike
 * one member each; kills of one slot, or of a slot that had the role, strike the same.
 */
export function checkBudget(faults: readonly FaultPlan[], replicas: number): void {
  const tolerated = Math.floor((replicas - 1) / 2);
  for (const driver of DRIVERS) {
    const here = faults.filter((fault) => existsOn(faults, fault, driver));
    const frozen = here.some(({ action }) => action.kind === 'freeze') ? 1 : 0;
    const broken = Math.max(killsOf(here), frozen);
    if (broken <= tolerated) continue;
    const found = `${killsOf(here) === broken ? 'kill' : 'freeze'} ${broken} of ${replicas}`;
    throw usageError('faults', found, `within the ${tolerated} tolerated; beyondQuorum lifts that`);
  }
}

/** The least number of members that these faults kill, if all of them strike. */
function killsOf(faults: readonly FaultPlan[]): number {
  const slots = new Set<string>();
  let byRole = 0;
  for (const { action, target } of faults) {
    if (action.kind !== 'kill') continue;
    if (target?.kind === 'slot') slots.add(target.slot);
    else byRole++;
  }
  return Math.max(slots.size, byRole);
}

/** A fault is absent from a driver too when what it waits for is. */
function existsOn(faults: readonly FaultPlan[], fault: FaultPlan, driver: DriverName): boolean {
  const chain = chainOf(faults, faults.indexOf(fault)) ?? [];
  return chain.every(({ on }) => on?.includes(driver) ?? true);
}

/** A fault, the one that it waits for, and so on; null when that comes back to one of them. */
function chainOf(faults: readonly FaultPlan[], index: number): FaultPlan[] | null {
  const chain: FaultPlan[] = [];
  let next = faults[index];
  while (next !== undefined) {
    if (chain.includes(next)) return null;
    chain.push(next);
    const { trigger }: FaultPlan = next;
    next = trigger.kind === 'after' ? faults.find(({ id }) => id === trigger.fault) : undefined;
  }
  return chain;
}
