/**
 * Slots and members. A scenario names a slot (r1); a slot holds a member, the slot plus an
 * incarnation that is never reused (r1.2). Messages carry members, so what was meant for a dead
 * incarnation is dropped.
 */
import { invariant } from './errors.js';

export type Slot = string;
export type Member = string;

export function memberOf(slot: Slot, incarnation: number): Member {
  return `${slot}.${incarnation}`;
}

export function slotOf(member: Member): Slot {
  const dot = member.lastIndexOf('.');
  invariant(dot > 0, `member ${member} has a slot`);
  return member.slice(0, dot);
}

/** The slots of a cluster of `count`: r1, r2, … */
export function slotsOf(count: number): Slot[] {
  return Array.from({ length: count }, (_, at) => `r${at + 1}`);
}
