/**
 * What one server says of itself on its monitoring port: its own copy of a stream, whatever its
 * leader holds, and its own place in that stream's raft group. Upstream: server/monitor.go, Jsz and
 * Raftz; the second came with 2.11.
 */
import type { StreamState } from '../stream/types.js';
import type { NatsServer } from './server.js';

/** One server's own copy of a stream. */
export interface SeenStream {
  readonly state: StreamState;
  /** Whom it takes for the leader; null: it knows none. */
  readonly leader: string | null;
  /** The stream's raft group; null where there is none. */
  readonly group: string | null;
  /** Names of consumers that no list shows, such as those of mirrors. */
  readonly hiddenConsumers: readonly string[];
}

/** One server's place in a raft group. */
export interface SeenGroup {
  readonly role: 'leader' | 'candidate' | 'follower';
  readonly term: number;
}

type Json = Readonly<Record<string, unknown>>;

export class Monitor {
  readonly #server: Pick<NatsServer, 'monitor'>;
  readonly #account: string;

  constructor(server: Pick<NatsServer, 'monitor'>, account: string) {
    this.#server = server;
    this.#account = account;
  }

  /** Null: it does not answer, or it has no such stream. */
  async stream(name: string): Promise<SeenStream | null> {
    const what = 'streams=true&consumers=true&direct-consumers=true';
    const answer = await this.#ask(`jsz?acc=${this.#account}&${what}`);
    const accounts = listOf(answer?.['account_details']);
    const streams = accounts.flatMap((account) => listOf(account['stream_detail']));
    const found = streams.find((stream) => stream['name'] === name);
    return found === undefined ? null : seenOf(found);
  }

  /** Null: it does not answer, knows no such group, or is too old to tell. */
  async group(name: string): Promise<SeenGroup | null> {
    const answer = await this.#ask(`raftz?acc=${this.#account}&group=${name}`);
    const groups = answer?.[this.#account] as Json | undefined;
    const group = groups?.[name] as Json | undefined;
    if (group === undefined) return null;
    return { role: roleOf(group['state']), term: numberOf(group['term']) };
  }

  /** A server that is down, frozen or too busy says nothing: that is an answer too. */
  #ask(page: string): Promise<Json | null> {
    return this.#server.monitor<Json>(page).catch(() => null);
  }
}

export function seenOf(stream: Json): SeenStream {
  const state = (stream['state'] ?? {}) as Json;
  const cluster = (stream['cluster'] ?? {}) as Json;
  const group = stream['stream_raft_group'] ?? cluster['raft_group'];
  const consumers = listOf(stream['direct_consumer_detail']);
  return {
    state: {
      first: numberOf(state['first_seq']),
      last: numberOf(state['last_seq']),
      messages: numberOf(state['messages']),
      deleted: numberOf(state['num_deleted']),
    },
    leader: textOf(cluster['leader']),
    group: textOf(group),
    // One that was made again under the same name is another.
    hiddenConsumers: consumers.map((each) => `${String(each['name'])} ${String(each['created'])}`),
  };
}

function roleOf(state: unknown): SeenGroup['role'] {
  if (state === 'LEADER') return 'leader';
  return state === 'CANDIDATE' ? 'candidate' : 'follower';
}

function listOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}

function numberOf(value: unknown): number {
  return typeof value === 'number' && value >= 0 ? value : 0;
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
