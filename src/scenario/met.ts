/**
 * Whether a fault that waits for traffic met some. Doses of one kind add up: what the first one has
 * left over is the next one's, and of a fault behind one that was not used up nothing is shown.
 */
import type { OriginStrikes } from '../verdict/types.js';
import type { FaultAction, FaultPlan } from './types.js';

/** A fault that was installed, and what it is known to have struck. */
export interface Armed {
  readonly fault: FaultPlan;
  readonly atMs: number | null;
  struck: number;
}

/** How often a fault strikes at most; it is by chance: without a limit. */
function timesOf(action: FaultAction): number {
  return 'dose' in action && 'times' in action.dose ? action.dose.times : Infinity;
}

/** A proposal was refused where these are armed. One by chance may have done it beside others. */
export function refusedBy(armed: readonly Armed[], atMs: number): void {
  for (const one of inOrder(armed)) {
    const times = timesOf(one.fault.action);
    if (one.atMs! > atMs || one.struck >= times) continue;
    one.struck++;
    if (times !== Infinity) return;
  }
}

/** @param all  every fault of the run; all others strike as they are installed */
export function hasMet(
  one: Armed,
  all: readonly Armed[],
  strikes: OriginStrikes | undefined,
): boolean {
  switch (one.fault.action.kind) {
    case 'failPropose':
    case 'overrun':
    case 'failWrites':
    case 'failSync':
    case 'tornTail':
      return one.struck > 0;
    case 'refuseOpening':
      return strikes === undefined || strikes.refused > takenBefore(one, all);
    case 'loseDeliveries':
      return strikes === undefined || strikes.lost > takenBefore(one, all);
    case 'repeatDeliveries':
      return strikes === undefined || strikes.repeated > takenBefore(one, all);
    default:
      return true;
  }
}

/** What faults of its kind that were armed before it take first. */
function takenBefore(one: Armed, all: readonly Armed[]): number {
  let taken = 0;
  for (const other of inOrder(all)) {
    if (other === one) return taken;
    const { action } = other.fault;
    const times = timesOf(action);
    if (action.kind === one.fault.action.kind && times !== Infinity) taken += times;
  }
  return taken;
}

function inOrder(armed: readonly Armed[]): Armed[] {
  return armed.filter(({ atMs }) => atMs !== null).sort((a, b) => a.atMs! - b.atMs!);
}
