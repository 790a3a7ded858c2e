/** What was found, by kind. A finding of ten million sequences in a row is one range. */
import { IntervalSet } from '../stream/intervals.js';
import type { SeqRange } from '../stream/types.js';

/** Why a sequence may rightly be on one side alone. */
export type Excuse =
  | 'kept'
  | 'trimmed'
  | 'expired'
  | 'ttl'
  | 'outOfScope'
  | 'tailGap'
  /** A difference of the servers that were read, and none of the leaders'. */
  | 'settled'
  /**
   * A limit of the mirror may have dropped it before it held less than that limit, or it was
   * acknowledged there: or neither.
   */
  | 'unknown';
/** What has no excuse. */
export type DifferenceKind = 'missing' | 'changed' | 'beyond';

/** Sequences of one kind: all of `count` lie within first … last. */
export interface Found<Kind extends string> extends SeqRange {
  readonly kind: Kind;
  readonly count: number;
  /** Rising; null: only counted. */
  readonly ranges: readonly SeqRange[] | null;
}

interface Tally {
  count: number;
  first: number;
  last: number;
}

/** By kind. What is told in rising order is kept as ranges; what is not is only counted. */
export class Findings<Kind extends string> {
  readonly #sets = new Map<Kind, IntervalSet>();
  readonly #tallies = new Map<Kind, Tally>();

  add(kind: Kind, first: number, last = first): void {
    let set = this.#sets.get(kind);
    if (set === undefined) {
      set = new IntervalSet();
      this.#sets.set(kind, set);
    }
    set.add(first, last);
  }

  /** Counted, in any order. */
  tally(kind: Kind, first: number, last = first, count = last - first + 1): void {
    const tally = this.#tallies.get(kind) ?? { count: 0, first, last };
    tally.count += count;
    tally.first = Math.min(tally.first, first);
    tally.last = Math.max(tally.last, last);
    this.#tallies.set(kind, tally);
  }

  addAll(others: Findings<Kind>): void {
    for (const { kind, ranges, first, last, count } of others.all()) {
      for (const range of ranges ?? []) this.add(kind, range.first, range.last);
      if (ranges === null) this.tally(kind, first, last, count);
    }
  }

  remove(kind: Kind, first: number, last = first): void {
    this.#sets.get(kind)?.remove(first, last);
  }

  ranges(kind: Kind): SeqRange[] {
    return this.#sets.get(kind)?.ranges() ?? [];
  }

  count(kind: Kind): number {
    return (this.#sets.get(kind)?.count ?? 0) + (this.#tallies.get(kind)?.count ?? 0);
  }

  has(kind: Kind, seq: number): boolean {
    return this.#sets.get(kind)?.has(seq) ?? false;
  }

  /** Asked often: no range is looked at. */
  get total(): number {
    return this.#kinds.reduce((sum, kind) => sum + this.count(kind), 0);
  }

  all(): Found<Kind>[] {
    return this.#kinds.map((kind) => this.#found(kind)).filter(({ count }) => count > 0);
  }

  get #kinds(): Kind[] {
    return [...new Set([...this.#sets.keys(), ...this.#tallies.keys()])];
  }

  #found(kind: Kind): Found<Kind> {
    const ranges = this.ranges(kind);
    const tally = this.#tallies.get(kind);
    const bounds = tally === undefined ? ranges : [...ranges, tally];
    return {
      kind,
      first: Math.min(...bounds.map(({ first }) => first)),
      last: Math.max(...bounds.map(({ last }) => last)),
      count: this.count(kind),
      ranges: tally === undefined ? ranges : null,
    };
  }
}
