/** Scenarios without a fault: what is published arrives, gaps are gaps, and all of it is judged. */
import { afterEach, expect, it, vi } from 'vitest';
import { expectState, onServers, played } from './stage.js';

onServers('without a fault', () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  it('three replicas: a gap in the middle is one in every copy', async () => {
    const origin = { synthetic: { messages: 3_000, gaps: [{ after: 1_000, count: 2_500 }] } };
    const result = await played({ origin });
    expect(result.reasons).toEqual([]);
    expect(result.summary.verdict).toBe('held');
    expectState(result, { first: 1, last: 5_501, messages: 3_001, deleted: 2_500 });
    expect(result.summary.messages).toEqual({
      ...{ ok: 3_001, lost: 0, duplicated: 0, reordered: 0, corrupt: 0, phantom: 0, unknown: 0 },
    });
  });

  it('one replica: a gap before the first message and a paced origin', async () => {
    const origin = { synthetic: { messages: 200, rate: 400, gaps: [{ after: 0, count: 1_000 }] } };
    const result = await played({ replicas: 1, origin });
    expect(result.reasons).toEqual([]);
    expectState(result, { first: 1_001, last: 1_201, messages: 201, deleted: 0 }, ['r1']);
    expect(result.summary.elapsedMs).toBeGreaterThan(450);
  });

  const old = process.env['LOCKSTEP_NATS_SERVER_2_9_10'];
  it.skipIf(old === undefined)('servers that tell of no opening: none is waited for', async () => {
    vi.stubEnv('LOCKSTEP_NATS_SERVER', old);
    const result = await played({ origin: { synthetic: { messages: 200 } } });
    expect(result.reasons).toEqual([]);
    expectState(result, { first: 1, last: 201, messages: 201, deleted: 0 });
    const notes = result.events.flatMap((event) => (event.kind === 'note' ? [event.text] : []));
    expect(notes).toContain('nats-server 2.9.10 tells of no opening: none is counted');
  });
});
