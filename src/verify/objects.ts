/**
 * What differs of an object store's stream, by objects: a bucket keeps an object as chunks on a
 * subject of its own and an entry that names it. An object that is put again gets a new subject.
 * Upstream: ADR-20; nats.go, object.go.
 */
import { ByteRate } from '../nats/byte-rate.js';
import { patiently } from '../nats/patience.js';
import { openReader } from '../nats/stream-reader.js';
import { readMessage, recordSize, viewOf } from '../stream/layout.js';
import type { StoredMessage } from '../stream/types.js';
import { pendingOnSubjects } from './backlog.js';
import type { MirrorComparison } from './comparison.js';
import type { DifferenceKind } from './findings.js';
import type { Facts, Side, Sides } from './sides.js';
import type { SingleLoad } from './single-reads.js';

type Kind = DifferenceKind | 'kept';

/** Sequences of one kind that belong to one life of one object. */
export interface ObjectFinding {
  readonly kind: Kind;
  readonly bucket: string;
  /** Null: no entry names it any more. */
  readonly name: string | null;
  /** Of its chunks' subject; null: its entry does not say. */
  readonly nuid: string | null;
  readonly count: number;
  readonly first: number;
  readonly last: number;
  /** Whether its entry is among them. */
  readonly entry: boolean;
  /** Which of its chunks, from 1 on; empty: that cannot be told. */
  readonly chunks: readonly number[];
  /** How many chunks it has; null: its entry does not say. */
  readonly of: number | null;
}

export interface ObjectFindings {
  readonly objects: readonly ObjectFinding[];
  /** Whether more differs than was looked at. */
  readonly hasMore: boolean;
}

/** What an entry says. */
interface Entry {
  readonly name: string;
  readonly nuid: string | null;
  readonly chunks: number | null;
}

/** Found sequences of one kind and object. */
interface Group {
  readonly kind: Kind;
  readonly bucket: string;
  readonly nuid: string | null;
  entry: Entry | null;
  readonly seqs: number[];
  readonly chunkSeqs: number[];
}

const BUCKET = 'OBJ_';
const SUBJECT = /^\$O\.([^.]+)\.([CM])\.(.+)$/;
/** Differences first: what is kept is no fault. */
const KINDS: readonly Kind[] = ['missing', 'changed', 'beyond', 'kept'];
/** Looked at, of all kinds together. */
export const SEQUENCES_MAX = 1_000;
const AT_ONCE = 32;
/** Entries that are read to find the names of chunks. */
const ENTRIES_MAX = 100_000;
/** Chunks of one object whose places are asked for, and objects of which it is asked. */
const CHUNKS_MAX = 10;
const OBJECTS_MAX = 50;

export interface ObjectsAsked {
  readonly sides: Sides;
  /** As they are now. */
  readonly facts: Facts;
  readonly bytesPerSecond: number | null;
  readonly load: SingleLoad;
}

/** Of what is no bucket of objects there is nothing to tell. Errors: timeout, originRefused. */
export async function objectsOf(
  asked: ObjectsAsked,
  comparison: MirrorComparison,
): Promise<ObjectFindings> {
  const { sides, facts } = asked;
  if (!facts.origin.name.startsWith(BUCKET)) return { objects: [], hasMore: false };
  const groups = new Map<string, Group>();
  let left = SEQUENCES_MAX;
  let hasMore = false;
  for (const kind of KINDS) {
    const seqs = sequencesOf(comparison, kind, left + 1);
    hasMore ||= seqs.length > left;
    const some = seqs.slice(0, left);
    left -= some.length;
    for await (const message of messagesAt(asked, holderOf(sides, kind), some)) {
      take(groups, kind, message);
    }
  }
  await nameAll([...groups.values()], asked);
  const objects: ObjectFinding[] = [];
  for (const [at, each] of [...groups.values()].entries()) {
    const chunks = at < OBJECTS_MAX ? await placesOf(each, holderOf(sides, each.kind)) : [];
    objects.push(findingOf(each, chunks));
  }
  return { objects, hasMore };
}

/** The first `most` of them, rising. */
function sequencesOf(
  { differences, explained }: MirrorComparison,
  kind: Kind,
  most: number,
): number[] {
  const ranges = kind === 'kept' ? explained.ranges(kind) : differences.ranges(kind);
  const seqs: number[] = [];
  for (const { first, last } of ranges) {
    for (let seq = first; seq <= last && seqs.length < most; seq++) seqs.push(seq);
  }
  return seqs;
}

/** Which side has what is of this kind. */
function holderOf({ origin, mirror }: Sides, kind: Kind): Side {
  return kind === 'kept' || kind === 'beyond' ? mirror : origin;
}

