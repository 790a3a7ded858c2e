/** The follower's side of AppendEntries (section 5.3). */
import { invariant } from '../base/errors.js';
import type { Member } from '../base/member.js';
import type { MemberState } from './state.js';
import type { AppendRequest, Entry, Heartbeat, Message } from './types.js';

/**
 * Takes in what the leader of this term sent: checks that the logs match at prevIndex, removes a
 * conflicting tail, appends what is new. Acknowledged, and at most committed, is the last index
 * that this very message proved equal to the leader's log, never our own last.
 */
export function appendRequested(state: MemberState, request: AppendRequest): void {
  if (state.leadership !== null) return;
  hearLeader(state, request.from);
  const { log } = state;
  const { from, prevIndex, prevTerm, entries } = request;
  // What is committed here is in the leader's log as well (section 5.4): it needs no check.
  if (prevIndex > state.commit && log.termAt(prevIndex) !== prevTerm) {
    const hintIndex = log.lastAtMost(prevIndex, prevTerm);
    state.outbox.refuse(from, state.term, prevIndex, hintIndex, log.termAt(hintIndex)!);
    return;
  }
  for (const entry of entries) appendOne(state, entry);
  const matched = Math.max(prevIndex + entries.length, state.commit);
  state.commitTo(Math.min(request.commit, matched));
  state.releaseUpTo(request.released);
  state.outbox.acknowledge(from, state.term, matched);
}

export function heartbeatCame(state: MemberState, heartbeat: Heartbeat): void {
  if (state.leadership !== null) return;
  hearLeader(state, heartbeat.from);
  // It carries min(commit, match): what is below was acknowledged, so it is here.
  state.commitTo(Math.min(heartbeat.commit, state.log.lastIndex));
  state.releaseUpTo(heartbeat.released);
  heartbeatReply(state, heartbeat.from);
}

/**
 * A leader of an earlier term learns ours from the answer, so that nobody stays stuck. The answer
 * to an append is no refusal: the one asked may lead again by now, in our term, and would take it
 * for the answer to a probe of this term that stands at the same index.
 */
export function earlierTermCame(state: MemberState, { type, from }: Message): void {
  if (type === 'append' || type === 'heartbeat') heartbeatReply(state, from);
}

/** An entry that is here already removes nothing, however late it comes; only a conflict does. */
function appendOne(state: MemberState, entry: Entry): void {
  const { log } = state;
  if (entry.index <= log.baseIndex) return;
  const term = log.termAt(entry.index);
  if (term === entry.term) return;
  if (term !== undefined) {
    invariant(entry.index > state.commit, `committed entry ${entry.index} is never replaced`);
    log.truncateFrom(entry.index);
    state.durability.truncatedFrom(entry.index);
  }
  log.append(entry);
}

function hearLeader(state: MemberState, leader: Member): void {
  state.timer.touch();
  if (state.leader !== leader) state.follow(state.term, leader, 'leaderHeard');
}

/** Says no more than that this member lives, and its term. */
export function heartbeatReply(state: MemberState, to: Member): void {
  const { member: from, term } = state;
  state.outbox.sendAfterPersist({ type: 'heartbeatReply', from, to, term });
}
