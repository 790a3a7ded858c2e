/**
 * One replica, pure: a log (raft), a store and a mirror behind (state, Input) -> Ready. It decides
 * nothing about time, disk or network; the host does what Ready says, in the order of its fields.
 */
import type { ErrorData } from '../base/errors.js';
import type { Hasher } from '../base/hasher.js';
import { UNCOMMITTED_BYTES_MAX } from '../base/limits.js';
import type { Member } from '../base/member.js';
import { Pending } from '../base/pending.js';
import type { Prng } from '../base/prng.js';
import { Mirror } from '../mirror/mirror.js';
import type { OpeningPhase, SkipEncoding, MirrorCursor } from '../mirror/types.js';
import { Raft, type RaftLimits } from '../raft/raft.js';
import type { Batch, Entry, ProposeResult, RaftJournal } from '../raft/types.js';
import { expectedOf, KIND_IDENTITY, recordKind, viewOf } from '../stream/layout.js';
import { chainHash, Store } from '../stream/store.js';
import { DirectLog } from './direct.js';
import type { CommandLog } from './log.js';
import { ProposeFaults } from './propose-faults.js';
import type { Input, Ready, ReplicaEvent, ReplicaStatus } from './types.js';

/** Bounds of one replica; what each bounds is said in base/limits.ts. */
export interface ReplicaLimits extends RaftLimits {
  /** Commands and bytes of one batch, bytes of one record. */
  readonly batchCountMax: number;
  readonly batchBytesMax: number;
  readonly recordBytesMax: number;
}

export interface ReplicaOptions {
  readonly member: Member;
  /** All voters, this member included. One member means no raft. */
  readonly members: readonly Member[];
  readonly prng: Prng;
  readonly hasher: Hasher;
  readonly skip: SkipEncoding;
  /** Scales every mirror constant; 1 is upstream's. */
  readonly timeScale: number;
  /** False: no election time-outs of its own, only orders. */
  readonly timers: boolean;
  readonly preVote?: boolean;
  readonly checkQuorum?: boolean;
  /** Not given: as in base/limits.ts. */
  readonly limits?: Partial<ReplicaLimits>;
  readonly journal: RaftJournal | null;
  /** Zeroed bytes that are never reused, 8-byte aligned. */
  readonly allocate: (size: number) => Uint8Array;
}

/** What others may look at without a status of the whole being made. */
export type LogView = Pick<
  CommandLog,
  | 'role'
  | 'term'
  | 'vote'
  | 'leader'
  | 'commit'
  | 'lastIndex'
  | 'durableIndex'
  | 'entry'
  | 'appendedOn'
  | 'status'
>;

export class Replica {
  readonly member: Member;
  readonly store: Store;
  readonly #log: CommandLog;
  readonly #mirror: Mirror;
  readonly #hasher: Hasher;
  readonly #direct: boolean;
  readonly #uncommittedMax: number;
  #applied: number;
  #hash = 0n;
  #stored = 0;
  /** The term in which this member opened its mirror; null while it does not serve. */
  #servingTerm: number | null = null;
  readonly #proposeFaults: ProposeFaults;
  #failed: ErrorData | null = null;
  #commitSeen: number;
  #ticks = 0;
  #quietTicks = 0;
  readonly #events = new Pending<ReplicaEvent>();

