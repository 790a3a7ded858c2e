import { describe, expect, it } from 'vitest';
import { startCluster } from '../../src/kit/cluster.js';

const GAP = { synthetic: { messages: 4_000, size: 64, gaps: [{ after: 2_000, count: 25_000 }] } };
/** How long a busy machine stands still is not what is asked here. */
const PATIENT = { stallAtMost: '30s' };

describe('threads: faults that are added to a run that goes on', () => {
  it('are armed in every host, in the origin and in main, and the run holds', async () => {
    await using cluster = await startCluster({ origin: GAP, expect: PATIENT });
    const fallen = await Promise.all([
      cluster.when({ skipped: 10_000 }).stepDown('leader'),
      cluster.when({ skipped: 20_000 }).dropConsumer('origin'),
      cluster.when({ skipped: 10_000 }).slow('any', { by: '1ms', for: '20ms' }),
      cluster.when({ skipped: 20_000 }).link('all', { latency: '1ms', for: '20ms' }),
    ]);
    expect(fallen.map(({ kind, status }) => [kind, status])).toEqual([
      ['stepDown', 'installed'],
      ['dropConsumer', 'installed'],
      ['slow', 'installed'],
      ['link', 'installed'],
    ]);
    await cluster.caughtUp();
    const killed = await cluster.inject({ kill: 'leader' });
    expect(await cluster.elected()).not.toBe(killed.target);
    const living = cluster.states().filter(({ alive }) => alive);
    expect(living.map(({ last, messages }) => [last, messages])).toEqual(
      Array(2).fill([29_001, 4_001]),
    );
    const { summary, reasons } = await cluster.verify();
    expect(reasons).toEqual([]);
    expect(summary).toMatchObject({ driver: 'threads', verdict: 'held' });
    expect(summary.replicas).toHaveLength(2);
  });

  it('out of memory strikes one whose memory was limited for the case', async () => {
    const origin = { synthetic: { messages: 100 } };
    await using cluster = await startCluster({ origin, expect: PATIENT });
    const { status } = await cluster.when({ applied: 10 }).outOfMemory('follower');
    expect(status).toBe('installed');
    await cluster.caughtUp();
    const { summary, reasons } = await cluster.verify();
    expect(reasons).toEqual([]);
    expect(summary.replicas).toHaveLength(2);
  });

  it('a wait that is going on when the cluster is closed ends at once', async () => {
    const cluster = await startCluster({ origin: { synthetic: { messages: 100 } } });
    const wait = expect(cluster.pass('10m')).rejects.toMatchObject({
      code: 'usage',
      message: 'the cluster was closed already',
    });
    await cluster.close();
    await wait;
  });
});
