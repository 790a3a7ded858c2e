/**
 * Where an origin has messages: the runs of sequences that its plan leaves, with a sentinel behind
 * the last one, and how many messages lie before a sequence. It knows nothing of what they hold.
 */
import { invariant } from '../base/errors.js';
import { SEQ_MAX } from '../base/limits.js';
import type { MadeOriginPlan } from '../scenario/types.js';
import type { SeqRange } from '../stream/types.js';

export class OriginShape {
  readonly name: string;
  /** Bytes of payload, the sentinel's left aside. */
  readonly size: number;
  /**
   * Sequence of one more message behind the plan's last sequence: a gap at the tail shows only
   * when a message follows it.
   */
  readonly sentinel: number;
  /** Runs of existing sequences: rising, apart from each other, the sentinel in the last one. */
  readonly runs: readonly SeqRange[];
  /** All messages, the sentinel counted. */
  readonly messages: number;
  /** For each run, the messages before it. */
  readonly #before: Float64Array;

  constructor(plan: MadeOriginPlan) {
    this.name = plan.kind === 'synthetic' ? 'SYNTHETIC' : plan.name;
    this.size = plan.size;
    const { gaps, first, last } = spanOf(plan);
    this.sentinel = last + 1;
    invariant(this.sentinel <= SEQ_MAX, 'the sentinel of an origin is a sequence');
    this.runs = runsBetween(gaps, first, this.sentinel);
    this.#before = new Float64Array(this.runs.length);
    let messages = 0;
    this.runs.forEach((run, at) => {
      this.#before[at] = messages;
      messages += run.last - run.first + 1;
    });
    this.messages = messages;
  }

  get first(): number {
    return this.runs[0]!.first;
  }

  /** How many messages have a lower sequence. */
  messagesBefore(seq: number): number {
    const at = this.#runEndingFrom(seq);
    const run = this.runs[at];
    if (run === undefined) return this.messages;
    return this.#before[at]! + Math.max(0, seq - run.first);
  }

  /** The sequence of a message by its number, 0 … messages - 1. */
  seqOf(number: number): number {
    let low = 0;
    let high = this.runs.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (this.#before[middle]! <= number) low = middle;
      else high = middle - 1;
    }
    return this.runs[low]!.first + number - this.#before[low]!;
  }

  /** The parts of the runs that lie within a range. */
  *within(range: SeqRange): Iterable<SeqRange> {
    for (let at = this.#runEndingFrom(range.first); at < this.runs.length; at++) {
      const { first, last } = this.runs[at]!;
      if (first > range.last) return;
      yield { first: Math.max(first, range.first), last: Math.min(last, range.last) };
    }
  }

  #runEndingFrom(seq: number): number {
    let low = 0;
    let high = this.runs.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.runs[middle]!.last < seq) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** First and last sequence of a plan and the gaps between, as sequences. */
function spanOf(plan: MadeOriginPlan): SeqRange & { readonly gaps: readonly SeqRange[] } {
  if (plan.kind !== 'synthetic') return plan;
  let passed = 0;
  const gaps = plan.gaps.map(({ after, count }) => {
    const first = after + passed + 1;
    passed += count;
    return { first, last: after + passed };
  });
  return { first: 1, last: plan.messages + passed, gaps };
}

function runsBetween(gaps: readonly SeqRange[], first: number, last: number): SeqRange[] {
  const runs: SeqRange[] = [];
  let next = first;
  for (const gap of gaps) {
    if (gap.first > next) runs.push({ first: next, last: gap.first - 1 });
    next = gap.last + 1;
  }
  runs.push({ first: next, last });
  return runs;
}
