/**
 * A later term that was met is followed: once a member has read a message of a later term it is in
 * that term, whatever its role and whatever the message is, a reply least of all excepted. Requests
 * that bind nobody or that a lease disregards are left out. Raft paper, section 5.1; dissertation,
 * sections 6.2 and 9.6; akka-raft issue 46.
 */
import type { Slot } from '../../base/member.js';
import type { Message } from '../../raft/types.js';
import { isInItsTerm, type Finding } from './types.js';

interface Met {
  readonly term: number;
  readonly by: string;
}

export class LaterTermFollowed {
  static readonly property = 'later term followed';
  /** The latest term that reached the present life of each slot. */
  readonly #met = new Map<Slot, Met>();

  started(slot: Slot): void {
    this.#met.delete(slot);
  }

  /** A message lies before the member, which reads all that wait in its next turns. */
  received(slot: Slot, message: Message): void {
    const { type, from, term } = message;
    if (!binds(message) || term <= (this.#met.get(slot)?.term ?? 0)) return;
    this.#met.set(slot, { term, by: `${from}'s ${type}` });
  }

  /** A turn is over, and nothing lies unread. */
  stands(slot: Slot, term: number): Finding {
    const met = this.#met.get(slot);
    if (met === undefined || met.term <= term) return null;
    return `${slot} is in term ${term} after ${met.by} of term ${met.term}`;
  }
}

/** A request that was not ordered may be disregarded by a lease. */
function binds(message: Message): boolean {
  return isInItsTerm(message) && (message.type !== 'vote' || message.ordered);
}
