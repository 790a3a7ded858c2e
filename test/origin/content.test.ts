import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DIGEST_BLOCK, SEGMENT_BYTES_MAX, SEQ_MAX } from '../../src/base/limits.js';
import { OriginContent } from '../../src/origin/content.js';
import type { MadeOriginPlan, RebuiltOriginPlan } from '../../src/scenario/types.js';
import { IntervalSet } from '../../src/stream/intervals.js';
import { readMessage, recordSize, validateMessages, viewOf } from '../../src/stream/layout.js';
import { Store } from '../../src/stream/store.js';
import { hasher, make, sequencesOf, synthetic } from './stage.js';

function rebuilt(plan: Partial<RebuiltOriginPlan>): RebuiltOriginPlan {
  const gaps = plan.gaps ?? [];
  const missing = gaps.reduce((sum, gap) => sum + gap.last - gap.first + 1, 0);
  const { first = 1, last = 10 } = plan;
  const messages = last - first + 1 - missing;
  const shape = { kind: 'nats-gaps', name: 'ORDERS', first, last, messages, gaps } as const;
  return { ...shape, size: 16, rate: null, ...plan };
}

const TEXT = new TextDecoder();

function wholeOf(plan: MadeOriginPlan, seed?: number): { bytes: Uint8Array; count: number } {
  const slice = make(plan, seed).content.slice(1, Number.MAX_SAFE_INTEGER, SEGMENT_BYTES_MAX);
  return slice!;
}

describe('content: state', () => {
  const cases: [string, MadeOriginPlan, object, number[]][] = [
    [
      'no gap',
      synthetic({ messages: 3 }),
      { first: 1, last: 4, messages: 4, deleted: 0 },
      [1, 2, 3, 4],
    ],
    [
      'gaps inside',
      synthetic({
        messages: 3,
        gaps: [
          { after: 1, count: 2 },
          { after: 2, count: 1 },
        ],
      }),
      { first: 1, last: 7, messages: 4, deleted: 3 },
      [1, 4, 6, 7],
    ],
    [
      'gap before the first message',
      synthetic({ messages: 2, gaps: [{ after: 0, count: 5 }] }),
      { first: 6, last: 8, messages: 3, deleted: 0 },
      [6, 7, 8],
    ],
    [
      'gap behind the last message: the sentinel shows it',
      synthetic({ messages: 2, gaps: [{ after: 2, count: 5 }] }),
      { first: 1, last: 8, messages: 3, deleted: 5 },
      [1, 2, 8],
    ],
    [
      'rebuilt, gaps that touch, one at the tail',
      rebuilt({
        first: 5,
        last: 12,
        gaps: [
          { first: 6, last: 7 },
          { first: 8, last: 8 },
          { first: 12, last: 12 },
        ],
      }),
      { first: 5, last: 13, messages: 5, deleted: 4 },
      [5, 9, 10, 11, 13],
    ],
    [
      'rebuilt, the last two sequences that there are',
      rebuilt({ first: SEQ_MAX - 1, last: SEQ_MAX - 1 }),
      { first: SEQ_MAX - 1, last: SEQ_MAX, messages: 2, deleted: 0 },
      [SEQ_MAX - 1, SEQ_MAX],
    ],
  ];
  it.each(cases)('%s', (_title, plan, state, sequences) => {
    const { content } = make(plan);
    expect(content.state()).toEqual(state);
    expect(content.sentinel).toBe(sequences.at(-1));
    expect(content.messages).toBe(sequences.length);
    expect(sequencesOf(wholeOf(plan).bytes)).toEqual(sequences);
  });

  it('ten million missing sequences cost nothing', () => {
    const plan = synthetic({ messages: 2, gaps: [{ after: 1, count: 10_000_000 }] });
    const { content, segments } = make(plan);
    expect(content.state()).toEqual({
      first: 1,
      last: 10_000_003,
      messages: 3,
      deleted: 10_000_000,
    });
    expect(content.blockDigests().blocks).toEqual(Float64Array.of(0, 9765));
    expect(segments.map(({ length }) => length < 1_024)).toEqual([true]);
  });
});

