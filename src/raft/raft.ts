/**
 * Raft as in the paper (Ongaro and Ousterhout, sections 5.1 to 5.4), with pre-vote and check-quorum
 * (dissertation, 9.6 and 6.2) and leadership transfer (3.10). Inputs are messages, ticks, orders and
 * completions of writes; ready() drains what must be done, in the order of its fields.
 */
import {
  APPEND_BYTES_MAX,
  ELECTION_TICKS_MAX,
  ELECTION_TICKS_MIN,
  HEARTBEAT_TICKS,
  INFLIGHT_APPENDS_MAX,
  INFLIGHT_BYTES_MAX,
  LOG_ENTRIES_MAX,
  UNCOMMITTED_BYTES_MAX,
} from '../base/limits.js';
import type { Member } from '../base/member.js';
import type { Prng } from '../base/prng.js';
import { Ballot } from './ballot.js';
import { Durability } from './durability.js';
import { appendEntries, logIsUpToDate } from './follower.js';
import { Leadership } from './leadership.js';
import { Log } from './log.js';
import type {
  AppendRequest,
  Batch,
  Entry,
  Heartbeat,
  Message,
  ProposeResult,
  RaftEvent,
  RaftJournal,
  RaftReady,
  RaftStatus,
  Role,
  RoleCause,
  TimeoutNow,
  VoteReply,
  VoteRequest,
} from './types.js';

export interface RaftLimits {
  readonly heartbeatTicks: number;
  readonly electionTicksMin: number;
  readonly electionTicksMax: number;
  readonly inflightAppendsMax: number;
  readonly inflightBytesMax: number;
  readonly appendBytesMax: number;
  readonly uncommittedBytesMax: number;
  readonly logEntriesMax: number;
}

export interface RaftOptions {
  readonly member: Member;
  /** The voters, this member included. */
  readonly members: readonly Member[];
  readonly prng: Prng;
  readonly journal: RaftJournal | null;
  readonly preVote?: boolean;
  readonly checkQuorum?: boolean;
  /** False: no election time-outs of its own, it campaigns only when ordered to. */
  readonly timers: boolean;
  readonly limits?: Partial<RaftLimits>;
}

const LIMITS: RaftLimits = {
  heartbeatTicks: HEARTBEAT_TICKS,
  electionTicksMin: ELECTION_TICKS_MIN,
  electionTicksMax: ELECTION_TICKS_MAX,
  inflightAppendsMax: INFLIGHT_APPENDS_MAX,
  inflightBytesMax: INFLIGHT_BYTES_MAX,
  appendBytesMax: APPEND_BYTES_MAX,
  uncommittedBytesMax: UNCOMMITTED_BYTES_MAX,
  logEntriesMax: LOG_ENTRIES_MAX,
};

const NO_BYTES = new Uint8Array(0);
/** Longer ago than any time-out. */
const NEVER = Number.NEGATIVE_INFINITY;

export class Raft {
  readonly #member: Member;
  readonly #peers: readonly Member[];
  readonly #prng: Prng;
  readonly #preVote: boolean;
  readonly #checkQuorum: boolean;
  readonly #timers: boolean;
  readonly #limits: RaftLimits;
  readonly #log: Log;
  readonly #durability: Durability;

  #term: number;
  #vote: Member | null;
  #role: Role = 'follower';
  #leader: Member | null = null;
  #commit: number;
  #applied: number;
  #released = 0;
  #failed = false;

  #ticks = 0;
  /** Ticks since the leader was heard, a vote was granted or a campaign began. */
  #elapsed = 0;
  #timeoutTicks = 0;
  readonly #heardAt = new Map<Member, number>();
  #ballot: Ballot | null = null;
  /** The write that makes the own vote of this ballot durable, once issued. */
  #voteTicket: number | null = null;
  #leadership: Leadership | null = null;
  #uncommittedBytes = 0;

