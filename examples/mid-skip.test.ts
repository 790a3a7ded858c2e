import { expect, test } from 'lockstep/vitest';

test.override('clusterOptions', {
  on: 'sim', // virtual time; 'threads' for real worker threads
  origin: { synthetic: { messages: 2_000, gaps: [{ after: 1_000, count: 25_000 }] } },
});

test('a step-down in the middle of a skip loses nothing', async ({ cluster }) => {
  await cluster.when({ skipped: 10_000 }, { within: '10s' }).stepDown('leader');
  await cluster.caughtUp({ within: '10s' });
  await expect(cluster).toMirrorExactly();
  await expect(cluster).toRecoverWithin('2s');
});