describe('content: messages', () => {
  it('subjects, headers on some, payloads of the size, times that rise', () => {
    const { bytes, count } = wholeOf(synthetic({ messages: 17, size: 13 }));
    validateMessages(bytes, count);
    const view = viewOf(bytes);
    const messages = [];
    for (let at = 0; at < bytes.length; at += recordSize(view, at)) {
      messages.push(readMessage(bytes, at));
    }
    const subjects = messages.map(({ subject }) => TEXT.decode(subject));
    expect(subjects.slice(0, -1).filter((subject) => /^orders\.\d+$/.test(subject))).toHaveLength(
      17,
    );
    expect(new Set(subjects).size).toBeGreaterThan(5);
    expect(subjects.at(-1)).toBe('lockstep.sentinel');
    expect(
      messages
        .map(({ headers }) => TEXT.decode(headers))
        .flatMap((text, at) => (text === '' ? [] : [[at + 1, text]])),
    ).toEqual([8, 16].map((seq) => [seq, 'NATS/1.0\r\nTrace: lockstep\r\n\r\n']));
    expect(messages.map(({ payload }) => payload.length)).toEqual([
      ...Array<number>(17).fill(13),
      8,
    ]);
    const times = messages.map(({ timestamp }) => timestamp);
    expect(times).toEqual([...times].sort((a, b) => (a < b ? -1 : 1)));
    expect(new Set(times).size).toBe(18);
    expect(new Set(messages.map(({ payload }) => payload.join())).size).toBe(18);
  });

  it('sizes up to a bound and headers as often as asked; all are made again from the seed', () => {
    const plan = synthetic({ messages: 200, size: 10 });
    const options = { seed: 1, hasher, sizeMax: 40, headersEvery: 2 };
    const content = new OriginContent(plan, {
      ...options,
      allocate: (size) => new Uint8Array(size),
    });
    const messages = Array.from({ length: 200 }, (_, at) => content.message(at + 1));
    const sizes = messages.map(({ payload }) => payload.length);
    expect([Math.min(...sizes), Math.max(...sizes)]).toEqual([10, 40]);
    expect(new Set(sizes).size).toBe(31);
    expect(messages.filter(({ headers }) => headers.length > 0)).toHaveLength(100);
    const { bytes, count } = content.slice(1, 1_000, SEGMENT_BYTES_MAX)!;
    expect(sequencesOf(bytes)).toHaveLength(count);
    validateMessages(bytes, count);
    expect(readMessage(bytes, 0).payload).toEqual(messages[0]!.payload);
  });

  it('the same seed makes the same bytes, another seed others, high words of a seed included', () => {
    const plan = synthetic({ messages: 50 });
    const digest = (seed: number): bigint => hasher.hash64(wholeOf(plan, seed).bytes);
    expect(digest(7)).toBe(digest(7));
    const seeds = [0, 1, 7, 2 ** 32, 2 ** 32 + 1, 2 ** 53 - 1];
    expect(new Set(seeds.map(digest)).size).toBe(seeds.length);
  });

  it('sequences that differ in their high words have different bodies', () => {
    const near = make(rebuilt({ first: 5, last: 5 })).content.message(5);
    const far = make(rebuilt({ first: 2 ** 32 + 5, last: 2 ** 32 + 5 })).content.message(
      2 ** 32 + 5,
    );
    expect(near.payload).not.toEqual(far.payload);
  });

  it.each([0, 1, 3, 4, 7, 8, 9])(
    'made again from the seed: size %i -> the encoded parts',
    (size) => {
      const { content } = make(synthetic({ messages: 30, size, gaps: [{ after: 4, count: 9 }] }));
      const store = new Store({ hasher });
      const { bytes } = content.slice(1, 4, SEGMENT_BYTES_MAX)!;
      store.apply(bytes, 4);
      expect(content.partDigests({ first: 1, last: 4 })).toEqual(
        store.partDigests({ first: 1, last: 4 }),
      );
      const sequences = content.partDigests({ first: 3, last: 16 }).map(({ seq }) => seq);
      expect(sequences).toEqual([3, 4, 14, 15, 16]);
    },
  );

  it('the time of the last sequence that there is fits 64 bits', () => {
    const { content } = make(rebuilt({ first: SEQ_MAX - 1, last: SEQ_MAX - 1 }));
    const { bytes } = content.slice(1, 2, 1_000)!;
    const [first, second] = [0, recordSize(viewOf(bytes), 0)].map((at) => readMessage(bytes, at));
    expect(first).toEqual(content.message(SEQ_MAX - 1));
    expect(second).toEqual(content.message(SEQ_MAX));
    expect(second!.timestamp - first!.timestamp).toBe(500n);
  });

  it('shared bytes that were changed do not change what is made from the seed', () => {
    const { content, segments } = make(synthetic({ messages: 5 }));
    const before = {
      parts: content.partDigests({ first: 1, last: 6 }),
      blocks: content.blockDigests(),
    };
    segments[0]!.fill(0xff);
    expect(content.partDigests({ first: 1, last: 6 })).toEqual(before.parts);
    expect(content.blockDigests()).toEqual(before.blocks);
  });
});

