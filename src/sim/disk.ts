/**
 * The journal of one slot, in memory. Writes take time and complete in order. A crash loses what
 * was not complete, except for a drawn number of the oldest writes under way: a disk may hold what
 * it never confirmed. What is durable outlives the member's lives.
 */
import { invariant, type ErrorData } from '../base/errors.js';
import type { Member } from '../base/member.js';
import type { Prng } from '../base/prng.js';
import type { Entry, Persist, RaftJournal } from '../raft/types.js';
import type { Agenda } from './agenda.js';
import { copyEntry } from './copies.js';
import type { JournalView } from './invariants/types.js';

export interface DiskSpeed {
  readonly writeMinUs: number;
  readonly writeMaxUs: number;
}

/** Told when a write ended. */
export type Completed = (ticket: number, error: ErrorData | null) => void;

const FAILED: ErrorData = { code: 'writeFailed', message: 'the disk refused a write' };

export class MemoryDisk implements JournalView {
  speed: DiskSpeed;
  /** The next write fails, as do those under way: the disk is out until the member restarts. */
  failNext = false;
  readonly #agenda: Agenda;
  readonly #prng: Prng;
  #term = 0;
  #vote: Member | null = null;
  readonly #entries: Entry[] = [];
  #empty = true;
  /** Terms of the log as it will be once everything under way is durable. */
  #issued: number[] = [];
  #underWay: Persist[] = [];
  #lastDoneUs = 0;
  #life = 0;

  constructor(agenda: Agenda, prng: Prng, speed: DiskSpeed) {
    this.#agenda = agenda;
    this.#prng = prng;
    this.speed = speed;
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

  /** Of the durable log. */
  termAt(index: number): number | undefined {
    return this.#entries[index - 1]?.term;
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
    const doneUs = fromUs + this.#prng.between('write', writeMinUs, writeMaxUs);
    this.#lastDoneUs = Math.max(this.#lastDoneUs, doneUs);
    const life = this.#life;
    this.#agenda.at(this.#lastDoneUs, () => {
      if (life === this.#life) this.#end(completed);
    });
  }

  /** The member died. */
  crash(): void {
    const kept = this.#prng.below('kept', this.#underWay.length + 1);
    if (!this.failNext) for (const write of this.#underWay.slice(0, kept)) this.#keep(write);
    this.#underWay = [];
    this.#issued = this.#entries.map(({ term }) => term);
    this.#lastDoneUs = 0;
    this.failNext = false;
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
      entries: this.#entries.map(copyEntry),
    };
  }

  #end(completed: Completed): void {
    const write = this.#underWay.shift()!;
    if (this.failNext) {
      completed(write.ticket, FAILED);
      return;
    }
    this.#keep(write);
    completed(write.ticket, null);
  }

  #keep({ term, vote, entries }: Persist): void {
    this.#empty = false;
    this.#term = term;
    this.#vote = vote;
    const first = entries[0];
    if (first === undefined) return;
    this.#entries.length = first.index - 1;
    this.#entries.push(...entries);
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
