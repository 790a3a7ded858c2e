/**
 * What a comparison found, in flat memory: sequences of each kind as intervals, and the first few
 * differences of each replica in words.
 */
import type { Slot } from '../base/member.js';
import { IntervalSet } from '../stream/intervals.js';
import type { SeqRange } from '../stream/types.js';
import { countOf, subtract, type Ranges } from './ranges.js';
import type { Difference, DifferenceKind, MessageCounts } from './types.js';

type CountedKind = Exclude<keyof MessageCounts, 'ok'>;

export class Differences {
  readonly #listedMax: number;
  readonly #listed: Difference[] = [];
  /** How many are listed, by replica and kind. */
  readonly #listedBy = new Map<string, number>();
  readonly #counted: Readonly<Record<CountedKind, IntervalSet>> = {
    lost: new IntervalSet(),
    duplicated: new IntervalSet(),
    reordered: new IntervalSet(),
    corrupt: new IntervalSet(),
    phantom: new IntervalSet(),
    unknown: new IntervalSet(),
  };

  /** @param listedMax  differences of one replica that are told in words; all are counted */
  constructor(listedMax: number) {
    this.#listedMax = listedMax;
  }

  add(difference: Difference): void {
    const { kind, seq } = difference;
    if (kind !== 'state') this.#counted[kind].add(seq, seq);
    this.#list(difference);
  }

  /** The same difference at every sequence of a range. */
  addRange(kind: DifferenceKind, replica: Slot, range: SeqRange, text: string): void {
    if (kind !== 'state') this.#counted[kind].add(range.first, range.last);
    const last = Math.min(range.last, range.first + this.#listedMax - 1);
    for (let seq = range.first; seq <= last; seq++) this.#list({ kind, replica, seq, text });
  }

  unknown(range: SeqRange): void {
    this.#counted.unknown.add(range.first, range.last);
  }

  /** Whether a difference was found at this sequence, on any replica, or nothing is known of it. */
  marks(seq: number): boolean {
    return Object.values(this.#counted).some((set) => set.has(seq));
  }

  /** @param held  the sequences that every replica holds */
  counts(held: Ranges): MessageCounts {
    const sound = Object.values(this.#counted).reduce<Ranges>(
      (ranges, set) => subtract(ranges, set.ranges()),
      held,
    );
    const { lost, duplicated, reordered, corrupt, phantom, unknown } = this.#counted;
    return {
      ok: countOf(sound),
      lost: lost.count,
      duplicated: duplicated.count,
      reordered: reordered.count,
      corrupt: corrupt.count,
      phantom: phantom.count,
      unknown: unknown.count,
    };
  }

  /** By replica in the order given; of each what concerns its state, then rising by sequence. */
  list(slots: readonly Slot[]): Difference[] {
    return slots.flatMap((slot) =>
      this.#listed
        .filter((difference) => difference.replica === slot)
        .sort((one, other) => rank(one) - rank(other) || one.seq - other.seq)
        .slice(0, this.#listedMax),
    );
  }

  /** Each kind is found in rising order, so the first of each kind hold the first of all. */
  #list(difference: Difference): void {
    const key = `${difference.replica} ${difference.kind}`;
    const listed = this.#listedBy.get(key) ?? 0;
    if (listed >= this.#listedMax) return;
    this.#listedBy.set(key, listed + 1);
    this.#listed.push(difference);
  }
}

function rank(difference: Difference): number {
  return difference.kind === 'state' ? 0 : 1;
}
