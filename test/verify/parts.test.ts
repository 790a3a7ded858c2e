/** The smaller parts: transforms, samples, backlogs, tokens, times to live. */
import { describe, expect, it } from 'vitest';
import { createPrng } from '../../src/base/prng.js';
import type { JetStreamApi } from '../../src/nats/api.js';
import { backlogReport, sampleBacklog, type BacklogSample } from '../../src/verify/backlog.js';
import { isReadElsewhere, suspectsOf, untold } from '../../src/verify/reading.js';
import { isBeyondOrigin, isOlderThanOrigin, remarks } from '../../src/verify/remarks.js';
import { checkToken, parseToken, restore, resumeToken } from '../../src/verify/resume.js';
import { rangeSample, seenPart, sizeOf, spotSample } from '../../src/verify/sampling.js';
import { matches, Selection } from '../../src/verify/selection.js';
import { changeBetween } from '../../src/verify/sides.js';
import type { MirrorSource } from '../../src/verify/stream-facts.js';
import { ttlMs } from '../../src/verify/ttl.js';
import { compare, facts, hasher, message, messages } from './stage.js';

describe('selection', () => {
  it.each([
    ['a.>', 'a.b.c', true],
    ['a.>', 'a', false],
    ['a.*', 'a.b', true],
    ['a.*', 'a.b.c', false],
    ['a.*.c', 'a.b.d', false],
    ['>', 'a', true],
  ])('%s of %s: %s', (pattern, subject, is) => {
    expect(matches(pattern, subject)).toBe(is);
  });

  it('rewrites with $1 and {{wildcard(1)}}, in any order; knows what it does not know', () => {
    const of = (src: string, dest: string): Selection =>
      new Selection({ transforms: [{ src, dest }], stored: null });
    expect(of('a.*.*', 'x.$2.$1').rewritten('a.1.2')).toBe('x.2.1');
    expect(of('a.*.*', 'x.{{ Wildcard(2) }}').rewritten('a.1.2')).toBe('x.2');
    expect(of('a.>', 'x.>').rewritten('a.1.2')).toBe('x.1.2');
    expect(of('a.>', '').rewritten('a.1')).toBe('a.1');
    expect(of('a.*', 'x.{{left(1,2)}}').rewritten('a.1')).toBeNull();
    expect(of('a.*', 'x.{{left(1,2)}}').isUnderstood).toBe(false);
    expect(of('a.*', '').selects('b.1')).toBe(false);
    expect(new Selection(null).selects('b.1')).toBe(true);
  });

  it('what a mirror takes is rewritten again by its own transform, where that matches', () => {
    const [taken, stored] = [
      { src: 'a.*', dest: '$KV.x.$1' },
      { src: '$KV.x.>', dest: 'y.>' },
    ];
    const both = new Selection({ transforms: [taken], stored });
    expect(both.rewritten('a.1')).toBe('y.1');
    const alone = new Selection({ transforms: [], stored });
    expect(['a.1', '$KV.x.2'].map((subject) => alone.rewritten(subject))).toEqual(['a.1', 'y.2']);
    expect([both.isUnderstood, alone.isAll, alone.keepsSubjects]).toEqual([true, true, false]);
    const split = { src: '>', dest: '{{left(1,2)}}' };
    expect(new Selection({ transforms: [], stored: split }).isUnderstood).toBe(false);
  });
});

describe('samples', () => {
  const prng = (): ReturnType<typeof createPrng> => createPrng(7);

  it('a small stream is read whole', () => {
    expect(spotSample(prng(), { first: 5, last: 204 }, [])).toEqual({
      ...{ ranges: [{ first: 5, last: 204 }], drawn: null },
    });
    expect(spotSample(prng(), { first: 5, last: 4 }, [])).toEqual({ ranges: [], drawn: null });
  });

  it('200 of many: both ends, both sides of every edge, nothing outside', () => {
    const scope = { first: 10, last: 2 ** 40 };
    const sample = spotSample(prng(), scope, [{ first: 100, last: 200 }]);
    const read = new Set(sample.ranges.flatMap(({ first, last }) => [first, last]));
    for (const seq of [10, 99, 100, 200, 201, 2 ** 40]) expect(read.has(seq), `${seq}`).toBe(true);
    expect(sizeOf(sample)).toBe(200);
    expect(sample.ranges[0]!.first).toBe(10);
    expect(sample.ranges.at(-1)!.last).toBe(2 ** 40);
    expect(sample.ranges.some(({ first }) => first > 2 ** 32)).toBe(true);
  });

  it('ranges: as many as see one loss in a thousand of them', () => {
    const sample = rangeSample(prng(), { first: 1, last: 1e9 }, []);
    expect(sample.drawn).toEqual({ ranges: 3_000, length: 8, seenPart: seenPart(3_000) });
    expect(seenPart(2_995)).toBeCloseTo(0.001, 6);
    expect(1 - (1 - seenPart(200)) ** 200).toBeCloseTo(0.95, 10);
    expect(sizeOf(sample)).toBeGreaterThan(23_900);
  });
});

