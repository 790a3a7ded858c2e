import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { threadId } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import type { ClusterEvent } from '../../src/scenario/driver.js';
import { ThreadCluster } from '../../src/threads/cluster.js';
import { planOf, playOnThreads, type Played } from './stage.js';

const SMALL = { origin: { synthetic: { messages: 2_000, size: 64 } } };

type ReplicaEvent = Extract<ClusterEvent, { kind: 'replica' }>;

function skips(played: Played): (ReplicaEvent & { event: { kind: 'propose' } })[] {
  return played.events.filter(
    (event): event is ReplicaEvent & { event: { kind: 'propose' } } =>
      event.kind === 'replica' && event.event.kind === 'propose' && event.event.what === 'skips',
  );
}

function heldHere(): number {
  return process.getActiveResourcesInfo().filter((name) => name !== 'Timeout').length;
}

describe('threads: cluster', () => {
  it('runs one built worker a replica, each in a thread of its own', async () => {
    await using cluster = await ThreadCluster.start(planOf(SMALL), () => undefined);
    const { workers } = cluster;
    expect(workers.map(({ slot }) => slot).sort()).toEqual(['r1', 'r2', 'r3']);
    expect(new Set([threadId, ...workers.map((worker) => worker.threadId)]).size).toBe(4);
    for (const { file } of workers) {
      expect(file).toMatch(/\/dist\/workers\/replica\.js$/);
      expect(existsSync(fileURLToPath(file))).toBe(true);
    }
  });

  it('closes everything: no port, worker or timer of a run is left', async () => {
    const before = heldHere();
    const { summary } = await playOnThreads(SMALL);
    expect(summary.verdict).toBe('held');
    // What is closed is let go of a moment later.
    await expect.poll(heldHere, { timeout: 20_000 }).toBeLessThanOrEqual(before);
  });

  it.each([1, 3, 5])('mirrors on %i replicas, every copy equal to the origin', async (replicas) => {
    const gaps = [{ after: 500, count: 3_000 }];
    const { summary, reasons } = await playOnThreads({
      replicas,
      origin: { synthetic: { messages: 2_000, size: 100, gaps } },
    });
    expect(reasons).toEqual([]);
    const state = { first: 1, last: 5_001, messages: 2_001, deleted: 3_000 };
    expect(summary.origin).toEqual({ ...state, sentinel: 5_001, tailGap: null });
    expect(summary.replicas.map(({ digest: _, id: __, ...rest }) => rest)).toEqual(
      Array.from({ length: replicas }, () => state),
    );
    expect(new Set(summary.replicas.map(({ digest }) => digest)).size).toBe(1);
    expect(summary.skip.encoding).toBe(replicas === 1 ? 'direct' : 'entries');
  });

  it.each(['conductor', 'timers', 'both'])('elects by %s', async (election) => {
    const { summary, reasons } = await playOnThreads({
      ...SMALL,
      election,
      faults: [{ stepDown: 'leader', to: 'none', when: { applied: 500 } }],
      expect: { covered: ['stepDown'] },
      origin: { synthetic: { messages: 2_000, size: 64, rate: 10_000 } },
    });
    expect(reasons).toEqual([]);
    expect(summary.leadership.elections).toBeGreaterThanOrEqual(2);
  });
});

describe('threads: step-down in the middle of a skip', () => {
  it('falls between two batches: one leader before it, another after it', async () => {
    const played = await playOnThreads({
      origin: { synthetic: { messages: 1_000, gaps: [{ after: 500, count: 25_000 }] } },
      faults: [{ id: 'sd', stepDown: 'leader', when: { skipped: 10_000 } }],
      expect: { covered: ['stepDown'] },
    });
    expect(played.reasons).toEqual([]);
    const accepted = skips(played).filter(({ event }) => event.refused === null);
    const stepDown = played.events.find((event) => event.kind === 'fault')!;
    const before = accepted.filter(({ atMs }) => atMs < stepDown.atMs);
    const after = accepted.filter(({ atMs }) => atMs > stepDown.atMs);
    expect(before.map(({ event }) => [event.first, event.last])).toEqual([[501, 10_500]]);
    expect(after.map(({ event }) => [event.first, event.last])).toEqual([
      [10_501, 20_500],
      [20_501, 25_500],
    ]);
    expect(new Set(before.map(({ slot }) => slot))).not.toEqual(
      new Set(after.map(({ slot }) => slot)),
    );
    expect(played.summary.skip.largestBatch).toBe(10_000);
  });

  it.each([
    [9_999, 1],
    [10_000, 1],
    [10_001, 2],
    [20_000, 2],
    [20_001, 3],
  ])('a gap of %i is skipped in %i batches', async (count, batches) => {
    const { summary } = await playOnThreads({
      origin: { synthetic: { messages: 10, gaps: [{ after: 5, count }] } },
    });
    expect(summary.verdict).toBe('held');
    expect(summary.skip).toEqual({
      encoding: 'entries',
      sequences: count,
      batches,
      largestBatch: Math.min(count, 10_000),
      refused: 0,
    });
  });
});

