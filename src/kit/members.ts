/** What the events of a run have told of each member so far. */
import type { Slot } from '../base/member.js';
import type { Role } from '../raft/types.js';
import type { ClusterEvent } from '../scenario/driver.js';

/** A member as it was last heard of. */
export interface MemberState {
  readonly slot: Slot;
  /** False: a fault ended it. */
  readonly alive: boolean;
  readonly role: Role;
  readonly term: number;
  /** The last sequence that it holds, and how many messages. */
  readonly last: number;
  readonly messages: number;
}

type Heard = Omit<MemberState, 'alive'>;

export class MemberStates {
  readonly #states: Map<Slot, Heard>;

  constructor(slots: readonly Slot[]) {
    const fresh = { role: 'follower', term: 0, last: 0, messages: 0 } as const;
    this.#states = new Map(slots.map((slot) => [slot, { slot, ...fresh }]));
  }

  add(event: ClusterEvent): void {
    switch (event.kind) {
      case 'replica':
        if (event.event.kind !== 'role') return;
        return this.#change(event.slot, { role: event.event.role, term: event.event.term });
      case 'progress':
        return this.#change(event.slot, { last: event.last, messages: event.messages });
      default:
    }
  }

  /** By slot. */
  list(living: readonly Slot[]): MemberState[] {
    return [...this.#states.values()].map((state) => ({
      ...state,
      alive: living.includes(state.slot),
    }));
  }

  #change(slot: Slot, change: Partial<Heard>): void {
    this.#states.set(slot, { ...this.#states.get(slot)!, ...change });
  }
}
