/**
 * Elections: campaigns, the answers to requests, the count (section 5.2, the log check of section
 * 5.4.1), with pre-vote (dissertation, section 9.6) and the lease of check-quorum (section 6.2).
 */
import type { Member } from '../base/member.js';
import { Ballot } from './ballot.js';
import { heartbeatReply } from './follower.js';
import type { MemberState } from './state.js';
import type { RoleCause, VoteReply, VoteRequest } from './types.js';

/**
 * `pre`: ask first; `real`: after a won pre-vote or without one; `ordered`: skips the lease too.
 */
export type CampaignKind = 'pre' | 'real' | 'ordered';

export function campaign(state: MemberState, kind: CampaignKind, cause: RoleCause): void {
  const pre = kind === 'pre';
  state.timer.restart();
  state.outbox.forgetAcknowledgement();
  state.leader = null;
  if (!pre) {
    state.term++;
    state.vote = state.member;
  }
  const term = pre ? state.term + 1 : state.term;
  state.role = pre ? 'preCandidate' : 'candidate';
  state.ballot = new Ballot(pre, term, kind === 'ordered', state.peers.length + 1);
  state.tell(cause);
  requestVotes(state);
  if (pre) countVote(state, state.member, true);
}

/** Asks every peer for its vote in the open ballot; asked twice, a peer is still counted once. */
export function requestVotes(state: MemberState): void {
  const { ballot } = state;
  if (ballot === null) return;
  for (const to of state.peers) request(state, to, ballot.term, ballot.pre, ballot.ordered);
}

/**
 * Makes every peer answer, so that both ends hear each other. It asks for a vote of the present
 * term, which is no ballot's: an answer elects nobody, and one from a later term teaches that term.
 */
export function probePeers(state: MemberState): void {
  if (state.ballot !== null) {
    requestVotes(state);
    return;
  }
  for (const to of state.peers) request(state, to, state.term, true, true);
}

/**
 * Answers a request, or says nothing within the lease: a member that hears a live leader does not
 * help to depose it, unless that was ordered. A refusal changes nothing here but perhaps the term.
 */
export function voteRequested(state: MemberState, asked: VoteRequest): void {
  if (holdsLease(state, asked)) return;
  if (asked.term > state.term && !asked.pre) {
    const transferred = state.leadership?.transferTarget === asked.from;
    state.follow(asked.term, null, transferred ? 'transferred' : 'higherTerm');
  }
  // A pre-vote for a term that is not new is a probe, or comes from behind: our term is the whole
  // answer. A refusal could be taken for one of a pre-vote that began while it was under way.
  if (asked.pre && asked.term <= state.term) {
    heartbeatReply(state, asked.from);
    return;
  }
  const granted = mayVoteFor(state, asked) && isUpToDate(state, asked);
  if (granted && !asked.pre) {
    state.vote = asked.from;
    state.timer.restart();
  }
  state.outbox.sendAfterPersist({
    type: 'voteReply',
    from: state.member,
    to: asked.from,
    term: granted && asked.pre ? asked.term : state.term,
    pre: asked.pre,
    granted,
  });
}

/** Counts a reply if it belongs to the open ballot: a grant names the term that was asked for. */
export function voteCame(state: MemberState, reply: VoteReply): void {
  const { ballot } = state;
  if (reply.pre !== ballot?.pre) return;
  if (reply.granted && reply.term !== ballot.term) return;
  countVote(state, reply.from, reply.granted);
}

/** The own vote counts, like any other, once it is durable. */
export function countOwnVote(state: MemberState): void {
  const { ballot, durability } = state;
  if (ballot === null || ballot.pre || ballot.ticket === null) return;
  if (durability.completedTicket >= ballot.ticket) countVote(state, state.member, true);
}

function request(
  state: MemberState,
  to: Member,
  term: number,
  pre: boolean,
  ordered: boolean,
): void {
  const { member: from, log } = state;
  const { lastIndex, lastTerm } = log;
  state.outbox.sendAfterPersist({
    type: 'vote',
    from,
    to,
    term,
    pre,
    ordered,
    lastIndex,
    lastTerm,
  });
}

function countVote(state: MemberState, from: Member, granted: boolean): void {
  const ballot = state.ballot!;
  ballot.count(from, granted);
  if (ballot.won && ballot.pre) campaign(state, 'real', 'won');
  else if (ballot.lost) state.follow(state.term, null, 'lost');
}

function holdsLease(state: MemberState, { ordered, term }: VoteRequest): boolean {
  if (ordered || !state.checkQuorum || term < state.term) return false;
  return state.leadership !== null || (state.leader !== null && state.timer.withinLease);
}

/** One vote a term; a pre-vote, always for a new term here, is no vote. */
function mayVoteFor(state: MemberState, { pre, term, from }: VoteRequest): boolean {
  if (pre) return true;
  if (term < state.term) return false;
  return state.vote === from || (state.vote === null && state.leader === null);
}

/** Section 5.4.1: the later last term wins, then the longer log. */
function isUpToDate({ log }: MemberState, { lastIndex, lastTerm }: VoteRequest): boolean {
  return lastTerm > log.lastTerm || (lastTerm === log.lastTerm && lastIndex >= log.lastIndex);
}
