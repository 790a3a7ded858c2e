/**
 * The journal of one slot, in memory. Writes take time and complete in order. Of what was not
 * synced a crash keeps a drawn part: the oldest writes, whole, and perhaps the next one up to
 * somewhere in its middle, which recovery finds and drops. What is durable outlives the member's
 * lives.
 */
import { invariant, type ErrorData } from '../base/errors.js';
import type { Hasher } from '../base/hasher.js';
import type { Member } from '../base/member.js';
import type { Prng } from '../base/prng.js';
import type { Entry, Persist, RaftJournal } from '../raft/types.js';
import type { Agenda } from './agenda.js';
import { copyEntries } from './copies.js';
import type { JournalView } from './invariants/types.js';
import { decodeWrite, encodeWrite, ENTRY_BYTES_MIN } from './journal.js';
import { SimMemory } from './memory.js';

export interface DiskSpeed {
  readonly writeMinUs: number;
  readonly writeMaxUs: number;
}

/** Told when a write ended. */
export type Completed = (ticket: number, error: ErrorData | null) => void;

/**
 * `write`: writes are refused, nothing of them is on the disk. `sync`: they are taken and not
 * synced, so that after a restart they may or may not be there.
 */
export type DiskFailure = 'write' | 'sync';

const FAILED: Readonly<Record<DiskFailure, ErrorData>> = {
  write: { code: 'writeFailed', message: 'the disk refused a write' },
  sync: { code: 'writeFailed', message: 'the disk failed to sync' },
};

export class MemoryDisk implements JournalView {
  speed: DiskSpeed;
  /** What is not complete yet fails, and all that follows: out until the member restarts. */
  failure: DiskFailure | null = null;
  /** What each write takes longer than it takes anyway. */
  slowUs = 0;
  readonly #agenda: Agenda;
  readonly #prng: Prng;
  readonly #hasher: Hasher;
  #term = 0;
  #vote: Member | null = null;
  readonly #entries: Entry[] = [];
  #longest = 0;
  #empty = true;
  /** Terms of the log as it will be once everything under way is durable. */
  #issued: number[] = [];
  #underWay: Persist[] = [];
  /** Taken, and told to have failed: after a sync that failed nobody knows what is there. */
  #failed: Persist[] = [];
  #lastDoneUs = 0;
  #life = 0;
  #torn = 0;
  /** Told in the middle of the next write of entries: its member dies there. */
  #tear: (() => void) | null = null;
  /** Counts what was armed: what is called off strikes no more. */
  #tearing = 0;
  /** The next crash leaves a part of the write that is under way. */
  #tears = false;

  constructor(agenda: Agenda, prng: Prng, speed: DiskSpeed, hasher: Hasher) {
    this.#agenda = agenda;
    this.#prng = prng;
    this.speed = speed;
    this.#hasher = hasher;
  }

  get term(): number {
    return this.#term;
  }

  get vote(): Member | null {
    return this.#vote;
  }

  /** The durable log. */
  get lastIndex(): number {
    return this.#entries.length;
  }

  /** The longest that the durable log ever was; conflicts make it shorter. */
  get longest(): number {
    return this.#longest;
  }

  /** Of the durable log. */
  termAt(index: number): number | undefined {
    return this.#entries[index - 1]?.term;
  }

  /** Crashes that left a record of which recovery found a part, and dropped it. */
  get torn(): number {
    return this.#torn;
  }

  /** Whether a write with entries is under way. */
  get hasUnsyncedEntries(): boolean {
    return this.#underWay.some(({ entries }) => entries.length > 0);
  }

  /** The log as its member wrote it, durable or not. */
  readonly written: JournalView = this.#writtenView();

