/**
 * A vote goes only to a candidate whose log is at least as new as the voter's: by last term, then
 * by length. A pre-vote is judged like one: else who can never win campaigns again and again. Raft
 * paper, section 5.4.1; dissertation, section 9.6; openraft a48a3282.
 */
import type { Member, Slot } from '../../base/member.js';
import type { VoteReply, VoteRequest } from '../../raft/types.js';
import { Earned } from './earned.js';
import type { Finding } from './types.js';

/** How a log ends. */
export interface LogEnd {
  readonly index: number;
  readonly term: number;
}

export class NewerLogVoted {
  static readonly property = 'votes for newer logs';
  readonly #asked = new Map<string, LogEnd>();
  /** The term of the last vote of each member that was looked at. */
  readonly #judged = new Map<Member, number>();
  readonly #earned = new Earned();

  /** A member restarted with what its disk holds: a vote that the disk lost was never given. */
  started(
    slot: Slot,
    voter: Member,
    { term, vote }: { readonly term: number; readonly vote: Member | null },
  ): void {
    this.#earned.started(slot);
    if (vote === null || this.#judged.get(voter) !== term) this.#judged.delete(voter);
  }

  /** A candidate asked for votes. Its log stays as it is for as long as it is one. */
  asked(candidate: Member, term: number, end: LogEnd): void {
    this.#asked.set(`${candidate} ${term}`, end);
  }

  /** A request is read. @param end  of the voter's log at this moment */
  read(slot: Slot, request: VoteRequest, end: LogEnd): void {
    const asked = { index: request.lastIndex, term: request.lastTerm };
    const against = isNewer(end, asked)
      ? `whose log ends at ${asked.index} of term ${asked.term}; ` +
        `its own ends at ${end.index} of term ${end.term}`
      : null;
    this.#earned.asked(slot, request, against);
  }

  /** A vote or a pre-vote is granted. */
  granted(slot: Slot, reply: VoteReply): Finding {
    const against = this.#earned.granted(slot, reply);
    if (against === null) return null;
    const what = reply.pre ? 'pre-vote' : 'vote';
    return `${slot} gave its ${what} of term ${reply.term} to ${reply.to}, ${against}`;
  }

  /** Whether a vote that a member writes down was looked at before. */
  isJudged(voter: Member, term: number): boolean {
    return this.#judged.get(voter) === term;
  }

  /**
   * A vote is handed to the voter's disk.
   *
   * @param ends  of the log before and after what is written beside the vote, entries of `term` and
   *   later left out: the vote was given somewhere in between
   */
  voted(voter: Member, term: number, candidate: Member, ends: readonly LogEnd[]): Finding {
    this.#judged.set(voter, term);
    const asked = this.#asked.get(`${candidate} ${term}`);
    if (asked === undefined) return null;
    if (!ends.every((end) => isNewer(end, asked))) return null;
    const [{ index, term: lastTerm }] = ends as [LogEnd];
    return (
      `${voter} voted for ${candidate} in term ${term}, whose log ends at ${asked.index} of term ` +
      `${asked.term}; its own ends at ${index} of term ${lastTerm}`
    );
  }
}

function isNewer(one: LogEnd, other: LogEnd): boolean {
  return one.term > other.term || (one.term === other.term && one.index > other.index);
}
