/**
 * Do the replicas of a stream hold the same? Each of them is read on its own server up to one
 * sequence, and all are compared sequence by sequence; what differs is read again before a word is
 * said of it. What a server reports of its replicas is shown and never believed.
 */
import { LockstepError } from '../base/errors.js';
import type { SeqRange, StoredMessage } from '../stream/types.js';
import { setOf, type Ranges } from '../verdict/ranges.js';
import { merge } from './merge.js';
import type { ReplicaAccess, ReplicaReader } from './replica-access.js';
import { ReplicaComparison, UNREAD } from './replica-comparison.js';
import { concludeReplicas } from './replica-conclusion.js';
import type { ReplicatedStream } from './replica-facts.js';
import { recheckReplicas, type HeldExample } from './replica-recheck.js';
import type { VerifyProgress } from './verify.js';
import type { AgainstOrigin, ReplicasReport } from './replica-report.js';

export interface ReplicasRequest {
  /** Sequences, both included; null: from the first that any holds, to the stream's last. */
  readonly from: number | null;
  readonly to: number | null;
  /** Differences of a mirror's replicas are held against it. */
  readonly origin?: OriginMessages;
  /** Asked between two batches: true ends the comparison there. */
  readonly pause?: () => boolean;
  /** Told between two batches. */
  readonly progress?: (progress: VerifyProgress) => void;
}

/** Of a mirror. */
export interface OriginMessages {
  /** Null: it holds none that the mirror takes. Errors: timeout, originRefused. */
  at(seq: number): Promise<StoredMessage | null>;
  isAlike(origin: StoredMessage, mirror: StoredMessage): boolean;
}

/** Errors: usage, in one line; timeout, originRefused. */
export async function compareReplicas(
  access: ReplicaAccess,
  request: ReplicasRequest,
): Promise<ReplicasReport> {
  const stream = await access.settled();
  refuse(stream);
  const { first: from, last: to } = scopeOf(request, stream);
  const servers = stream.replicas.filter((each) => !each.isOffline).map(({ server }) => server);
  const sources = await access.open(servers, { first: from, last: to });
  try {
    const walk = await walked(sources, { ...request, from, to });
    const rechecked = await recheckReplicas(access, servers, walk.found);
    const after = await access.stream();
    const againstOrigin = await heldAgainst(request.origin ?? null, servers, rechecked.examples);
    const { comparison, isWhole } = walk;
    const calls = access.calls;
    const read = { sources, from, to, comparison, isWhole, againstOrigin, calls };
    return concludeReplicas({ before: stream, after, servers, ...read, ...rechecked });
  } finally {
    await Promise.all(sources.map((source) => source.close()));
  }
}

/**
 * Retentions under which no consumer can be bound to a replica. Upstream: errors.json 10098, 10134.
 */
const UNREADABLE: Readonly<Record<string, string>> = {
  workqueue: 'is a work queue, which takes no consumer that only reads',
  interest: 'keeps messages by interest, which takes no consumer of one replica',
};

/** Errors: usage. */
function refuse({ facts, replicas, configured }: ReplicatedStream): void {
  const { name, retention } = facts;
  const reason = UNREADABLE[retention];
  if (reason !== undefined) {
    const text =
      `${name} ${reason}, and requests for messages are answered by its leader alone: ` +
      'its replicas cannot be read';
    throw new LockstepError('usage', text);
  }
  if (replicas.length >= 2 || configured >= 2) return;
  const where = replicas[0] === undefined ? '' : ` (on ${replicas[0].server})`;
  const text = `${name} has one replica${where}: there is nothing to compare it with`;
  throw new LockstepError('usage', text);
}

/** Not from the leader's first on: a follower may hold what lies below it. Errors: usage. */
function scopeOf({ from, to }: ReplicasRequest, { facts }: ReplicatedStream): SeqRange {
  const { last_seq } = facts.state;
  if (from !== null && from > last_seq) {
    const text = `--from: ${from} lies above the last of ${facts.name}, ${last_seq}`;
    throw new LockstepError('usage', text);
  }
  return { first: from ?? 1, last: Math.min(last_seq, to ?? last_seq) };
}

interface Walk {
  readonly comparison: ReplicaComparison;
  readonly found: Ranges;
  readonly isWhole: boolean;
}

async function walked(
  sources: readonly ReplicaReader[],
  request: ReplicasRequest & { readonly from: number; readonly to: number },
): Promise<Walk> {
  const comparison = new ReplicaComparison({
    replicas: sources.length,
    isUnread: (replica, seq) => seq > sources[replica]!.readTo,
  });
  const { differences } = comparison;
  const pause = (): boolean => {
    const loads = sources.map(({ load }) => load);
    request.progress?.({
      ...{ next: comparison.last + 1, from: request.from, to: request.to },
      messages: loads.reduce((sum, { messages }) => sum + messages, 0),
      bytes: loads.reduce((sum, { bytes }) => sum + bytes, 0),
      differences: differences.total,
    });
    return request.pause?.() === true;
  };
  const [reference, ...copies] = sources;
  const ended =
    reference === undefined ? 'ended' : await merge(reference, copies, comparison, pause);
  const found = setOf(differences.all().flatMap(({ ranges }) => [...(ranges ?? [])])).ranges();
  return { comparison, found, isWhole: ended === 'ended' };
}

async function heldAgainst(
  origin: OriginMessages | null,
  servers: readonly string[],
  examples: readonly HeldExample[],
): Promise<AgainstOrigin[]> {
  if (origin === null) return [];
  const all: AgainstOrigin[] = [];
  for (const { seq, held, pattern } of examples) {
    const message = await origin.at(seq);
    const read = servers.filter((_server, at) => pattern[at] !== UNREAD);
    const like = servers.filter((_server, at) => {
      const other = held[at] ?? null;
      return message !== null && other !== null && origin.isAlike(message, other);
    });
    all.push({
      ...{ seq, held_by_origin: message !== null, like_origin: like },
      unlike_origin: message === null ? [] : read.filter((server) => !like.includes(server)),
    });
  }
  return all;
}
