/** How an origin on servers is filled, against a connection that is played by hand. */
import type { Msg, NatsConnection, SubscriptionOptions } from 'nats';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { loadHasher } from '../../src/base/hasher.js';
import { Publisher, type PublisherOptions } from '../../src/nats/publisher.js';
import { OriginContent } from '../../src/origin/content.js';
import { madeOrigin } from '../../src/scenario/origins.js';
import { planScenario } from '../../src/scenario/parse.js';

const NAMED = { version: 1, name: 'a test' };
const hasher = await loadHasher();

/** Takes what is published and answers when it is told to. */
class Connection {
  /** Where acknowledgements go, in the order of what was published; '' asks for none. */
  readonly replies: string[] = [];
  #hear: SubscriptionOptions['callback'];

  subscribe(_subject: string, { callback }: SubscriptionOptions): object {
    this.#hear = callback;
    return { unsubscribe: () => (this.#hear = undefined) };
  }

  publish(_subject: string, _payload: Uint8Array, { reply = '' }: { reply?: string } = {}): void {
    this.replies.push(reply);
  }

  isClosed(): boolean {
    return false;
  }

  acknowledge(at: number): void {
    const message = { subject: this.replies[at], json: () => ({ seq: at + 1 }) };
    this.#hear?.(null, message as unknown as Msg);
  }
}

interface Filling {
  readonly publisher: Publisher;
  readonly connection: Connection;
  readonly notes: string[];
  readonly calls: string[];
  /** Milliseconds of the publisher's clock. */
  nowMs: number;
}

function filling(
  gaps: readonly { readonly after: number; readonly count: number }[] = [],
  lastOf: PublisherOptions['lastOf'] = () => Promise.resolve(0),
): Filling {
  const connection = new Connection();
  const origin = { synthetic: { messages: 20, gaps } };
  const plan = madeOrigin(
    'nats',
    planScenario({ ...NAMED, origin }, '', () => ''),
  );
  const allocate = (size: number): Uint8Array => new Uint8Array(size);
  const content = new OriginContent(plan, { seed: 1, hasher, allocate });
  const stage: { nowMs: number; notes: string[]; calls: string[] } = {
    ...{ nowMs: 0, notes: [], calls: [] },
  };
  const publisher = new Publisher({
    connection: connection as unknown as NatsConnection,
    ...{ content, lastOf, rate: null, prefix: '', filler: 'filler', inboxPrefix: null },
    now: () => stage.nowMs,
    note: (text) => void stage.notes.push(text),
    purgeFillers: () => {
      stage.calls.push('purge');
      return Promise.resolve();
    },
  });
  return Object.assign(stage, { publisher, connection });
}

/** So that whoever could go on has gone on. */
async function turns(): Promise<void> {
  await vi.advanceTimersByTimeAsync(500);
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a publisher that is stopped', () => {
  it('is over once what it sent is stored', async () => {
    const { publisher, connection } = filling();
    let isOver = false;
    const run = publisher.run().then(() => (isOver = true));
    await turns();
    const sent = connection.replies.length;
    publisher.stop();
    for (let at = 0; at < sent; at++) {
      await turns();
      expect(isOver).toBe(false);
      connection.acknowledge(at);
    }
    await turns();
    await run;
    expect([publisher.acknowledged, connection.replies.length]).toEqual([sent, sent]);
  });

  it('gives up what nobody acknowledges for long', async () => {
    const stage = filling();
    const run = stage.publisher.run();
    await turns();
    stage.publisher.stop();
    stage.nowMs = 2_001;
    await turns();
    await run;
    expect(stage.publisher.acknowledged).toBe(0);
  });

  it('while nobody can tell how far the stream came: nothing is said to be lost', async () => {
    let asked = 0;
    const stage = filling([], () =>
      asked++ === 0 ? Promise.resolve(0) : Promise.reject(new Error('no answer')),
    );
    const run = stage.publisher.run();
    await turns();
    stage.connection.acknowledge(0);
    stage.nowMs = 2_001;
    await turns();
    stage.publisher.stop();
    await turns();
    await run;
    expect([stage.publisher.acknowledged, stage.notes]).toEqual([1, []]);
  });

  it('in the middle of a gap: its fillers are taken out, for they are no messages', async () => {
    const { publisher, connection, calls } = filling([{ after: 0, count: 1_000_000 }]);
    const run = publisher.run();
    await turns();
    publisher.stop();
    await turns();
    expect(calls).toEqual([]);
    connection.replies.forEach((reply, at) => {
      if (reply !== '') connection.acknowledge(at);
    });
    await turns();
    await run;
    expect(calls).toEqual(['purge']);
  });
});
