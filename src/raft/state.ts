/**
 * What every member holds, whatever its role: the state of the paper's figure 2, and the changes of
 * role and term, of which each is told as an event. What only a candidate or a leader holds hangs
 * here as its ballot or its leadership, so that losing the role loses all of it at once.
 */
import { invariant } from '../base/errors.js';
import type { Member } from '../base/member.js';
import type { Ballot } from './ballot.js';
import { Durability } from './durability.js';
import type { Leadership } from './leadership.js';
import { Log } from './log.js';
import { limitsOf, type RaftLimits, type RaftOptions } from './options.js';
import { Outbox } from './outbox.js';
import { ElectionTimer } from './timer.js';
import type { Role, RoleCause } from './types.js';

/** Longer ago than any time-out. */
const NEVER = Number.NEGATIVE_INFINITY;

export class MemberState {
  readonly member: Member;
  readonly peers: readonly Member[];
  readonly checkQuorum: boolean;
  readonly limits: RaftLimits;
  readonly log: Log;
  readonly durability: Durability;
  readonly outbox: Outbox;
  readonly timer: ElectionTimer;

  term: number;
  vote: Member | null;
  role: Role = 'follower';
  leader: Member | null = null;
  ballot: Ballot | null = null;
  leadership: Leadership | null = null;
  #commit: number;
  #applied: number;
  #released = 0;
  #ticks = 0;
  readonly #heardAt: Float64Array;

  constructor(options: RaftOptions) {
    const { member, members, journal } = options;
    invariant(members.includes(member), `${member} is one of its voters`);
    this.member = member;
    this.peers = members.filter((other) => other !== member);
    this.checkQuorum = options.checkQuorum ?? true;
    this.limits = limitsOf(options);
    this.log = new Log(journal?.baseIndex ?? 0, journal?.baseTerm ?? 0, journal?.entries ?? []);
    this.term = journal?.term ?? 0;
    this.vote = journal?.vote ?? null;
    invariant(this.log.lastTerm <= this.term, 'the journal holds no entry of a later term');
    this.durability = new Durability(this.log.lastIndex, this.term, this.vote);
    this.outbox = new Outbox(member);
    this.timer = new ElectionTimer(options.prng, this.limits);
    this.#commit = this.log.baseIndex;
    this.#applied = this.#commit;
    this.#heardAt = new Float64Array(this.peers.length).fill(NEVER);
    this.tell('start');
  }

  get commit(): number {
    return this.#commit;
  }

  tick(): void {
    this.#ticks++;
    this.timer.tick();
  }

  /** Notes that a peer lives. False: it is none of ours. */
  heard(from: Member): boolean {
    const at = this.peers.indexOf(from);
    if (at < 0) return false;
    this.#heardAt[at] = this.#ticks;
    return true;
  }

  /** Whether the peer was heard within the longest election time-out. */
  hears(peer: Member): boolean {
    const heardAt = this.#heardAt[this.peers.indexOf(peer)] ?? NEVER;
    return this.#ticks - heardAt < this.limits.electionTicksMax;
  }

  /** Follows a leader, or nobody yet, in this term or a later one; the vote lives as the term. */
  follow(term: number, leader: Member | null, cause: RoleCause): void {
    invariant(term >= this.term, 'terms never go back');
    // A later term alone does not restart the time-out: a candidate that is refused again and
    // again would keep all others from standing (nats-server:
    // TestNRGUnsuccessfulVoteRequestDoesntResetElectionTimer).
    if (this.leadership !== null || cause !== 'higherTerm') this.timer.restart();
    if (term > this.term) {
      this.term = term;
      this.vote = null;
    }
    this.outbox.forgetAcknowledgement();
    this.ballot = null;
    this.leadership = null;
    this.role = 'follower';
    this.leader = leader;
    this.tell(cause);
  }

  tell(cause: RoleCause): void {
    const { role, term, leader } = this;
    this.outbox.event({ kind: 'role', role, term, leader, cause });
  }

  commitTo(index: number): void {
    if (index <= this.#commit) return;
    invariant(index <= this.log.lastIndex, `committed entry ${index} is in the log`);
    this.#commit = index;
  }

  /** Every member holds the log up to here: nobody asks for it again. */
  releaseUpTo(index: number): void {
    this.#released = Math.max(this.#released, index);
    this.#release();
  }

  appliedTo(index: number): void {
    invariant(index <= this.#commit, `applied entry ${index} is committed`);
    this.#applied = Math.max(this.#applied, index);
    this.#release();
  }

  #release(): void {
    const least = Math.min(this.#released, this.#commit, this.#applied, this.durability.index);
    this.log.releaseTo(least);
  }
}
