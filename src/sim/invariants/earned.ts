/**
 * Requests for votes as each voter has read them, and what spoke against granting them then. A
 * grant is earned if nothing spoke against one of those that it may answer: it leaves once it is
 * durable, and requests come twice.
 */
import type { Slot } from '../../base/member.js';
import type { VoteReply, VoteRequest } from '../../raft/types.js';
import type { Finding } from './types.js';

export class Earned {
  /** Of the present life of each slot, by candidate, term and kind of vote. */
  readonly #against = new Map<Slot, Map<string, Finding>>();

  started(slot: Slot): void {
    this.#against.delete(slot);
  }

  /** @param against  null: nothing speaks against a grant */
  asked(slot: Slot, { from, term, pre }: VoteRequest, against: Finding): void {
    let asked = this.#against.get(slot);
    if (asked === undefined) this.#against.set(slot, (asked = new Map<string, Finding>()));
    const key = keyOf(from, term, pre);
    if (asked.get(key) !== null) asked.set(key, against);
  }

  /** What speaks against a grant that is sent. */
  granted(slot: Slot, { to, term, pre }: VoteReply): Finding {
    return this.#against.get(slot)?.get(keyOf(to, term, pre)) ?? null;
  }
}

function keyOf(candidate: string, term: number, pre: boolean): string {
  return `${candidate} ${term} ${pre}`;
}
