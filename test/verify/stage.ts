/** Streams and messages made by hand, and what a comparison says of them. */
import { loadHasher } from '../../src/base/hasher.js';
import type { ReadBatch } from '../../src/nats/reader-intake.js';
import { messageSize, viewOf, writeMessage } from '../../src/stream/layout.js';
import type { StoredMessage } from '../../src/stream/types.js';
import { MirrorComparison } from '../../src/verify/comparison.js';
import { merge, type MessageSource } from '../../src/verify/merge.js';
import { streamFacts, type StreamFacts } from '../../src/verify/stream-facts.js';

export const hasher = await loadHasher();
/** 2026-11-30T00:00:00Z in nanoseconds: when all messages were stored. */
export const STORED = 1_796_000_000_000_000_000n;

interface Fields {
  readonly subject?: string;
  readonly headers?: string;
  readonly payload?: string;
  readonly timestamp?: bigint;
}

export function message(seq: number, fields: Fields = {}): StoredMessage {
  const { subject = 'a.b', headers = '', payload = `m${seq}`, timestamp = STORED } = fields;
  return {
    ...{ seq, timestamp, subject: Buffer.from(subject), payload: Buffer.from(payload) },
    headers: Buffer.from(headers),
  };
}

export function messages(...seqs: readonly number[]): StoredMessage[] {
  return seqs.map((seq) => message(seq));
}

/** Hands messages out, so many to a batch. */
export function source(all: readonly StoredMessage[], perBatch = 3): MessageSource {
  let at = 0;
  return {
    next: (): Promise<ReadBatch | null> => {
      const some = all.slice(at, at + perBatch);
      at += perBatch;
      return Promise.resolve(some.length === 0 ? null : batchOf(some, all.length - at));
    },
  };
}

function batchOf(some: readonly StoredMessage[], left: number): ReadBatch {
  const sizes = some.map(({ subject, headers, payload }) =>
    messageSize(subject.length, headers.length, payload.length),
  );
  const bytes = new Uint8Array(sizes.reduce((sum, size) => sum + size, 0));
  let at = 0;
  for (const each of some) at = writeMessage(bytes, viewOf(bytes), at, each);
  const pending = Math.max(0, left);
  return { bytes, count: some.length, last: some.at(-1)!.seq, size: bytes.length, pending };
}

export function facts(
  all: readonly StoredMessage[],
  config: Record<string, unknown> = {},
  state: Record<string, unknown> = {},
): StreamFacts {
  const [first, last] = [all[0]?.seq ?? 0, all.at(-1)?.seq ?? 0];
  return streamFacts({
    created: '2026-01-01T00:00:00Z',
    config: { name: 'S', retention: 'limits', ...config },
    state: {
      ...{ messages: all.length, bytes: 1_000, first_seq: first, last_seq: last },
      ...{ first_ts: '2026-11-30T00:00:00Z', last_ts: '2026-11-30T00:00:00Z', ...state },
    },
  });
}

interface Compared {
  readonly config?: Record<string, unknown>;
  readonly state?: Record<string, unknown>;
  /** Milliseconds since the messages were stored. */
  readonly ageMs?: number;
  /** Sequences between its first and last that the origin has no more. */
  readonly gone?: number;
}

/** A whole comparison of two lists. */
export async function compare(
  origin: readonly StoredMessage[],
  mirror: readonly StoredMessage[],
  { config = {}, state = {}, ageMs = 0, gone = 0 }: Compared = {},
): Promise<MirrorComparison> {
  const comparison = new MirrorComparison({
    origin: facts(origin, {}, { num_deleted: gone }),
    mirror: facts(mirror, { mirror: { name: 'S' }, ...config }, state),
    ...{ hasher, isWhole: true, now: () => STORED + BigInt(ageMs) * 1_000_000n },
  });
  await merge(source(origin), [source(mirror, 2)], comparison);
  comparison.settle();
  return comparison;
}

/** Counts by kind. */
export function counts({ differences, explained }: MirrorComparison): Record<string, number> {
  const all = [...differences.all(), ...explained.all()];
  return Object.fromEntries(all.map(({ kind, count }) => [kind, count]));
}
