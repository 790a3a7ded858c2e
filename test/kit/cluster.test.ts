import { describe, expect, it } from 'vitest';
import { LockstepError, type ErrorCode } from '../../src/base/errors.js';
import { startCluster, type Cluster, type ClusterOptions } from '../../src/kit/cluster.js';
import { FAULT_KINDS, type Scenario } from '../../src/scenario/schema.js';

const GAP = { synthetic: { messages: 2_000, size: 64, gaps: [{ after: 1_000, count: 25_000 }] } };
/** Comes in half a second: what is injected at once falls before its end. */
const PACED = { synthetic: { messages: 500, size: 32, rate: 1_000 } };
const SMALL = { synthetic: { messages: 500, size: 32 } };

function onSim(options: ClusterOptions = {}): Promise<Cluster> {
  return startCluster({ on: 'sim', origin: SMALL, ...options });
}

/** The code and the text that a call fails with. */
async function failure(call: Promise<unknown>): Promise<[ErrorCode, string]> {
  const error: unknown = await call.then(
    () => new Error('it did not fail'),
    (thrown: unknown) => thrown,
  );
  if (error instanceof LockstepError) return [error.code, error.message];
  throw error;
}

/** From the first batch of skips on: batches, faults as they fall, elections. */
function skipsOf(cluster: Cluster): string[] {
  const words = cluster.events.flatMap((told) => {
    if (told.kind === 'fault') return told.state === 'installed' ? ['stepDown'] : [];
    if (told.kind !== 'replica') return [];
    const { event } = told;
    if (event.kind === 'role') return event.role === 'leader' ? ['leader'] : [];
    return event.kind === 'propose' && event.what === 'skips' && event.refused === null
      ? ['skips']
      : [];
  });
  return words.slice(words.indexOf('skips'));
}

describe('kit: cluster: slips', () => {
  it('options that nobody knows', async () => {
    await using cluster = await onSim();
    const slip = { whithin: '1s' } as object;
    const text = '"whithin" is not a known option; did you mean within?';
    expect(() => cluster.when({ applied: 1 }, slip)).toThrow(`when: ${text}`);
    expect(await failure(cluster.caughtUp(slip))).toEqual(['usage', `caughtUp: ${text}`]);
    expect(await failure(cluster.elected(slip))).toEqual(['usage', `elected: ${text}`]);
  });

  it('closed before its judgement was waited for', async () => {
    const cluster = await startCluster({ on: 'threads', origin: SMALL });
    const judged = failure(cluster.verify());
    await cluster.close();
    const text = 'the cluster was closed while it was judged: await expect(cluster), or verify()';
    expect(await judged).toEqual(['usage', text]);
  });
});

describe('kit: cluster: start', () => {
  it('somebody leads, and nothing is delivered before the first wait', async () => {
    await using cluster = await onSim();
    expect(cluster.leader()).toMatch(/^r[123]$/);
    expect(cluster.states().map(({ slot, last }) => [slot, last])).toEqual([
      ['r1', 0],
      ['r2', 0],
      ['r3', 0],
    ]);
    expect(cluster.origin).toEqual({ last: 501, messages: 501 });
    expect(cluster.events.some(({ kind }) => kind === 'firstDelivery')).toBe(false);
    await cluster.pass('20ms');
    expect(cluster.events.some(({ kind }) => kind === 'firstDelivery')).toBe(true);
  });

  it('takes a whole scenario, too', async () => {
    const drawn: Scenario = { version: 1, name: 'drawn', replicas: 1, origin: SMALL };
    await using cluster = await startCluster({ on: 'sim', ...drawn });
    expect(cluster.plan).toMatchObject({ name: 'drawn', replicas: 1, origin: { messages: 500 } });
  });

  it.each([
    [{ on: 'mars' }, 'on: "mars" is not one of threads, sim, nats'],
    [{ on: 'sims' }, 'on: "sims" is not one of threads, sim, nats; did you mean sim?'],
    [{ replicas: 2 }, 'startCluster: replicas: 2 is not one of 1, 3, 5, 7'],
    [{ relicas: 3 }, 'startCluster: "relicas" is not a known key; did you mean replicas?'],
  ])('refused: %j', async (options, text) => {
    const call = startCluster({ on: 'sim', ...options } as unknown as ClusterOptions);
    expect(await failure(call)).toEqual(['usage', text]);
  });
});