  /** Append acknowledgements of one turn are one: the last covers those before it. */
  #acknowledge: { readonly to: Member; readonly index: number } | null = null;
  #sendNow: Message[] = [];
  #sendAfterPersist: Message[] = [];
  #events: RaftEvent[] = [];

  constructor(options: RaftOptions) {
    const { journal } = options;
    this.#member = options.member;
    this.#peers = options.members.filter((member) => member !== options.member);
    this.#prng = options.prng;
    this.#preVote = options.preVote ?? true;
    this.#checkQuorum = options.checkQuorum ?? true;
    this.#timers = options.timers;
    this.#limits = { ...LIMITS, ...options.limits };
    this.#log = new Log(journal?.baseIndex ?? 0, journal?.baseTerm ?? 0, journal?.entries ?? []);
    this.#term = journal?.term ?? 0;
    this.#vote = journal?.vote ?? null;
    this.#commit = this.#log.baseIndex;
    this.#applied = this.#commit;
    this.#durability = new Durability(this.#log.lastIndex, this.#term, this.#vote);
    this.#restartTimer();
    this.#tell('start');
  }

  get role(): Role {
    return this.#role;
  }

  get term(): number {
    return this.#term;
  }

  get leader(): Member | null {
    return this.#leader;
  }

  get commit(): number {
    return this.#commit;
  }

  get lastIndex(): number {
    return this.#log.lastIndex;
  }

  get durableIndex(): number {
    return this.#durability.index;
  }

  entry(index: number): Entry | undefined {
    return this.#log.entry(index);
  }

  termAt(index: number): number | undefined {
    return this.#log.termAt(index);
  }

