/**
 * What a server says of a stream (`STREAM.INFO`), as far as a comparison needs it. Fields of state
 * and configuration keep the server's names. Upstream: stream.go, StreamConfig and StreamState.
 */
import { LockstepError } from '../base/errors.js';
import { plain } from '../base/plain.js';
import { nanosecondsOf } from '../nats/api.js';
import type { SeqRange } from '../stream/types.js';
import { rangesOf } from '../verdict/ranges.js';

export type Json = Readonly<Record<string, unknown>>;

export interface StateFacts {
  readonly messages: number;
  readonly bytes: number;
  readonly first_seq: number;
  readonly last_seq: number;
  readonly num_deleted: number;
  readonly first_ts: string;
  readonly last_ts: string;
}

/** How one subject of the origin becomes one of the mirror; `dest` empty: as it is. */
export interface SubjectTransform {
  readonly src: string;
  readonly dest: string;
}

/** Where the mirror takes its messages from. */
export interface MirrorSource {
  readonly name: string;
  readonly startSeq: number;
  /** Nanoseconds since 1970; null: none is set. */
  readonly startTime: bigint | null;
  /** What is selected, and how it is rewritten; empty: everything as it is. */
  readonly transforms: readonly SubjectTransform[];
  /** How the stream rewrites what it took, whatever matches; null: as it is. */
  readonly stored: SubjectTransform | null;
  /** Prefix of the API of another domain or account; null: the mirror's own. */
  readonly externalApi: string | null;
}

export interface StreamFacts {
  readonly name: string;
  /** Nanoseconds since 1970. */
  readonly created: bigint;
  readonly createdText: string;
  /** The configuration as it came. */
  readonly config: Json;
  readonly retention: string;
  readonly mirror: MirrorSource | null;
  readonly hasSources: boolean;
  readonly isSealed: boolean;
  readonly allowsTtl: boolean;
  /** Nothing of it can be deleted or purged by hand. */
  readonly denyDeletes: boolean;
  readonly discardsNew: boolean;
  /** Limits; zero or less: none. */
  readonly maxMessages: number;
  readonly maxBytes: number;
  /** Beyond it older messages of a subject go; none where new ones are refused instead. */
  readonly maxPerSubject: number;
  readonly maxAgeMs: number;
  readonly state: StateFacts;
  /** Sequences that are gone between first and last; null: not told. */
  readonly deleted: readonly SeqRange[] | null;
  /** What the mirror says of itself; its lag is shown, never believed. */
  readonly reported: { readonly lag: number; readonly error: string | null } | null;
  readonly leader: string | null;
  /** Servers that hold a replica, the leader first; empty where there is no cluster. */
  readonly servers: readonly string[];
  /** The server's clock as it answered, nanoseconds since 1970; null: an old server. */
  readonly now: bigint | null;
}

/** Errors: originRefused, naming the field that is not what it should be. */
export function streamFacts(answer: Json): StreamFacts {
  const config = objectOf(answer['config']);
  const state = objectOf(answer['state']);
  const cluster = objectOf(answer['cluster']);
  const reported = objectOf(answer['mirror']);
  const mirror = config['mirror'];
  const leader = textOf(cluster['leader']);
  return {
    name: textOf(config['name']),
    created: nanosecondsOf(textOf(answer['created'])),
    createdText: textOf(answer['created']),
    config,
    retention: textOf(config['retention']),
    mirror: mirror === undefined ? null : mirrorSource(objectOf(mirror), config),
    hasSources: config['sources'] !== undefined,
    isSealed: config['sealed'] === true,
    allowsTtl: config['allow_msg_ttl'] === true,
    denyDeletes: config['deny_delete'] === true && config['deny_purge'] === true,
    discardsNew: config['discard'] === 'new',
    maxMessages: numberOf(config['max_msgs']),
    maxBytes: numberOf(config['max_bytes']),
    maxPerSubject:
      config['discard_new_per_subject'] === true ? 0 : numberOf(config['max_msgs_per_subject']),
    maxAgeMs: numberOf(config['max_age']) / 1e6,
    state: stateFacts(state),
    deleted: Array.isArray(state['deleted']) ? rangesOf(state['deleted'] as number[]) : null,
    reported: reportedOf(reported),
    leader: leader === '' ? null : leader,
    servers: serversOf(leader, cluster['replicas']),
    now: answer['ts'] === undefined ? null : nanosecondsOf(textOf(answer['ts'])),
  };
}

function stateFacts(state: Json): StateFacts {
  return {
    messages: countOf(state, 'messages'),
    bytes: countOf(state, 'bytes'),
    first_seq: countOf(state, 'first_seq'),
    last_seq: countOf(state, 'last_seq'),
    num_deleted: numberOf(state['num_deleted']),
    first_ts: textOf(state['first_ts']),
    last_ts: textOf(state['last_ts']),
  };
}

function mirrorSource(mirror: Json, { subject_transform: stored }: Json): MirrorSource {
  const filter = textOf(mirror['filter_subject']);
  const transforms = Array.isArray(mirror['subject_transforms'])
    ? (mirror['subject_transforms'] as Json[]).map(transformOf)
    : [];
  const startTime = textOf(mirror['opt_start_time']);
  const external = objectOf(mirror['external']);
  return {
    name: textOf(mirror['name']),
    startSeq: numberOf(mirror['opt_start_seq']),
    startTime: startTime === '' ? null : nanosecondsOf(startTime),
    transforms: filter === '' ? transforms : [{ src: filter, dest: '' }],
    stored: stored === undefined ? null : transformOf(objectOf(stored)),
    externalApi: textOf(external['api']) || null,
  };
}

function transformOf({ src, dest }: Json): SubjectTransform {
  return { src: textOf(src) || '>', dest: textOf(dest) };
}

function reportedOf(reported: Json): StreamFacts['reported'] {
  if (reported['name'] === undefined) return null;
  const error = textOf(objectOf(reported['error'])['description']);
  return { lag: numberOf(reported['lag']), error: error === '' ? null : plain(error) };
}

function serversOf(leader: string, replicas: unknown): string[] {
  const others = Array.isArray(replicas)
    ? (replicas as Json[]).map(({ name }) => textOf(name))
    : [];
  return leader === '' ? others : [leader, ...others];
}

export function objectOf(value: unknown): Json {
  return typeof value === 'object' && value !== null ? (value as Json) : {};
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}

function countOf(state: Json, field: string): number {
  const value = state[field];
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  const text = `the server's answer: state.${field} is ${plain(String(value))}, not a count`;
  throw new LockstepError('originRefused', text);
}