describe('kit: cluster: faults', () => {
  it('when: falls in the middle of a skip, before the next of its batches', async () => {
    await using cluster = await onSim({ origin: GAP });
    const first = cluster.leader();
    const fallen = await cluster.when({ skipped: 10_000 }).stepDown('leader', { to: 'none' });
    expect(fallen).toMatchObject({ kind: 'stepDown', target: first, status: 'installed' });
    const { summary, reasons } = await cluster.verify();
    expect(reasons).toEqual([]);
    expect(summary.faults.map(({ kind, status }) => [kind, status])).toEqual([
      ['stepDown', 'installed'],
    ]);
    expect(summary.faults[0]?.newLeaderMs).toBeGreaterThan(0);
    expect(summary.skip).toMatchObject({ sequences: 25_000, batches: 3, largestBatch: 10_000 });
    expect(skipsOf(cluster)).toEqual(['skips', 'stepDown', 'leader', 'skips', 'skips']);
    expect(summary.replicas.map(({ last }) => last)).toEqual([27_001, 27_001, 27_001]);
  });

  it('when: has a word for every kind of fault', async () => {
    await using cluster = await onSim();
    expect(Object.keys(cluster.when({ term: 1 }))).toEqual([...FAULT_KINDS]);
  });

  it('several at a time: each is armed before anything is delivered', async () => {
    await using cluster = await onSim();
    const fallen = await Promise.all([
      cluster.when({ applied: 100 }).slow('leader', { by: '1ms', for: '10ms' }),
      cluster.when({ applied: 100 }).dropConsumer('origin'),
      cluster.when({ applied: 300 }).kill('follower'),
    ]);
    expect(fallen.map(({ kind, status }) => [kind, status])).toEqual([
      ['slow', 'installed'],
      ['dropConsumer', 'installed'],
      ['kill', 'installed'],
    ]);
    const { summary, reasons } = await cluster.verify();
    expect(reasons).toEqual([]);
    expect(summary.replicas).toHaveLength(2);
  });

  it('a state that was reached already: falls at once', async () => {
    await using cluster = await onSim();
    await cluster.caughtUp();
    const { status } = await cluster.when({ applied: 100 }).stepDown('leader');
    expect(status).toBe('installed');
  });

  it('inject: at once, by time, after another one; those of the start count, too', async () => {
    const faults = [{ id: 'cut', partition: 'isolate:r3', for: '20ms', at: '1ms' }];
    await using cluster = await onSim({ faults });
    await cluster.inject({ kill: 'r3' });
    await cluster.inject({ freeze: 'leader', at: '30ms', for: '5ms', id: 'f' }).catch(() => null);
    await cluster.inject({ slow: 'r1', after: 'cut', delay: '50ms' });
    const { summary } = await cluster.verify();
    expect(summary.faults.map(({ kind, status }) => [kind, status])).toEqual([
      ['partition', 'installed'],
      ['kill', 'installed'],
      ['freeze', 'skipped'],
      ['slow', 'installed'],
    ]);
  });

  it('fails with what was last seen of a state that does not come', async () => {
    await using cluster = await onSim();
    const call = cluster.when({ applied: 2_000 }, { within: '2s' }).kill('leader');
    expect(await failure(call)).toEqual([
      'timeout',
      'kill (faults[0]) was uncovered: waited 2 s for applied >= 2000; last seen 501',
    ]);
    const { summary, reasons } = await cluster.verify();
    expect([summary.verdict, reasons]).toEqual(['held', []]);
  });

  it('fails with the line of the test that asked first on its stack', async () => {
    await using cluster = await onSim();
    const asked = (promise: Promise<unknown>): Promise<unknown> =>
      promise.catch((error: unknown) => /[\w-]+\.test\.ts/.exec((error as Error).stack!)?.[0]);
    const never = cluster.when({ applied: 1e6 }, { within: '1ms' }).kill('any');
    expect(await asked(never)).toBe('cluster.test.ts');
    expect(await asked(cluster.inject({ kill: 'r9' }))).toBe('cluster.test.ts');
  });

  it('fails when it would break more than the cluster tolerates, and says so', async () => {
    await using cluster = await onSim();
    await cluster.inject({ kill: 'follower' });
    expect(await failure(cluster.inject({ kill: 'follower' }))).toEqual([
      'overBudget',
      'kill (faults[1]) was skipped: it would break more than the cluster tolerates',
    ]);
  });

  it('fails when the driver cannot', async () => {
    await using cluster = await onSim({ replicas: 1 });
    expect(await failure(cluster.inject({ stepDown: 'leader' }))).toEqual([
      'unsupported',
      'stepDown (faults[0]) was skipped: a cluster of one has no raft and nobody to hand over to',
    ]);
  });

  it('fails when what it waits for is not installed', async () => {
    await using cluster = await onSim({
      replicas: 1,
      faults: [{ id: 'x', flap: 'r1', at: '0ms' }],
    });
    const [code, text] = await failure(cluster.inject({ slow: 'r1', after: 'x' }));
    expect(code).toBe('timeout');
    expect(text).toBe('waited 20s for slow (faults[1]); last seen neither its time nor its target');
    const { summary } = await cluster.verify();
    expect(summary.faults.map(({ status }) => status)).toEqual(['skipped', 'uncovered']);
  });

  it.each([
    [{ kil: 'leader' }, '"kil" is not a known key; did you mean kill?'],
    [{ kill: 'leeder' }, 'faults[0].kill: "leeder" is not one of leader, follower'],
    [{ kill: 'r1', every: '1s' }, '"every" is not a known key'],
    [{ kill: 'r1', on: ['sim'] }, '"on" is not a known key'],
    [{ kill: 'r1', after: 'x' }, 'after: "x" is not the id of another fault'],
    [{ kill: 'r1', at: '1s', when: { term: 1 } }, 'faults[0]: "at and when" is not exactly one'],
    [{}, 'faults[0]: "no kind of fault" is not exactly one of stepDown'],
  ])('inject: refused: %j', async (fault, text) => {
    await using cluster = await onSim();
    const [code, message] = await failure(cluster.inject(fault as { kill: string }));
    expect(code).toBe('usage');
    expect(message).toContain(text);
    expect((await cluster.verify()).summary.faults).toEqual([]);
  });
});

