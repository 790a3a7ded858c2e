/**
 * Requests to JetStream, as JSON, and their errors as ours. Only requests that read, and those that
 * make and delete a consumer of our own: nothing here can change a stream.
 */
import { ErrorCode, type NatsConnection } from 'nats';
import { LockstepError } from '../base/errors.js';
import { SEQ_MAX } from '../base/limits.js';
import { plain } from '../base/plain.js';
import type { SeqRange, StoredMessage } from '../stream/types.js';
import { forbidden } from './forbidden.js';
import type { Settings } from './settings.js';

/** Numbers of the server's errors. Upstream: server/errors.json. */
export const API_ERROR = {
  notEnabled: 10_076,
  notEnabledForAccount: 10_039,
  streamNotFound: 10_059,
  noSuitablePeers: 10_005,
  noMessage: 10_037,
  /** Also where there is no such message. */
  deleteFailed: 10_057,
  consumerNotFound: 10_014,
  tooManyConsumers: 10_026,
  workQueue: 10_098,
  wrongLastSequence: 10_071,
} as const;

export interface StreamDescription {
  readonly name: string;
  /** Nanoseconds since 1970. */
  readonly created: bigint;
  readonly retention: string;
  readonly mirrors: string | null;
  readonly isFiltered: boolean;
  readonly first: number;
  readonly last: number;
  readonly messages: number;
  readonly deleted: number;
}

/** How the server answered the request for a consumer. */
export interface CreatedConsumer {
  /** The sequence before the first that will be delivered. */
  readonly startsAfter: number;
  readonly pending: number;
  /** Name of the server that serves it; null where there is no cluster. */
  readonly server: string | null;
}

export interface ConsumerRequest {
  readonly name: string;
  readonly deliverSubject: string;
  readonly startSeq: number;
  readonly heartbeatMs: number;
  /** The server forgets it when nobody listened for so long. */
  readonly inactiveMs: number;
  /** Bytes a second that the server keeps to; not given: as fast as it can. */
  readonly bytesPerSecond?: number | null;
  /** Only messages of these subjects; not given or empty: of all. */
  readonly subjects?: readonly string[];
}

type Json = Readonly<Record<string, unknown>>;

const NS_PER_MS = 1_000_000;

export class JetStreamApi {
  readonly #connection: NatsConnection;
  readonly #prefix: string;
  readonly #timeoutMs: number;
  #calls = 0;

  constructor(connection: NatsConnection, { apiPrefix, timeoutMs }: Settings) {
    this.#connection = connection;
    this.#prefix = apiPrefix;
    this.#timeoutMs = timeoutMs;
  }

  /** Requests made so far. */
  get calls(): number {
    return this.#calls;
  }

  async stream(name: string): Promise<StreamDescription> {
    return describe(await this.streamInfo(name));
  }

  /**
   * The server's own description, as it came.
   *
   * @param deleted  with every sequence that is gone in the middle: only where those are few
   */
  streamInfo(name: string, deleted = false): Promise<Json> {
    return this.#request(`STREAM.INFO.${name}`, deleted ? { deleted_details: true } : {});
  }

  /** Subjects of requests begin with it. */
  get prefix(): string {
    return this.#prefix;
  }

  /** Names of streams, the first page of them. */
  async streamNames(): Promise<string[]> {
    const { streams } = await this.#request('STREAM.NAMES');
    return Array.isArray(streams) ? streams.filter((name) => typeof name === 'string') : [];
  }

  /**
   * The sequence that a reader of the stream ends at: of the last message that there is, or the
   * stream's last if a message came behind that. Found by asking for the first message from a
   * sequence on: the last one itself cannot be asked for where the tail is a gap.
   */
  async lastReachable(stream: string, { first, last }: SeqRange): Promise<number> {
    let low = first;
    let high = last;
    // Backwards from the end in growing steps: a gap there is mostly short.
    for (let step = 1; low < high;) {
      const probe = Math.max(low + 1, high + 1 - step);
      const found = await this.messageFrom(stream, probe);
      if (found === null) {
        high = probe - 1;
        step *= 2;
      } else {
        low = Math.min(found.seq, last);
        step = 1;
      }
    }
    return low;
  }