  /** @param fromUs  when the write was handed over: now, or later when its member was held up */
  write(write: Persist, fromUs: number, completed: Completed): void {
    const first = write.entries[0];
    if (first !== undefined) {
      invariant(first.index <= this.#issued.length + 1, 'a write follows the journal');
      this.#issued.length = first.index - 1;
      for (const entry of write.entries) this.#issued.push(entry.term);
    }
    this.#underWay.push(write);
    const { writeMinUs, writeMaxUs } = this.speed;
    const doneUs = fromUs + this.slowUs + this.#prng.between('write', writeMinUs, writeMaxUs);
    this.#lastDoneUs = Math.max(this.#lastDoneUs, doneUs);
    const life = this.#life;
    if (this.#tear !== null && first !== undefined) this.#tearThis(this.#tear);
    this.#agenda.at(this.#lastDoneUs, () => {
      if (life === this.#life) this.#end(completed);
    });
  }

  /**
   * The next write of entries is cut off by a crash, which `struck` has to bring about; null: that
   * is not to happen any more.
   */
  tearNext(struck: (() => void) | null): void {
    this.#tear = struck;
    this.#tearing++;
  }

  /** The member died. */
  crash(): void {
    const unsynced = [...this.#failed, ...this.#underWay];
    if (unsynced.length > 0 && this.failure !== 'write') this.#keepPart(unsynced);
    this.#underWay = [];
    this.#failed = [];
    this.#issued = this.#entries.map(({ term }) => term);
    this.#lastDoneUs = 0;
    this.failure = null;
    this.#tear = null;
    this.#tears = false;
    this.#life++;
  }

  /** What a member that starts finds; null on a disk that was never written. */
  recover(): RaftJournal | null {
    if (this.#empty) return null;
    return {
      term: this.#term,
      vote: this.#vote,
      baseIndex: 0,
      baseTerm: 0,
      entries: copyEntries(this.#entries, new SimMemory()),
    };
  }

  #end(completed: Completed): void {
    const write = this.#underWay.shift()!;
    if (this.failure !== null) {
      this.#failed.push(write);
      completed(write.ticket, FAILED[this.failure]);
      return;
    }
    this.#keep(write, write.entries);
    completed(write.ticket, null);
  }

  /** Half of the time that is left of it: what came before it is done by then, or is kept whole. */
  #tearThis(struck: () => void): void {
    this.#tear = null;
    const life = this.#life;
    const tearing = this.#tearing;
    const { nowUs } = this.#agenda;
    this.#agenda.at(nowUs + Math.floor((this.#lastDoneUs - nowUs) / 2), () => {
      if (life !== this.#life || tearing !== this.#tearing) return;
      this.#tears = true;
      struck();
    });
  }

  #keep({ term, vote }: Pick<Persist, 'term' | 'vote'>, entries: readonly Entry[]): void {
    this.#empty = false;
    this.#term = term;
    this.#vote = vote;
    const first = entries[0];
    if (first === undefined) return;
    this.#entries.length = first.index - 1;
    this.#entries.push(...entries);
    this.#longest = Math.max(this.#longest, this.#entries.length);
  }

  /** A power cut: whole writes, and of the next one bytes up to anywhere or, later, to garbage. */
  #keepPart(unsynced: readonly Persist[]): void {
    if (this.#tears) return this.#keepTorn(unsynced);
    const whole = this.#prng.below('kept', unsynced.length + 1);
    for (const write of unsynced.slice(0, whole)) this.#keep(write, write.entries);
    const next = unsynced[whole];
    if (next === undefined || !this.#prng.chance('torn', 1, 2)) return;
    const bytes = encodeWrite(next, this.#hasher);
    this.#keepBytes(bytes, this.#prng.below('cut', bytes.length));
  }

  /** All but the last write with entries are whole; of that one the last record is not. */
  #keepTorn(unsynced: readonly Persist[]): void {
    const torn = unsynced.findLastIndex(({ entries }) => entries.length > 0);
    for (const write of unsynced.slice(0, torn)) this.#keep(write, write.entries);
    const bytes = encodeWrite(unsynced[torn]!, this.#hasher);
    this.#keepBytes(bytes, bytes.length - this.#prng.between('torn off', 1, ENTRY_BYTES_MIN));
  }

  #keepBytes(bytes: Uint8Array, cut: number): void {
    const isGarbage = this.#prng.chance('garbage', 1, 2);
    const remains = isGarbage ? bytes.fill(0xa5, cut) : bytes.subarray(0, cut);
    const { state, entries, isTorn } = decodeWrite(remains, this.#hasher);
    if (isTorn) this.#torn++;
    if (state !== null) this.#keep(state, entries);
  }

  #writtenView(): JournalView {
    const issued = (): readonly number[] => this.#issued;
    return {
      get lastIndex() {
        return issued().length;
      },
      termAt: (index) => issued()[index - 1],
    };
  }
}
