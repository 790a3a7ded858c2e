/** How far a stream came with what is on its way to it. */
import { expect, it } from 'vitest';
import { JetStreamApi } from '../../src/nats/api.js';
import { resolveSettings } from '../../src/nats/settings.js';
import { lastStored } from '../../src/nats/stored.js';
import { Client, onServer, startServer } from './stage.js';

const MESSAGES = 20_000;

onServer('what is stored of what was sent', () => {
  it('all that a server which stood still had before it', async () => {
    await using server = await startServer();
    await using client = await Client.connect(server);
    await using other = await Client.connect(server);
    await client.addStream('ORDERS');
    const settings = resolveSettings({ servers: [server.url], noContext: true }, {});
    server.freeze();
    const payload = new Uint8Array(512);
    for (let seq = 1; seq <= MESSAGES; seq++) client.connection.publish('orders.a', payload);
    const stored = lastStored({
      ...{ connection: client.connection, stream: 'ORDERS', subject: 'orders.b' },
      // Another connection, whose requests overtake what is on its way.
      ...{ api: new JetStreamApi(other.connection, settings), timeoutMs: 30_000 },
    });
    server.thaw();
    expect(await stored).toBe(MESSAGES);
    expect(await client.lastOf('ORDERS')).toBe(MESSAGES);
  });
});
