/** A cluster of a test on servers: a client of the test's own reaches what it mirrors. */
import { connect } from 'nats';
import { expect, it } from 'vitest';
import { startCluster } from '../../src/kit/cluster.js';
import { onServers } from '../nats-driver/stage.js';

onServers('a cluster of a test', () => {
  it('url and mirror: a client without credentials reads the mirror', async () => {
    const origin = { synthetic: { messages: 100 } };
    await using cluster = await startCluster({ on: 'nats', replicas: 1, origin });
    await cluster.caughtUp();
    const client = await connect({ servers: cluster.url! });
    try {
      const { state } = await (await client.jetstreamManager()).streams.info(cluster.mirror!.name);
      expect([state.messages, state.last_seq]).toEqual([101, 101]);
    } finally {
      await client.close();
    }
  });
});