describe('content: segments and digests', () => {
  // 1 MiB payloads: 63 to a segment.
  const LARGE = synthetic({ messages: 70, size: 1_048_576, gaps: [{ after: 65, count: 3 }] });

  it('records of more than one segment: sizes are right, slices end at the border', () => {
    const { content, segments } = make(LARGE);
    expect(segments.map(({ length }) => length <= SEGMENT_BYTES_MAX)).toEqual([true, true]);
    const largest = 1_048_576 + 80;
    const perSegment = Math.floor(SEGMENT_BYTES_MAX / largest);
    expect(segments.map(({ length }) => Math.floor(length / largest))).toEqual([
      perSegment,
      71 - perSegment,
    ]);
    const { count, firstSeq, lastSeq } = content.slice(1, 100, SEGMENT_BYTES_MAX)!;
    expect({ count, firstSeq, lastSeq }).toEqual({
      count: perSegment,
      firstSeq: 1,
      lastSeq: perSegment,
    });
    const rest = content.slice(lastSeq + 1, 100, SEGMENT_BYTES_MAX)!;
    expect([rest.firstSeq, rest.lastSeq, rest.count]).toEqual([64, 74, 8]);
  });

  it('digests of blocks are those of the records, across segments and gaps', () => {
    const plan = synthetic({ messages: 3_000, gaps: [{ after: 1_000, count: 2_048 }] });
    const { content } = make(plan);
    const { bytes } = wholeOf(plan);
    const view = viewOf(bytes);
    const pieces = new Map<number, Uint8Array[]>();
    let at = 0;
    for (const seq of sequencesOf(bytes)) {
      const end = at + recordSize(view, at);
      const block = Math.floor((seq - 1) / DIGEST_BLOCK);
      pieces.set(block, [...(pieces.get(block) ?? []), bytes.subarray(at, end)]);
      at = end;
    }
    const digests = [...pieces.values()].map((parts) => hasher.hash64(Buffer.concat(parts)));
    expect(content.blockDigests()).toEqual({
      blocks: Float64Array.from(pieces.keys()),
      digests: BigUint64Array.from(digests),
    });
    expect([...pieces.keys()]).toEqual([0, 2, 3, 4]);
  });
});

describe('content: lookups', () => {
  it('slice: bounds in messages and bytes, at least one message, null behind the last', () => {
    const { content } = make(synthetic({ messages: 6, gaps: [{ after: 2, count: 3 }] }));
    const look = (...bounds: [number, number, number]): unknown => {
      const slice = content.slice(...bounds);
      if (slice === null) return null;
      const { bytes, ...others } = slice;
      return { ...others, sequences: sequencesOf(bytes) };
    };
    const two = content.slice(1, 2, 1_000)!.bytes.length;
    expect(look(1, 3, 1_000)).toEqual({ count: 3, firstSeq: 1, lastSeq: 6, sequences: [1, 2, 6] });
    expect(look(3, 2, 1_000)).toEqual({ count: 2, firstSeq: 6, lastSeq: 7, sequences: [6, 7] });
    expect(look(1, 9, two)).toEqual({ count: 2, firstSeq: 1, lastSeq: 2, sequences: [1, 2] });
    expect(look(1, 9, two - 1)).toEqual({ count: 1, firstSeq: 1, lastSeq: 1, sequences: [1] });
    expect(look(1, 9, 1)).toEqual({ count: 1, firstSeq: 1, lastSeq: 1, sequences: [1] });
    expect(look(10, 9, 1_000)).toEqual({ count: 1, firstSeq: 10, lastSeq: 10, sequences: [10] });
    expect(look(11, 9, 1_000)).toBeNull();
  });

  it('model: what exists, what comes next and how many, against a set of sequences', () => {
    const gaps = fc
      .uniqueArray(fc.nat(40), { maxLength: 12 })
      .chain((afters) =>
        fc.tuple(
          ...[...afters]
            .sort((a, b) => a - b)
            .map((after) =>
              fc.record({ after: fc.constant(after), count: fc.integer({ min: 1, max: 30 }) }),
            ),
        ),
      );
    fc.assert(
      fc.property(gaps, fc.integer({ min: 1, max: 500 }), (drawn, at) => {
        const { content } = make(synthetic({ messages: 40, gaps: drawn }));
        const naive = new Set<number>();
        let seq = 0;
        for (let message = 0; message <= 40; message++) {
          seq += drawn.find(({ after }) => after === message)?.count ?? 0;
          naive.add(++seq);
        }
        const all = [...naive];
        const number = content.numberOf(at);
        expect(number).toBe(all.filter((known) => known < at).length);
        if (number < all.length) expect(content.seqOf(number)).toBe(all[number]);
        const runs = new IntervalSet();
        for (const known of all) runs.add(known, known);
        expect([...content.runs({ first: at, last: at + 20 })]).toEqual(runs.ranges(at, at + 20));
      }),
      { numRuns: 200, seed: 1 },
    );
  });
});
