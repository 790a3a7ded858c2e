/**
 * Raft as in the paper (Ongaro and Ousterhout, sections 5.1 to 5.4), with pre-vote and check-quorum
 * (dissertation, 9.6 and 6.2) and leadership transfer (3.10). Inputs are messages, ticks, orders
 * and completions of writes; ready() drains what must be done, in the order of its fields. This
 * file says which input means what in which role; the rules themselves are in the files beside it.
 */
import type { Member } from '../base/member.js';
import { campaign, countOwnVote, probePeers, voteCame, voteRequested } from './election.js';
import { appendRequested, earlierTermCame, heartbeatCame } from './follower.js';
import { Leadership } from './leadership.js';
import type { RaftOptions } from './options.js';
import { MemberState } from './state.js';
import type {
  Batch,
  Entry,
  Message,
  ProposeResult,
  RaftReady,
  RaftStatus,
  Role,
  VoteRequest,
} from './types.js';

export type { RaftLimits, RaftOptions } from './options.js';

export class Raft {
  readonly #state: MemberState;
  readonly #preVote: boolean;
  readonly #timers: boolean;
  #failed = false;

  constructor(options: RaftOptions) {
    this.#state = new MemberState(options);
    this.#preVote = options.preVote ?? true;
    this.#timers = options.timers;
  }

  get role(): Role {
    return this.#state.role;
  }

  get isLeader(): boolean {
    return this.#state.leadership !== null;
  }

  get term(): number {
    return this.#state.term;
  }

  get vote(): Member | null {
    return this.#state.vote;
  }

  get leader(): Member | null {
    return this.#state.leader;
  }

  get commit(): number {
    return this.#state.commit;
  }

  get lastIndex(): number {
    return this.#state.log.lastIndex;
  }

  /** The log is durable here up to this index. */
  get durableIndex(): number {
    return this.#state.durability.index;
  }

  /** Undefined beyond the last entry and for those that were released. */
  entry(index: number): Entry | undefined {
    return this.#state.log.entry(index);
  }

  /** As entry, but the last released entry's term is still known. */
  termAt(index: number): number | undefined {
    return this.#state.log.termAt(index);
  }

