/** Words of scenarios that strike members, clocks and shapes, on threads. */
import { describe, expect, it } from 'vitest';
import { playOnThreads, playUntilFallen, type Played } from './stage.js';

const LOAD = { origin: { synthetic: { messages: 4_000, size: 64, rate: 10_000 } } };

function told({ summary, reasons }: Played): unknown {
  return {
    reasons: reasons.map(({ text }) => text),
    faults: summary.faults.map(({ kind, status, reason }) => [kind, status, reason]),
    copies: summary.replicas.map(({ last }) => last),
  };
}

describe('threads: words', () => {
  it('a leader is overrun, another is wiped, clocks are wrong, members see different others', async () => {
    const run = await playUntilFallen({
      ...LOAD,
      replicas: 5,
      faults: [
        { clockRate: 'follower:lagging', factor: 3, at: '10ms', for: '150ms' },
        { clockRate: 'leader', factor: 0.5, at: '20ms', for: '150ms' },
        { id: 'over', overrun: 'leader', when: { applied: 500 } },
        { id: 'ring', partition: 'ring', after: 'over', delay: '60ms', for: '60ms' },
        { id: 'bridge', partition: 'bridge:leader', after: 'ring', delay: '80ms', for: '60ms' },
        { wipe: 'follower', after: 'bridge', delay: '80ms' },
      ],
      expect: { covered: ['overrun', 'wipe', 'clockRate', 'partition'] },
    });
    expect(told(run)).toEqual({
      reasons: [],
      faults: ['clockRate', 'clockRate', 'overrun', 'partition', 'partition', 'wipe'].map(
        (kind) => [kind, 'installed', undefined],
      ),
      copies: [4_001, 4_001, 4_001, 4_001],
    });
  });

  it('what needs a journal that outlives its member is skipped, with the reason', async () => {
    const reason = 'comes with the durable journal';
    const at = '10ms';
    const run = await playOnThreads({
      origin: { synthetic: { messages: 100 } },
      replicas: 5,
      faults: [
        { failSync: 'leader', at },
        { tornTail: 'leader', at },
        { slowDisk: 'leader', at },
        { kill: 'leader', at, restartAfter: '1s' },
        { kill: 'leader', when: { applied: 1 }, restartAfter: '1s' },
        { failWrites: 'leader', at, restartAfter: '1s' },
      ],
    });
    expect(told(run)).toEqual({
      reasons: [],
      faults: ['failSync', 'tornTail', 'slowDisk', 'kill', 'kill', 'failWrites'].map((kind) => [
        ...[kind, 'skipped', reason],
      ]),
      copies: [101, 101, 101, 101, 101],
    });
  });

  it('states: on one member alone, on two, and a leader in its no-op', async () => {
    const run = await playUntilFallen({
      ...LOAD,
      replicas: 5,
      faults: [
        { id: 'one', stepDown: 'leader', when: { appended: { on: 1, of: 5 } } },
        { id: 'two', dropConsumer: 'origin', when: { appended: { on: 2, of: 5 } } },
        { stepDown: 'leader', after: 'two', delay: '100ms' },
        { id: 'noop', kill: 'leader', when: { phase: 'noop' } },
      ],
      expect: { covered: ['stepDown', 'kill', 'dropConsumer'] },
    });
    expect(told(run)).toMatchObject({ reasons: [], copies: [4_001, 4_001, 4_001, 4_001] });
    expect(run.summary.faults.map(({ status }) => status)).toEqual(Array(4).fill('installed'));
  });

  it('two refusals of proposals on one leader add up', async () => {
    const run = await playUntilFallen({
      origin: { synthetic: { messages: 200, rate: 1_000 } },
      faults: [
        { failPropose: 'leader', times: 2, when: { applied: 1 } },
        { failPropose: 'leader', times: 1, code: 'writeFailed', when: { applied: 1 } },
      ],
      expect: { covered: ['failPropose'] },
    });
    expect(told(run)).toEqual({
      reasons: [],
      faults: Array(2).fill(['failPropose', 'installed', undefined]),
      copies: [201, 201, 201],
    });
    expect(run.summary.mirror.rollbacks).toBe(3);
  });
});
