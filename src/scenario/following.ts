/** When a fault is due that follows another one, by what became of that. */
import type { FaultStatus } from '../verdict/types.js';
import { holdsMs } from './budget.js';
import type { FaultPlan, Trigger } from './types.js';

/** What is known of a fault that another one follows. */
export interface Followed {
  readonly fault: FaultPlan;
  readonly status: FaultStatus | 'waiting';
  readonly atMs: number | null;
  readonly overMs: number | null;
  readonly decidedMs: number | null;
}

type AfterTrigger = Extract<Trigger, { kind: 'after' }>;

/** When what a fault waits for began; null: it did not, or not yet. */
export function startedAt({ atMs, decidedMs }: Followed, { settled }: AfterTrigger): number | null {
  return settled ? decidedMs : atMs;
}

/**
 * When what follows a fault is due; null: that fault is not installed, or not over. A delay that
 * reaches beyond the end of what it follows counts on from there: a fault may end late.
 */
export function dueAfter(followed: Followed, trigger: AfterTrigger): number | null {
  const sinceMs = startedAt(followed, trigger);
  if (sinceMs === null) return null;
  const { fault, status, overMs } = followed;
  const { delayMs, settled } = trigger;
  const heldMs = holdsMs(fault.action);
  const isBehind = !settled && heldMs > 0 && delayMs >= heldMs && status === 'installed';
  if (!isBehind) return sinceMs + delayMs;
  return overMs === null ? null : Math.max(sinceMs + delayMs, overMs + delayMs - heldMs);
}
