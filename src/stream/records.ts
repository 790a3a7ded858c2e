/**
 * Where messages lie in the shared bytes. Messages come as runs, views over adjacent records; a run
 * that follows its predecessor in the same memory extends it. Runs are rows of one typed array, and
 * every 16th record's offset is marked, so nothing is kept for each message and finding one walks
 * at most 15 records.
 */
import { invariant } from '../base/errors.js';
import { expectedOf, recordSize } from './layout.js';

/** Every how many records an offset is marked. */
const STRIDE = 16;
/** Marks are unsigned 32-bit offsets. */
const MEMORY_BYTES_MAX = 0xffff_ffff;

/** Columns of a run. Offsets are in bytes from the start of its memory. */
const MEMORY = 0;
const START = 1;
const END = 2;
const FIRST_SEQ = 3;
const LAST_SEQ = 4;
/** Records in all runs before this one. */
const BEFORE = 5;
const COLUMNS = 6;

/** Records of one view, in rising order of sequence. */
export interface RecordSlice {
  readonly bytes: Uint8Array;
  readonly count: number;
}

/** Where a record begins. */
export interface RecordPlace {
  readonly bytes: Uint8Array;
  readonly at: number;
}

/** A place inside a run: the record with that number, counted over all runs, lies at `at`. */
interface Place {
  readonly at: number;
  readonly number: number;
}

export class RecordIndex {
  /** One entry for each distinct memory, in order of arrival. */
  readonly #memories: Uint8Array[] = [];
  readonly #views: DataView[] = [];
  readonly #memoryIndex = new Map<ArrayBufferLike, number>();
  #runs = new Float64Array(8 * COLUMNS);
  #runCount = 0;
  /** Offsets of the records with the numbers 0, 16, 32, … */
  #marks = new Uint32Array(64);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** Zero when there is no record. */
  get firstSeq(): number {
    return this.#runCount === 0 ? 0 : this.#column(0, FIRST_SEQ);
  }

  /** Zero when there is no record. */
  get lastSeq(): number {
    return this.#runCount === 0 ? 0 : this.#column(this.#runCount - 1, LAST_SEQ);
  }