describe('backlog', () => {
  const sample = (pending: number | null, mirrorLast: number, originLast = 100): BacklogSample => ({
    ...{ atMs: mirrorLast, pending, mirrorLast, originLast },
  });
  const mirror = facts(messages(1), { mirror: { name: 'S' } });
  const sealed = facts(messages(1), { mirror: { name: 'S' }, sealed: true });
  const filtered = facts(messages(1), { mirror: { name: 'S', filter_subject: 'a.b' } });

  it.each([
    ['caught up', sample(0, 100), null, mirror],
    ['tail gap', sample(0, 98), null, mirror],
    ['caught up', sample(0, 98), null, filtered],
    ['stopped: sealed', sample(5, 95), null, sealed],
    ['caught up', sample(0, 100), null, sealed],
    ['pending', sample(5, 95), null, mirror],
    ['stopped', sample(5, 95), sample(9, 95, 104), mirror],
    ['lagging', sample(5, 95), sample(6, 98, 104), mirror],
    ['keeps up', sample(5, 95), sample(4, 100, 104), mirror],
    ['caught up', sample(5, 95), sample(0, 104, 104), mirror],
    ['stopped', sample(null, 95), sample(null, 95), mirror],
  ] as const)('%s', (status, first, second, of) => {
    expect(backlogReport(first, second, of).status).toBe(status);
  });
});

it('backlog: of a follower that has nothing more, its leader is asked', async () => {
  const asked: string[] = [];
  const api = {
    createConsumer: () => Promise.resolve({ startsAfter: 0, pending: 0, server: 'n3' }),
    deleteConsumer: () => Promise.resolve(),
    messageFrom: (_stream: string, seq: number, subject: string) => {
      asked.push(`${seq} ${subject}`);
      return Promise.resolve(subject === 'b' ? message(20) : null);
    },
  } as unknown as JetStreamApi;
  const [short, whole] = [facts(messages(1, 9)), facts(messages(1, 20))];
  const filtered = ['a', 'b'].map((src) => ({ src, dest: '' }));
  const selecting = { ...short, mirror: { transforms: filtered } as unknown as MirrorSource };
  const pendings = [
    await sampleBacklog(api, whole, short),
    await sampleBacklog(api, whole, selecting),
    await sampleBacklog(api, short, short),
  ].map(({ pending }) => pending);
  expect(pendings).toEqual([0, null, 0]);
  expect(asked).toEqual(['10 >', '10 a', '10 b']);
});

describe('identity', () => {
  const origin = (last: number, created = '2026-01-01T00:00:00Z'): ReturnType<typeof facts> => ({
    ...facts(messages(1, last)),
    created: BigInt(Date.parse(created)) * 1_000_000n,
  });

  it('a mirror beyond its origin; one that starts ahead of it is none', () => {
    expect(isBeyondOrigin({ origin: origin(5), mirror: facts(messages(1, 20)) })).toBe(true);
    expect(isBeyondOrigin({ origin: origin(20), mirror: facts(messages(1, 20)) })).toBe(false);
    const config = { mirror: { name: 'S', opt_start_seq: 21 } };
    const ahead = facts([], config, { first_seq: 21, last_seq: 20 });
    expect(isBeyondOrigin({ origin: origin(5), mirror: ahead })).toBe(false);
    const emptied = facts([], { mirror: { name: 'S' } }, { first_seq: 21, last_seq: 20 });
    expect(isBeyondOrigin({ origin: origin(5), mirror: emptied })).toBe(true);
  });

  it('one that is not the same from beginning to end', () => {
    const of = (last: number, config: object = {}): ReturnType<typeof facts> =>
      facts(messages(1, last), { name: 'M', mirror: { name: 'S' }, max_msgs: 9, ...config });
    const before = { origin: origin(9), mirror: of(9) };
    const changes = [
      { origin: origin(12), mirror: of(12, { description: 'other' }) },
      { origin: origin(9, '2026-01-01T00:00:01Z'), mirror: of(9) },
      { origin: origin(9), mirror: of(8) },
      { origin: origin(9), mirror: of(9, { max_msgs: -1 }) },
      { origin: origin(9), mirror: of(9, { mirror: undefined }) },
    ].map((after) => changeBetween(before, after));
    const otherwise = 'M was configured otherwise while it was read';
    expect(changes).toEqual([
      ...[null, 'S was made anew while it was read', 'M lost its end meanwhile'],
      ...[otherwise, otherwise],
    ]);
  });

  it('a mirror older than its origin is a hint, said in a note', () => {
    const mirror = facts(messages(1, 20), { name: 'M' });
    expect(isOlderThanOrigin({ origin: origin(20), mirror })).toBe(false);
    const younger = { origin: origin(20, '2026-12-01T00:00:00Z'), mirror };
    expect(isOlderThanOrigin(younger)).toBe(true);
    const between = { ...younger.origin, mirror: {} as MirrorSource };
    expect(isOlderThanOrigin({ origin: between, mirror })).toBe(false);
    expect(remarks(younger)).toEqual(['M holds a message older than S: made anew, or restored']);
  });
});

