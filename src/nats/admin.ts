/**
 * Requests to JetStream that change something: what a driver does to streams of its own, and what
 * it asks of their leaders. Whoever only reads goes through api.ts.
 */
import type { NatsConnection } from 'nats';
import { LockstepError } from '../base/errors.js';
import { API_ERROR, apiErrorOf, checked, failureOf } from './api.js';
import type { Settings } from './settings.js';

type Json = Readonly<Record<string, unknown>>;

/** Who holds a stream, by the word of its leader; names are those of servers. */
export interface Placement {
  readonly leader: string | null;
  readonly followers: readonly {
    readonly name: string;
    readonly current: boolean;
    readonly offline: boolean;
    /** Operations that it is behind. */
    readonly lag: number;
  }[];
}

export class JetStreamAdmin {
  readonly #connection: NatsConnection;
  readonly #prefix: string;
  readonly #timeoutMs: number;

  constructor(connection: NatsConnection, { apiPrefix, timeoutMs }: Settings) {
    this.#connection = connection;
    this.#prefix = apiPrefix;
    this.#timeoutMs = timeoutMs;
  }

  /** @param config  a stream configuration in the server's own words, its name included */
  async createStream(config: Json & { readonly name: string }): Promise<void> {
    await this.#request(`STREAM.CREATE.${config.name}`, config);
  }

  /** One that is gone already is as good as deleted. */
  async deleteStream(name: string): Promise<void> {
    try {
      await this.#request(`STREAM.DELETE.${name}`);
    } catch (error) {
      if (apiErrorOf(error) !== API_ERROR.streamNotFound) throw error;
    }
  }

  async placement(name: string): Promise<Placement> {
    const { cluster } = await this.#request(`STREAM.INFO.${name}`);
    return placementOf(cluster as Json | undefined);
  }

  /** One that is gone already is as good as deleted. */
  async deleteMessage(stream: string, seq: number): Promise<void> {
    try {
      await this.#request(`STREAM.MSG.DELETE.${stream}`, { seq, no_erase: true });
    } catch (error) {
      if (apiErrorOf(error) !== API_ERROR.deleteFailed) throw error;
    }
  }

  /** Returns how many messages went: of one subject, or those below a sequence. */
  async purge(
    stream: string,
    what: { readonly filter: string } | { readonly seq: number },
  ): Promise<number> {
    const { purged } = await this.#request(`STREAM.PURGE.${stream}`, what);
    return typeof purged === 'number' ? purged : 0;
  }

  /** @param preferred  the server that is to lead next; null: whom the leader chooses */
  async stepDown(stream: string, preferred: string | null): Promise<void> {
    await this.#request(`STREAM.LEADER.STEPDOWN.${stream}`, placedAt(preferred));
  }

  /** Of all of JetStream; the connection has to be one of the system account. */
  async stepDownMeta(preferred: string | null): Promise<void> {
    await this.#request('META.LEADER.STEPDOWN', placedAt(preferred));
  }

  /** Errors: originRefused with the server's number as detail, or timeout. */
  async #request(path: string, body: Json = {}): Promise<Json> {
    const subject = `${this.#prefix}.${path}`;
    const payload = JSON.stringify(body);
    try {
      const answer = await this.#connection.request(subject, payload, { timeout: this.#timeoutMs });
      return checked(subject, answer.json());
    } catch (error) {
      throw error instanceof LockstepError ? error : failureOf(subject, error);
    }
  }
}

function placedAt(preferred: string | null): Json {
  return preferred === null ? {} : { placement: { preferred } };
}

export function placementOf(cluster: Json | undefined): Placement {
  const leader = cluster?.['leader'];
  const replicas = cluster?.['replicas'];
  return {
    leader: typeof leader === 'string' && leader !== '' ? leader : null,
    followers: (Array.isArray(replicas) ? (replicas as readonly Json[]) : []).map((replica) => ({
      name: String(replica['name']),
      current: replica['current'] === true,
      offline: replica['offline'] === true,
      lag: typeof replica['lag'] === 'number' ? replica['lag'] : 0,
    })),
  };
}
