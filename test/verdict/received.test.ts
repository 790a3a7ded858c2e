import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadHasher } from '../../src/base/hasher.js';
import {
  judgeReceived,
  type ReceivedMessage,
  type ReceivedOptions,
} from '../../src/verdict/received.js';
import type { LedgerReader } from '../../src/verdict/types.js';

const hasher = await loadHasher();
const digest = (text: string): bigint => hasher.hash64(new TextEncoder().encode(text));
const NONE = { lost: 0, duplicated: 0, reordered: 0, corrupt: 0, phantom: 0 };

const PUBLISHED = ['a', 'b', 'c', 'd', 'e'].map((id) => ({ id, body: `body of ${id}` }));
const [A, B, C, D, E] = PUBLISHED as [
  ReceivedMessage,
  ReceivedMessage,
  ReceivedMessage,
  ReceivedMessage,
  ReceivedMessage,
];

/** Delivers 1 to 6 and 9,000; 3 was passed over later; 5 came with two bodies; 9,000 ends it. */
const LEDGER: LedgerReader = {
  report: () =>
    Promise.resolve({
      origin: { first: 1, last: 9_000, messages: 7, deleted: 8_993 },
      sentinel: 9_000,
      tailGap: null,
      delivered: [
        { first: 1, last: 6 },
        { first: 9_000, last: 9_000 },
      ],
      passedOver: [{ first: 3, last: 3 }],
      blocks: { blocks: new Float64Array(), digests: new BigUint64Array() },
    }),
  records: ({ first, last }) => {
    const rows = [1, 2, 3, 4, 5, 5, 6, 9_000].map((seq, at) => {
      const payload = digest(at === 5 ? 'other 5' : `body ${seq}`);
      return { seq, timestamp: 0n, subject: 0n, headers: 0n, payload };
    });
    return Promise.resolve(rows.filter(({ seq }) => seq >= first && seq <= last));
  },
};
const of = (seq: number, body = `body ${seq}`): ReceivedMessage => ({ seq, body });

async function judged(
  received: readonly ReceivedMessage[],
  handed: LedgerReader | readonly ReceivedMessage[] = PUBLISHED,
  options?: ReceivedOptions,
): Promise<{ counts: object; named: readonly string[] }> {
  const { counts, named } = await judgeReceived(received, handed, hasher, options);
  const found = Object.entries(counts).filter(([, count]) => count > 0);
  return { counts: Object.fromEntries(found), named };
}

describe('verdict: received: what was published', () => {
  it('all of it, once, in order', async () => {
    expect(await judgeReceived(PUBLISHED, PUBLISHED, hasher)).toEqual({
      counts: { ok: 5, ...NONE },
      named: [],
    });
  });

  it.each<[string, ReceivedMessage[], object, string[]]>([
    ['lost', [A, B, D, E], { ok: 4, lost: 1 }, ['lost: id c never came']],
    [
      'duplicated',
      [A, B, A, C, D, E],
      { ok: 5, duplicated: 1 },
      ['duplicated: received[2]: id a came before'],
    ],
    ['late', [B, C, D, A, E], { ok: 4, reordered: 1 }, ['reordered: received[3]: id a']],
    ['early', [E, A, B, C, D], { ok: 4, reordered: 1 }, ['reordered: received[0]: id e']],
    [
      'corrupt',
      [A, { ...B, body: 'x' }, { ...C, body: 'body of a' }, D, E],
      { ok: 3, corrupt: 2 },
      [
        'corrupt: received[1]: id b has a body that nothing has',
        'corrupt: received[2]: id c has the body of id a',
      ],
    ],
    [
      'phantom',
      [A, B, C, D, E, { id: 'f', body: 'body of a' }],
      { ok: 5, phantom: 1 },
      ['phantom: received[5]: id f was never handed out'],
    ],
  ])('%s', async (_, received, counts, named) => {
    expect(await judged(received)).toEqual({ counts, named });
  });

  it('duplicates that are allowed; bodies that nobody told', async () => {
    const twice = [A, A, B, C, B, D, E];
    const options = { duplicates: 'allowed' } as const;
    expect(await judged(twice, PUBLISHED, options)).toEqual({ counts: { ok: 5 }, named: [] });
    const bare = PUBLISHED.map(({ id }) => ({ id }));
    expect(await judged(bare)).toEqual({ counts: { ok: 5 }, named: [] });
    expect(await judged(PUBLISHED, bare)).toEqual({ counts: { ok: 5 }, named: [] });
  });

  it('counts all, names the first five of each kind', async () => {
    const many = Array.from({ length: 30 }, (_, at) => ({ seq: at + 1 }));
    const { counts, named } = await judged([], many);
    expect(counts).toEqual({ lost: 30 });
    expect(named).toEqual([1, 2, 3, 4, 5].map((seq) => `lost: seq ${seq} never came`));
  });

  it('refused: what cannot be told from others', async () => {
    const nameless = 'received[0]: it has neither seq nor id nor body, by which it could be told';
    await expect(judged([], [{ body: 'x' }])).rejects.toThrow(
      'published[0]: it has neither seq nor id,',
    );
    await expect(judged([{}], LEDGER)).rejects.toThrow(nameless);
    await expect(judged([{ body: 'body of a' }])).rejects.toThrow(
      'received[0]: it has neither seq nor id,',
    );
    await expect(judged([], [A, A])).rejects.toThrow('published[1]: "id a" is not used once only');
  });
});

