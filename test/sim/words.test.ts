/** Words of scenarios that strike members, disks, clocks and shapes, in virtual time. */
import { describe, expect, it } from 'vitest';
import { planOf, playOnSim, type Played } from './stage.js';

const ORIGIN = { synthetic: { messages: 2_000, size: 64, rate: 4_000 } };

function played(fields: Record<string, unknown>): Promise<Played> {
  return playOnSim(planOf({ origin: ORIGIN, ...fields }));
}

/** Whether the run held, what became of each fault, and who ended with everything. */
function told({ summary, reasons }: Played): unknown {
  return {
    reasons: reasons.map(({ text }) => text),
    faults: summary.faults.map(({ kind, target, status }) => `${kind} ${target}: ${status}`),
    caughtUp: summary.replicas.filter(({ last }) => last === 2_001).map(({ id }) => id),
  };
}

/** What ended, and what was healed, in order. */
function steps({ events }: Played): string[] {
  return events.flatMap((event) => {
    if (event.kind === 'exit') return [`${event.slot} ended by ${event.by}: ${event.reason}`];
    return event.kind === 'fault' ? [`${event.id} ${event.state}`] : [];
  });
}

describe('sim: words: members that come back', () => {
  it.each([
    ['kill', 'killed'],
    ['outOfMemory', 'out of memory'],
    ['failWrites', 'a write failed'],
    ['failSync', 'a sync failed'],
    ['tornTail', 'the power went'],
  ])('%s: ended, back from its journal, and level with the others', async (kind, reason) => {
    const run = await played({
      faults: [{ id: 'f', [kind]: 'leader', at: '100ms', restartAfter: '150ms' }],
      expect: { covered: [kind] },
    });
    expect(told(run)).toEqual({
      reasons: [],
      faults: [`${kind} r1: installed`].map((text) => text.replace('r1', struck(run))),
      caughtUp: ['r1', 'r2', 'r3'],
    });
    expect(steps(run)).toEqual(['f installed', `${struck(run)} ended by f: ${reason}`, 'f healed']);
  });

  it('who comes back late is waited for', async () => {
    const run = await played({
      faults: [{ id: 'f', kill: 'follower', at: '400ms', restartAfter: '3s' }],
    });
    expect(told(run)).toMatchObject({ reasons: [], caughtUp: ['r1', 'r2', 'r3'] });
    expect(run.summary.elapsedMs).toBeGreaterThan(3_000);
  });

  it('meanwhile nobody else may go; afterwards others may', async () => {
    const run = await played({
      faults: [
        { id: 'one', kill: 'r1', at: '100ms', restartAfter: '100ms' },
        { id: 'two', kill: 'r2', at: '150ms', restartAfter: '100ms' },
        { id: 'three', kill: 'r3', at: '250ms' },
      ],
    });
    expect(run.summary.faults.map(({ status }) => status)).toEqual([
      ...['installed', 'skipped', 'installed'],
    ]);
    expect(told(run)).toMatchObject({ reasons: [], caughtUp: ['r1', 'r2'] });
  });

  it('what is armed and ends nobody because another was first did not happen', async () => {
    const run = await played({
      faults: [
        { id: 'armed', failWrites: 'r1', at: '100ms' },
        { id: 'first', kill: 'r1', after: 'armed', restartAfter: '100ms' },
      ],
    });
    expect(run.summary.faults.map(({ status, reason }) => [status, reason])).toEqual([
      ['uncovered', 'armed, and nothing came that it could have struck'],
      ['installed', undefined],
    ]);
    expect(told(run)).toMatchObject({ reasons: [], caughtUp: ['r1', 'r2', 'r3'] });
  });

  it('wipe: it forgot its vote and stays down', async () => {
    const run = await played({ faults: [{ id: 'f', wipe: 'r2', at: '100ms' }] });
    expect(told(run)).toEqual({
      reasons: [],
      faults: ['wipe r2: installed'],
      caughtUp: ['r1', 'r3'],
    });
    expect(steps(run)).toEqual(['f installed', 'r2 ended by f: wiped']);
  });
});

function struck({ summary }: Played): string {
  return summary.faults[0]!.target;
}

/** Whoever did not lead, in slots. */
function followersOf({ events }: Played): string[] {
  const leaders = events.flatMap((event) =>
    event.kind === 'replica' && event.event.kind === 'role' && event.event.role === 'leader'
      ? [event.slot]
      : [],
  );
  return ['r1', 'r2', 'r3'].filter((slot) => !leaders.includes(slot));
}