  /** Messages of non-members, or meant for another incarnation, are dropped. */
  step(message: Message): void {
    if (this.#failed || message.to !== this.#member || !this.#peers.includes(message.from)) return;
    this.#heardAt.set(message.from, this.#ticks);
    if (message.type === 'vote') {
      this.#voteRequested(message);
      return;
    }
    if (message.term > this.#term) this.#meetHigherTerm(message);
    if (message.term < this.#term) this.#meetLowerTerm(message);
    else this.#meetOwnTerm(message);
  }

  /**
   * One tick. While peer messages lie unread an election time-out stays due but does not expire:
   * the heartbeat that would stop it may be among them.
   */
  tick(unreadPeers: boolean): void {
    if (this.#failed) return;
    this.#ticks++;
    this.#elapsed++;
    if (this.#leadership !== null) {
      this.#tickLeader(this.#leadership);
      return;
    }
    if (this.#timers && !unreadPeers && this.#elapsed >= this.#timeoutTicks) {
      this.#campaign(this.#preVote ? 'pre' : 'real', 'electionTimeout');
    }
  }

  /**
   * Appends a batch to the leader's log: all or nothing. The term fences it: a task that began under
   * an earlier leadership of this member is refused (nats-server #8370).
   */
  propose(term: number, batch: Batch): ProposeResult {
    if (this.#failed) return { accepted: false, code: 'writeFailed' };
    const leadership = this.#leadership;
    if (leadership === null) return { accepted: false, code: 'notLeader' };
    if (term !== this.#term) return { accepted: false, code: 'staleTerm' };
    if (leadership.transfer !== null) return { accepted: false, code: 'transferring' };
    const full = this.#log.size >= this.#limits.logEntriesMax;
    if (full || batch.bytes.length > this.uncommittedRoom()) {
      return { accepted: false, code: 'overrun' };
    }
    return {
      accepted: true,
      index: this.#lead('batch', batch.count, batch.bytes),
    };
  }

  /** Bytes that propose still takes. */
  uncommittedRoom(): number {
    return Math.max(0, this.#limits.uncommittedBytesMax - this.#uncommittedBytes);
  }

  /** The write with this ticket, and all before it, is durable. */
  persisted(ticket: number): void {
    if (this.#failed) return;
    this.#durability.completed(ticket);
    if (this.#leadership !== null) this.#advanceCommit(this.#leadership);
    else this.#countOwnVote();
  }

  /** A write failed: this incarnation neither votes, nor acknowledges, nor sends again. */
  persistFailed(_ticket: number): void {
    if (this.#failed) return;
    this.#becomeFollower(this.#term, null, 'writeFailed');
    this.#failed = true;
    this.#acknowledge = null;
    this.#sendNow = [];
    this.#sendAfterPersist = [];
  }

  /** Obeys the conductor unless its observation is stale; false says that it was. */
  campaign(order: { readonly term: number; readonly deadLeader: Member | null }): boolean {
    if (this.#failed || this.#leadership !== null || order.term !== this.#term) return false;
    const hears = this.#leader !== null && this.#elapsed < this.#limits.electionTicksMin;
    if (hears && this.#leader !== order.deadLeader) return false;
    this.#campaign('ordered', 'ordered');
    return true;
  }

  /** Asks every peer whether it would vote, only to hear it: nothing depends on the answers. */
  probe(): void {
    if (this.#failed) return;
    for (const to of this.#peers) this.#requestVote(to, this.#term + 1, true, true);
  }

  /** A transfer to `to`, or a plain step-down to nobody. False when this member does not lead. */
  stepDown(to: Member | 'best' | null): boolean {
    const leadership = this.#leadership;
    if (leadership === null) return false;
    const target = to === 'best' ? leadership.mostCaughtUp((peer) => this.#hears(peer)) : to;
    if (target === null || target === this.#member) {
      this.#becomeFollower(this.#term, null, 'stepDown');
      return true;
    }
    if (leadership.progress(target) === undefined) return false;
    leadership.transfer = { to: target, ticks: 0, sent: false };
    this.#events.push({ kind: 'transfer', state: 'started', to: target });
    this.#transferIfDue(leadership);
    return true;
  }

  /** The replica applied up to this index: released entries below it may go. */
  appliedTo(index: number): void {
    this.#applied = Math.max(this.#applied, index);
    this.#release();
  }

  hasReady(): boolean {
    return (
      this.#events.length > 0 ||
      this.#sendNow.length > 0 ||
      this.#sendAfterPersist.length > 0 ||
      this.#acknowledge !== null ||
      this.#durability.isDue(this.#term, this.#vote, this.#log.lastIndex) ||
      (this.#leadership?.hasMessages(this.#commit) ?? false)
    );
  }

  ready(): RaftReady {
    this.#sayAcknowledgement();
    const leadership = this.#leadership;
    if (leadership !== null) {
      const standing = { commit: this.#commit, durable: this.durableIndex };
      this.#sendNow.push(...leadership.messages(standing));
      this.#released = Math.max(this.#released, leadership.releasable(this.durableIndex));
      this.#release();
    }
    const persist = this.#failed ? null : this.#durability.write(this.#term, this.#vote, this.#log);
    if (persist !== null && this.#ballot !== null) this.#voteTicket ??= persist.ticket;
    const sendNow = this.#sendNow;
    const sendAfterPersist = this.#sendAfterPersist;
    const events = this.#events;
    this.#sendNow = [];
    this.#sendAfterPersist = [];
    this.#events = [];
    return { persist, sendNow, sendAfterPersist, events };
  }

  status(): RaftStatus {
    return {
      member: this.#member,
      role: this.#role,
      term: this.#term,
      vote: this.#vote,
      leader: this.#leader,
      commit: this.#commit,
      lastIndex: this.#log.lastIndex,
      lastTerm: this.#log.lastTerm,
      durableIndex: this.durableIndex,
      uncommittedBytes: this.#uncommittedBytes,
      transferringTo: this.#leadership?.transfer?.to ?? null,
      hears: [this.#member, ...this.#peers.filter((peer) => this.#hears(peer))],
    };
  }

  // Messages by term (section 5.1).

  #meetHigherTerm(message: Message): void {
    // A granted pre-vote echoes the term that we asked for: nobody has reached it.
    if (message.type === 'voteReply' && message.pre && message.granted) return;
    const fromLeader = message.type === 'append' || message.type === 'heartbeat';
    this.#becomeFollower(message.term, fromLeader ? message.from : null, 'higherTerm');
  }

  /** A leader of an earlier term learns ours from the answer, so that nobody stays stuck. */
  #meetLowerTerm(message: Message): void {
    if (message.type === 'append') {
      this.#refuseAppend(message.from, message.prevIndex, this.#log.lastIndex, this.#log.lastTerm);
    } else if (message.type === 'heartbeat') {
      this.#reply({ type: 'heartbeatReply', to: message.from });
    }
  }

  #meetOwnTerm(message: Exclude<Message, VoteRequest>): void {
    switch (message.type) {
      case 'append':
        return this.#appendRequested(message);
      case 'heartbeat':
        return this.#heartbeatCame(message);
      case 'timeoutNow':
        return this.#timeoutOrdered(message);
      case 'voteReply':
        return this.#voteCame(message);
      case 'appendReply':
        if (this.#leadership === null) return;
        this.#leadership.appendReplied(message);
        this.#advanceCommit(this.#leadership);
        return this.#transferIfDue(this.#leadership);
      case 'heartbeatReply':
        return this.#leadership?.heartbeatReplied(message.from);
    }
  }

  // Elections (section 5.2).

  /** `pre`: ask first; `real`: after a won pre-vote or without; `ordered`: skip pre-vote and lease. */
  #campaign(how: 'pre' | 'real' | 'ordered', cause: RoleCause): void {
    const pre = how === 'pre';
    this.#restartTimer();
    this.#leader = null;
    this.#acknowledge = null;
    if (!pre) {
      this.#term++;
      this.#vote = this.#member;
    }
    this.#role = pre ? 'preCandidate' : 'candidate';
    const term = pre ? this.#term + 1 : this.#term;
    this.#ballot = new Ballot(pre, term, this.#peers.length + 1);
    this.#voteTicket = null;
    this.#tell(cause);
    for (const to of this.#peers) this.#requestVote(to, term, pre, how === 'ordered');
    if (pre) this.#countVote(this.#member, true);
  }

  #requestVote(to: Member, term: number, pre: boolean, ordered: boolean): void {
    this.#sendAfterPersist.push({
      type: 'vote',
      from: this.#member,
      to,
      term,
      pre,
      ordered,
      lastIndex: this.#log.lastIndex,
      lastTerm: this.#log.lastTerm,
    });
  }

  #voteRequested(request: VoteRequest): void {
    if (this.#holdsLease(request)) return;
    if (request.term > this.#term && !request.pre) {
      const transferred = this.#leadership?.transfer?.to === request.from;
      this.#becomeFollower(request.term, null, transferred ? 'transferred' : 'higherTerm');
    }
    const granted = this.#mayVoteFor(request) && logIsUpToDate(this.#log, request);
    if (granted && !request.pre) {
      this.#vote = request.from;
      this.#elapsed = 0;
    }
    this.#sendAfterPersist.push({
      type: 'voteReply',
      from: this.#member,
      to: request.from,
      term: granted && request.pre ? request.term : this.#term,
      pre: request.pre,
      granted,
    });
  }

  /** A member that hears a live leader does not help to depose it, unless that is ordered. */
  #holdsLease({ ordered, term }: VoteRequest): boolean {
    if (ordered || !this.#checkQuorum || term < this.#term) return false;
    if (this.#leadership !== null) return true;
    return this.#leader !== null && this.#elapsed < this.#limits.electionTicksMin;
  }

  #mayVoteFor(request: VoteRequest): boolean {
    if (request.pre) return request.term > this.#term;
    if (request.term < this.#term) return false;
    return this.#vote === request.from || (this.#vote === null && this.#leader === null);
  }

  #voteCame(reply: VoteReply): void {
    if (this.#ballot === null || reply.pre !== this.#ballot.pre) return;
    // A granted vote names the term that it is for; one of an earlier ballot counts nothing.
    if (reply.granted && reply.term !== this.#ballot.term) return;
    this.#countVote(reply.from, reply.granted);
  }

  #countVote(from: Member, granted: boolean): void {
    const ballot = this.#ballot;
    if (ballot === null) return;
    ballot.count(from, granted);
    if (ballot.won) {
      if (ballot.pre) this.#campaign('real', 'won');
      else this.#becomeLeader();
    } else if (ballot.lost) {
      this.#becomeFollower(this.#term, null, 'lost');
    }
  }

  /** The own vote counts, like any other, once it is durable. */
  #countOwnVote(): void {
    if (this.#ballot === null || this.#ballot.pre || this.#voteTicket === null) return;
    if (this.#durability.completedTicket >= this.#voteTicket) this.#countVote(this.#member, true);
  }

  #timeoutOrdered(message: TimeoutNow): void {
    if (this.#leadership === null && message.from === this.#leader) {
      this.#campaign('ordered', 'transferOrdered');
    }
  }

  // Replication (section 5.3).

  #appendRequested(request: AppendRequest): void {
    if (this.#leadership !== null) return;
    this.#hearLeader(request.from);
    const outcome = appendEntries(this.#log, this.#commit, this.#durability, request);
    if (!outcome.accepted) {
      this.#refuseAppend(request.from, request.prevIndex, outcome.hintIndex, outcome.hintTerm);
      return;
    }
    this.#commitTo(Math.min(request.commit, outcome.matched));
    this.#releaseUpTo(request.released);
    const index = Math.max(outcome.matched, this.#acknowledge?.index ?? 0);
    this.#acknowledge = { to: request.from, index };
  }

  #heartbeatCame(heartbeat: Heartbeat): void {
    if (this.#leadership !== null) return;
    this.#hearLeader(heartbeat.from);
    // It carries min(commit, match): what is below was proven equal, unless it was lost since.
    this.#commitTo(Math.min(heartbeat.commit, this.#log.lastIndex));
    this.#releaseUpTo(heartbeat.released);
    this.#reply({ type: 'heartbeatReply', to: heartbeat.from });
  }

  #hearLeader(leader: Member): void {
    this.#elapsed = 0;
    if (this.#leader === leader) return;
    this.#becomeFollower(this.#term, leader, 'leaderHeard');
  }

  #refuseAppend(to: Member, index: number, hintIndex: number, hintTerm: number): void {
    this.#sayAcknowledgement();
    this.#reply({
      type: 'appendReply',
      to,
      accepted: false,
      index,
      hintIndex,
      hintTerm,
    });
  }

  #sayAcknowledgement(): void {
    if (this.#acknowledge === null) return;
    const { to, index } = this.#acknowledge;
    this.#acknowledge = null;
    this.#reply({
      type: 'appendReply',
      to,
      accepted: true,
      index,
      hintIndex: 0,
      hintTerm: 0,
    });
  }

  #reply(
    reply:
      | { type: 'heartbeatReply'; to: Member }
      | {
          type: 'appendReply';
          to: Member;
          accepted: boolean;
          index: number;
          hintIndex: number;
          hintTerm: number;
        },
  ): void {
    this.#sendAfterPersist.push({
      ...reply,
      from: this.#member,
      term: this.#term,
    });
  }

  // Leading.

  #becomeLeader(): void {
    this.#ballot = null;
    this.#role = 'leader';
    this.#leader = this.#member;
    this.#leadership = new Leadership(
      this.#member,
      this.#term,
      this.#peers,
      this.#log,
      this.#limits,
    );
    this.#uncommittedBytes = 0;
    for (let index = this.#commit + 1; index <= this.#log.lastIndex; index++) {
      this.#uncommittedBytes += this.#log.entry(index)!.bytes.length;
    }
    this.#tell('won');
    this.#lead('noop', 0, NO_BYTES);
  }

  #lead(kind: Entry['kind'], count: number, bytes: Uint8Array): number {
    const index = this.#log.lastIndex + 1;
    this.#log.append({ term: this.#term, index, kind, count, bytes });
    this.#uncommittedBytes += bytes.length;
    return index;
  }

  #tickLeader(leadership: Leadership): void {
    if (++leadership.heartbeatTicks >= this.#limits.heartbeatTicks) {
      leadership.heartbeatTicks = 0;
      leadership.heartbeatDue = true;
    }
    this.#tickTransfer(leadership);
    if (++leadership.quorumTicks < this.#limits.electionTicksMax) return;
    leadership.quorumTicks = 0;
    const heard = this.#peers.filter((peer) => this.#hears(peer)).length + 1;
    if (this.#checkQuorum && heard * 2 <= this.#peers.length + 1) {
      this.#becomeFollower(this.#term, null, 'quorumLost');
    }
  }

  #tickTransfer(leadership: Leadership): void {
    const { transfer } = leadership;
    if (transfer === null || ++transfer.ticks < this.#limits.electionTicksMax) return;
    leadership.transfer = null;
    this.#events.push({
      kind: 'transfer',
      state: 'abandoned',
      to: transfer.to,
    });
  }

  #transferIfDue(leadership: Leadership): void {
    if (!leadership.transferIsDue()) return;
    const { to } = leadership.transfer!;
    leadership.transfer!.sent = true;
    this.#sendNow.push({
      type: 'timeoutNow',
      from: this.#member,
      to,
      term: this.#term,
    });
    this.#events.push({ kind: 'transfer', state: 'sent', to });
  }

  /** Section 5.4.2: only an entry of the own term is committed by counting. */
  #advanceCommit(leadership: Leadership): void {
    const index = leadership.quorumIndex(this.durableIndex);
    if (index > this.#commit && this.#log.termAt(index) === this.#term) this.#commitTo(index);
  }

  #commitTo(index: number): void {
    if (index <= this.#commit) return;
    if (this.#leadership !== null) {
      for (let at = this.#commit + 1; at <= index; at++) {
        this.#uncommittedBytes -= this.#log.entry(at)!.bytes.length;
      }
    }
    this.#commit = index;
  }

  // Roles, timers, the tail of the log that nobody needs.

  #becomeFollower(term: number, leader: Member | null, cause: RoleCause): void {
    // A higher term alone does not restart the timer: a refused candidate would else silence us.
    if (this.#leadership !== null || cause !== 'higherTerm') this.#restartTimer();
    if (term > this.#term) {
      this.#term = term;
      this.#vote = null;
    }
    this.#acknowledge = null;
    this.#role = 'follower';
    this.#leader = leader;
    this.#ballot = null;
    this.#leadership = null;
    this.#tell(cause);
  }

  #restartTimer(): void {
    const { electionTicksMin, electionTicksMax } = this.#limits;
    this.#elapsed = 0;
    this.#timeoutTicks = this.#prng.between('election', electionTicksMin, electionTicksMax);
  }

  #hears(peer: Member): boolean {
    return this.#ticks - (this.#heardAt.get(peer) ?? NEVER) < this.#limits.electionTicksMax;
  }

  #releaseUpTo(index: number): void {
    this.#released = Math.max(this.#released, index);
    this.#release();
  }

  #release(): void {
    this.#log.releaseTo(Math.min(this.#released, this.#commit, this.#applied, this.durableIndex));
  }

  #tell(cause: RoleCause): void {
    this.#events.push({
      kind: 'role',
      role: this.#role,
      term: this.#term,
      leader: this.#leader,
      cause,
    });
  }
}
