/**
 * Faults armed for a state, watched inside the host of every member that may meet it. They are
 * looked at before each step of a skip, so that a fault falls where the scenario says and no
 * message from the main thread has to be in time.
 */
import type { Slot } from '../base/member.js';
import type { Role } from '../raft/types.js';
import type { ReplicaView } from '../replica/types.js';
import type { FaultBudget } from './budget.js';
import { isKnownToLeader } from './links.js';
import type { FaultPlan, StateTrigger } from './types.js';

export interface Arm {
  /** Position of the fault in its plan: what the budget counts claims by. */
  readonly at: number;
  readonly fault: FaultPlan;
}

/** A fault whose state was reached. */
export interface Due extends Arm {
  /**
   * Claimed, and to be enacted by this member, at once. Else, or when it has no object right then,
   * somebody who knows all members has to be told.
   */
  readonly here: boolean;
}

/** The arms of a plan: the faults whose trigger is a state. */
export function armsOf(faults: readonly FaultPlan[]): Arm[] {
  return faults.map((fault, at) => ({ at, fault })).filter(({ fault }) => waitsForState(fault));
}

export function waitsForState({ trigger }: FaultPlan): boolean {
  return trigger.kind === 'state';
}

const STATES_OF_LEADER: readonly StateTrigger['kind'][] = ['skipped', 'appended', 'phase'];

export class Arms {
  readonly #slot: Slot;
  readonly #budget: FaultBudget;
  #waiting: Arm[];
  /** The furthest that this member came towards each fault's state. */
  readonly #seen = new Map<string, number>();

  constructor(arms: readonly Arm[], slot: Slot, budget: FaultBudget) {
    this.#slot = slot;
    this.#budget = budget;
    this.#waiting = arms.filter(({ fault }) => mayMeet(fault, slot));
  }

  /** One more: a state that was reached by then sets it off at the next look. */
  add(arm: Arm): void {
    if (mayMeet(arm.fault, this.#slot)) this.#waiting = [...this.#waiting, arm];
  }

  /** The next fault whose state is reached here and that nobody else claimed. */
  due(view: ReplicaView): Due | undefined {
    if (this.#waiting.length === 0) return undefined;
    for (const arm of this.#waiting) {
      const { trigger } = arm.fault;
      if (trigger.kind !== 'state' || !watches(arm.fault, this.#slot, view)) continue;
      const progress = progressOf(trigger.state, view);
      if (progress > (this.#seen.get(arm.fault.id) ?? -1)) this.#seen.set(arm.fault.id, progress);
      if (!reached(trigger.state, view)) continue;
      this.#waiting = this.#waiting.filter((other) => other !== arm);
      const here = isEnactedHere(arm.fault, this.#slot, view);
      const isFree = here ? this.#budget.claim(arm.at) : !this.#budget.claimed(arm.at);
      if (isFree) return { ...arm, here };
    }
    return undefined;
  }

  /** What was last seen of each state that is still waited for here. */
  lastSeen(): ReadonlyMap<string, number> {
    return this.#seen;
  }
}

/** The furthest that any member came towards each fault's state, by fault id. */
export function furthestSeen(
  members: readonly Iterable<readonly [fault: string, value: number]>[],
): Map<string, number> {
  const seen = new Map<string, number>();
  for (const pairs of members) {
    for (const [fault, value] of pairs) seen.set(fault, Math.max(value, seen.get(fault) ?? 0));
  }
  return seen;
}

/** How a state reads in a message: `skipped >= 10000`. */
export function stateText(state: StateTrigger): string {
  switch (state.kind) {
    case 'skipped':
    case 'applied':
      return `${state.kind} >= ${state.count}`;
    case 'term':
      return `term >= ${state.term}`;
    case 'role':
      return `role = ${state.role}`;
    case 'appended':
      return `appended on ${state.on} of ${state.of}`;
    case 'phase':
      return `phase = ${state.phase}`;
  }
}

/**
 * Skips and who holds a batch are the leader's to count, whoever the target is; so is all that has
 * no target, and the phases of a leader.
 */
function isLeaders({ target, trigger }: FaultPlan): boolean {
  const isOfLeader = trigger.kind === 'state' && STATES_OF_LEADER.includes(trigger.state.kind);
  return isOfLeader || target === null || target.kind === 'leader';
}

function mayMeet(fault: FaultPlan, slot: Slot): boolean {
  return isLeaders(fault) || fault.target?.kind !== 'slot' || fault.target.slot === slot;
}

function watches(fault: FaultPlan, slot: Slot, view: ReplicaView): boolean {
  const { trigger } = fault;
  if (trigger.kind === 'state' && trigger.state.kind === 'phase') return isInNoop(view);
  if (isLeaders(fault)) return view.serving;
  switch (fault.target!.kind) {
    case 'follower':
      return view.log.role === 'follower';
    case 'slot':
      return fault.target!.slot === slot;
    default:
      return true;
  }
}

function isEnactedHere({ action, target }: FaultPlan, slot: Slot, view: ReplicaView): boolean {
  switch (target?.kind) {
    case 'leader':
      return true;
    case 'slot':
      return target.slot === slot;
    case 'follower':
      return target.which === 'first' && view.log.role === 'follower';
    case 'any':
      return false;
    case undefined:
      return action.kind === 'partition' || action.kind === 'link' ? isKnownToLeader(action) : true;
  }
}

function progressOf(state: StateTrigger, view: ReplicaView): number {
  switch (state.kind) {
    case 'skipped':
      return view.skipsAccepted;
    case 'applied':
      return view.stored;
    case 'term':
      return view.log.term;
    case 'role':
      return roleMet(state.role, view.log.role) ? 1 : 0;
    case 'appended':
      return view.log.appendedOn(state.on) ? 1 : 0;
    case 'phase':
      return 1;
  }
}

function reached(state: StateTrigger, view: ReplicaView): boolean {
  const progress = progressOf(state, view);
  switch (state.kind) {
    case 'skipped':
    case 'applied':
      return progress >= state.count;
    case 'term':
      return progress >= state.term;
    case 'role':
    case 'appended':
    case 'phase':
      return progress === 1;
  }
}

/** Elected with something to lose, and its mirror not opened yet. */
function isInNoop({ log, serving, stored }: ReplicaView): boolean {
  return log.role === 'leader' && !serving && stored > 0;
}

function roleMet(wanted: 'leader' | 'candidate' | 'follower', role: Role): boolean {
  return wanted === role || (wanted === 'candidate' && role === 'preCandidate');
}