describe('sim: words: what lasts for a while', () => {
  it('slowDisk: everything takes longer, then no more', async () => {
    const run = await played({
      faults: [
        { slowDisk: 'r1', at: '50ms', by: '30ms', for: '200ms' },
        { slowDisk: 'r2', at: '50ms', by: '30ms', for: '200ms' },
      ],
    });
    expect(told(run)).toMatchObject({ reasons: [], caughtUp: ['r1', 'r2', 'r3'] });
    expect(run.summary.stallMs).toBeGreaterThan(25);
    expect(run.summary.stallMs).toBeLessThan(60);
  });

  it('clockRate: a clock ten times as fast times out although its leader is well', async () => {
    // Heartbeats are all that keeps it up: messages come seldom.
    const idle = { election: 'timers', origin: { synthetic: { messages: 20, rate: 20 } } };
    const calm = await played(idle);
    const fast = (slot: string): object => {
      return { clockRate: slot, factor: 10, at: '50ms', for: '500ms' };
    };
    const run = await played({ ...idle, faults: followersOf(calm).map(fast) });
    expect(run.reasons).toEqual([]);
    expect(calm.summary.leadership.elections).toBe(1);
    expect(run.summary.leadership.elections).toBeGreaterThan(1);
    expect(steps(run).filter((step) => step.endsWith('healed'))).toHaveLength(2);
  });
});

describe('sim: words: overrun', () => {
  it('its next proposal is refused, it steps down and names nobody', async () => {
    const run = await played({
      faults: [{ id: 'f', overrun: 'leader', at: '100ms' }],
      expect: { covered: ['overrun'] },
    });
    expect(told(run)).toMatchObject({ reasons: [], caughtUp: ['r1', 'r2', 'r3'] });
    const causes = run.events.flatMap((event) =>
      event.kind === 'replica' && event.event.kind === 'role' ? [event.event.cause] : [],
    );
    expect(causes.filter((cause) => cause === 'overrun')).toHaveLength(1);
    const transfers = run.events.filter(
      (event) => event.kind === 'replica' && event.event.kind === 'transfer',
    );
    expect(transfers).toEqual([]);
    expect(run.summary.leadership.elections).toBe(2);
    expect(run.summary.mirror.rollbacks).toBe(1);
  });

  it('one that is never reached did not happen', async () => {
    const run = await played({
      faults: [{ id: 'f', overrun: 'leader', entries: 1_000, at: '100ms' }],
      expect: { covered: ['overrun'] },
    });
    expect(run.summary.verdict).toBe('uncovered');
  });
});

describe('sim: words: shapes', () => {
  it.each([
    ['ring', 5],
    ['bridge', 5],
    ['bridge', 3],
    ['bridge:leader', 5],
    ['spurs', 5],
  ])('%s of %i: progress goes on, and all end level', async (partition, replicas) => {
    const run = await played({
      replicas,
      faults: [{ id: 'f', partition, at: '50ms', for: '300ms' }],
      expect: { stallAtMost: '1500ms', covered: ['partition'] },
    });
    expect(told(run)).toMatchObject({ reasons: [] });
    expect(run.summary.replicas.every(({ last }) => last === 2_001)).toBe(true);
  });
});

describe('sim: words: states', () => {
  it.each([1, 2, 3])('appended on %i of 3: the fault falls right there', async (on) => {
    const run = await played({
      faults: [{ id: 'f', kill: 'leader', when: { appended: { on, of: 3 } } }],
      expect: { covered: ['kill'] },
    });
    expect(run.summary.verdict).toBe('held');
  });

  it('phase noop: a leader that was just elected, before its mirror is open', async () => {
    const run = await played({
      faults: [
        { id: 'sd', stepDown: 'leader', at: '100ms' },
        { id: 'f', kill: 'leader', when: { phase: 'noop' } },
      ],
      expect: { covered: ['kill'] },
    });
    expect(run.summary.verdict).toBe('held');
    const opened = run.events.findIndex(
      (event) =>
        event.kind === 'replica' &&
        event.slot === run.summary.faults[1]!.target &&
        event.event.kind === 'opening',
    );
    expect(opened).toBe(-1);
  });

  it('phase snapshot: skipped, with the reason', async () => {
    const run = await played({ faults: [{ kill: 'leader', when: { phase: 'snapshot' } }] });
    expect(run.summary.faults.map(({ status, reason }) => [status, reason])).toEqual([
      ['skipped', 'comes with snapshots'],
    ]);
  });
});
