/**
 * Closed ranges of sequences, rising and merged, in one growable array of numbers: a gap of ten
 * million sequences costs one range. Adding behind the last range is O(1) amortised.
 */
import type { SeqRange } from './types.js';

export class IntervalSet {
  /** first, last, first, last, … */
  #bounds = new Float64Array(16);
  #size = 0;
  #count = 0;

  /** How many ranges. */
  get size(): number {
    return this.#size;
  }

  /** How many sequences, all ranges together. */
  get count(): number {
    return this.#count;
  }

  has(seq: number): boolean {
    const at = this.#firstEndingFrom(seq);
    return at < this.#size && this.#bounds[2 * at]! <= seq;
  }

  /** Whether any sequence of first … last is in the set. */
  intersects(first: number, last: number): boolean {
    const at = this.#firstEndingFrom(first);
    return at < this.#size && this.#bounds[2 * at]! <= last;
  }

  /** Whether every sequence of first … last is in the set. */
  covers(first: number, last: number): boolean {
    const at = this.#firstEndingFrom(first);
    return at < this.#size && this.#bounds[2 * at]! <= first && this.#bounds[2 * at + 1]! >= last;
  }

  /** The first sequence at or above this one that is in the set; undefined when none is. */
  nextIn(seq: number): number | undefined {
    const at = this.#firstEndingFrom(seq);
    return at < this.#size ? Math.max(seq, this.#bounds[2 * at]!) : undefined;
  }

  /** The first sequence at or above this one that is not in the set. */
  nextOut(seq: number): number {
    return this.has(seq) ? this.#bounds[2 * this.#firstEndingFrom(seq) + 1]! + 1 : seq;
  }

  /** Adds first … last; ranges that touch are merged. Empty ranges (last < first) add nothing. */
  add(first: number, last: number): void {
    if (last < first) return;
    const end = 2 * this.#size;
    if (end > 0 && this.#bounds[end - 1]! === first - 1) {
      this.#bounds[end - 1] = last;
      this.#count += last - first + 1;
      return;
    }
    const from = this.#firstEndingFrom(first - 1);
    let to = from;
    let low = first;
    let high = last;
    while (to < this.#size && this.#bounds[2 * to]! <= last + 1) {
      low = Math.min(low, this.#bounds[2 * to]!);
      high = Math.max(high, this.#bounds[2 * to + 1]!);
      to++;
    }
    this.#replace(from, to, [low, high]);
  }

  /** Takes first … last out; a range around it is split. */
  remove(first: number, last: number): void {
    const from = this.#firstEndingFrom(first);
    let to = from;
    const left: number[] = [];
    while (to < this.#size && this.#bounds[2 * to]! <= last) {
      const low = this.#bounds[2 * to]!;
      const high = this.#bounds[2 * to + 1]!;
      if (low < first) left.push(low, first - 1);
      if (high > last) left.push(last + 1, high);
      to++;
    }
    if (to > from) this.#replace(from, to, left);
  }

  clear(): void {
    this.#size = 0;
    this.#count = 0;
  }

  /** The ranges, clipped to from … to. */
  ranges(from = 0, to = Number.MAX_SAFE_INTEGER): SeqRange[] {
    const ranges: SeqRange[] = [];
    for (let at = this.#firstEndingFrom(from); at < this.#size; at++) {
      const first = Math.max(from, this.#bounds[2 * at]!);
      if (first > to) break;
      ranges.push({ first, last: Math.min(to, this.#bounds[2 * at + 1]!) });
    }
    return ranges;
  }

  /** How many sequences of from … to are in the set. */
  countWithin(from: number, to: number): number {
    let count = 0;
    for (const range of this.ranges(from, to)) count += range.last - range.first + 1;
    return count;
  }

  /** Index of the first range whose last is at or above seq; size when there is none. */
  #firstEndingFrom(seq: number): number {
    let low = 0;
    let high = this.#size;
    if (high > 0 && this.#bounds[2 * high - 1]! < seq) return high;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#bounds[2 * middle + 1]! < seq) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Puts `bounds` in the place of ranges from … to - 1. */
  #replace(from: number, to: number, bounds: readonly number[]): void {
    for (let at = from; at < to; at++) {
      this.#count -= this.#bounds[2 * at + 1]! - this.#bounds[2 * at]! + 1;
    }
    const added = bounds.length / 2;
    const size = this.#size - (to - from) + added;
    if (2 * size > this.#bounds.length) {
      const grown = new Float64Array(this.#bounds.length * 2);
      grown.set(this.#bounds);
      this.#bounds = grown;
    }
    if (to < this.#size) this.#bounds.copyWithin(2 * (from + added), 2 * to, 2 * this.#size);
    for (let at = 0; at < bounds.length; at += 2) {
      this.#bounds[2 * from + at] = bounds[at]!;
      this.#bounds[2 * from + at + 1] = bounds[at + 1]!;
      this.#count += bounds[at + 1]! - bounds[at]! + 1;
    }
    this.#size = size;
  }
}
