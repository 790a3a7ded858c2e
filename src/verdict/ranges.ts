/**
 * Arithmetic on lists of sequence ranges: closed, rising, disjoint. Everything is one walk over
 * both lists, so that a gap of ten million sequences costs one step.
 */
import { DIGEST_BLOCK } from '../base/limits.js';
import { IntervalSet } from '../stream/intervals.js';
import type { SeqRange } from '../stream/types.js';

export type Ranges = readonly SeqRange[];

/** What lies in both. */
export function intersect(left: Ranges, right: Ranges): SeqRange[] {
  const shared: SeqRange[] = [];
  let at = 0;
  let against = 0;
  while (at < left.length && against < right.length) {
    const one = left[at]!;
    const other = right[against]!;
    const first = Math.max(one.first, other.first);
    const last = Math.min(one.last, other.last);
    if (first <= last) shared.push({ first, last });
    if (one.last <= other.last) at++;
    else against++;
  }
  return shared;
}

/** What lies in `from` and not in `taken`. */
export function subtract(from: Ranges, taken: Ranges): SeqRange[] {
  const left: SeqRange[] = [];
  let at = 0;
  for (const range of from) {
    let { first } = range;
    while (at < taken.length && taken[at]!.last < first) at++;
    for (let next = at; next < taken.length && taken[next]!.first <= range.last; next++) {
      if (taken[next]!.first > first) left.push({ first, last: taken[next]!.first - 1 });
      first = taken[next]!.last + 1;
    }
    if (first <= range.last) left.push({ first, last: range.last });
  }
  return left;
}

/** The one range first … last, or none when it is empty. */
export function span(first: number, last: number): SeqRange[] {
  return first <= last ? [{ first, last }] : [];
}

export function countOf(ranges: Ranges): number {
  let count = 0;
  for (const range of ranges) count += range.last - range.first + 1;
  return count;
}

/** The same sequences as a set that answers questions about one of them. */
export function setOf(ranges: Ranges): IntervalSet {
  const set = new IntervalSet();
  for (const range of ranges) set.add(range.first, range.last);
  return set;
}

/** Rising sequences as ranges. */
export function rangesOf(seqs: Iterable<number>): SeqRange[] {
  const set = new IntervalSet();
  for (const seq of seqs) set.add(seq, seq);
  return set.ranges();
}

/** The sequences of rising blocks, at most `blocksMax` blocks to a range. */
export function rangesOfBlocks(blocks: Iterable<number>, blocksMax: number): SeqRange[] {
  const ranges: SeqRange[] = [];
  for (const block of blocks) {
    const first = block * DIGEST_BLOCK + 1;
    const last = first + DIGEST_BLOCK - 1;
    const before = ranges.at(-1);
    const joins = before?.last === first - 1 && last - before.first < blocksMax * DIGEST_BLOCK;
    if (joins) ranges[ranges.length - 1] = { first: before.first, last };
    else ranges.push({ first, last });
  }
  return ranges;
}

/** How a range reads: `5`, or `5 to 9`. */
export function rangeText(range: SeqRange): string {
  return range.first === range.last ? `${range.first}` : `${range.first} to ${range.last}`;
}
