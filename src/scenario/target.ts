/** Whom a fault means, resolved when it fires; the same words on every driver. */
import type { Member, Slot } from '../base/member.js';
import type { FaultAction, FaultKind, LinkAction, MemberAction, Target } from './types.js';

/** Kinds that strike one member, and whether that one has to lead. */
export const MEMBER_KINDS = {
  stepDown: 'leading',
  flap: 'leading',
  overrun: 'leading',
  failPropose: 'leading',
  kill: 'any',
  outOfMemory: 'any',
  failWrites: 'any',
  failSync: 'any',
  tornTail: 'any',
  wipe: 'any',
  reload: 'any',
  freeze: 'any',
  slow: 'any',
  slowDisk: 'any',
  clockRate: 'any',
} as const satisfies Readonly<Record<MemberAction['kind'], 'leading' | 'any'>>;

/** Kinds that only a leader can suffer. */
export type LeadingKind = {
  [K in MemberAction['kind']]: (typeof MEMBER_KINDS)[K] extends 'leading' ? K : never;
}[MemberAction['kind']];

export function isMemberKind(kind: FaultKind): kind is MemberAction['kind'] {
  return Object.hasOwn(MEMBER_KINDS, kind);
}

export function isMemberAction(action: FaultAction): action is MemberAction {
  return isMemberKind(action.kind);
}

export function isLinkAction(action: FaultAction): action is LinkAction {
  return action.kind === 'partition' || action.kind === 'link';
}

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
  return MEMBER_KINDS[kind] === 'leading';
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