describe('verdict: received: a ledger', () => {
  it('what was passed over and the sentinel may be missing; any body that was handed out', async () => {
    const some = [of(1), of(2), of(4), of(5, 'other 5'), of(6)];
    expect(await judged(some, LEDGER)).toEqual({ counts: { ok: 5 }, named: [] });
    const all = [of(1), of(2), of(3), of(4), of(5), of(6), of(9_000)];
    expect(await judged(all, LEDGER)).toEqual({ counts: { ok: 7 }, named: [] });
  });

  it('what was never delivered is a phantom, what was is lost', async () => {
    expect(await judged([of(1), of(7), of(2), of(4), of(6)], LEDGER)).toEqual({
      counts: { ok: 4, phantom: 1, lost: 1 },
      named: ['phantom: received[1]: seq 7 was never handed out', 'lost: seq 5 never came'],
    });
  });

  it('ids of a service: bodies say which message it is', async () => {
    const ids = [1, 2, 4, 5, 6].map((seq) => ({ id: `x${seq}`, body: `body ${seq}` }));
    expect(await judged(ids, LEDGER)).toEqual({ counts: { ok: 5 }, named: [] });
    expect(await judged([...ids, { id: 'y', body: 'what' }, ids[0]!], LEDGER)).toEqual({
      counts: { ok: 5, phantom: 1, duplicated: 1 },
      named: [
        'phantom: received[5]: id y was never handed out',
        'duplicated: received[6]: seq 1 came before',
      ],
    });
  });
});

it('verdict: received: a hundred thousand with one body, by the body alone', async () => {
  const handed = Array.from({ length: 100_000 }, (_, at) => ({ seq: at + 1, body: '' }));
  const received = handed.map(({ body }) => ({ body }));
  const { counts } = await judgeReceived(received, handed, hasher);
  expect(counts).toEqual({ ...NONE, ok: 100_000 });
}, 10_000);

it('verdict: received: as few as explain the order are reordered', () =>
  fc.assert(
    fc.asyncProperty(fc.shuffledSubarray([1, 2, 3, 4, 5, 6, 7], { minLength: 7 }), async (seqs) => {
      const handed = [1, 2, 3, 4, 5, 6, 7].map((seq) => ({ seq }));
      const received = seqs.map((seq) => ({ seq }));
      const { counts } = await judgeReceived(received, handed, hasher);
      expect(counts).toEqual({ ...NONE, ok: longest(seqs), reordered: 7 - longest(seqs) });
    }),
    { numRuns: 200, seed: 1 },
  ));

/** Of all subsequences, one by one. */
function longest(values: readonly number[]): number {
  let most = 0;
  for (let mask = 0; mask < 1 << values.length; mask++) {
    const some = values.filter((_, at) => (mask & (1 << at)) !== 0);
    if (some.every((value, at) => at === 0 || value > some[at - 1]!)) {
      most = Math.max(most, some.length);
    }
  }
  return most;
}
