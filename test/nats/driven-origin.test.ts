/** What a driven origin does when its servers refuse, against connections that are played by hand. */
import type { Msg, NatsConnection, SubscriptionOptions } from 'nats';
import { expect, it } from 'vitest';
import { loadHasher } from '../../src/base/hasher.js';
import type { JetStreamAccess } from '../../src/nats/access.js';
import type { JetStreamAdmin } from '../../src/nats/admin.js';
import { DrivenOrigin } from '../../src/nats/driven-origin.js';
import { madeOrigin } from '../../src/scenario/origins.js';
import { planScenario } from '../../src/scenario/parse.js';

const hasher = await loadHasher();
const STORED = 5;

/** A server that stores the first five messages, and says how far it came if it is in the mood. */
class Server {
  readonly published: string[] = [];
  refuses = false;
  stored = 0;
  #hear: SubscriptionOptions['callback'];

  subscribe(_subject: string, { callback }: SubscriptionOptions): object {
    this.#hear = callback;
    return { unsubscribe: () => undefined };
  }

  publish(subject: string, _payload: Uint8Array, { reply = '' }: { reply?: string } = {}): void {
    this.published.push(subject);
    if (this.stored === STORED) return;
    const seq = ++this.stored;
    queueMicrotask(() => {
      this.#hear?.(null, { subject: reply, json: () => ({ seq }) } as unknown as Msg);
    });
  }

  request(): Promise<unknown> {
    if (this.refuses) return Promise.reject(new Error('not now'));
    const description = `wrong last sequence: ${this.stored}`;
    const error = { code: 400, err_code: 10_071, description };
    return Promise.resolve({ json: () => ({ error }) });
  }

  isClosed(): boolean {
    return false;
  }
}

it('driven origin: one that cannot be made again is published on from where it stands', async () => {
  const server = new Server();
  let nowMs = 0;
  const origin = { synthetic: { messages: 20 } };
  const plan = planScenario({ version: 1, name: 'a test', origin }, '', () => '');
  const stream = (): Promise<unknown> => Promise.resolve({ last: server.stored });
  const driven = new DrivenOrigin({
    ...{ plan: madeOrigin('nats', plan), seed: 1, hasher, placing: {}, onEvent: () => undefined },
    names: { origin: 'O', mirror: 'M', prefix: '' },
    access: { settings: { inboxPrefix: null }, api: { stream } } as unknown as JetStreamAccess,
    admin: {} as unknown as JetStreamAdmin,
    connection: server as unknown as NatsConnection,
    // What is not acknowledged is not waited for.
    now: () => (nowMs += 1_000),
  });
  driven.serve();
  await expect.poll(() => server.published.length).toBeGreaterThanOrEqual(20);
  server.refuses = true;
  await expect(driven.strike({ kind: 'originRecreate', messages: 3 })).rejects.toMatchObject({
    code: 'originRefused',
  });
  const before = server.published.length;
  server.refuses = false;
  await expect.poll(() => server.published.length).toBeGreaterThanOrEqual(before + 15);
  await driven.stop();
  const after = server.published.length;
  driven.serve();
  await driven.stop();
  expect(server.published.length).toBe(after);
});
