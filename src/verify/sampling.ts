/**
 * Which sequences are read when not all are, and what may be said afterwards. Every draw is of a
 * seed, so that a run can be told again.
 */
import type { Prng } from '../base/prng.js';
import type { SeqRange } from '../stream/types.js';
import { countOf, rangesOf, type Ranges } from '../verdict/ranges.js';

export interface Sample {
  /** Rising, disjoint. */
  readonly ranges: readonly SeqRange[];
  /** Null: everything is read. */
  readonly drawn: {
    readonly ranges: number;
    /** Sequences in each. */
    readonly length: number;
    /** A loss that touches this part of all ranges is seen with p = 0.95. */
    readonly seenPart: number;
  } | null;
}

/** Reads of `--depth state`. */
export const SPOT_READS = 200;
/** 2,995 see a loss that touches one range in a thousand with p = 0.95. */
export const SAMPLE_RANGES = 3_000;
export const SAMPLE_LENGTH = 8;
const EDGES_MAX = 10_000;
const MISSED = 0.05;

/** Single sequences, both ends and those of `edges` first. */
export function spotSample(prng: Prng, { first, last }: SeqRange, edges: Ranges): Sample {
  const size = last - first + 1;
  if (size <= SPOT_READS) return { ranges: size > 0 ? [{ first, last }] : [], drawn: null };
  const seqs = new Set(edgesOf({ first, last }, edges, SPOT_READS / 2));
  let draws = 0;
  while (seqs.size < SPOT_READS) {
    seqs.add(first + position(prng, size));
    draws++;
  }
  return { ranges: rangesOf(seqs), drawn: { ranges: draws, length: 1, seenPart: seenPart(draws) } };
}

/** Contiguous ranges, every edge of a gap, both ends. */
export function rangeSample(prng: Prng, { first, last }: SeqRange, edges: Ranges): Sample {
  const size = last - first + 1;
  if (size <= SAMPLE_RANGES * SAMPLE_LENGTH) {
    return { ranges: size > 0 ? [{ first, last }] : [], drawn: null };
  }
  const seqs = edgesOf({ first, last }, edges, EDGES_MAX);
  for (let range = 0; range < SAMPLE_RANGES; range++) {
    const from = first + position(prng, size - SAMPLE_LENGTH + 1);
    for (let at = 0; at < SAMPLE_LENGTH; at++) seqs.push(from + at);
  }
  seqs.sort((one, other) => one - other);
  const drawn = { ranges: SAMPLE_RANGES, length: SAMPLE_LENGTH };
  return { ranges: rangesOf(seqs), drawn: { ...drawn, seenPart: seenPart(SAMPLE_RANGES) } };
}

/** The part of all ranges that must be touched for `draws` of them to miss it once in twenty. */
export function seenPart(draws: number): number {
  return 1 - MISSED ** (1 / draws);
}

export function sizeOf({ ranges }: Sample): number {
  return countOf(ranges);
}

/** A number below `size`, which may be beyond 32 bits. */
function position(prng: Prng, size: number): number {
  const high = prng.draw('sequence');
  return Math.floor(((high + prng.draw('sequence') / 4_294_967_296) / 4_294_967_296) * size);
}

/** Within the range: its ends, and on both sides of where each of `edges` begins and ends. */
function edgesOf({ first, last }: SeqRange, edges: Ranges, most: number): number[] {
  const seqs = [first, last];
  for (const edge of edges) {
    for (const seq of [edge.first - 1, edge.first, edge.last, edge.last + 1]) {
      if (seq >= first && seq <= last && seqs.length < most) seqs.push(seq);
    }
  }
  return [...new Set(seqs)].sort((one, other) => one - other);
}
