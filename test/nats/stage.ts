/** A real server for the suites that need one, and streams in it. Without a server they skip. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { connect, type ConnectionOptions, type NatsConnection } from 'nats';
import { describe, it } from 'vitest';
import { loadHasher } from '../../src/base/hasher.js';
import { checked, failureOf } from '../../src/nats/api.js';
import { openLiveOrigin } from '../../src/nats/origin.js';
import type { LiveOrigin } from '../../src/nats/live-origin.js';
import { placed } from '../../src/nats/placing.js';
import { findServer, NatsServer, type ServerOptions } from '../../src/nats/server.js';
import type { ConnectionGiven } from '../../src/scenario/connection.js';
import type { SeqRange } from '../../src/stream/types.js';
import { Ledger } from '../../src/verdict/ledger.js';

export const hasher = await loadHasher();

const ANSWER_WITHIN_MS = 5_000;
const binary = findServer(process.env);
const isRequired = process.env['LOCKSTEP_REQUIRE_NATS'] === '1';

/** A suite of a real server. */
export function onServer(title: string, suite: () => void): void {
  if (binary !== null || isRequired) describe(title, suite);
  else {
    describe(title, () => {
      it.skip('no nats-server: neither LOCKSTEP_NATS_SERVER nor the PATH has one', () => undefined);
    });
  }
}

export function startServer(options: Omit<ServerOptions, 'binary'> = {}): Promise<NatsServer> {
  if (binary === null) throw new Error('no nats-server: LOCKSTEP_NATS_SERVER names none');
  return NatsServer.start({ binary, ...options });
}

/** A client of the test's own, beside the one that is tested. */
export class Client implements AsyncDisposable {
  readonly connection: NatsConnection;

  private constructor(connection: NatsConnection) {
    this.connection = connection;
  }

  static async connect(server: NatsServer, options: ConnectionOptions = {}): Promise<Client> {
    return new Client(await connect({ servers: server.url, ...options }));
  }

  /** One request to JetStream; throws what the server says is wrong. */
  async ask(subject: string, body: unknown = {}): Promise<Record<string, unknown>> {
    const whole = `$JS.API.${subject}`;
    const payload = JSON.stringify(body);
    const message = await this.connection
      .request(whole, payload, { timeout: ANSWER_WITHIN_MS })
      .catch((error: unknown) => {
        throw failureOf(whole, error);
      });
    return checked(whole, message.json());
  }

  async addStream(name: string, config: Record<string, unknown> = {}): Promise<void> {
    await placed(async () => {
      await this.ask(`STREAM.CREATE.${name}`, {
        ...{ name, subjects: [`${name.toLowerCase()}.>`], storage: 'file', num_replicas: 1 },
        ...config,
      });
    });
  }

  /** Waits for a part at a time: a server drops what comes faster than it stores. */
  async publish(stream: string, count: number, subjectOf: (seq: number) => string): Promise<void> {
    const payload = new Uint8Array(64);
    for (let seq = 1; seq <= count; seq++) {
      payload.fill(seq % 251);
      this.connection.publish(subjectOf(seq), payload);
      if (seq % 4_096 !== 0 && seq !== count) continue;
      await this.connection.flush();
      while ((await this.lastOf(stream)) < seq) await this.connection.flush();
    }
  }

  async lastOf(stream: string): Promise<number> {
    const { state } = await this.ask(`STREAM.INFO.${stream}`);
    return (state as { last_seq: number }).last_seq;
  }

  async deleteMessages(stream: string, ...seqs: readonly number[]): Promise<void> {
    for (const seq of seqs) await this.ask(`STREAM.MSG.DELETE.${stream}`, { seq, no_erase: true });
  }

  async consumersOf(stream: string): Promise<number> {
    const { total } = await this.ask(`CONSUMER.NAMES.${stream}`);
    return total as number;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.connection.close();
  }
}

/** The gaps of the shape that `publishOrders` leaves. */
export const ORDERS_GAPS: readonly SeqRange[] = [
  { first: 17, last: 19 },
  { first: 80_001, last: 130_000 },
  { first: 150_000, last: 150_000 },
];
export const ORDERS_TAIL: SeqRange = { first: 199_999, last: 200_000 };

/**
 * The stream of test/fixtures/nats/ORDERS, larger: 200,000 messages, a purged subject in the
 * middle, single deletes, a deleted tail.
 */
export async function publishOrders(client: Client): Promise<void> {
  const [deleted, purged] = ORDERS_GAPS as [SeqRange, SeqRange];
  await client.addStream('ORDERS');
  await client.publish('ORDERS', ORDERS_TAIL.last, (seq) =>
    seq >= purged.first && seq <= purged.last ? 'orders.test' : `orders.${seq % 7}`,
  );
  await client.ask('STREAM.PURGE.ORDERS', { filter: 'orders.test' });
  await client.deleteMessages('ORDERS', deleted.first, deleted.first + 1, deleted.last, 150_000);
  await client.deleteMessages('ORDERS', ORDERS_TAIL.first, ORDERS_TAIL.last);
}

export interface Opened extends AsyncDisposable {
  readonly origin: LiveOrigin;
  readonly ledger: Ledger;
  readonly notes: readonly string[];
  /** Resolves when the origin may have something to say. */
  woken(): Promise<void>;
}

/** The live source in this thread, driven by the test. */
export async function openOrigin(stream: string, connection: ConnectionGiven): Promise<Opened> {
  const ledger = new Ledger();
  const notes: string[] = [];
  let wakes: (() => void)[] = [];
  const origin = await openLiveOrigin(
    { kind: 'nats', stream, connection, rate: null },
    {
      ...{ hasher, ledger, timeScale: 0.1, seed: 1 },
      allocate: (size) => new Uint8Array(size),
      wake: () => {
        for (const wake of wakes) wake();
        wakes = [];
      },
      note: (text) => notes.push(text),
    },
  );
  return {
    ...{ origin, ledger, notes },
    woken: () => new Promise((resolve) => wakes.push(resolve)),
    [Symbol.asyncDispose]: () => origin.close(),
  };
}

/** Paths of what lies in the folders of servers under `root`, which may be going at this moment. */
export function serverFiles(root: string): string[] {
  return readdirSync(root).flatMap((name) => {
    const dir = join(root, name);
    try {
      return readdirSync(dir).map((file) => join(dir, file));
    } catch {
      return [];
    }
  });
}

/** Whether a process is there, by its id. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