describe('threads: faults', () => {
  it('never breaks more than the cluster tolerates: the second one is skipped, with the reason', async () => {
    const { summary } = await playOnThreads({
      origin: { synthetic: { messages: 2_000, size: 64, rate: 5_000 } },
      faults: [
        { kill: 'r3', at: '50ms' },
        { freeze: 'r2', at: '150ms', for: '50ms' },
      ],
    });
    expect(summary.verdict).toBe('held');
    expect(summary.faults.map(({ kind, status, reason }) => ({ kind, status, reason }))).toEqual([
      { kind: 'kill', status: 'installed', reason: undefined },
      {
        kind: 'freeze',
        status: 'skipped',
        reason: 'it would break more than the cluster tolerates',
      },
    ]);
    expect(summary.replicas.map(({ id }) => id)).toEqual(['r1', 'r2']);
  });

  it('a demanded state that never comes is uncovered and says what was last seen', async () => {
    const { summary, reasons } = await playOnThreads({
      origin: { synthetic: { messages: 100, gaps: [{ after: 50, count: 8_412 }] } },
      faults: [{ id: 'sd', stepDown: 'leader', when: { skipped: 10_000 } }],
      expect: { covered: ['stepDown'] },
    });
    expect(summary.verdict).toBe('uncovered');
    expect(reasons).toEqual([
      {
        verdict: 'uncovered',
        text: 'stepDown (sd) was uncovered: waited for skipped >= 10000; last seen 8,412',
      },
    ]);
  });

  it('what a cluster of one cannot do is skipped, with the reason, and never happens', async () => {
    const { summary, reasons } = await playOnThreads({
      replicas: 1,
      origin: { synthetic: { messages: 2_000, size: 64 } },
      faults: [{ stepDown: 'leader', when: { applied: 100 } }],
      expect: { covered: ['stepDown'] },
    });
    expect(summary.verdict).toBe('uncovered');
    expect(summary.faults.map(({ status }) => status)).toEqual(['skipped']);
    expect(reasons.map(({ text }) => text)).toEqual([
      'stepDown (faults[0]) was skipped: a cluster of one has no raft and nobody to hand over to',
    ]);
  });

  it('a demanded kind that the scenario does not have is uncovered', async () => {
    const { reasons } = await playOnThreads({ ...SMALL, expect: { covered: ['kill'] } });
    expect(reasons).toEqual([
      {
        verdict: 'uncovered',
        text: 'kill is demanded, and no fault of the scenario is one on threads',
      },
    ]);
  });

  it('a state that does not come within its limit is given up while the run goes on', async () => {
    const { summary } = await playOnThreads({
      origin: { synthetic: { messages: 2_000, size: 64, rate: 1_000 } },
      faults: [{ stepDown: 'leader', when: { applied: 1_900 }, within: '100ms' }],
    });
    expect(summary.verdict).toBe('held');
    const [fault] = summary.faults;
    expect(fault?.status).toBe('uncovered');
    expect(fault?.reason).toMatch(/^waited 0\.1 s for applied >= 1900; last seen [\d,]+$/);
  });

  it('two of three killed beyond quorum: nothing is lost, liveness is not asked for', async () => {
    const { summary } = await playOnThreads({
      beyondQuorum: true,
      timeLimit: '1500ms',
      origin: { synthetic: { messages: 4_000, size: 64, rate: 5_000 } },
      faults: [
        { kill: 'r3', at: '50ms' },
        { kill: 'r2', at: '100ms' },
      ],
    });
    expect(summary.verdict).toBe('inconclusive');
    expect(summary.messages).toMatchObject({ lost: 0, duplicated: 0, corrupt: 0, phantom: 0 });
  });

  it('a signal ends a run early: inconclusive, nothing called lost', async () => {
    const abort = new AbortController();
    const timer = setTimeout(() => {
      abort.abort();
    }, 300);
    const { summary, reasons } = await playOnThreads(
      { origin: { synthetic: { messages: 10_000, size: 64, rate: 1_000 } } },
      abort.signal,
    );
    clearTimeout(timer);
    expect(summary.verdict).toBe('inconclusive');
    expect(reasons.map(({ text }) => text)).toEqual(['ended by a signal before the run was over']);
    expect(summary.messages.lost).toBe(0);
  });
});
