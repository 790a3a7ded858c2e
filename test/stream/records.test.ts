import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readMessage, recordSize, viewOf } from '../../src/stream/layout.js';
import { RecordIndex } from '../../src/stream/records.js';
import { message, pack, sizeOf } from './batches.js';

/** Runs of rising sequences: each has memory of its own, or lies behind the one before. */
interface Piece {
  readonly seqs: readonly number[];
  readonly adjacent: boolean;
}

function seqsOf(pieces: readonly Piece[]): number[] {
  return pieces.flatMap(({ seqs }) => seqs);
}

/** Appends the pieces; adjacent ones share memory with those before them. */
function indexOf(pieces: readonly Piece[]): RecordIndex {
  const index = new RecordIndex();
  for (let from = 0; from < pieces.length;) {
    let to = from + 1;
    while (to < pieces.length && pieces[to]!.adjacent) to++;
    const group = pieces.slice(from, to);
    const bytes = pack(seqsOf(group).map((seq) => message(seq)));
    let at = 0;
    for (const { seqs } of group) at = append(index, bytes, at, seqs);
    from = to;
  }
  return index;
}

function append(
  index: RecordIndex,
  bytes: Uint8Array,
  at: number,
  seqs: readonly number[],
): number {
  const size = seqs.reduce((sum, seq) => sum + sizeOf(message(seq)), 0);
  const run = { firstSeq: seqs[0]!, lastSeq: seqs.at(-1)!, count: seqs.length };
  index.append(bytes, at, size, run);
  return at + size;
}

/** The sequences that the records of a view say they have. */
function read(bytes: Uint8Array): number[] {
  const view = viewOf(bytes);
  const seqs: number[] = [];
  for (let at = 0; at < bytes.length; at += recordSize(view, at)) {
    seqs.push(readMessage(bytes, at).seq);
  }
  return seqs;
}

function found(index: RecordIndex, seq: number): number | undefined {
  const place = index.find(seq);
  return place === undefined ? undefined : readMessage(place.bytes, place.at).seq;
}

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, at) => first + at);
}

const step = fc.oneof({ weight: 9, arbitrary: fc.constant(1) }, fc.integer({ min: 2, max: 9 }));
const anyPieces = fc
  .array(
    fc.record({ steps: fc.array(step, { minLength: 1, maxLength: 40 }), adjacent: fc.boolean() }),
    { maxLength: 8 },
  )
  .map((drafts) => {
    let last = 0;
    return drafts.map(({ steps, adjacent }): Piece => {
      return { adjacent, seqs: steps.map((by) => (last += by)) };
    });
  });

