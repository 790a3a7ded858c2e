/** Whom a fault means, resolved when it fires; the same words on every driver. */
import type { Member, Slot } from '../base/member.js';
import type { FaultAction, MemberAction, Target } from './types.js';

/** The members that live at this moment, as a driver knows them, by slot. */
export interface LivingMembers<T extends { readonly slot: Slot }> {
  readonly living: readonly T[];
  /** The one that serves; null while nobody does. */
  readonly leader: T | null;
  readonly isFrozen: (member: T) => boolean;
  /** The last sequence that it holds. */
  readonly lastOf: (member: T) => number;
  /** A number below the bound, drawn from the seed for this fault. */
  readonly draw: (bound: number) => number;
}

/** The member that a target names now; null: there is none at this moment. */
export function resolveTarget<T extends { readonly slot: Slot }>(
  target: Target | null,
  members: LivingMembers<T>,
): T | null {
  const { living, leader, draw } = members;
  switch (target?.kind) {
    case 'leader':
      return leader;
    case 'follower':
      return leader === null ? null : followerOf(target.which, leader, members);
    case 'any':
      return living.length === 0 ? null : living[draw(living.length)]!;
    case 'slot':
      return living.find(({ slot }) => slot === target.slot) ?? null;
    case undefined:
      return null;
  }
}

/**
 * The member that a fault strikes now; null: there is none at this moment. What only a leader can
 * suffer has no object in a member that does not lead, or is frozen and would suffer it later.
 */
export function resolveStruck<T extends { readonly slot: Slot }>(
  { kind }: MemberAction,
  target: Target | null,
  members: LivingMembers<T>,
): T | null {
  const member = resolveTarget(target, members);
  if (member === null || !isOfLeaders(kind)) return member;
  return member === members.leader && !members.isFrozen(member) ? member : null;
}

/** Whether a fault can be suffered by who leads, and by nobody else. */
export function isOfLeaders(kind: MemberAction['kind']): boolean {
  return kind === 'stepDown' || kind === 'flap' || kind === 'failPropose';
}

/** Of two that hold the same, the first by slot. */
function followerOf<T extends { readonly slot: Slot }>(
  which: 'first' | 'lagging' | 'ahead',
  leader: T,
  { living, isFrozen, lastOf }: LivingMembers<T>,
): T | null {
  const followers = living.filter((member) => member !== leader && !isFrozen(member));
  const [first = null, ...others] = followers;
  if (first === null || which === 'first') return first;
  const sign = which === 'ahead' ? 1 : -1;
  return others.reduce(
    (best, member) => (sign * (lastOf(member) - lastOf(best)) > 0 ? member : best),
    first,
  );
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
