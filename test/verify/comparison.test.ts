/** What is judged of two streams, situation by situation, without a server. */
import { describe, expect, it } from 'vitest';
import type { StoredMessage } from '../../src/stream/types.js';
import { merge, type MergeSink } from '../../src/verify/merge.js';
import { compare, counts, message, messages, source } from './stage.js';

const HEAD = 'NATS/1.0\r\n';

describe('merge', () => {
  async function told(
    reference: readonly StoredMessage[],
    copies: readonly (readonly StoredMessage[])[],
    pauseAfter = Infinity,
  ): Promise<readonly [string, ...string[]]> {
    const lines: string[] = [];
    const sink: MergeSink = {
      wantsAlike: true,
      alike: (copy, alike) => lines.push(`${copy} alike ${alike?.seq}`),
      missing: (copy, { seq }) => lines.push(`${copy} missing ${seq}`),
      extra: (copy, { seq }) => lines.push(`${copy} extra ${seq}`),
      unlike: (copy, one, { seq }) => lines.push(`${copy} unlike ${one.seq} ${seq}`),
      passed: (seq) => lines.push(`passed ${seq}`),
      border: ({ seq }) => lines.push(`border ${seq}`),
    };
    let asked = 0;
    const others = copies.map((copy) => source(copy, 2));
    const ended = await merge(source(reference), others, sink, () => ++asked > pauseAfter);
    return [ended, ...lines];
  }

  it('one copy: present, absent, other, beyond', async () => {
    const other = message(5, { payload: 'x' });
    expect(await told(messages(1, 2, 5, 7), [[...messages(1, 3), other, ...messages(9)]])).toEqual([
      'ended',
      ...['0 alike 1', 'passed 1', '0 missing 2', 'passed 2', '0 extra 3', 'passed 3'],
      ...['border 2', '0 unlike 5 5', 'passed 5', 'border 5', '0 missing 7', 'passed 7'],
      ...['border 7', '0 extra 9', 'passed 9', 'border 7'],
    ]);
  });

  it('several copies against one reference', async () => {
    const [, ...lines] = await told(messages(1, 2), [messages(1), messages(2), messages(1, 2)]);
    expect(lines.filter((line) => !/alike|passed|border/.test(line))).toEqual([
      ...['1 missing 1', '0 missing 2'],
    ]);
  });

  it('a pause ends it where all before was told', async () => {
    const [ended, ...lines] = await told(messages(1, 2, 3, 4), [messages(1, 2, 3, 4)], 2);
    expect(ended).toBe('paused');
    expect(lines.filter((line) => line.startsWith('passed'))).toEqual([
      ...['passed 1', 'passed 2', 'passed 3'],
    ]);
  });

  it('nothing at all', async () => {
    expect(await told([], [[]])).toEqual(['ended']);
  });
});

