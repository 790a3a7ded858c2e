/**
 * Where messages lie in the shared bytes. Messages come as runs, views over consecutive records; a
 * run that follows its predecessor in the same memory extends it. Every 16th record's offset is
 * kept, nothing for each message; finding one walks at most 15 records.
 */
import { readSafe } from "./layout.js";

const STRIDE = 16;

/** Records of one view, in rising order of sequence. */
export interface RecordSlice {
  readonly bytes: Uint8Array;
  readonly count: number;
}

/** A run: adjacent records of one memory. Its sequences rise, not always by one. */
interface Run {
  readonly memory: ArrayBufferLike;
  readonly start: number;
  end: number;
  readonly firstSeq: number;
  lastSeq: number;
  count: number;
  /** Offsets of records 0, 16, 32, … from `start`. */
  offsets: Uint32Array;
  view: DataView;
}

export class RecordIndex {
  readonly #runs: Run[] = [];
  #count = 0;

  get count(): number {
    return this.#count;
  }

  get firstSeq(): number {
    return this.#runs[0]?.firstSeq ?? 0;
  }

  get lastSeq(): number {
    return this.#runs.at(-1)?.lastSeq ?? 0;
  }

  /** Adds records that lie at `at` … `at + size` of the bytes, sequences firstSeq … lastSeq. */
  append(
    bytes: Uint8Array,
    at: number,
    size: number,
    run: {
      readonly firstSeq: number;
      readonly lastSeq: number;
      readonly count: number;
    },
  ): void {
    const start = bytes.byteOffset + at;
    let tail = this.#runs.at(-1);
    if (tail?.memory !== bytes.buffer || tail.end !== start) {
      tail = {
        memory: bytes.buffer,
        start,
        end: start,
        firstSeq: run.firstSeq,
        lastSeq: 0,
        count: 0,
        offsets: new Uint32Array(4),
        view: new DataView(bytes.buffer),
      };
      this.#runs.push(tail);
    }
    indexRecords(tail, start, run.count);
    tail.end = start + size;
    tail.count += run.count;
    tail.lastSeq = run.lastSeq;
    this.#count += run.count;
  }

  /** The record at a sequence, as a view of exactly its bytes; undefined when there is none. */
  find(seq: number): Uint8Array | undefined {
    const run = this.#runs[this.#firstRunEndingFrom(seq)];
    if (run === undefined || run.firstSeq > seq) return undefined;
    const at = seek(run, seq);
    if (seqAt(run.view, at) !== seq) return undefined;
    return new Uint8Array(run.memory, at, run.view.getUint32(at, true));
  }

  /** The first sequence at or above this one that has a record. */
  nextSeq(seq: number): number | undefined {
    const run = this.#runs[this.#firstRunEndingFrom(seq)];
    if (run === undefined) return undefined;
    return run.firstSeq >= seq ? run.firstSeq : seqAt(run.view, seek(run, seq));
  }

  /** One view over records from a sequence on, at least one, within both bounds. */
  head(from: number, countMax: number, bytesMax: number): RecordSlice | null {
    const run = this.#runs[this.#firstRunEndingFrom(from)];
    if (run === undefined) return null;
    const start = run.firstSeq >= from ? run.start : seek(run, from);
    let at = start;
    let count = 0;
    while (at < run.end && count < countMax) {
      const size = run.view.getUint32(at, true);
      if (count > 0 && at + size - start > bytesMax) break;
      at += size;
      count++;
    }
    return { bytes: new Uint8Array(run.memory, start, at - start), count };
  }

  /** Views that cover the messages of from … to, in order. */
  slices(from: number, to: number): RecordSlice[] {
    const slices: RecordSlice[] = [];
    for (
      let index = this.#firstRunEndingFrom(from);
      index < this.#runs.length;
      index++
    ) {
      const run = this.#runs[index]!;
      if (run.firstSeq > to) break;
      const start = run.firstSeq >= from ? run.start : seek(run, from);
      const slice = sliceOf(run, start, to);
      if (slice.count > 0) slices.push(slice);
    }
    return slices;
  }

  #firstRunEndingFrom(seq: number): number {
    let low = 0;
    let high = this.#runs.length;
    if (high > 0 && this.#runs[high - 1]!.lastSeq < seq) return high;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#runs[middle]!.lastSeq < seq) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function seqAt(view: DataView, at: number): number {
  return readSafe(view, at + 8) + 1;
}

/** Notes the offsets of those new records that fall on the stride. */
function indexRecords(run: Run, start: number, count: number): void {
  const { view } = run;
  let at = start;
  let number = run.count;
  const end = number + count;
  while (number < end) {
    if (number % STRIDE === 0) noteOffset(run, number / STRIDE, at - run.start);
    at += view.getUint32(at, true);
    number++;
  }
}

function noteOffset(run: Run, index: number, offset: number): void {
  if (index >= run.offsets.length) {
    const grown = new Uint32Array(run.offsets.length * 2);
    grown.set(run.offsets);
    run.offsets = grown;
  }
  run.offsets[index] = offset;
}

/** Offset of the first record of the run at or above the sequence; its end when there is none. */
function seek(run: Run, seq: number): number {
  let low = 0;
  let high = Math.ceil(run.count / STRIDE);
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (seqAt(run.view, run.start + run.offsets[middle]!) <= seq) low = middle;
    else high = middle;
  }
  let at = run.start + run.offsets[low]!;
  while (at < run.end && seqAt(run.view, at) < seq)
    at += run.view.getUint32(at, true);
  return at;
}

function sliceOf(run: Run, start: number, to: number): RecordSlice {
  const { view } = run;
  let at = start;
  let count = 0;
  while (at < run.end && seqAt(view, at) <= to) {
    at += view.getUint32(at, true);
    count++;
  }
  return { bytes: new Uint8Array(run.memory, start, at - start), count };
}
