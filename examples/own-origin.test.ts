import { expect, test } from 'lockstep/vitest';

const module = { path: 'examples/orders.js', options: { count: 5_000, cancelled: 7 } };
test.override('clusterOptions', { on: 'sim', origin: { module } });

test('orders of our own are mirrored through a kill', async ({ cluster }) => {
  await cluster.when({ applied: 2_000 }).kill('leader');
  await expect(cluster).toMirrorExactly();
  // 5,000 less 714 that were cancelled, and the sentinel that ends every stream.
  expect(cluster.origin).toEqual({ last: 5_001, messages: 4_287 });
});

test('what a service received is what was handed out', async ({ cluster }) => {
  await cluster.caughtUp();
  const received = [];
  for (let seq = 1; seq <= 5_000; seq++) {
    if (seq % 7 !== 0)
      received.push({ seq, body: JSON.stringify({ order: seq, total: seq * 10 }) });
  }
  await expect([...received, received[3]!]).toMatchLedger(cluster.ledger, {
    duplicates: 'allowed',
  });
  await expect(received.slice(1)).not.toMatchLedger(cluster.ledger);
});
