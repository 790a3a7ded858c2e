/**
 * The log of a cluster of one: no raft, no elections, no noop. A proposed batch is written to the
 * journal and counts as committed once that write is durable. Each start leads a term of its own,
 * one above the journal's, as soon as that is durable. With one term for all starts:
 *   1. the member asks the origin for an opening: term 1, generation 1;
 *   2. it is killed and starts again from its journal, with its count of generations at 0;
 *   3. it asks again: term 1, generation 1. The origin has that one already and stays silent.
 */
import { LOG_ENTRIES_MAX, UNCOMMITTED_BYTES_MAX } from '../base/limits.js';
import type { Member } from '../base/member.js';
import type { RaftLimits } from '../raft/raft.js';
import type {
  Batch,
  Entry,
  ProposeResult,
  RaftEvent,
  RaftJournal,
  RaftReady,
  RaftStatus,
  Role,
} from '../raft/types.js';
import type { CommandLog } from './log.js';

type DirectLimits = Pick<RaftLimits, 'uncommittedBytesMax' | 'logEntriesMax'>;

const LIMITS: DirectLimits = {
  uncommittedBytesMax: UNCOMMITTED_BYTES_MAX,
  logEntriesMax: LOG_ENTRIES_MAX,
};

export class DirectLog implements CommandLog {
  readonly #member: Member;
  readonly #limits: DirectLimits;
  readonly #term: number;
  /** The write that makes the term durable: not issued, under way, done. */
  #termWrite: 'due' | 'issued' | 'done' = 'due';
  readonly #entries: Entry[];
  #base: number;
  #commit: number;
  #ticket = 0;
  /** Last index that each write under way covers, oldest first; tickets are consecutive. */
  readonly #writing: { readonly ticket: number; readonly index: number }[] = [];
  #unsent: Entry[] = [];
  #uncommittedBytes = 0;
  #events: RaftEvent[] = [];
  #failed = false;

  constructor(member: Member, journal: RaftJournal | null, limits: Partial<DirectLimits> = {}) {
    this.#member = member;
    const { uncommittedBytesMax, logEntriesMax } = LIMITS;
    this.#limits = {
      uncommittedBytesMax: limits.uncommittedBytesMax ?? uncommittedBytesMax,
      logEntriesMax: limits.logEntriesMax ?? logEntriesMax,
    };
    this.#term = (journal?.term ?? 0) + 1;
    this.#base = journal?.baseIndex ?? 0;
    this.#entries = [...(journal?.entries ?? [])];
    this.#commit = this.#base + this.#entries.length;
  }

  get role(): Role {
    return this.#leads ? 'leader' : 'follower';
  }

  get term(): number {
    return this.#term;
  }

  get vote(): Member {
    return this.#member;
  }

  get leader(): Member | null {
    return this.#leads ? this.#member : null;
  }

  get commit(): number {
    return this.#commit;
  }

  get lastIndex(): number {
    return this.#base + this.#entries.length;
  }

  get durableIndex(): number {
    return this.#commit;
  }

  step(): void {
    // A cluster of one has no peers.
  }

  tick(): void {
    // Nothing here depends on time.
  }

  /** Refuses with notLeader (before its term is durable), writeFailed, staleTerm or overrun. */
  propose(term: number, batch: Batch): ProposeResult {
    if (this.#failed) return { accepted: false, code: 'writeFailed' };
    if (!this.#leads) return { accepted: false, code: 'notLeader' };
    if (term !== this.#term) return { accepted: false, code: 'staleTerm' };
    const tooMany = this.#entries.length >= this.#limits.logEntriesMax;
    if (tooMany || batch.bytes.length > this.uncommittedRoom()) {
      return { accepted: false, code: 'overrun' };
    }
    const index = this.#base + this.#entries.length + 1;
    const entry: Entry = {
      term,
      index,
      kind: 'batch',
      count: batch.count,
      bytes: batch.bytes,
    };
    this.#entries.push(entry);
    this.#unsent.push(entry);
    this.#uncommittedBytes += batch.bytes.length;
    return { accepted: true, index };
  }

  uncommittedRoom(): number {
    return this.#limits.uncommittedBytesMax - this.#uncommittedBytes;
  }

  persisted(ticket: number): void {
    if (this.#termWrite === 'issued') {
      this.#termWrite = 'done';
      this.#events.push(this.#roleEvent('leader', 'start'));
    }
    while (this.#writing.length > 0 && this.#writing[0]!.ticket <= ticket) {
      const { index } = this.#writing.shift()!;
      for (let at = this.#commit + 1; at <= index; at++) {
        this.#uncommittedBytes -= this.entry(at)!.bytes.length;
      }
      this.#commit = Math.max(this.#commit, index);
    }
  }

  persistFailed(): void {
    this.#failed = true;
    this.#events.push(this.#roleEvent('follower', 'writeFailed'));
  }

  campaign(): boolean {
    return false;
  }

  probe(): void {
    // A cluster of one has no peers.
  }

  stepDown(): boolean {
    return false;
  }

  appendedOn(members: number): boolean {
    return members === 1 && this.#commit > 0;
  }

  entry(index: number): Entry | undefined {
    return this.#entries[index - this.#base - 1];
  }

  /** Applied entries are in the store and in the journal: the log keeps none of them. */
  appliedTo(index: number): void {
    const dropped = index - this.#base;
    if (dropped < 1024 && index < this.#commit) return;
    this.#entries.splice(0, dropped);
    this.#base = index;
  }

  ready(): RaftReady {
    const entries = this.#unsent;
    const events = this.#events;
    this.#unsent = [];
    this.#events = [];
    if (entries.length === 0 && this.#termWrite !== 'due') {
      return { persist: null, sendNow: [], sendAfterPersist: [], events };
    }
    if (this.#termWrite === 'due') this.#termWrite = 'issued';
    const ticket = ++this.#ticket;
    this.#writing.push({ ticket, index: entries.at(-1)?.index ?? this.#commit });
    const persist = { ticket, term: this.#term, vote: this.#member, entries };
    return { persist, sendNow: [], sendAfterPersist: [], events };
  }

  hasReady(): boolean {
    return this.#termWrite === 'due' || this.#unsent.length > 0 || this.#events.length > 0;
  }

  status(): RaftStatus {
    return {
      member: this.#member,
      role: this.role,
      term: this.#term,
      vote: this.vote,
      leader: this.leader,
      commit: this.#commit,
      lastIndex: this.lastIndex,
      lastTerm: this.#term,
      durableIndex: this.#commit,
      uncommittedBytes: this.#uncommittedBytes,
      transferringTo: null,
      hears: [this.#member],
    };
  }

  get #leads(): boolean {
    return this.#termWrite === 'done' && !this.#failed;
  }

  #roleEvent(role: Role, cause: 'start' | 'writeFailed'): RaftEvent {
    return { kind: 'role', role, term: this.#term, leader: this.leader, cause };
  }
}
