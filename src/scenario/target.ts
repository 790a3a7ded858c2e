/** Whom a fault means, resolved when it fires; the same words on every driver. */
import type { Member, Slot } from '../base/member.js';
import type { FaultAction, Target } from './types.js';

/** The members that live at this moment, as a driver knows them. */
export interface LivingMembers<T extends { readonly slot: Slot }> {
  readonly living: readonly T[];
  /** The one that serves; null while nobody does. */
  readonly leader: T | null;
  readonly isFrozen: (member: T) => boolean;
}

/** The member that a target names now; null: there is none at this moment. */
export function resolveTarget<T extends { readonly slot: Slot }>(
  target: Target | null,
  { living, leader, isFrozen }: LivingMembers<T>,
): T | null {
  switch (target?.kind) {
    case 'leader':
      return leader;
    case 'follower':
      if (leader === null) return null;
      return living.find((member) => member !== leader && !isFrozen(member)) ?? null;
    case 'slot':
      return living.find(({ slot }) => slot === target.slot) ?? null;
    case undefined:
      return null;
  }
}

/** Whom a step-down hands over to; null for nobody, and for every other fault. */
export function transferTarget(
  action: FaultAction,
  memberOf: (slot: Slot) => Member,
): Member | 'best' | null {
  if (action.kind !== 'stepDown') return null;
  const { to } = action;
  return to === null || to === 'best' ? to : memberOf(to);
}
