import { describe, expect, it, vi } from 'vitest';
import type { Plan } from '../../src/scenario/types.js';
import { planFile, planOf, playOnSim } from './stage.js';

const LOAD = { origin: { synthetic: { messages: 2_000, size: 64, rate: 10_000 } } };

describe('sim: driver: the main job', () => {
  it('holds, with every fault of the scenario installed and times that never go back', async () => {
    const { summary, reasons, events } = await playOnSim(planFile('scenarios/main-job.yaml'));
    expect(reasons).toEqual([]);
    expect(summary.driver).toBe('sim');
    expect(summary.faults.map(({ kind, status }) => [kind, status])).toEqual([
      ['stepDown', 'installed'],
      ['freeze', 'installed'],
      ['kill', 'installed'],
    ]);
    expect(summary.replicas).toHaveLength(2);
    expect(new Set(summary.replicas.map(({ digest }) => digest)).size).toBe(1);
    const times = events.map(({ atMs }) => atMs);
    expect(times.findIndex((atMs, at) => at > 0 && atMs < times[at - 1]!)).toBe(-1);
  });

  it('same seed -> the same event stream, byte for byte; another seed -> another', async () => {
    const [one, again, other] = [
      await playOnSim(lighter(7)),
      await playOnSim(lighter(7)),
      await playOnSim(lighter(8)),
    ];
    expect(one.summary.faults.every(({ status }) => status === 'installed')).toBe(true);
    expect(one.lines.length).toBeGreaterThan(1_000);
    expect(again.lines.join('\n') === one.lines.join('\n')).toBe(true);
    expect(again.summary).toEqual(one.summary);
    expect(other.lines.join('\n') === one.lines.join('\n')).toBe(false);
  });

  it('how fast the machine is changes nothing, not even while a fault waits', async () => {
    const plan = planOf({
      origin: { synthetic: { messages: 200, size: 32, rate: 2_000 } },
      election: 'timers',
      faults: [
        { kill: 'leader', at: '10ms' },
        { freeze: 'follower', at: '30ms', for: '5ms' },
      ],
    });
    const lines: string[] = [];
    // Signals get their turn when time has passed on this clock: never, or once in a while.
    for (const late of [0, 5, 60, 80]) {
      let calls = 0;
      const nowMs = (): number => (++calls > late && late > 0 ? 1_000 : 0);
      const clock = vi.spyOn(performance, 'now').mockImplementation(nowMs);
      const { summary, lines: told } = await playOnSim(plan).finally(() => clock.mockRestore());
      expect(summary.faults.map(({ status }) => status)).toEqual(['installed', 'skipped']);
      lines.push(told.join('\n'));
    }
    expect(lines.map((each) => each === lines[0])).toEqual([true, true, true, true]);
  });
});

/** The main job with a tenth of the messages in the same time. */
function lighter(seed: number): Plan {
  const plan = planFile('scenarios/main-job.yaml', seed);
  const gaps = [{ after: 4_000, count: 25_000 }];
  return {
    ...plan,
    expect: { ...plan.expect, state: null },
    origin: { kind: 'synthetic', messages: 10_000, size: 128, rate: 4_000, gaps },
  };
}

describe('sim: driver: clusters', () => {
  it('a time limit before any member was started is inconclusive, and nobody holds anything', async () => {
    const { summary, reasons } = await playOnSim(planOf({ ...LOAD, timeLimit: '1ms' }));
    expect(reasons).toEqual([{ verdict: 'inconclusive', text: 'the time limit of 1 ms was hit' }]);
    expect(summary.replicas.map(({ id, last, messages }) => [id, last, messages])).toEqual([
      ['r1', 0, 0],
      ['r2', 0, 0],
      ['r3', 0, 0],
    ]);
  });

  it.each([1, 3, 5, 7])(
    '%i replicas mirror a gap, every copy equal to the origin',
    async (count) => {
      const gaps = [{ after: 500, count: 25_000 }];
      const { summary, reasons } = await playOnSim(
        planOf({ replicas: count, origin: { synthetic: { messages: 2_000, size: 100, gaps } } }),
      );
      expect(reasons).toEqual([]);
      expect(summary.replicas).toHaveLength(count);
      expect(summary.messages).toEqual({
        ok: 2_001,
        lost: 0,
        duplicated: 0,
        reordered: 0,
        corrupt: 0,
        phantom: 0,
        unknown: 0,
      });
      // Without raft one range is enough: the store itself skips.
      expect(summary.skip.batches).toBe(count === 1 ? summary.skip.batches : 3);
      expect(summary.skip.sequences).toBe(25_000);
    },
  );

  it.each(['conductor', 'timers', 'both'])('elects by %s after a step-down', async (election) => {
    const { summary, reasons } = await playOnSim(
      planOf({
        ...LOAD,
        election,
        faults: [{ stepDown: 'leader', to: 'none', when: { applied: 500 } }],
        expect: { covered: ['stepDown'] },
      }),
    );
    expect(reasons).toEqual([]);
    expect(summary.leadership.elections).toBeGreaterThanOrEqual(2);
  });

  it.each(['entries', 'range'])('skips by %s', async (skip) => {
    const gaps = [{ after: 5, count: 20_001 }];
    const { summary, reasons } = await playOnSim(
      planOf({ mirror: { skip }, origin: { synthetic: { messages: 10, gaps } } }),
    );
    expect(reasons).toEqual([]);
    expect(summary.skip).toEqual({
      encoding: skip,
      sequences: 20_001,
      batches: skip === 'entries' ? 3 : 1,
      largestBatch: skip === 'entries' ? 10_000 : 1,
      refused: 0,
    });
  });
});