  constructor(options: ReplicaOptions) {
    this.member = options.member;
    this.#hasher = options.hasher;
    this.#direct = options.members.length === 1;
    this.store = new Store({ hasher: options.hasher });
    const limits = options.limits ?? {};
    this.#uncommittedMax = limits.uncommittedBytesMax ?? UNCOMMITTED_BYTES_MAX;
    this.#log = this.#direct
      ? new DirectLog(options.member, options.journal, limits)
      : new Raft({
          member: options.member,
          members: options.members,
          prng: options.prng.fork('raft'),
          journal: options.journal,
          preVote: options.preVote ?? true,
          checkQuorum: options.checkQuorum ?? true,
          timers: options.timers,
          limits,
        });
    this.#proposeFaults = new ProposeFaults(options.prng.fork('faults'));
    this.#applied = options.journal?.baseIndex ?? 0;
    this.#commitSeen = this.#applied;
    this.#mirror = new Mirror({
      member: options.member,
      prng: options.prng.fork('mirror'),
      skip: this.#direct ? 'direct' : options.skip,
      timeScale: options.timeScale,
      recordBytesMax: limits.recordBytesMax,
      batchCountMax: limits.batchCountMax,
      batchBytesMax: limits.batchBytesMax,
      ports: {
        propose: (term, batch) => this.#propose(term, batch),
        room: () => this.#log.uncommittedRoom(),
        storeLast: () => this.store.lastSeq,
        storeMessages: () => this.store.state().messages,
        storeIdentity: () => this.store.identity,
        allocate: options.allocate,
      },
    });
    this.#mirror.configure(true);
    this.#settle();
  }

  /** True while this member's mirror is open for business: it leads and applied its own noop. */
  get serving(): boolean {
    return this.#servingTerm !== null;
  }

  get skipsAccepted(): number {
    return this.#mirror.skipsAccepted;
  }

  /** Where the mirror stands, for who looks on before a unit of its work. */
  get mirrorStanding(): { cursor: MirrorCursor; lag: number; storeLast: number } {
    const { cursor, lag } = this.#mirror;
    return { cursor, lag, storeLast: this.store.lastSeq };
  }

  /** Where the mirror's opening stands; null: there is none. */
  get openingPhase(): OpeningPhase | null {
    return this.#mirror.phase;
  }

  /** Messages that the store took, skips not counted. */
  get stored(): number {
    return this.#stored;
  }

  get applied(): number {
    return this.#applied;
  }

  get log(): LogView {
    return this.#log;
  }

  /** What made this member's journal useless; null while it works. */
  get failed(): ErrorData | null {
    return this.#failed;
  }

  /** Chained over every applied entry: equal on all replicas at an equal applied index. */
  get runningHash(): bigint {
    return this.#hash;
  }

  /** Ticks of this life. */
  get ticks(): number {
    return this.#ticks;
  }

  /** Ticks at which no peer's message lay unread: an election time-out could expire at them. */
  get quietTicks(): number {
    return this.#quietTicks;
  }

  step(input: Input): void {
    if (this.#failed !== null) return;
    switch (input.type) {
      case 'peer':
        this.#log.step(input.message);
        break;
      case 'origin':
        this.#mirror.frame(input.frame);
        break;
      case 'persisted':
        this.#log.persisted(input.ticket);
        break;
      case 'persistFailed':
        this.#log.persistFailed(input.ticket);
        this.#failed = input.error;
        break;
      case 'campaign':
        this.#log.campaign(input);
        break;
      case 'probe':
        this.#log.probe();
        break;
      case 'stepDown':
        this.#log.stepDown(input.to);
        break;
      case 'configure':
        this.#mirror.configure(input.mirror);
        break;
      default:
        this.#proposeFaults.arm(input);
        break;
    }
    this.#settle();
  }

  /** One unit of mirror work, at most one batch proposed. False: nothing more to do for now. */
  advance(): boolean {
    if (this.#failed !== null || this.#servingTerm === null) return false;
    const more = this.#mirror.advance();
    this.#settle();
    return more;
  }

  /** One tick of TICK_MS. `unreadPeers`: peer messages wait, so no election may time out. */
  tick(unreadPeers: boolean): void {
    if (this.#failed !== null) return;
    this.#ticks++;
    if (!unreadPeers) this.#quietTicks++;
    this.#log.tick(unreadPeers);
    this.#mirror.tick();
    this.#settle();
  }

  hasReady(): boolean {
    return !this.#events.isEmpty || this.#log.hasReady() || this.#mirror.hasReady();
  }

  /** Drains what the host must do, in the order of the fields. */
  ready(): Ready {
    const log = this.#log.ready();
    for (const event of log.events) {
      if (event.kind === 'transfer' && event.state === 'abandoned')
        this.#mirror.transferAbandoned();
    }
    const mirror = this.#mirror.ready();
    const events = joined(joined<ReplicaEvent>(log.events, this.#events.drain()), mirror.events);
    return {
      persist: log.persist,
      sendNow: log.sendNow,
      sendAfterPersist: log.sendAfterPersist,
      originCommands: mirror.originCommands,
      events,
    };
  }

  status(): ReplicaStatus {
    return {
      raft: this.#log.status(),
      mirror: this.#mirror.status(),
      stream: this.store.state(),
      applied: this.#applied,
      serving: this.serving,
      skipsAccepted: this.skipsAccepted,
      failed: this.#failed,
    };
  }

  #propose(term: number, batch: Batch): ProposeResult | { accepted: false; code: 'mismatch' } {
    const code = this.#proposeFaults.take();
    if (code !== null) return { accepted: false, code };
    const isOverrun = this.#proposeFaults.takeOverrun(this.#log.lastIndex - this.#applied);
    // Where there is no raft there is nobody to leave it to.
    if (isOverrun && this.#log.stepDown(null, 'overrun')) {
      return { accepted: false, code: 'notLeader' };
    }
    if (this.#direct && !this.#follows(batch)) return { accepted: false, code: 'mismatch' };
    return this.#log.propose(term, batch);
  }

  /**
   * Without raft the store itself refuses what does not follow its last (section 5, rule 6). While
   * accepted batches wait for the journal their order vouches for what comes behind them.
   */
  #follows(batch: Batch): boolean {
    const view = viewOf(batch.bytes);
    if (recordKind(view, 0) === KIND_IDENTITY || this.#log.commit > this.#applied) return true;
    if (this.#log.uncommittedRoom() < this.#uncommittedMax) return true;
    return expectedOf(view, 0) === this.store.lastSeq;
  }

  /**
   * Brings what follows from an input to rest: leadership given or taken from the mirror, committed
   * entries applied. Without the wait for the own noop (section 5, rule 8):
   *   1. r1 leads term 1, its batch up to sequence 120 is committed, but r2 has applied only 100;
   *   2. r1 is killed; r2 wins term 2, because its log holds everything;
   *   3. r2 opens its mirror at store.last + 1 = 101;
   *   4. the commit of r2's noop applies 101 ... 120;
   *   5. the origin delivers 101 ... 120 again and every replica judges them as seen; if r2 had
   *      proposed a skip in between, it would have been planned from a cursor that was too low.
   */
  #settle(): void {
    this.#followLeadership();
    this.#apply();
  }

  #followLeadership(): void {
    const log = this.#log;
    if (this.#servingTerm !== null) {
      if (log.role === 'leader' && log.term === this.#servingTerm) return;
      this.#servingTerm = null;
      this.#mirror.stopLeading('notLeading');
    }
    if (this.#direct && log.role === 'leader') this.#serve(log.term);
  }

  #serve(term: number): void {
    this.#servingTerm = term;
    this.#mirror.lead(term, this.store.skippedCount);
  }

  #apply(): void {
    const log = this.#log;
    if (log.commit > this.#commitSeen) {
      this.#commitSeen = log.commit;
      this.#events.push({ kind: 'commit', index: log.commit, term: log.term });
    }
    const end = Math.min(log.commit, log.durableIndex);
    if (this.#applied >= end) return;
    while (this.#applied < end) this.#applyEntry(log.entry(this.#applied + 1)!);
    log.appliedTo(this.#applied);
  }

  /** Judges every command of the entry and never stops in the middle of it (section 3). */
  #applyEntry(entry: Entry): void {
    const outcome = this.store.apply(entry.bytes, entry.count);
    this.#applied = entry.index;
    this.#stored += outcome.stored;
    this.#hash = chainHash(this.#hash, entry.bytes, outcome, this.#hasher);
    this.#events.push({
      kind: 'apply',
      index: entry.index,
      term: entry.term,
      count: entry.count,
      stored: outcome.stored,
      skipped: outcome.skipped,
      seen: outcome.seen,
      mismatched: outcome.mismatched,
      last: this.store.lastSeq,
      hash: this.#hash,
    });
    if (this.#servingTerm !== null) this.#mirror.applied(outcome);
    const ownNoop = entry.kind === 'noop' && entry.term === this.#log.term;
    if (ownNoop && this.#log.role === 'leader') this.#serve(entry.term);
  }
}

/** Most turns have events of one kind, or none: then nothing is copied. */
function joined<T>(first: readonly T[], second: readonly T[]): readonly T[] {
  if (second.length === 0) return first;
  return first.length === 0 ? second : [...first, ...second];
}