it("suspects: what the servers' own lists tell apart, within the scope", () => {
  const listed = (deleted: number[]): ReturnType<typeof facts> =>
    facts(messages(1, 20), {}, { num_deleted: deleted.length, deleted });
  const sides = { origin: listed([4]), mirror: listed([4, 5, 6, 9]) };
  expect(suspectsOf(sides, { first: 6, last: 20 }, true)).toEqual([
    ...[6, 9].map((seq) => ({ first: seq, last: seq })),
  ]);
  expect(suspectsOf(sides, { first: 6, last: 20 }, false)).toEqual([]);
  expect(
    suspectsOf({ ...sides, mirror: facts(messages(1, 20)) }, { first: 1, last: 9 }, true),
  ).toEqual([]);
});

describe('untold: messages of a leader that neither side that was read has', () => {
  const of = (first_seq: number, last_seq: number, held: number): ReturnType<typeof facts> =>
    facts([], {}, { messages: held, first_seq, last_seq });
  const all = { first: 1, last: 100 };
  const everything = new Selection(null);
  const some = new Selection({ transforms: [{ src: 'a.*', dest: '' }], stored: null });

  it.each([
    ['none: all were told', of(1, 100, 100), of(1, 100, 100), all, 100, everything, 0],
    ['of both', of(1, 100, 100), of(1, 100, 100), all, 99, everything, 1],
    ['of the origin alone', of(1, 100, 100), of(1, 100, 98), all, 98, everything, 2],
    ['a filter: the origin has others', of(1, 100, 100), of(1, 100, 40), all, 40, some, 0],
    ['a filter: of the mirror', of(1, 100, 100), of(1, 100, 40), all, 39, some, 1],
    ['what came since may be all above', of(1, 110, 110), of(1, 105, 105), all, 99, everything, 1],
    ['gaps above: nobody knows', of(1, 110, 100), of(1, 105, 100), all, 95, everything, 0],
    [
      'what lies below a start',
      of(1, 100, 100),
      of(11, 100, 90),
      { first: 21, last: 100 },
      79,
      everything,
      1,
    ],
    ['nothing to read', of(1, 100, 100), of(1, 0, 0), { first: 1, last: 0 }, 0, everything, 0],
  ] as const)('%s', (_, origin, mirror, scope, told, selection, count) => {
    expect(untold({ origin, mirror }, scope, { told, selection })).toBe(count);
  });
});

it.each([
  ['nobody: their leader was asked', [], ['n1', 'n1'], false],
  ['the leader all the while', ['n1'], ['n1', 'n1'], false],
  ['a follower', ['n2'], ['n1', 'n1'], true],
  ['a follower first, the leader then', ['n2', 'n1'], ['n1', 'n1'], true],
  ['who led at the start alone', ['n1'], ['n1', 'n2'], true],
  ['some of it in an earlier run', ['n1'], [null], true],
])('read elsewhere than on the leader: %s', (_title, servers, leaders, is) => {
  expect(isReadElsewhere(servers, leaders)).toBe(is);
});

describe('resume', () => {
  const sides = { origin: facts(messages(1, 9)), mirror: facts(messages(1, 9), { name: 'M' }) };

  it('a token gives back what was found, and is refused for what changed', async () => {
    const comparison = await compare(messages(1, 2, 3, 9), messages(1, 3, 4, 9));
    const token = resumeToken(sides, { from: 1, upTo: 9 }, comparison, hasher);
    const read = parseToken('token', JSON.stringify(token));
    expect(read).toEqual(token);
    const again = await compare([], []);
    restore(read, again);
    expect(again.differences.all()).toEqual(comparison.differences.all());
    expect(again.explained.all()).toEqual(comparison.explained.all());
    expect([again.compared, again.next]).toEqual([3, 10]);

    const refusal = (given: Partial<typeof sides>, border = token.border): string => {
      try {
        checkToken(token, { ...sides, ...given }, border, hasher);
        return 'none';
      } catch (error) {
        return (error as Error).message;
      }
    };
    expect(refusal({})).toBe('none');
    expect(refusal({}, null)).toBe('none');
    expect(refusal({ origin: { ...sides.origin, created: 1n } })).toContain('S was made anew');
    expect(refusal({ mirror: { ...sides.mirror, created: 1n } })).toContain('M was made anew');
    expect(refusal({ mirror: { ...sides.mirror, config: {} } })).toContain('configuration');
    const shorter = { ...sides.mirror, state: { ...sides.mirror.state, last_seq: 8 } };
    expect(refusal({ mirror: shorter })).toContain('M ends below 9');
    expect(refusal({}, { seq: 9, digest: 'x' })).toContain('message 9 of S is another one');
    expect(() => parseToken('f', '[')).toThrow('f: not a resume token of lockstep verify');
  });
});

it.each([
  ['5', 5_000],
  ['1m30s', 90_000],
  ['500ms', 500],
  ['never', null],
  ['', null],
  [null, null],
  ['1 h', null],
])('time to live %s: %s', (text, ms) => {
  expect(ttlMs(text)).toBe(ms);
});