  /** Messages of non-members, or meant for another incarnation, are dropped. */
  step(message: Message): void {
    const state = this.#state;
    if (this.#failed || message.to !== state.member || !state.heard(message.from)) return;
    if (message.type === 'vote') {
      voteRequested(state, message);
      return;
    }
    if (message.term > state.term) this.#meetHigherTerm(message);
    if (message.term < state.term) earlierTermCame(state, message);
    else this.#meetOwnTerm(message);
  }

  /**
   * One tick. While peer messages lie unread an election time-out stays due but does not expire:
   * the heartbeat that would stop it may be among them.
   */
  tick(unreadPeers: boolean): void {
    if (this.#failed) return;
    const state = this.#state;
    state.tick();
    if (state.leadership !== null) {
      state.leadership.tick();
      const deposed = state.checkQuorum && !state.leadership.hasQuorum;
      if (deposed) state.follow(state.term, null, 'quorumLost');
      return;
    }
    if (this.#timers && !unreadPeers && state.timer.isDue) {
      campaign(state, this.#preVote ? 'pre' : 'real', 'electionTimeout');
    }
  }

  /**
   * Appends a batch to the leader's log: all or nothing. The term fences it: a task that began
   * under an earlier leadership of this member is refused (nats-server #8370).
   *
   * Refuses with writeFailed, notLeader, staleTerm, transferring or overrun. Accepted is not yet
   * logged by anybody else, nor committed: it may still vanish.
   */
  propose(term: number, batch: Batch): ProposeResult {
    if (this.#failed) return { accepted: false, code: 'writeFailed' };
    const { leadership } = this.#state;
    if (leadership === null) return { accepted: false, code: 'notLeader' };
    return leadership.propose(term, batch);
  }

  /** Bytes that propose takes before it refuses with overrun; what a member that does not lead
   * would take is refused for that reason instead. */
  uncommittedRoom(): number {
    const { leadership, limits } = this.#state;
    return leadership?.room() ?? limits.uncommittedBytesMax;
  }

  /** The write with this ticket, and all before it, is durable. */
  persisted(ticket: number): void {
    if (this.#failed) return;
    this.#state.durability.completed(ticket);
    this.#state.leadership?.advanceCommit();
    countOwnVote(this.#state);
    this.#leadIfElected();
  }

  /** A write failed: this incarnation neither votes, nor acknowledges, nor sends again. */
  persistFailed(_ticket: number): void {
    if (this.#failed) return;
    this.#failed = true;
    this.#state.follow(this.#state.term, null, 'writeFailed');
    this.#state.outbox.silence();
  }

  /**
   * Obeys the conductor, unless it observed another term or this member leads or hears a leader
   * other than the one reported dead: false says that. Skips pre-vote and lease; the log check of
   * the voters is never skipped.
   */
  campaign(order: { readonly term: number; readonly deadLeader: Member | null }): boolean {
    const { leadership, leader, term, timer } = this.#state;
    if (this.#failed || leadership !== null || order.term !== term) return false;
    const hears = leader !== null && timer.withinLease;
    if (hears && leader !== order.deadLeader) return false;
    campaign(this.#state, 'ordered', 'ordered');
    return true;
  }

  /** Makes every peer answer, only to be heard: nothing depends on the answers. */
  probe(): void {
    if (!this.#failed) probePeers(this.#state);
  }

  /**
   * Hands over to a member, to the most caught-up one that is heard ('best'; with none: to nobody),
   * or steps down at once and names nobody. False when this member does not lead, and when `to` is
   * itself or not a voter: nothing changes then.
   */
  stepDown(to: Member | 'best' | null, cause: 'stepDown' | 'overrun' = 'stepDown'): boolean {
    const { leadership, peers, term } = this.#state;
    if (leadership === null) return false;
    const target = to === 'best' ? leadership.replication.mostCaughtUp() : to;
    if (target === null) {
      this.#state.follow(term, null, cause);
      return true;
    }
    if (!peers.includes(target)) return false;
    leadership.transferTo(target);
    return true;
  }

  /** Whether some batch of this leadership is durable on exactly so many members. */
  appendedOn(members: number): boolean {
    return this.#state.leadership?.appendedOn(members) ?? false;
  }

  /** The replica applied up to this index: released entries up to it may go. */
  appliedTo(index: number): void {
    this.#state.appliedTo(index);
  }

  hasReady(): boolean {
    const { outbox, durability, leadership, term, vote, log } = this.#state;
    if (!outbox.isEmpty) return true;
    if (this.#failed) return false;
    return durability.isDue(term, vote, log.lastIndex) || (leadership?.replication.isDue ?? false);
  }

  /** Drains what the host must do, in the order of the fields. */
  ready(): RaftReady {
    const persist = this.#failed ? null : this.#write();
    const { leadership, outbox } = this.#state;
    if (leadership !== null) {
      leadership.replication.send();
      this.#state.releaseUpTo(leadership.replication.releasable());
    }
    const { sendNow, sendAfterPersist, events } = outbox.drain();
    return { persist, sendNow, sendAfterPersist, events };
  }

  status(): RaftStatus {
    const { member, peers, role, term, vote, leader, commit, log, leadership } = this.#state;
    return {
      member,
      role,
      term,
      vote,
      leader,
      commit,
      lastIndex: log.lastIndex,
      lastTerm: log.lastTerm,
      durableIndex: this.durableIndex,
      uncommittedBytes: leadership?.uncommittedBytes ?? 0,
      transferringTo: leadership?.transferTarget ?? null,
      hears: [member, ...peers.filter((peer) => this.#state.hears(peer))],
    };
  }

  #write(): RaftReady['persist'] {
    const { durability, term, vote, log, ballot } = this.#state;
    const persist = durability.write(term, vote, log);
    if (persist !== null && ballot !== null) ballot.ticket ??= persist.ticket;
    return persist;
  }

  /** Section 5.1: whoever is behind in terms follows, whatever its role. */
  #meetHigherTerm(message: Exclude<Message, VoteRequest>): void {
    // A granted pre-vote echoes the term that was asked for: nobody has reached it.
    if (message.type === 'voteReply' && message.pre && message.granted) return;
    const fromLeader = message.type === 'append' || message.type === 'heartbeat';
    this.#state.follow(message.term, fromLeader ? message.from : null, 'higherTerm');
  }

  #meetOwnTerm(message: Exclude<Message, VoteRequest>): void {
    const state = this.#state;
    switch (message.type) {
      case 'append':
        return appendRequested(state, message);
      case 'heartbeat':
        return heartbeatCame(state, message);
      case 'voteReply':
        voteCame(state, message);
        return this.#leadIfElected();
      case 'appendReply':
        return state.leadership?.appendReplied(message);
      case 'heartbeatReply':
        return state.leadership?.heartbeatReplied(message);
      case 'timeoutNow':
        if (state.leadership === null) campaign(state, 'ordered', 'transferOrdered');
    }
  }

  #leadIfElected(): void {
    const state = this.#state;
    if (state.ballot?.pre !== false || !state.ballot.won) return;
    state.ballot = null;
    state.role = 'leader';
    state.leader = state.member;
    state.leadership = new Leadership(state);
    state.tell('won');
  }
}
