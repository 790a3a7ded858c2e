import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { IntervalSet } from '../../src/stream/intervals.js';
import type { SeqRange } from '../../src/stream/types.js';

const TOP = 60;

/** The ranges of a set of numbers, clipped. */
function rangesOf(model: ReadonlySet<number>, from: number, to: number): SeqRange[] {
  const ranges: { first: number; last: number }[] = [];
  for (let seq = from; seq <= to; seq++) {
    if (!model.has(seq)) continue;
    const tail = ranges.at(-1);
    if (tail?.last === seq - 1) tail.last = seq;
    else ranges.push({ first: seq, last: seq });
  }
  return ranges;
}

function seqs(first: number, last: number): number[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => first + at);
}

/** Everything that can be asked, of the set and of its model. */
function answers(set: IntervalSet, first: number, last: number): unknown {
  return {
    ranges: set.ranges(),
    clipped: set.ranges(first, last),
    size: set.size,
    count: set.count,
    within: set.countWithin(first, last),
    has: seqs(0, TOP + 1).filter((seq) => set.has(seq)),
    intersects: set.intersects(first, last),
    covers: set.covers(first, last),
  };
}

function modelAnswers(model: ReadonlySet<number>, first: number, last: number): unknown {
  const within = seqs(first, last).filter((seq) => model.has(seq));
  return {
    ranges: rangesOf(model, 0, TOP),
    clipped: rangesOf(model, first, last),
    size: rangesOf(model, 0, TOP).length,
    count: model.size,
    within: within.length,
    has: [...model].sort((a, b) => a - b),
    intersects: within.length > 0,
    covers: within.length === last - first + 1,
  };
}

const span = fc
  .tuple(fc.integer({ min: 1, max: TOP }), fc.nat(12))
  .map(([first, more]) => ({ first, last: Math.min(TOP, first + more) }));
const step = fc.record({ act: fc.constantFrom('add', 'add', 'add', 'remove', 'clear'), span });

describe('intervals', () => {
  test('intervals: any adds, removes and clears -> as a set of numbers', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), span, (steps, probe) => {
        const set = new IntervalSet();
        const model = new Set<number>();
        for (const { act, span: at } of steps) {
          if (act === 'clear') {
            if (at.first % 4 > 0) continue;
            set.clear();
            model.clear();
          } else if (act === 'add') {
            set.add(at.first, at.last);
            for (const seq of seqs(at.first, at.last)) model.add(seq);
          } else {
            set.remove(at.first, at.last);
            for (const seq of seqs(at.first, at.last)) model.delete(seq);
          }
          expect(answers(set, probe.first, probe.last)).toEqual(
            modelAnswers(model, probe.first, probe.last),
          );
        }
      }),
    );
  });

  test('intervals: add: an empty range -> nothing', () => {
    const set = new IntervalSet();
    set.add(5, 4);
    expect({ ranges: set.ranges(), count: set.count }).toEqual({ ranges: [], count: 0 });
  });

  test('intervals: add: ten million sequences one by one -> one range', () => {
    const set = new IntervalSet();
    for (let seq = 1; seq <= 10_000_000; seq++) set.add(seq, seq);
    expect(set.ranges()).toEqual([{ first: 1, last: 10_000_000 }]);
    expect(set.count).toBe(10_000_000);
  });

  test('intervals: add: many ranges behind one another -> all kept, in order', () => {
    const set = new IntervalSet();
    for (let seq = 1; seq <= 20_000; seq += 2) set.add(seq, seq);
    expect([set.size, set.count]).toEqual([10_000, 10_000]);
    expect(set.ranges(9_998, 10_003)).toEqual([
      { first: 9_999, last: 9_999 },
      { first: 10_001, last: 10_001 },
      { first: 10_003, last: 10_003 },
    ]);
  });

  test('intervals: add: up to 2^53-1 -> exact', () => {
    const top = Number.MAX_SAFE_INTEGER;
    const set = new IntervalSet();
    set.add(1, top - 1);
    set.add(top, top);
    expect([set.ranges(), set.count, set.has(top)]).toEqual([[{ first: 1, last: top }], top, true]);
  });
});
