/**
 * The replicas of a stream as its leader tells of them, and which of their differences a limit of
 * the stream explains. Upstream: jetstream_cluster.go, clusterInfo; raft.go, Peers.
 */
import type { StoredMessage } from '../stream/types.js';
import { headerOf, storedBytes } from './record-compare.js';
import { objectOf, streamFacts, textOf, type Json, type StreamFacts } from './stream-facts.js';
import { ttlMs } from './ttl.js';

export interface ReplicaState {
  readonly server: string;
  readonly isLeader: boolean;
  /** Caught up and heard of lately, as the leader says. */
  readonly isCurrent: boolean;
  readonly isOffline: boolean;
  /** Raft entries that it is behind, as the leader says. */
  readonly lag: number;
}

export interface ReplicatedStream {
  readonly facts: StreamFacts;
  /** By name of the server. */
  readonly replicas: readonly ReplicaState[];
  /** How many there should be. */
  readonly configured: number;
}

/**
 * A server's answer to `STREAM.INFO`. Where there is no cluster, the one replica is the server's.
 *
 * Errors: originRefused, naming the field that is not what it should be.
 */
export function replicatedStream(answer: Json, serverName: string): ReplicatedStream {
  const facts = streamFacts(answer);
  const { replicas } = objectOf(answer['cluster']);
  const leader = facts.leader ?? (replicas === undefined ? serverName : null);
  const followers = Array.isArray(replicas) ? (replicas as Json[]).map(follower) : [];
  const leaders = leader === null ? [] : [leading(leader)];
  const all = [...leaders, ...followers].sort((one, other) => (one.server < other.server ? -1 : 1));
  const { num_replicas: configured } = facts.config;
  return { facts, replicas: all, configured: typeof configured === 'number' ? configured : 1 };
}

function leading(server: string): ReplicaState {
  return { server, isLeader: true, isCurrent: true, isOffline: false, lag: 0 };
}

function follower(replica: Json): ReplicaState {
  const lag = replica['lag'];
  return {
    server: textOf(replica['name']),
    isLeader: false,
    isCurrent: replica['current'] === true,
    isOffline: replica['offline'] === true,
    lag: typeof lag === 'number' ? lag : 0,
  };
}

/** Why replicas may rightly differ. */
export type ReplicaExcuse =
  /** All agreed when they were read again. */
  | 'settled'
  /** max_age had passed. */
  | 'expired'
  /** The message's own time to live had passed. */
  | 'ttl'
  /** As many later messages on its subject as max_msgs_per_subject allows. */
  | 'per subject'
  /** Below the stream's first, and max_msgs or max_bytes leaves no room for it. */
  | 'head';

/** Clocks differ, and servers remove what is too old a moment later or earlier. */
const SLACK_NS = 2_000_000_000n;
const NS_PER_MS = 1_000_000;

/**
 * Why some replicas may hold this message no longer while others do.
 *
 * @param now  nanoseconds since 1970 by the servers' clock, when they were read
 */
export function excuseOf(
  message: StoredMessage,
  facts: StreamFacts,
  now: bigint,
): Exclude<ReplicaExcuse, 'settled' | 'per subject'> | null {
  const { seq, timestamp, headers } = message;
  const isPast = (ms: number): boolean =>
    timestamp + BigInt(Math.round(ms * NS_PER_MS)) <= now + SLACK_NS;
  if (facts.maxAgeMs > 0 && isPast(facts.maxAgeMs)) return 'expired';
  const ttl = facts.allowsTtl && headers.length > 0 ? ttlMs(headerOf(headers, 'Nats-TTL')) : null;
  if (ttl !== null && isPast(ttl)) return 'ttl';
  return seq < facts.state.first_seq && isFullFor(message, facts) ? 'head' : null;
}

/**
 * Whether a limit that discards old messages leaves no room for this one: a leader may begin above
 * it for other reasons, as one that has lost its first messages.
 */
function isFullFor(message: StoredMessage, facts: StreamFacts): boolean {
  const { discardsNew, maxMessages, maxBytes, state } = facts;
  if (discardsNew) return false;
  return (
    (maxMessages > 0 && state.messages >= maxMessages) ||
    (maxBytes > 0 && state.bytes + storedBytes(message) >= maxBytes)
  );
}
