/** Faults on real servers: each strikes what it names, heals, and loses nothing. */
import { expect, it } from 'vitest';
import type { FaultSummary } from '../../src/verdict/types.js';
import { expectState, onServers, played, type Played } from './stage.js';

const PACED = { synthetic: { messages: 6_000, rate: 2_000 } };
const WHOLE = { first: 1, last: 6_001, messages: 6_001, deleted: 0 };

function faultsOf({ summary }: Played): Pick<FaultSummary, 'kind' | 'target' | 'status'>[] {
  return summary.faults.map(({ kind, target, status }) => ({ kind, target, status }));
}

function installed(kind: string): unknown {
  return expect.objectContaining({ kind, status: 'installed' });
}

function healedIds({ events }: Played): string[] {
  return events.flatMap((event) =>
    event.kind === 'fault' && event.state === 'healed' ? [event.id] : [],
  );
}

onServers('faults of members', () => {
  it('the leader steps down at a state, and in favour of a slot that is named', async () => {
    const faults = [
      { stepDown: 'leader', when: { applied: 500 } },
      { stepDown: 'leader', at: '1s', to: 'r2' },
      { stepDown: 'leader', at: '2s', to: 'r3' },
    ];
    const result = await played({ origin: PACED, faults });
    expect(result.reasons).toEqual([]);
    expect(result.summary.faults[0]).toMatchObject({ kind: 'stepDown', status: 'installed' });
    expect(result.timeline.leaders.at(-1)).toMatchObject({ slot: 'r3', toMs: null });
    expectState(result, WHOLE);
  });

  it('a member that is killed comes back with what it had, and catches up', async () => {
    const faults = [{ id: 'k', kill: 'follower', at: '500ms', restartAfter: '1s' }];
    const result = await played({ origin: PACED, faults });
    expect(result.reasons).toEqual([]);
    expect(healedIds(result)).toEqual(['k']);
    expectState(result, WHOLE);
  });

  it('frozen and parted members are let go by themselves', async () => {
    const faults = [
      { id: 'f', freeze: 'follower', at: '300ms', for: '600ms' },
      { id: 'p', partition: 'isolate:follower', at: '1200ms', for: '1s' },
    ];
    const result = await played({ origin: PACED, faults });
    expect(result.reasons).toEqual([]);
    expect(faultsOf(result)).toEqual([installed('freeze'), installed('partition')]);
    expect(healedIds(result)).toEqual(['f', 'p']);
    expectState(result, WHOLE);
  });

  it('a reload and a step-down of the meta leader are no trouble', async () => {
    const faults = [
      { reload: 'leader', at: '300ms' },
      { metaStepDown: true, at: '800ms' },
    ];
    const result = await played({ origin: PACED, faults });
    expect(result.reasons).toEqual([]);
    expect(faultsOf(result)).toEqual([installed('reload'), installed('metaStepDown')]);
    expectState(result, WHOLE);
  });

  it('what servers do not show, and cannot suffer, is told with its reason', async () => {
    const faults = [
      { stepDown: 'leader', when: { skipped: 10 } },
      { slow: 'leader', at: '10ms' },
    ];
    const origin = { synthetic: { messages: 500 } };
    const result = await played({ origin, faults, expect: { covered: ['stepDown'] } });
    expect(result.summary.faults.map(({ status, reason }) => [status, reason])).toEqual([
      ['uncovered', 'a server does not tell how far a skip came'],
      ['skipped', 'nothing slows one server down; freeze stops it for a while'],
    ]);
    expect(result.summary.verdict).toBe('uncovered');
  });
});

onServers('faults of the origin', () => {
  it('the mirror is forgotten: noticed within 10 to 20 s, and nothing is lost', async () => {
    const faults = [{ dropConsumer: true, at: '500ms' }];
    const result = await played({ origin: PACED, faults, expect: { covered: ['dropConsumer'] } });
    expect(result.reasons).toEqual([]);
    expect(result.summary.mirror.openings).toBe(2);
    expect(result.summary.messages.unknown).toBe(0);
    expectState(result, WHOLE);
  });

  it('what is deleted after it was mirrored stays in the copies, and its bytes are known', async () => {
    const faults = [
      { originDelete: '100..149', at: '500ms' },
      { originPurge: 51, at: '700ms' },
    ];
    const result = await played({ origin: PACED, faults });
    expect(result.reasons).toEqual([]);
    expect(result.summary.origin).toMatchObject({ first: 51, last: 6_001, messages: 5_901 });
    expect(result.summary.messages).toMatchObject({ ok: 6_001, lost: 0, unknown: 0 });
    expectState(result, WHOLE);
  });

  it('made anew under its name: the mirror goes on as if nothing were, which is told', async () => {
    const result = await played({
      origin: { synthetic: { messages: 400, rate: 400 } },
      faults: [{ originRecreate: 5, at: '500ms' }],
      expect: { mirror: 'diverged', stallAtMost: { nats: '2s' } },
    });
    expect(result.reasons).toEqual([
      { verdict: 'violated', text: 'the mirror is running, expected diverged' },
    ]);
  });
});
