import { describe, it } from 'vitest';
import { expect, test } from '../../src/vitest/index.js';
import { startCluster, type Cluster } from '../../src/kit/cluster.js';
import { forgottenIn, watch } from '../../src/vitest/forgotten.js';

const GAP = { synthetic: { messages: 2_000, size: 64, gaps: [{ after: 1_000, count: 25_000 }] } };

describe('vitest: fixture', () => {
  test.override('clusterOptions', { on: 'sim', origin: GAP, seed: 5 });

  test('a step-down in the middle of a skip loses nothing', async ({ cluster }) => {
    await cluster.when({ skipped: 10_000 }, { within: '10s' }).stepDown('leader');
    await cluster.caughtUp();
    await expect(cluster).toHaveHeld();
    await expect(cluster).toHoldRaftInvariants();
    await expect(cluster).toHaveLostNothing();
    await expect(cluster).toMirrorExactly();
    await expect(cluster).toRecoverWithin('1s');
    await expect(cluster).toHaveElected({ times: 2 });
    await expect(cluster).not.toHaveElected({ atLeast: 3 });
  });

  test('has the options of the suite and the name of the test', ({ cluster }) => {
    expect(cluster.plan).toMatchObject({
      name: 'has the options of the suite and the name of the test',
      seed: 5,
      origin: { messages: 2_000 },
    });
  });

  test('a verdict names the test, the seed and the driver to run again', async ({ cluster }) => {
    const { summary } = await cluster.verify();
    expect(summary.replay).toBe(
      "LOCKSTEP_SEED=5 LOCKSTEP_ON=sim npx vitest run test/vitest/fixture.test.ts -t '" +
        "^vitest: fixture a verdict names the test, the seed and the driver to run again$'",
    );
  });

  const clusters: Cluster[] = [];
  test('closed after a test of its own', ({ cluster }) => {
    clusters.push(cluster);
  });
  test('closed: nothing can be asked of it any more', async () => {
    expect(clusters).toHaveLength(1);
    const code = 'usage';
    await expect(clusters[0]!.pass('1ms')).rejects.toMatchObject({ code });
  });
});

describe('vitest: what nobody awaits', () => {
  test.override('clusterOptions', { on: 'sim' });

  test.fails('fails the test: a wait', ({ cluster }) => {
    void cluster.caughtUp();
  });
  test.fails('fails the test: a matcher, although it holds', ({ cluster }) => {
    void expect(cluster).toHaveHeld();
  });
  test('awaited later, or as one of many: nothing is forgotten', async ({ cluster }) => {
    const caughtUp = cluster.caughtUp();
    const fault = cluster.when({ applied: 10 }).stepDown('leader');
    await cluster.elected();
    await Promise.all([fault, caughtUp]);
    await expect(cluster.inject({ stepDown: 'r9' })).rejects.toThrow('r9');
  });

  test('a matcher that fails has the line of the test on its stack', async ({ cluster }) => {
    const failed = expect(cluster).toHaveElected({ times: 9 }) as Promise<unknown>;
    const stack = await failed.catch((error: unknown) => (error as Error).stack);
    expect(stack).toMatch(/^Error: toHaveElected: failed\n[^]*\n +at [^\n]*fixture\.test\.ts:\d/);
  });

  it('each is told in a line, with what came of it', async ({ task }) => {
    await using cluster = await startCluster({ on: 'sim' });
    watch(task, cluster.waits);
    const never = { applied: 1e6 };
    void cluster.when(never, { within: '1s' }).stepDown('leader');
    void cluster.when({ applied: 10 }).freeze('leader', { for: '10ms' });
    await cluster.caughtUp();
    await cluster.pass('30s');
    void expect([]).toMatchLedger(cluster.ledger);
    void cluster.pass('1h');
    const test = '(test "each is told in a line, with what came of it")';
    expect(forgottenIn(task)).toEqual([
      'stepDown failed (stepDown (faults[0]) was uncovered: waited 1 s for applied >= 1000000; ' +
        `last seen 10,001): await it ${test}`,
      `freeze was over in time, but nobody waited for it: await it ${test}`,
      `toMatchLedger was still waiting when the test ended: await it ${test}`,
      `pass was still waiting when the test ended: await it ${test}`,
    ]);
  });
});

describe('vitest: scenario files', () => {
  const results: string[] = [];
  test.scenario('scenarios/main-job.yaml', {
    on: ['sim'],
    timeout: '1m',
    check: (result) => {
      expect(result).toMirrorExactly();
      expect(result).toRecoverWithin('2s');
      expect(result).toHaveElected({ atLeast: 4 });
      expect(result.summary.replay).toBe('lockstep run scenarios/main-job.yaml --on sim --seed 1');
      results.push(result.summary.driver);
    },
  });

  test('one test for each driver', () => {
    expect(results).toEqual(['sim']);
  });
});
