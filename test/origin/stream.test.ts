/** A stream that loses messages while it is served: against a plain list of sequences. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OriginStream } from '../../src/origin/stream.js';
import { make, sequencesOf, synthetic } from './stage.js';

const plan = synthetic({ messages: 12, gaps: [{ after: 3, count: 4 }] });
// 1 2 3, 8 … 16, and the sentinel 17.
const ALL = [1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17];

describe('origin stream', () => {
  it('delete, purge, expire: what is left, and its state', () => {
    const stream = new OriginStream(make(plan).content);
    expect(stream.state()).toEqual({ first: 1, last: 17, messages: 13, deleted: 4 });
    expect(stream.remove({ first: 2, last: 9 })).toBe(4);
    expect(stream.remove({ first: 4, last: 7 })).toBe(0);
    expect(stream.remove({ first: 9, last: 10 })).toBe(1);
    expect(stream.state()).toEqual({ first: 1, last: 17, messages: 8, deleted: 9 });
    expect(stream.remove({ first: 1, last: 11 })).toBe(2);
    expect(stream.state()).toEqual({ first: 12, last: 17, messages: 6, deleted: 0 });
  });

  it('the sentinel stays, whatever is removed', () => {
    const stream = new OriginStream(make(plan).content);
    expect(stream.remove({ first: 1, last: Number.MAX_SAFE_INTEGER })).toBe(12);
    expect(stream.state()).toEqual({ first: 17, last: 17, messages: 1, deleted: 0 });
    expect(sequencesOf(stream.slice(1, 99, 1e6)!.bytes)).toEqual([17]);
    expect(stream.slice(18, 99, 1e6)).toBeNull();
  });

  it('the end of so many messages, or of all that there are', () => {
    const stream = new OriginStream(make(plan).content);
    stream.remove({ first: 8, last: 8 });
    expect([1, 3, 4, 99].map((count) => stream.endOf(2, count))).toEqual([2, 9, 10, 17]);
    expect(stream.endOf(18, 1)).toBe(17);
  });

  it('model: next, counts and slices', () => {
    const range = fc.tuple(fc.integer({ min: 1, max: 18 }), fc.nat(6));
    fc.assert(
      fc.property(
        fc.array(range, { maxLength: 6 }),
        fc.integer({ min: 1, max: 19 }),
        (cuts, at) => {
          const stream = new OriginStream(make(plan).content);
          let left = ALL;
          for (const [first, more] of cuts) {
            const isGone = (seq: number): boolean =>
              seq >= first && seq <= first + more && seq !== 17;
            const removed = stream.remove({ first, last: first + more });
            expect(removed).toBe(left.filter(isGone).length);
            left = left.filter((seq) => !isGone(seq));
          }
          const behind = left.filter((seq) => seq >= at);
          expect(stream.nextSeq(at)).toBe(behind[0]);
          expect(stream.countFrom(at)).toBe(behind.length);
          expect(stream.messages).toBe(left.length);
          const handed: number[] = [];
          for (let next: number | undefined = at; next !== undefined;) {
            const slice = stream.slice(next, 5, 1e6);
            if (slice === null) break;
            const sequences = sequencesOf(slice.bytes);
            expect([slice.count, slice.firstSeq, slice.lastSeq]).toEqual([
              sequences.length,
              sequences[0],
              sequences.at(-1),
            ]);
            handed.push(...sequences);
            next = slice.lastSeq + 1;
          }
          expect(handed).toEqual(behind);
        },
      ),
      { numRuns: 500, seed: 1 },
    );
  });
});
