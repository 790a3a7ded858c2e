/** The vitest fixture on servers: it skips without them, and has the time that they need. */
import { describe } from 'vitest';
import { expect, test } from '../../src/vitest/index.js';

describe('a cluster of a test on nats', () => {
  test.override('clusterOptions', {
    ...{ on: 'nats', replicas: 1, origin: { synthetic: { messages: 100 } } },
  });

  test('has servers, a stream, and minutes', async ({ cluster, task }) => {
    expect(cluster.url).toMatch(/^nats:\/\/127\.0\.0\.1:\d+$/);
    expect(cluster.mirror).toEqual({ name: 'MIRROR' });
    expect(task.timeout).toBe(240_000);
    await expect(cluster).toHaveHeld();
  });
});