describe('kit: cluster: waits', () => {
  it('caughtUp: all hold what the origin has', async () => {
    await using cluster = await onSim();
    await cluster.caughtUp({ within: '2s' });
    const held = cluster.states().map(({ alive, last, messages }) => ({ alive, last, messages }));
    expect(held).toEqual(Array(3).fill({ alive: true, last: 501, messages: 501 }));
    const { origin, delivered } = await cluster.ledger.report();
    expect([origin.messages, delivered]).toEqual([501, [{ first: 1, last: 501 }]]);
  });

  it('caughtUp: fails with what each of the living held', async () => {
    await using cluster = await onSim({ origin: PACED });
    await cluster.inject({ kill: 'r3' });
    await cluster.inject({ stallOrigin: 'origin', for: '10s' });
    const [code, text] = await failure(cluster.caughtUp({ within: '1s' }));
    expect(code).toBe('timeout');
    expect(text).toMatch(/^waited 1s for all to catch up; last seen r1 \d+, r2 \d+ of 501$/);
  });

  it('elected: the next leader after a kill', async () => {
    await using cluster = await onSim();
    const { target } = await cluster.inject({ kill: 'leader' });
    const next = await cluster.elected({ within: '2s' });
    expect(next).not.toBe(target);
    expect(cluster.states().find(({ slot }) => slot === next)).toMatchObject({ role: 'leader' });
    expect(cluster.states().find(({ slot }) => slot === target)).toMatchObject({ alive: false });
  });

  it('elected: fails with the role and term of each of the living', async () => {
    await using cluster = await onSim({ beyondQuorum: true });
    await cluster.inject({ kill: 'leader' });
    await cluster.inject({ kill: 'any' });
    const [code, text] = await failure(cluster.elected({ within: '1s' }));
    expect(code).toBe('timeout');
    expect(text).toMatch(/^waited 1s for a leader; last seen r\d \w+ in term \d+$/);
  });

  it.each(['1', 'soon', '0ms'])('refused: within %s', async (within) => {
    await using cluster = await onSim();
    expect((await failure(cluster.caughtUp({ within })))[0]).toBe('usage');
    expect((await failure(cluster.pass(within)))[0]).toBe('usage');
  });
});

describe('kit: cluster: the end', () => {
  it('verify: the same judgement as of a scenario, once', async () => {
    await using cluster = await onSim({ replay: 'npx vitest run x', seed: 7, name: 'once' });
    const result = await cluster.verify();
    expect(await cluster.verify()).toBe(result);
    expect(result.summary).toMatchObject({
      verdict: 'held',
      driver: 'sim',
      seed: 7,
      messages: { ok: 501, lost: 0, unknown: 0 },
      replay: 'npx vitest run x',
    });
    expect(result.comparedInMs).not.toBeNull();
  });

  it('verify: what never comes is stalled', async () => {
    await using cluster = await onSim({ origin: PACED, expect: { stallAtMost: '100ms' } });
    await cluster.inject({ refuseOpening: 'origin', times: 1_000_000 });
    await cluster.inject({ dropConsumer: 'origin' });
    const { summary } = await cluster.verify();
    expect(summary.verdict).toBe('stalled');
  });

  it('after verify and after close nothing can be waited for', async () => {
    const cluster = await onSim();
    await cluster.verify();
    const judged = ['usage', 'the cluster was judged already'];
    expect(await failure(cluster.inject({ kill: 'leader' }))).toEqual(judged);
    expect(await failure(cluster.pass('1ms'))).toEqual(judged);
    await cluster.close();
    await cluster.close();
    const closed = ['usage', 'the cluster was closed already'];
    expect(await failure(cluster.when({ term: 1 }).kill('leader'))).toEqual(closed);
  });

  it('same seed, same test -> the same events; another seed -> others', async () => {
    const events = async (seed: number): Promise<string> => {
      await using cluster = await onSim({ seed });
      await cluster.when({ applied: 200 }).stepDown('leader');
      await cluster.caughtUp();
      return JSON.stringify(cluster.events, (_, value: unknown) =>
        typeof value === 'bigint' ? String(value) : value,
      );
    };
    const [one, again, other] = [await events(3), await events(3), await events(4)];
    expect(again === one).toBe(true);
    expect(other === one).toBe(false);
  });
});
