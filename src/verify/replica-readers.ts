/**
 * One reader for each replica of a stream, each bound to its server. One that fails is no end of
 * the comparison: it says from where on it was not read, and why.
 */
import { toErrorData } from '../base/errors.js';
import type { JetStreamAccess } from '../nats/access.js';
import { isTransient } from '../nats/api.js';
import type { ReadBatch } from '../nats/reader-intake.js';
import { openReader, type StreamReader } from '../nats/stream-reader.js';
import type { MessageSource } from './merge.js';

export interface ReplicaReading {
  readonly access: JetStreamAccess;
  readonly stream: string;
  readonly from: number;
  readonly to: number;
  /** Of each replica; null: as fast as the server can. */
  readonly bytesPerSecond: number | null;
  readonly patienceMs?: number;
}

/** What one replica gave. */
export class ReplicaSource implements MessageSource {
  readonly server: string;
  /** Why it was not read to the end; null: it was, so far. */
  failure: string | null = null;
  /** The last sequence that was read before it failed. */
  #last: number;
  #reader: StreamReader | null = null;
  #closed: Promise<void> | null = null;

  constructor(server: string, from: number) {
    this.server = server;
    this.#last = from - 1;
  }

  get load(): StreamReader['load'] {
    return this.#reader?.load ?? { messages: 0, bytes: 0 };
  }

  /** The last sequence that it was read to, whether it holds that or not; Infinity: to the end. */
  get readTo(): number {
    return this.failure === null ? Infinity : this.#last;
  }

  /** Errors: what is wrong with more than this replica. */
  async open({ access, stream, from, to, ...rest }: ReplicaReading): Promise<void> {
    const { bytesPerSecond, patienceMs } = rest;
    const patience = patienceMs === undefined ? {} : { patienceMs };
    const request = { stream, from, to, replica: this.server, bytesPerSecond, ...patience };
    try {
      this.#reader = await openReader(access, request);
    } catch (error) {
      this.#fail(error);
    }
  }

  async next(): Promise<ReadBatch | null> {
    if (this.#reader === null || this.failure !== null) return null;
    try {
      const batch = await this.#reader.next();
      if (batch !== null) this.#last = batch.last;
      return batch;
    } catch (error) {
      this.#fail(error);
      return null;
    }
  }

  async close(): Promise<void> {
    this.#closed ??= this.#reader?.close() ?? Promise.resolve();
    await this.#closed;
  }

  /** A server that does not answer is one replica less; what is forbidden holds for all of them. */
  #fail(error: unknown): void {
    if (!isTransient(error)) throw error;
    this.failure = toErrorData(error).message;
  }
}

/**
 * Readers of the replicas on these servers, open. Errors: originRefused (`forbidden` as detail: the
 * subject that it takes).
 */
export async function openReplicas(
  servers: readonly string[],
  reading: ReplicaReading,
): Promise<ReplicaSource[]> {
  const sources = servers.map((server) => new ReplicaSource(server, reading.from));
  const opened = await Promise.allSettled(sources.map((source) => source.open(reading)));
  const refused = opened.find((each) => each.status === 'rejected');
  if (refused === undefined) return sources;
  await closeReplicas(sources);
  throw refused.reason;
}

export async function closeReplicas(sources: readonly ReplicaSource[]): Promise<void> {
  await Promise.all(sources.map((source) => source.close()));
}