describe('sim: driver: faults', () => {
  it('a step-down armed for a skip falls between its first and its second batch', async () => {
    const { events, reasons } = await playOnSim(
      planOf({
        origin: { synthetic: { messages: 1_000, gaps: [{ after: 500, count: 25_000 }] } },
        faults: [{ id: 'sd', stepDown: 'leader', when: { skipped: 10_000 } }],
        expect: { covered: ['stepDown'] },
      }),
    );
    expect(reasons).toEqual([]);
    const at = events.findIndex(({ kind }) => kind === 'fault');
    const skips = events.flatMap((event, position) =>
      event.kind === 'replica' && event.event.kind === 'propose' && event.event.what === 'skips'
        ? [{ before: position < at, slot: event.slot, ...event.event }]
        : [],
    );
    const accepted = skips.filter(({ refused }) => refused === null);
    expect(accepted.map(({ before, first, last }) => [before, first, last])).toEqual([
      [true, 501, 10_500],
      [false, 10_501, 20_500],
      [false, 20_501, 25_500],
    ]);
    expect(accepted[1]!.slot).not.toBe(accepted[0]!.slot);
  });

  it('a kill armed for a state ends its member in the middle of the turn', async () => {
    const { summary, reasons, events } = await playOnSim(
      planOf({
        origin: { synthetic: { messages: 1_000, gaps: [{ after: 500, count: 25_000 }] } },
        faults: [{ kill: 'leader', when: { skipped: 10_000 } }],
        expect: { covered: ['kill'] },
      }),
    );
    expect(reasons).toEqual([]);
    expect(summary.replicas).toHaveLength(2);
    const killed = events.findIndex(({ kind }) => kind === 'exit');
    const exit = events[killed]!;
    const slot = exit.kind === 'exit' ? exit.slot : null;
    const after = events.slice(killed + 1);
    expect(after.filter((event) => 'slot' in event && event.slot === slot)).toEqual([]);
  });

  it('a frozen member says nothing until it is healed; the others go on', async () => {
    const { summary, reasons, events } = await playOnSim(
      planOf({
        ...LOAD,
        faults: [{ freeze: 'leader', when: { applied: 700 }, for: '400ms' }],
        expect: { covered: ['freeze'] },
      }),
    );
    expect(reasons).toEqual([]);
    const [from, to] = events.flatMap((event, at) => (event.kind === 'fault' ? [at] : []));
    const { slot } = events[from!] as { slot: string };
    const between = events.slice(from! + 1, to);
    expect(between.filter((event) => 'slot' in event && event.slot === slot)).toEqual([]);
    expect(between.some(({ kind }) => kind === 'progress')).toBe(true);
    expect(events[to!]!.atMs - events[from!]!.atMs).toBe(400);
    expect(summary.leadership.elections).toBe(2);
  });

  it('never breaks more than the cluster tolerates: the second one is skipped', async () => {
    const { summary } = await playOnSim(
      planOf({
        ...LOAD,
        faults: [
          { kill: 'r3', at: '50ms' },
          { freeze: 'r2', at: '150ms', for: '50ms' },
        ],
      }),
    );
    expect(summary.verdict).toBe('held');
    expect(summary.faults.map(({ status }) => status)).toEqual(['installed', 'skipped']);
  });

  it('a forgotten consumer and refused proposals are made good', async () => {
    const { summary, reasons } = await playOnSim(
      planOf({
        ...LOAD,
        faults: [
          { dropConsumer: true, at: '50ms' },
          { failPropose: 'leader', times: 2, at: '120ms' },
        ],
        expect: { covered: ['dropConsumer', 'failPropose'] },
      }),
    );
    expect(reasons).toEqual([]);
    expect(summary.mirror.rollbacks).toBeGreaterThanOrEqual(1);
    expect(summary.mirror.openings).toBeGreaterThanOrEqual(3);
  });
});
