import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { SeqRange } from '../../src/stream/types.js';
import { Ledger } from '../../src/verdict/ledger.js';
import {
  countOf,
  intersect,
  rangesOf,
  rangesOfBlocks,
  rangeText,
} from '../../src/verdict/ranges.js';
import { span, subtract } from '../../src/verdict/ranges.js';

test('ledger: two openings -> each sequence once, a gap of one beside a delivery of another', () => {
  const ledger = new Ledger();
  ledger.delivered({ first: 1, last: 5 });
  ledger.passedOver({ first: 6, last: 9 });
  ledger.delivered({ first: 10, last: 12 });
  ledger.delivered({ first: 4, last: 7 });
  ledger.passedOver({ first: 8, last: 9 });
  ledger.passedOver({ first: 1, last: 0 });
  expect(ledger.ranges()).toEqual({
    delivered: [
      { first: 1, last: 7 },
      { first: 10, last: 12 },
    ],
    passedOver: [{ first: 6, last: 9 }],
  });
});

function seqsOf(ranges: readonly SeqRange[]): number[] {
  return ranges.flatMap(({ first, last }) =>
    Array.from({ length: last - first + 1 }, (_, at) => first + at),
  );
}

test('ranges: intersect, subtract and count -> what sets of sequences give', () => {
  const seqs = fc.uniqueArray(fc.integer({ min: 1, max: 40 }));
  fc.assert(
    fc.property(seqs, seqs, (one, other) => {
      const [left, right] = [rangesOf(one), rangesOf(other)];
      const sorted = [...one].sort((a, b) => a - b);
      expect(seqsOf(intersect(left, right))).toEqual(sorted.filter((seq) => other.includes(seq)));
      expect(seqsOf(subtract(left, right))).toEqual(sorted.filter((seq) => !other.includes(seq)));
      expect(countOf(left)).toBe(one.length);
    }),
  );
});

test('ranges: blocks -> joined while adjacent and few enough', () => {
  expect(rangesOfBlocks([0, 1, 2, 5], 2)).toEqual([
    { first: 1, last: 2048 },
    { first: 2049, last: 3072 },
    { first: 5121, last: 6144 },
  ]);
  expect(rangesOfBlocks([0, 1, 2], Infinity)).toEqual([{ first: 1, last: 3072 }]);
  expect([span(2, 1), span(2, 2)]).toEqual([[], [{ first: 2, last: 2 }]]);
  expect([rangeText({ first: 2, last: 2 }), rangeText({ first: 2, last: 4 })]).toEqual([
    '2',
    '2 to 4',
  ]);
});
