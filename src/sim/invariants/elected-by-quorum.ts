/**
 * Who leads a term has the votes of a majority of the members in that very term, each counted once,
 * its own only once it is durable. Raft paper, section 5.2; akka-raft issues 45, 46 and 47.
 */
import type { Member } from '../../base/member.js';
import type { Finding } from './types.js';

export class ElectedByQuorum {
  static readonly property = 'elected by a quorum';
  /** By candidate and term: the others that sent their vote. */
  readonly #voters = new Map<string, Set<Member>>();

  /** A vote left `voter`; pre-votes bind nobody and are none. */
  voted(voter: Member, term: number, candidate: Member): void {
    const key = `${candidate} ${term}`;
    const voters = this.#voters.get(key);
    if (voters === undefined) this.#voters.set(key, new Set([voter]));
    else voters.add(voter);
  }

  /** @param ownVote  whether its disk holds its vote for itself in this term */
  elected(member: Member, term: number, of: { ownVote: boolean; members: number }): Finding {
    const others = this.#voters.get(`${member} ${term}`)?.size ?? 0;
    const votes = others + (of.ownVote ? 1 : 0);
    if (votes * 2 > of.members) return null;
    return `${member} leads term ${term} with ${votes} of ${of.members} votes`;
  }
}