  /**
   * Adds records that lie at `at` … `at + size` of the bytes, sequences firstSeq … lastSeq, above
   * all that are here. Their sequences rise, not always by one; each is read from its record.
   */
  append(
    bytes: Uint8Array,
    at: number,
    size: number,
    run: { readonly firstSeq: number; readonly lastSeq: number; readonly count: number },
  ): void {
    const start = bytes.byteOffset + at;
    invariant(start + size <= MEMORY_BYTES_MAX, 'records lie in the first 4 GiB of their memory');
    const memory = this.#memoryOf(bytes.buffer);
    let row = (this.#runCount - 1) * COLUMNS;
    const adjacent = row >= 0 && this.#runs[row + END] === start;
    if (!adjacent || this.#runs[row + MEMORY] !== memory) {
      row = this.#addRun(memory, start, run.firstSeq);
    }
    this.#runs[row + END] = start + size;
    this.#runs[row + LAST_SEQ] = run.lastSeq;
    this.#mark(this.#views[memory]!, start, run.count);
    this.#count += run.count;
  }

  /** Where the record of a sequence begins; undefined when there is none. */
  find(seq: number): RecordPlace | undefined {
    const run = this.#firstRunEndingFrom(seq);
    if (run === this.#runCount || this.#column(run, FIRST_SEQ) > seq) return undefined;
    const { at } = this.#seek(run, seq);
    const memory = this.#column(run, MEMORY);
    if (expectedOf(this.#views[memory]!, at) + 1 !== seq) return undefined;
    return { bytes: this.#memories[memory]!, at };
  }

  /** The first sequence at or above this one that has a record. */
  nextSeq(seq: number): number | undefined {
    const run = this.#firstRunEndingFrom(seq);
    if (run === this.#runCount) return undefined;
    const firstSeq = this.#column(run, FIRST_SEQ);
    if (firstSeq >= seq) return firstSeq;
    return expectedOf(this.#viewOfRun(run), this.#seek(run, seq).at) + 1;
  }

  /**
   * One view over records from a sequence on, at least one, within both bounds; null when there is
   * none at or above it.
   */
  head(from: number, countMax: number, bytesMax: number): RecordSlice | null {
    const run = this.#firstRunEndingFrom(from);
    if (run === this.#runCount) return null;
    const view = this.#viewOfRun(run);
    const end = this.#column(run, END);
    const start = this.#seek(run, from).at;
    let at = start;
    let count = 0;
    while (at < end && (count < countMax || count === 0)) {
      const size = recordSize(view, at);
      if (count > 0 && at + size - start > bytesMax) break;
      at += size;
      count++;
    }
    return { bytes: this.#bytesOf(run, start, at), count };
  }

  /** Views that cover the messages of from … to, in order; runs without any are left out. */
  slices(from: number, to: number): RecordSlice[] {
    const slices: RecordSlice[] = [];
    for (let run = this.#firstRunEndingFrom(from); run < this.#runCount; run++) {
      if (this.#column(run, FIRST_SEQ) > to) break;
      const start = this.#seek(run, from);
      const end = this.#seek(run, to + 1);
      const count = end.number - start.number;
      if (count > 0) slices.push({ bytes: this.#bytesOf(run, start.at, end.at), count });
    }
    return slices;
  }

  #column(run: number, column: number): number {
    return this.#runs[run * COLUMNS + column]!;
  }

  #viewOfRun(run: number): DataView {
    return this.#views[this.#column(run, MEMORY)]!;
  }

  #bytesOf(run: number, start: number, end: number): Uint8Array {
    return this.#memories[this.#column(run, MEMORY)]!.subarray(start, end);
  }

  /** Number of the record behind the run's last one. */
  #endNumber(run: number): number {
    return run + 1 < this.#runCount ? this.#column(run + 1, BEFORE) : this.#count;
  }

  #memoryOf(memory: ArrayBufferLike): number {
    const newest = this.#memories.length - 1;
    if (this.#memories[newest]?.buffer === memory) return newest;
    const known = this.#memoryIndex.get(memory);
    if (known !== undefined) return known;
    this.#memoryIndex.set(memory, newest + 1);
    this.#memories.push(new Uint8Array(memory));
    this.#views.push(new DataView(memory));
    return newest + 1;
  }

  /** Adds an empty run; returns the offset of its row. */
  #addRun(memory: number, start: number, firstSeq: number): number {
    const row = this.#runCount * COLUMNS;
    if (row === this.#runs.length) {
      const grown = new Float64Array(row * 2);
      grown.set(this.#runs);
      this.#runs = grown;
    }
    this.#runs[row + MEMORY] = memory;
    this.#runs[row + START] = start;
    this.#runs[row + FIRST_SEQ] = firstSeq;
    this.#runs[row + BEFORE] = this.#count;
    this.#runCount++;
    return row;
  }

  /** Marks those of the new records whose number falls on the stride. */
  #mark(view: DataView, start: number, count: number): void {
    const end = this.#count + count;
    let at = start;
    let number = this.#count;
    for (let next = Math.ceil(number / STRIDE) * STRIDE; next < end; next += STRIDE) {
      for (; number < next; number++) at += recordSize(view, at);
      this.#setMark(next / STRIDE, at);
    }
  }

  #setMark(index: number, at: number): void {
    if (index === this.#marks.length) {
      const grown = new Uint32Array(index * 2);
      grown.set(this.#marks);
      this.#marks = grown;
    }
    this.#marks[index] = at;
  }

  /** The first run whose last sequence is at or above seq; the number of runs when none is. */
  #firstRunEndingFrom(seq: number): number {
    let low = 0;
    let high = this.#runCount;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#column(middle, LAST_SEQ) < seq) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The first record of the run at or above the sequence; the run's end when there is none. */
  #seek(run: number, seq: number): Place {
    const view = this.#viewOfRun(run);
    const endNumber = this.#endNumber(run);
    if (this.#column(run, LAST_SEQ) < seq) return { at: this.#column(run, END), number: endNumber };
    let number = this.#column(run, BEFORE);
    let at = this.#column(run, START);
    let low = Math.ceil(number / STRIDE);
    let high = Math.ceil(endNumber / STRIDE);
    while (low < high) {
      const middle = (low + high) >>> 1;
      const marked = this.#marks[middle]!;
      if (expectedOf(view, marked) >= seq) {
        high = middle;
      } else {
        at = marked;
        number = middle * STRIDE;
        low = middle + 1;
      }
    }
    for (; expectedOf(view, at) + 1 < seq; number++) at += recordSize(view, at);
    return { at, number };
  }
}
