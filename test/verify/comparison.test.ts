/** What a mirror and its origin do not share, read a second time. */
import { describe, expect, it } from 'vitest';
import { loadHasher } from '../../src/base/hasher.js';
import { MirrorComparison } from '../../src/verify/comparison.js';
import { streamFacts } from '../../src/verify/stream-facts.js';
import { bytes, message, NOW } from './replica-stage.js';

const hasher = await loadHasher();
const factsOf = (name: string): ReturnType<typeof streamFacts> =>
  streamFacts({
    config: { name, retention: 'limits' },
    created: '2027-01-15T00:00:00Z',
    state: { messages: 20, bytes: 100, first_seq: 1, last_seq: 20, first_ts: '', last_ts: '' },
  });
const comparison = (): MirrorComparison =>
  new MirrorComparison({
    ...{ origin: factsOf('ORDERS'), mirror: factsOf('MR'), hasher },
    ...{ isWhole: true, now: () => NOW },
  });

describe('comparison: read again from the leaders', () => {
  it('what is no difference there is told as settled, what is one stays', () => {
    const first = comparison();
    for (const seq of [5, 6, 9]) first.missing(0, message(seq));
    first.unlike(0, message(12), message(12, { payload: bytes('x') }));
    first.beyond({ first: 21, last: 22 });
    const again = comparison();
    again.missing(0, message(9));
    // The origin has lost this one since, which excuses it.
    again.extra(0, message(5));
    const { differences, explained } = first.confirmedBy(again);
    expect(differences.all().map(({ kind, ranges }) => [kind, ranges])).toEqual([
      ['missing', [{ first: 9, last: 9 }]],
      ['beyond', [{ first: 21, last: 22 }]],
    ]);
    expect(explained.all()).toEqual([
      { kind: 'kept', first: 5, last: 5, count: 1, ranges: [{ first: 5, last: 5 }] },
      { kind: 'settled', first: 5, last: 12, count: 2, ranges: null },
    ]);
  });

  it('all of it is a difference there too: nothing is settled', () => {
    const first = comparison();
    first.missing(0, message(5));
    const again = comparison();
    again.missing(0, message(5));
    expect(first.confirmedBy(again).explained.all()).toEqual([]);
  });
});