async function* messagesAt(
  { bytesPerSecond, load }: ObjectsAsked,
  { access, stream }: Side,
  seqs: readonly number[],
): AsyncGenerator<StoredMessage> {
  const rate = new ByteRate(bytesPerSecond);
  const before = load.bytes;
  for (let at = 0; at < seqs.length; at += AT_ONCE) {
    const window = seqs.slice(at, at + AT_ONCE);
    const messages = await Promise.all(
      window.map((seq) => patiently(() => access.api.messageAt(stream, seq))),
    );
    for (const message of messages) {
      if (message === null) continue;
      load.messages++;
      load.bytes += message.subject.length + message.headers.length + message.payload.length;
      yield message;
    }
    await rate.keep(load.bytes - before);
  }
}

function take(groups: Map<string, Group>, kind: Kind, message: StoredMessage): void {
  const [, bucket = '', what, token = ''] = SUBJECT.exec(textOf(message.subject)) ?? [];
  if (what === undefined) return;
  const entry = what === 'M' ? entryOf(message, token) : null;
  const nuid = what === 'C' ? token : (entry?.nuid ?? null);
  const key = JSON.stringify([kind, bucket, nuid ?? `M.${token}`]);
  const found = groups.get(key) ?? { kind, bucket, nuid, entry: null, seqs: [], chunkSeqs: [] };
  groups.set(key, found);
  found.seqs.push(message.seq);
  found.entry ??= entry;
  if (what === 'C') found.chunkSeqs.push(message.seq);
}

/** Whatever is no entry of the known shape still has its name in its subject. */
function entryOf({ payload }: StoredMessage, token: string): Entry {
  const named = Buffer.from(token, 'base64url').toString();
  try {
    const { name, nuid, chunks } = JSON.parse(textOf(payload)) as Record<string, unknown>;
    return {
      name: typeof name === 'string' ? name : named,
      nuid: typeof nuid === 'string' ? nuid : null,
      chunks: Number.isSafeInteger(chunks) ? (chunks as number) : null,
    };
  } catch {
    return { name: named, nuid: null, chunks: null };
  }
}

/** Looks for the entries of chunks, at the origin, then at the mirror, which keeps older ones. */
async function nameAll(groups: readonly Group[], asked: ObjectsAsked): Promise<void> {
  for (const side of ['origin', 'mirror'] as const) {
    const unnamed = groups.filter(({ entry }) => entry === null);
    if (unnamed.length === 0) return;
    const entries = await entriesOf(asked, side, unnamed);
    for (const each of unnamed) each.entry = entries.get(each.nuid ?? '') ?? null;
  }
}

/** Entries by the nuids that are looked for. */
async function entriesOf(
  { sides, facts, bytesPerSecond, load }: ObjectsAsked,
  side: 'origin' | 'mirror',
  wanted: readonly Group[],
): Promise<Map<string, Entry>> {
  const { access, stream } = sides[side];
  const nuids = new Set(wanted.map(({ nuid }) => nuid));
  const subjects = [...new Set(wanted.map(({ bucket }) => `$O.${bucket}.M.>`))];
  const found = new Map<string, Entry>();
  const bounds = { from: 1, to: facts[side].state.last_seq };
  const reader = await openReader(access, {
    ...{ stream, ...bounds, subjects, bytesPerSecond, replica: null },
  });
  try {
    for (let count = 0; count < ENTRIES_MAX;) {
      const batch = await reader.next();
      if (batch === null) break;
      const view = viewOf(batch.bytes);
      for (let at = 0; at < batch.bytes.length; at += recordSize(view, at)) {
        const message = readMessage(batch.bytes, at);
        const entry = entryOf(message, textOf(message.subject).split('.').at(-1)!);
        if (entry.nuid !== null && nuids.has(entry.nuid)) found.set(entry.nuid, entry);
        count++;
      }
    }
  } finally {
    load.messages += reader.load.messages;
    load.bytes += reader.load.bytes;
    await reader.close();
  }
  return found;
}

/** Chunks lie in order on their subject: how many are behind one tells which one it is. */
async function placesOf(
  { bucket, nuid, entry, chunkSeqs }: Group,
  { access, stream }: Side,
): Promise<number[]> {
  const of = entry?.chunks ?? 0;
  if (of === 0 || nuid === null || chunkSeqs.length > CHUNKS_MAX) return [];
  const places: number[] = [];
  for (const seq of chunkSeqs) {
    const subject = `$O.${bucket}.C.${nuid}`;
    places.push(of + 1 - (await pendingOnSubjects(access.api, stream, seq, [subject])));
  }
  // Where a chunk is gone on this side too, counting says nothing.
  return places.every((place) => place >= 1) ? places : [];
}

function findingOf(
  { kind, bucket, nuid, entry, seqs, chunkSeqs }: Group,
  chunks: number[],
): ObjectFinding {
  return {
    ...{ kind, bucket, nuid, name: entry?.name ?? null },
    ...{ count: seqs.length, first: Math.min(...seqs), last: Math.max(...seqs) },
    ...{ entry: seqs.length > chunkSeqs.length, chunks, of: entry?.chunks ?? null },
  };
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString();
}
