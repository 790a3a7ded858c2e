/** The three depths: everything as one merge of two readers, or some of it one by one. */
import type { Prng } from '../base/prng.js';
import { openReader, type ReadRequest, type StreamReader } from '../nats/stream-reader.js';
import type { SeqRange } from '../stream/types.js';
import { countOf, intersect, span, subtract, type Ranges } from '../verdict/ranges.js';
import type { MirrorComparison } from './comparison.js';
import { merge } from './merge.js';
import { rangeSample, spotSample, type Sample } from './sampling.js';
import { readFacts, type Facts, type Sides } from './sides.js';
import { readSingly, type SingleLoad } from './single-reads.js';
import type { StreamFacts } from './stream-facts.js';

export interface ReadingTools {
  readonly sides: Sides;
  readonly facts: Facts;
  readonly scope: SeqRange;
  readonly bytesPerSecond: number | null;
  readonly prng: Prng;
  readonly load: SingleLoad;
  /** Asked between two steps: true ends the reading. */
  readonly pause: () => boolean;
}

/** Whoever served the two sides; none: their leaders, or there is no cluster. */
export type ReadFrom = readonly [origin: readonly string[], mirror: readonly string[]];

export interface WholeReading {
  readonly ended: 'ended' | 'paused';
  readonly servers: ReadFrom;
}

export interface PartReading {
  readonly ended: 'ended' | 'paused';
  readonly sample: Sample;
  readonly notes: readonly string[];
}

/** Sequences that the servers' own lists tell apart, read at most. */
const SUSPECTS_MAX = 1_000;

/**
 * Errors: timeout, originRefused; the comparison holds what was read before.
 *
 * @param isOnLeaders  false: of each side whichever server is found
 */
export async function readAll(
  tools: ReadingTools,
  comparison: MirrorComparison,
  isOnLeaders = false,
): Promise<WholeReading> {
  const { sides, facts, scope, bytesPerSecond, load, pause } = tools;
  if (scope.last < scope.first) return { ended: 'ended', servers: [[], []] };
  const bounds = { from: scope.first, to: scope.last, bytesPerSecond };
  const origin = await openReader(sides.origin.access, {
    ...{ stream: sides.origin.stream, ...bounds, ...wayOf(facts.origin, isOnLeaders) },
    subjects: comparison.selection.subjects,
  });
  const readers: StreamReader[] = [origin];
  const before = { ...load };
  const count = (): void => {
    load.messages = readers.reduce((sum, reader) => sum + reader.load.messages, before.messages);
    load.bytes = readers.reduce((sum, reader) => sum + reader.load.bytes, before.bytes);
  };
  try {
    const mirror = await openReader(sides.mirror.access, {
      ...{ stream: sides.mirror.stream, ...bounds, ...wayOf(facts.mirror, isOnLeaders) },
    });
    readers.push(mirror);
    const ended = await merge(origin, [mirror], comparison, () => {
      count();
      return pause();
    });
    return { ended, servers: [origin.servers, mirror.servers] };
  } finally {
    count();
    await Promise.all(readers.map((reader) => reader.close()));
  }
}

/**
 * How a stream is read without a change to it: a consumer would add interest to one that keeps by
 * interest, and a work queue takes none that does not acknowledge.
 */
export function wayOf(
  { retention, leader }: StreamFacts,
  isOnLeader: boolean,
): Pick<ReadRequest, 'byRequests' | 'replica'> {
  const byRequests = retention !== 'limits';
  return { byRequests, replica: isOnLeader && !byRequests ? leader : null };
}

/**
 * How many messages of a scope, at least, a leader holds that were read on neither side: where two
 * replicas lack the same ones, walking them side by side shows nothing.
 *
 * @param facts  as they are after the reading: what is there then was there before
 */
export function untold(
  { origin, mirror }: Facts,
  scope: SeqRange,
  { told, selection }: Pick<MirrorComparison, 'told' | 'selection'>,
): number {
  const sides = selection.isAll ? [origin, mirror] : [mirror];
  const least = sides.map(({ state }) => {
    const above = Math.max(0, state.last_seq - scope.last);
    const below = Math.max(0, scope.first - state.first_seq);
    return state.messages - above - below;
  });
  return Math.max(0, Math.max(...least) - told);
}

/**
 * Whether any of it was read on a server that did not lead all the while: a follower may lack by
 * itself what its leader has.
 *
 * @param leaders  who led, one look after the other; null: nobody knows
 */
export function isReadElsewhere(
  servers: readonly string[],
  leaders: readonly (string | null)[],
): boolean {
  return servers.some((server) => leaders.some((leader) => leader !== server));
}

/** Errors: timeout, originRefused. */
export async function readSome(
  tools: ReadingTools,
  depth: 'state' | 'sample',
  comparison: MirrorComparison,
): Promise<PartReading> {
  const { sides, scope, prng } = tools;
  const facts = await readFacts(sides, true);
  const edges = edgesOf(facts, scope);
  const sample =
    depth === 'state' ? spotSample(prng, scope, edges) : rangeSample(prng, scope, edges);
  const suspects = suspectsOf(facts, scope, comparison.selection.isAll);
  const read = withFirst(sample.ranges, suspects);
  const { bytesPerSecond, load, pause } = tools;
  const origin = { api: sides.origin.access.api, stream: sides.origin.stream };
  const mirror = { api: sides.mirror.access.api, stream: sides.mirror.stream };
  const { selection } = comparison;
  const reads = { origin, mirror, selection, bytesPerSecond, pause };
  const ended = await readSingly(reads, read, comparison, load);
  return { ended, sample, notes: unreadNotes(subtract(suspects, read)) };
}

/** What the servers' own lists of deletes say that the origin has and the mirror not. */
export function suspectsOf({ origin, mirror }: Facts, scope: SeqRange, isAll: boolean): SeqRange[] {
  if (!isAll) return [];
  const [ofOrigin, ofMirror] = [presentIn(origin), presentIn(mirror)];
  if (ofOrigin === null || ofMirror === null) return [];
  return intersect(subtract(ofOrigin, ofMirror), [scope]);
}

/** Sequences that hold a message; null: the server was not asked for its deletes. */
function presentIn({ state, deleted }: StreamFacts): SeqRange[] | null {
  if (deleted === null) return null;
  return subtract(span(Math.max(1, state.first_seq), state.last_seq), deleted);
}

/** Where something begins or ends: both ends of both streams, and of every gap. */
function edgesOf({ origin, mirror }: Facts, scope: SeqRange): SeqRange[] {
  const ends = [origin, mirror].map(({ state }) => span(state.first_seq, state.last_seq));
  const gaps = [origin.deleted ?? [], mirror.deleted ?? []];
  return [...ends, ...gaps].flatMap((ranges) => intersect(ranges, [scope]));
}

/** The first sequences of `more` beside those that are read anyway. */
function withFirst(ranges: Ranges, more: Ranges): SeqRange[] {
  const added: SeqRange[] = [];
  let room = SUSPECTS_MAX;
  for (const { first, last } of subtract(more, ranges)) {
    if (room === 0) break;
    const end = Math.min(last, first + room - 1);
    added.push({ first, last: end });
    room -= end - first + 1;
  }
  return [...ranges, ...added].sort((one, other) => one.first - other.first);
}

function unreadNotes(unread: Ranges): string[] {
  const count = countOf(unread);
  if (count === 0) return [];
  return [`by the servers' lists the mirror lacks ${count} more, not read: use --depth full`];
}
