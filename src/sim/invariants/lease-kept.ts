/**
 * With check-quorum, who leads or has heard its leader within the shortest election time-out gives
 * nobody a vote or a pre-vote, unless that was ordered. Raft dissertation, sections 4.2.3 and 6.2;
 * etcd TestLeaderElectionWithCheckQuorum.
 */
import type { Slot } from '../../base/member.js';
import type { VoteReply, VoteRequest } from '../../raft/types.js';
import { Earned } from './earned.js';
import type { Finding } from './types.js';

export class LeaseKept {
  static readonly property = 'lease kept';
  readonly #earned = new Earned();

  started(slot: Slot): void {
    this.#earned.started(slot);
  }

  /** A request is read. @param by  who holds the lease: the voter, or whom it hears */
  asked(slot: Slot, request: VoteRequest, by: string | null): void {
    const disregarded = by !== null && !request.ordered;
    this.#earned.asked(slot, request, disregarded ? by : null);
  }

  granted(slot: Slot, reply: VoteReply): Finding {
    const by = this.#earned.granted(slot, reply);
    if (by === null) return null;
    const what = reply.pre ? 'pre-vote' : 'vote';
    return `${slot} gave ${reply.to} its ${what} of term ${reply.term} within the lease of ${by}`;
  }
}