describe('records', () => {
  test('records: any runs -> every sequence is found, no other one', () => {
    fc.assert(
      fc.property(anyPieces, (pieces) => {
        const index = indexOf(pieces);
        const seqs = seqsOf(pieces);
        const last = seqs.at(-1) ?? 0;
        const probes = range(0, last + 2);
        const held = new Set(seqs);
        expect(probes.map((seq) => found(index, seq))).toEqual(
          probes.map((seq) => (held.has(seq) ? seq : undefined)),
        );
        expect(probes.map((seq) => index.nextSeq(seq))).toEqual(
          probes.map((seq) => seqs.find((held) => held >= seq)),
        );
        expect([index.count, index.firstSeq, index.lastSeq]).toEqual([
          seqs.length,
          seqs[0] ?? 0,
          last,
        ]);
      }),
    );
  });

  test('records: any runs -> slices cover exactly what lies in their bounds', () => {
    fc.assert(
      fc.property(anyPieces, fc.nat(300), fc.nat(120), (pieces, from, more) => {
        const index = indexOf(pieces);
        const slices = index.slices(from, from + more);
        expect(slices.flatMap(({ bytes }) => read(bytes))).toEqual(
          seqsOf(pieces).filter((seq) => seq >= from && seq <= from + more),
        );
        expect(slices.map(({ count }) => count)).toEqual(
          slices.map(({ bytes }) => read(bytes).length),
        );
        expect(slices.filter(({ count }) => count === 0)).toEqual([]);
      }),
    );
  });

  test('records: adjacent runs of one memory -> one slice, a view of that memory', () => {
    const bytes = pack(range(1, 100).map((seq) => message(seq)));
    const index = new RecordIndex();
    let at = 0;
    for (let seq = 1; seq <= 100; seq++) at = append(index, bytes, at, [seq]);
    const slices = index.slices(1, 100);
    expect(slices).toEqual([{ bytes, count: 100 }]);
    expect(slices[0]!.bytes.buffer).toBe(bytes.buffer);
  });

  test('records: same offsets in other memory -> runs of their own', () => {
    const index = indexOf([
      { seqs: range(1, 20), adjacent: false },
      { seqs: range(21, 40), adjacent: false },
    ]);
    expect(index.slices(1, 40).map(({ bytes }) => read(bytes))).toEqual([
      range(1, 20),
      range(21, 40),
    ]);
  });

  test('records: memory that would continue another -> not one run', () => {
    const first = pack([message(1)]);
    const second = pack([message(1), message(2)]);
    const index = new RecordIndex();
    append(index, first, 0, [1]);
    append(index, second, sizeOf(message(1)), [2]);
    expect(index.slices(1, 2).map(({ bytes }) => read(bytes))).toEqual([[1], [2]]);
    expect([found(index, 1), found(index, 2)]).toEqual([1, 2]);
  });

  test('records: two memories in turn -> found in the right one', () => {
    const odd = pack([1, 3, 5].map((seq) => message(seq)));
    const even = pack([2, 4, 6].map((seq) => message(seq)));
    const index = new RecordIndex();
    let oddAt = 0;
    let evenAt = 0;
    for (const seq of [1, 2, 3, 4, 5, 6]) {
      if (seq % 2 === 1) oddAt = append(index, odd, oddAt, [seq]);
      else evenAt = append(index, even, evenAt, [seq]);
    }
    expect(range(1, 6).map((seq) => found(index, seq))).toEqual(range(1, 6));
    const held = new Set(range(1, 6).map((seq) => index.find(seq)!.bytes));
    expect(held.size).toBe(2);
    expect(range(1, 6).map((seq) => index.find(seq)!.bytes.buffer)).toEqual([
      odd.buffer,
      even.buffer,
      odd.buffer,
      even.buffer,
      odd.buffer,
      even.buffer,
    ]);
  });

  test('records: a view inside its memory -> offsets of the memory', () => {
    const bytes = pack(range(1, 50).map((seq) => message(seq)));
    const memory = new Uint8Array(bytes.length + 24);
    const inside = memory.subarray(24);
    inside.set(bytes);
    const index = new RecordIndex();
    append(index, inside, 0, range(1, 50));
    expect(index.slices(1, 50)).toEqual([{ bytes, count: 50 }]);
    expect(found(index, 37)).toBe(37);
  });

  test('records: thousands of runs of one record -> all found', () => {
    const index = indexOf(range(1, 3_000).map((seq) => ({ seqs: [seq], adjacent: false })));
    expect(range(1, 3_001).map((seq) => found(index, seq))).toEqual([
      ...range(1, 3_000),
      undefined,
    ]);
  });

  test('records: the highest sequence -> found, and its slice ends there', () => {
    const top = Number.MAX_SAFE_INTEGER;
    const index = new RecordIndex();
    const bytes = pack([message(top - 1, 0n), message(top, 0n)]);
    index.append(bytes, 0, bytes.length, { firstSeq: top - 1, lastSeq: top, count: 2 });
    expect([found(index, top), index.nextSeq(top)]).toEqual([top, top]);
    expect(index.slices(1, top).map((slice) => read(slice.bytes))).toEqual([[top - 1, top]]);
  });
});

describe('records: head', () => {
  const sizes = range(1, 20).map((seq) => sizeOf(message(seq)));
  const index = indexOf([
    { seqs: range(1, 10), adjacent: false },
    { seqs: range(15, 20), adjacent: false },
  ]);
  const head = (from: number, countMax: number, bytesMax: number): number[] | null => {
    const slice = index.head(from, countMax, bytesMax);
    if (slice === null) return null;
    expect(slice.count).toBe(read(slice.bytes).length);
    return read(slice.bytes);
  };

  test.each<[string, number, number, number, number[] | null]>([
    ['no bound reached -> to the end of the run', 4, 99, 9_999, range(4, 10)],
    ['a bound in messages', 4, 3, 9_999, [4, 5, 6]],
    ['a bound in bytes, met exactly', 1, 99, sizes[0]! + sizes[1]!, [1, 2]],
    ['a bound in bytes, missed by one', 1, 99, sizes[0]! + sizes[1]! - 1, [1]],
    ['a record larger than the bound -> still one', 2, 99, 1, [2]],
    ['from inside a gap -> behind it', 12, 2, 9_999, [15, 16]],
    ['behind the last', 21, 99, 9_999, null],
  ])('records: head: %s', (_, from, countMax, bytesMax, expected) => {
    expect(head(from, countMax, bytesMax)).toEqual(expected);
  });
});
