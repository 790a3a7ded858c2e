/**
 * What a comparison of replicas asks of the servers: how the stream is placed now, and a reader for
 * each replica.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { JetStreamAccess } from '../nats/access.js';
import { patiently } from '../nats/patience.js';
import type { SeqRange } from '../stream/types.js';
import { pendingOnSubjects } from './backlog.js';
import type { MessageSource } from './merge.js';
import { replicatedStream, type ReplicatedStream } from './replica-facts.js';
import { openReplicas } from './replica-readers.js';

/** A replica as it is read. */
export interface ReplicaReader extends MessageSource {
  /** Up to here it was read, whether it holds that or not; Infinity: to the end. */
  readonly readTo: number;
  /** Why it was not read to the end; null: it was, so far. */
  readonly failure: string | null;
  readonly load: { readonly messages: number; readonly bytes: number };
  close(): Promise<void>;
}

/** Errors of all of them: timeout, originRefused. */
export interface ReplicaAccess {
  /** The stream as its leader tells of it. */
  stream(): Promise<ReplicatedStream>;
  /** That, once no follower is behind or a while has passed. */
  settled(): Promise<ReplicatedStream>;
  /** One reader for each of these servers, in their order. */
  open(servers: readonly string[], range: SeqRange): Promise<readonly ReplicaReader[]>;
  /** Messages behind a sequence on a subject. */
  laterOn(subject: string, seq: number): Promise<number>;
  /** Nanoseconds since 1970 by the servers' clock. */
  now(): bigint;
  pauseMs(ms: number): Promise<void>;
  /** Requests made so far. */
  readonly calls: number;
}

export interface ReplicaAccessOptions {
  readonly access: JetStreamAccess;
  readonly stream: string;
  /** Of each replica; null: as fast as the server can. */
  readonly bytesPerSecond: number | null;
  /** How long a server that does not answer is waited for; default 20 s. */
  readonly patienceMs?: number;
}

/** How long followers may take to catch up before they are called behind. */
const SETTLE_MS = 10_000;
const LOOK_EVERY_MS = 500;

export class ServerReplicas implements ReplicaAccess {
  readonly #options: ReplicaAccessOptions;
  /** What the servers' clock is ahead of ours. */
  #aheadNs = 0n;

  constructor(options: ReplicaAccessOptions) {
    this.#options = options;
  }

  get calls(): number {
    return this.#options.access.api.calls;
  }

  async stream(): Promise<ReplicatedStream> {
    const { access, stream, patienceMs } = this.#options;
    const answer = await patiently(() => access.api.streamInfo(stream), patienceMs);
    const replicated = replicatedStream(answer, access.serverName);
    const { now } = replicated.facts;
    if (now !== null) this.#aheadNs = now - ourNow();
    return replicated;
  }

  async settled(): Promise<ReplicatedStream> {
    const until = performance.now() + SETTLE_MS;
    for (;;) {
      const stream = await this.stream();
      const isSettled = stream.replicas.every(({ isCurrent }) => isCurrent);
      if (isSettled || performance.now() > until) return stream;
      await sleep(LOOK_EVERY_MS);
    }
  }

  open(servers: readonly string[], { first, last }: SeqRange): Promise<readonly ReplicaReader[]> {
    return openReplicas(servers, { ...this.#options, from: first, to: last });
  }

  laterOn(subject: string, seq: number): Promise<number> {
    const { access, stream } = this.#options;
    return pendingOnSubjects(access.api, stream, seq + 1, [subject]);
  }

  now(): bigint {
    return ourNow() + this.#aheadNs;
  }

  async pauseMs(ms: number): Promise<void> {
    await sleep(ms);
  }
}

function ourNow(): bigint {
  return BigInt(Date.now()) * 1_000_000n;
}