describe('comparison', () => {
  it('the same gaps: nothing to say', async () => {
    const all = messages(1, 2, 3, 5, 9);
    const comparison = await compare(all, all);
    expect(counts(comparison)).toEqual({});
    expect(comparison.compared).toBe(5);
    expect(comparison.next).toBe(10);
  });

  it('missing on the mirror, kept by it, beyond its origin', async () => {
    const comparison = await compare(messages(1, 2, 3, 5), messages(2, 4, 5, 6, 7));
    expect(counts(comparison)).toEqual({ missing: 2, kept: 1, beyond: 2 });
    expect(comparison.differences.all()).toEqual([
      {
        ...{ kind: 'missing', first: 1, last: 3, count: 2 },
        ranges: [
          { first: 1, last: 1 },
          { first: 3, last: 3 },
        ],
      },
      { kind: 'beyond', first: 6, last: 7, count: 2, ranges: [{ first: 6, last: 7 }] },
    ]);
    expect(comparison.examples.map(({ seq }) => seq)).toEqual([1, 3, 6, 7]);
  });

  it.each([
    ['time', { timestamp: 1n }],
    ['subject', { subject: 'a.c' }],
    ['payload', { payload: 'xx' }],
    ['headers', { headers: `${HEAD}A: 1\r\n\r\n` }],
  ])('changed: the %s', async (part, fields) => {
    const comparison = await compare(messages(1, 2), [message(1), message(2, fields)]);
    expect(counts(comparison)).toEqual({ changed: 1 });
    expect(comparison.examples).toEqual([{ seq: 2, kind: 'changed', parts: [part] }]);
    expect(comparison.parts).toMatchObject({ [part]: 1 });
  });

  it('a subject that is no UTF-8: bit for bit, but for what came as JSON', async () => {
    const named = (...bytes: number[]): StoredMessage[] => [
      { ...message(1), subject: Uint8Array.from(bytes) },
    ];
    const [one, other, asJson] = [named(0x61, 0xff), named(0x61, 0xfe), named(0x61, 239, 191, 189)];
    expect(counts(await compare(one, other))).toEqual({ changed: 1 });
    expect(counts(await compare(one, asJson))).toEqual({});
    expect(counts(await compare(named(0x62, 0xff), asJson))).toEqual({ changed: 1 });
  });

  it.each([
    ['a work queue', { retention: 'workqueue' }],
    ['kept by interest', { retention: 'interest' }],
    [
      'too many on a subject that nobody can tell',
      {
        max_msgs_per_subject: 1,
        mirror: { name: 'S', subject_transforms: [{ src: '>', dest: '{{left(1,2)}}' }] },
      },
    ],
  ])('gone from a mirror by its own rules or lost, nothing tells: %s', async (_title, config) => {
    expect(counts(await compare(messages(1, 2), messages(2), { config }))).toEqual({ unknown: 1 });
  });

  it('beyond what was taken for the end, and read again: the end as its leader tells it', async () => {
    const first = await compare(messages(1, 2), messages(1, 2, 3, 4, 5));
    expect(counts(first)).toEqual({ beyond: 3 });
    const grown = await compare(messages(1, 2, 3, 4), messages(1, 2, 3, 4));
    expect(counts(first.confirmedBy(grown))).toEqual({ beyond: 1, settled: 2 });
  });

  it('conditions of publishing: dropped by a mirror, other headers are not', async () => {
    const dropped = `Nats-Expected-Last-Sequence: 4\r\nNats-Batch-Id: b\r\n`;
    const kept = `${HEAD}A: 1\r\n\r\n`;
    const with_ = (headers: string): StoredMessage[] => [message(1, { headers })];
    expect(counts(await compare(with_(`${HEAD}${dropped}\r\n`), messages(1)))).toEqual({});
    expect(counts(await compare(with_(`${HEAD}${dropped}A: 1\r\n\r\n`), with_(kept)))).toEqual({});
    expect(counts(await compare(with_(kept), with_(`${HEAD}A: 2\r\n\r\n`)))).toEqual({
      changed: 1,
    });
    expect(counts(await compare(with_(`${HEAD}Nats-Expect: 1\r\n\r\n`), messages(1)))).toEqual({
      changed: 1,
    });
  });

  it('below a start: by sequence, by time', async () => {
    const mirror = { name: 'S', opt_start_seq: 3 };
    const options = { config: { mirror } };
    expect(counts(await compare(messages(1, 2, 3), messages(3), options))).toEqual({
      outOfScope: 2,
    });
    const later = { mirror: { name: 'S', opt_start_time: '2030-01-01T00:00:00Z' } };
    expect(counts(await compare(messages(1, 2), [], { config: later }))).toEqual({ outOfScope: 2 });
  });

  it('older than max_age, with two seconds for clocks', async () => {
    const config = { max_age: 60e9 };
    const at = async (ageMs: number): Promise<object> =>
      counts(await compare(messages(1, 2), messages(2), { config, ageMs }));
    expect(await at(58_000)).toEqual({ expired: 1 });
    expect(await at(57_999)).toEqual({ missing: 1 });
  });

  it('a time to live: on a mirror that keeps to it, on one that does not', async () => {
    const mortal = (seq: number): StoredMessage =>
      message(seq, { headers: `${HEAD}Nats-TTL: 1m\r\n\r\n` });
    const honours = { allow_msg_ttl: true };
    const all = [mortal(1), message(2)];
    const gone = async (config: object, ageMs: number): Promise<object> =>
      counts(await compare(all, messages(2), { config: { ...config }, ageMs }));
    expect(await gone(honours, 60_000)).toEqual({ ttl: 1 });
    expect(await gone(honours, 50_000)).toEqual({ missing: 1 });
    expect(await gone({}, 60_000)).toEqual({ missing: 1 });
    expect(counts(await compare(messages(2), all, { ageMs: 60_000 }))).toEqual({ ttl: 1 });
    expect(counts(await compare(messages(2), all, { ageMs: 59_999 }))).toEqual({ kept: 1 });
  });

  it('max_msgs: what lies before the first and had so many behind it, whatever is left', async () => {
    const [origin, mirror] = [messages(1, 2, 3, 4, 5), messages(3, 5)];
    const of = async (config: Record<string, unknown>): Promise<object> =>
      counts(await compare(origin, mirror, { config }));
    expect(await of({ max_msgs: 2 })).toEqual({ trimmed: 2, missing: 1 });
    expect(await of({ max_msgs: 3 })).toEqual({ trimmed: 2, missing: 1 });
    expect(await of({ max_msgs: 4 })).toEqual({ trimmed: 1, missing: 2 });
    expect(await of({ max_msgs: 5 })).toEqual({ missing: 3 });
    expect(await of({ max_msgs: 2, discard: 'new' })).toEqual({ missing: 3 });
  });

  it('max_msgs: what its origin has no more may have come too, so nobody knows', async () => {
    const [origin, mirror] = [messages(1, 2, 9, 10), messages(9, 10)];
    const of = async (config: Record<string, unknown>): Promise<object> =>
      counts(await compare(origin, mirror, { config }));
    expect(await of({ max_msgs: 2 })).toEqual({ trimmed: 2 });
    expect(await of({ max_msgs: 3 })).toEqual({ trimmed: 1, unknown: 1 });
    expect(await of({ max_msgs: 9 })).toEqual({ unknown: 1, missing: 1 });
    expect(await of({ max_msgs: 10 })).toEqual({ missing: 2 });
    // What is filtered out of the origin never came.
    const filtered = { mirror: { name: 'S', filter_subject: 'a.>' }, max_msgs: 3 };
    expect(await of(filtered)).toEqual({ unknown: 2 });
    // Full of bytes is full.
    const both = { config: { max_msgs: 9, max_bytes: 1_000 }, state: { bytes: 990 } };
    expect(counts(await compare(origin, mirror, both))).toEqual({ trimmed: 2 });
    const neither = { config: { max_msgs: 8, max_bytes: 5_000 }, state: { bytes: 990 } };
    expect(counts(await compare(origin, mirror, neither))).toEqual({ unknown: 2 });
  });

  it('max_bytes: only when the last one dropped did not fit', async () => {
    const [origin, mirror] = [messages(1, 2, 3, 4), messages(3, 4)];
    const at = async (bytes: number): Promise<object> =>
      counts(await compare(origin, mirror, { config: { max_bytes: 1_000 }, state: { bytes } }));
    expect(await at(990)).toEqual({ trimmed: 2 });
    expect(await at(500)).toEqual({ unknown: 2 });
    const config = { max_bytes: 5_000 };
    expect(counts(await compare(origin, mirror, { config }))).toEqual({ missing: 2 });
    const discards = { config: { max_bytes: 1_000, discard: 'new' }, state: { bytes: 990 } };
    expect(counts(await compare(origin, mirror, discards))).toEqual({ missing: 2 });
    // One that its origin has no more can have been as large as a message can be.
    const gone = await compare(messages(1, 2, 4), messages(4), { config, gone: 1 });
    expect(counts(gone)).toEqual({ unknown: 2 });
  });

  it('max_msgs_per_subject: what has as many later ones, there or gone', async () => {
    const on = (seq: number, subject: string): StoredMessage => message(seq, { subject });
    const origin = [on(1, 'a'), on(2, 'b'), on(3, 'a'), on(4, 'b'), on(5, 'a'), on(6, 'b')];
    const config = { max_msgs_per_subject: 2 };
    const without = (...seqs: readonly number[]): StoredMessage[] =>
      origin.filter(({ seq }) => !seqs.includes(seq));
    expect(counts(await compare(origin, without(1, 2), { config }))).toEqual({ trimmed: 2 });
    expect(counts(await compare(origin, without(1, 2, 3), { config }))).toEqual({
      ...{ trimmed: 2, missing: 1 },
    });
    expect(counts(await compare(origin, without(1, 2, 6), { config }))).toEqual({
      ...{ trimmed: 2, missing: 1 },
    });
  });

  it('a transform: compared with what it makes of the subject', async () => {
    const subject_transforms = [{ src: 'a.*.>', dest: 'z.{{wildcard(1)}}.>' }];
    const config = { mirror: { name: 'S', subject_transforms } };
    const origin = [message(1, { subject: 'a.b.c.d' })];
    const rewritten = (subject: string): StoredMessage[] => [message(1, { subject })];
    expect(counts(await compare(origin, rewritten('z.b.c.d'), { config }))).toEqual({});
    expect(counts(await compare(origin, rewritten('z.x.c.d'), { config }))).toEqual({ changed: 1 });
    const unknown = [{ src: 'a.>', dest: 'z.{{partition(3,1)}}' }];
    const other = { mirror: { name: 'S', subject_transforms: unknown } };
    expect(counts(await compare(origin, rewritten('z.9'), { config: other }))).toEqual({});
  });
});