  /** The message with that sequence, from the stream's leader; null: it has none. */
  async messageAt(stream: string, seq: number): Promise<StoredMessage | null> {
    const message = await this.#message(stream, { seq });
    return message === null ? null : storedFrom(message);
  }

  /** The first message at or above a sequence, from the stream's leader; null: there is none. */
  async messageFrom(stream: string, seq: number, subject = '>'): Promise<StoredMessage | null> {
    const message = await this.#message(stream, { seq, next_by_subj: subject });
    return message === null ? null : storedFrom(message);
  }

  async #message(stream: string, request: Json): Promise<Json | null> {
    try {
      const { message } = await this.#request(`STREAM.MSG.GET.${stream}`, request);
      return (message ?? {}) as Json;
    } catch (error) {
      if (apiErrorOf(error) === API_ERROR.noMessage) return null;
      throw error;
    }
  }

  /**
   * A push consumer that acknowledges nothing and is never made again by itself: what becomes of it
   * must be seen. Upstream: stream.go, setupMirrorConsumer.
   */
  async createConsumer(stream: string, request: ConsumerRequest): Promise<CreatedConsumer> {
    const { name, deliverSubject, startSeq, heartbeatMs, inactiveMs } = request;
    const { bytesPerSecond = null, subjects = [] } = request;
    const answer = await this.#request(`CONSUMER.CREATE.${stream}.${name}`, {
      stream_name: stream,
      action: 'create',
      config: {
        name,
        deliver_subject: deliverSubject,
        deliver_policy: 'by_start_sequence',
        opt_start_seq: startSeq,
        ack_policy: 'none',
        replay_policy: 'instant',
        max_deliver: 1,
        flow_control: true,
        idle_heartbeat: heartbeatMs * NS_PER_MS,
        inactive_threshold: inactiveMs * NS_PER_MS,
        mem_storage: true,
        num_replicas: 1,
        // Upstream counts bits: consumer.go, setRateLimit.
        ...(bytesPerSecond === null ? {} : { rate_limit_bps: bytesPerSecond * 8 }),
        ...filterOf(subjects),
      },
    });
    const delivered = answer['delivered'] as Json | undefined;
    return {
      startsAfter: countOf(delivered?.['stream_seq'], 'delivered.stream_seq'),
      pending: countOf(answer['num_pending'], 'num_pending'),
      server: serverOf(answer['cluster']),
    };
  }

  /** One that is gone already is as good as deleted. */
  async deleteConsumer(stream: string, name: string): Promise<void> {
    try {
      await this.#request(`CONSUMER.DELETE.${stream}.${name}`);
    } catch (error) {
      const code = apiErrorOf(error);
      if (code !== API_ERROR.consumerNotFound && code !== API_ERROR.streamNotFound) throw error;
    }
  }

  /** Errors: originRefused with the server's number as detail, or timeout. */
  async #request(path: string, body: Json = {}): Promise<Json> {
    const subject = `${this.#prefix}.${path}`;
    const payload = JSON.stringify(body);
    this.#calls++;
    try {
      const answer = await this.#connection.request(subject, payload, { timeout: this.#timeoutMs });
      return checked(subject, answer.json());
    } catch (error) {
      throw error instanceof LockstepError ? error : failureOf(subject, error);
    }
  }
}

/** The server's number of an error; null for other errors. */
export function apiErrorOf(error: unknown): number | null {
  const number = error instanceof LockstepError ? error.detail?.['apiError'] : undefined;
  return typeof number === 'number' ? number : null;
}

/** Whether nobody at all answers requests to JetStream. */
export function isNotEnabled(error: unknown): boolean {
  const number = apiErrorOf(error);
  if (number === API_ERROR.notEnabled || number === API_ERROR.notEnabledForAccount) return true;
  return error instanceof LockstepError && error.detail?.['noResponders'] === true;
}

/** Whether the same request may be answered in a while: a leader moves, a server starts. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof LockstepError)) return false;
  const { noResponders, status, apiError } = error.detail ?? {};
  if (apiError === API_ERROR.notEnabled || apiError === API_ERROR.notEnabledForAccount)
    return false;
  return error.code === 'timeout' || noResponders === true || status === 503;
}

export function checked(subject: string, answer: unknown): Json {
  if (typeof answer !== 'object' || answer === null) {
    throw new LockstepError('originRefused', `${subject}: the answer is no JSON object`);
  }
  const { error } = answer as { readonly error?: Json };
  if (error === undefined) return answer as Json;
  const number = typeof error['err_code'] === 'number' ? error['err_code'] : 0;
  const text = `${subject}: ${plain(String(error['description']))} (${number})`;
  const status = typeof error['code'] === 'number' ? error['code'] : 0;
  throw new LockstepError('originRefused', text, { apiError: number, status });
}

export function failureOf(subject: string, error: unknown): LockstepError {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  const { permissionContext: context } = error as {
    readonly permissionContext?: { readonly subject?: string; readonly operation?: string };
  };
  switch (code) {
    case ErrorCode.NoResponders:
      return new LockstepError('originRefused', `${subject}: nobody answers`, {
        noResponders: true,
      });
    case ErrorCode.PermissionsViolation:
      return forbidden(
        context?.operation === 'subscription' ? 'subscribe' : 'publish',
        context?.subject ?? subject,
      );
    case ErrorCode.Timeout:
    case ErrorCode.Disconnect:
    case ErrorCode.ConnectionClosed:
      return new LockstepError('timeout', `${subject}: no answer`);
    default:
      return new LockstepError('originRefused', `${subject}: ${plain(String(message))}`);
  }
}

function filterOf(subjects: readonly string[]): Json {
  if (subjects.length === 0) return {};
  // One goes by its own name, which servers before 2.10 know too.
  return subjects.length === 1 ? { filter_subject: subjects[0] } : { filter_subjects: subjects };
}

function serverOf(cluster: unknown): string | null {
  const leader = (cluster as Json | undefined)?.['leader'];
  return typeof leader === 'string' && leader !== '' ? leader : null;
}

/** A message as JSON carries it: bytes in base64, the time as text. */
function storedFrom(message: Json): StoredMessage {
  return {
    seq: seqOf(message['seq'], 'message.seq'),
    timestamp: nanosecondsOf(String(message['time'])),
    subject: Buffer.from(String(message['subject'])),
    headers: base64Of(message['hdrs']),
    payload: base64Of(message['data']),
  };
}

/** Empty bytes are left out of the answer. */
function base64Of(value: unknown): Uint8Array {
  return typeof value === 'string' ? Buffer.from(value, 'base64') : new Uint8Array(0);
}

function describe(answer: Json): StreamDescription {
  const config = (answer['config'] ?? {}) as Json;
  const state = (answer['state'] ?? {}) as Json;
  const mirror = config['mirror'] as Json | undefined;
  return {
    name: String(config['name']),
    created: nanosecondsOf(String(answer['created'])),
    retention: String(config['retention']),
    mirrors: mirror === undefined ? null : String(mirror['name']),
    isFiltered:
      typeof mirror?.['filter_subject'] === 'string' ||
      mirror?.['subject_transforms'] !== undefined,
    first: countOf(state['first_seq'], 'state.first_seq'),
    last: countOf(state['last_seq'], 'state.last_seq'),
    messages: countOf(state['messages'], 'state.messages'),
    deleted: countOf(state['num_deleted'] ?? 0, 'state.num_deleted'),
  };
}

/** `2026-11-30T03:09:33.09095932Z` -> nanoseconds since 1970. */
export function nanosecondsOf(text: string): bigint {
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/.exec(text);
  const ms = match === null ? Number.NaN : Date.parse(`${match[1]!}${match[3]!}`);
  if (Number.isNaN(ms)) throw malformed('created', text, 'a time');
  return BigInt(ms) * 1_000_000n + BigInt((match![2] ?? '').padEnd(9, '0'));
}

function countOf(value: unknown, field: string): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw malformed(field, value, 'a number from 0 to 2^53-1');
}

function seqOf(value: unknown, field: string): number {
  const seq = countOf(value, field);
  if (seq >= 1 && seq <= SEQ_MAX) return seq;
  throw malformed(field, value, 'a sequence');
}

function malformed(field: string, value: unknown, expected: string): LockstepError {
  const text = `the server's answer: ${field} is ${plain(String(value))}, not ${expected}`;
  return new LockstepError('originRefused', text);
}
