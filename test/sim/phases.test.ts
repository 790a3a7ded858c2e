/** The two phases of a drawn run, the moments at which faults fall, and what they come to. */
import { describe, expect, it } from 'vitest';
import type { ClusterEvent } from '../../src/scenario/driver.js';
import { CALM } from '../../src/sim/conditions.js';
import type { SwarmMoment } from '../../src/sim/moments.js';
import { drawSwarm } from '../../src/sim/swarm.js';
import type { SwarmAction, SwarmFault, SwarmPlan } from '../../src/sim/swarm-plan.js';
import { runSwarm, type SwarmReport } from '../../src/sim/swarm-run.js';
import { hasher } from './stage.js';

/** Nothing drawn: a calm cluster under the faults of a test. */
function planOf(change: Partial<SwarmPlan>): SwarmPlan {
  return {
    seed: 1,
    replicas: 3,
    election: 'both',
    skip: 'entries',
    timeScale: 0.05,
    origin: { kind: 'synthetic', messages: 500, size: 32, rate: 500, gaps: [] },
    conditions: CALM,
    faults: [],
    safetyMs: 900,
    core: Array.from({ length: change.replicas ?? 3 }, (_, at) => at),
    ...change,
  };
}

function faultOf(atMs: number, action: SwarmAction, change: Partial<SwarmFault> = {}): SwarmFault {
  return { atMs, target: 'leader', action, ...change };
}

async function played(
  change: Partial<SwarmPlan>,
): Promise<{ report: SwarmReport; events: ClusterEvent[] }> {
  const events: ClusterEvent[] = [];
  const report = await runSwarm(planOf(change), hasher, (event) => void events.push(event));
  return { report, events };
}

function statesOf(events: readonly ClusterEvent[]): string[] {
  return events.flatMap((event) =>
    event.kind === 'fault' ? [`${event.id} ${event.state} ${event.reason ?? ''}`.trim()] : [],
  );
}

describe('sim: swarm: phases', () => {
  const load = { heldBack: 30, burst: null, sizeMax: 32, headersEvery: 8 };

  it('what is held back is handed out only after healing, and owed by the core', async () => {
    const { report, events } = await played({ load, sentinelAfterMs: 120 });
    expect(report.failure).toBeNull();
    const lasts = events.flatMap((event) =>
      event.kind === 'progress' ? ([[event.last > 471, event.atMs]] as const) : [],
    );
    const before = lasts.filter(([isHeld]) => !isHeld).map(([, atMs]) => atMs);
    const after = lasts.filter(([isHeld]) => isHeld).map(([, atMs]) => atMs);
    expect(Math.max(...before)).toBeLessThan(1_020);
    expect(Math.min(...after)).toBeGreaterThan(1_020);
    expect(Math.max(...lasts.map(([, atMs]) => atMs))).toBeLessThanOrEqual(report.simulatedMs);
  });

  it('bursts: so many messages at once, again and again', async () => {
    const origin = { ...planOf({}).origin, rate: null };
    const burst = { messages: 100, everyMs: 200 };
    const { report, events } = await played({ origin, load: { ...load, burst } });
    expect(report.failure).toBeNull();
    const reached = new Map<number, number>();
    for (const event of events) {
      if (event.kind === 'progress') reached.set(event.last, reached.get(event.last) ?? event.atMs);
    }
    const [first, second] = [reached.get(100)!, reached.get(200)!];
    expect(second).toBeGreaterThan(first);
    expect(second).toBeLessThan(220);
    expect(reached.get(300)).toBeGreaterThan(400);
  });

  it('an outsider owes no more than a matching prefix', async () => {
    const { report, events } = await played({ core: [0, 1], load });
    expect(report.failure).toBeNull();
    const last = events.findLast((event) => event.kind === 'progress' && event.slot === 'r3');
    expect(last).toMatchObject({ last: expect.any(Number) as number });
    expect((last as { last: number }).last).toBeLessThan(501);
  });
});

describe('sim: swarm: moments', () => {
  const gaps = [{ after: 200, count: 25_000 }];
  const origin = { ...planOf({}).origin, rate: 1_000, gaps };

  it.each<[moment: SwarmMoment, into: string, SwarmAction]>([
    ['skipInFlight', 'leader:skipping', { kind: 'stepDown', to: 'best' }],
    ['elected', 'leader:noopUncommitted', { kind: 'kill', restartMs: 5 }],
    ['noopUncommitted', 'leader:noopUncommitted', { kind: 'freeze', forMs: 20 }],
    ['campaigning', 'candidate:voting', { kind: 'kill', restartMs: 1 }],
    ['voted', 'follower:leaderless', { kind: 'kill', restartMs: 10 }],
    ['acknowledged', 'follower:idle', { kind: 'kill', restartMs: 10 }],
    ['appendUnsynced', 'leader:noopUncommitted', { kind: 'kill', restartMs: 10 }],
    ['openingRequested', 'leader:opening', { kind: 'cutOrigin', forMs: 100 }],
  ])('%s: the fault falls there, into %s', async (when, into, action) => {
    const { report, events } = await played({ origin, faults: [faultOf(1, action, { when })] });
    expect(report.failure).toBeNull();
    expect(statesOf(events)).toEqual(['f1 installed']);
    const role = into.split(':')[0]!;
    expect(report.cells).toEqual({
      [`${into}:${action.kind}`]: 1,
      [`${role}:@${when}:${action.kind}`]: 1,
    });
  });

  it.each<[moment: SwarmMoment, into: string]>([
    ['transferSent', 'leader:transferring'],
    ['transferred', 'leader:noopUncommitted'],
    ['deposed', 'follower:leaderless'],
  ])('%s: after a step-down in the middle of a skip, into %s', async (when, into) => {
    const { report, events } = await played({
      origin,
      faults: [
        faultOf(1, { kind: 'stepDown', to: 'best' }, { when: 'skipInFlight' }),
        faultOf(2, { kind: 'kill', restartMs: 20 }, { when }),
      ],
    });
    expect(report.failure).toBeNull();
    expect(statesOf(events)).toEqual(['f1 installed', 'f2 installed']);
    expect(Object.keys(report.cells).slice(2)).toEqual([
      `${into}:kill`,
      `${into.split(':')[0]}:@${when}:kill`,
    ]);
  });

  it('a step-down between two batches of a skip: the second is refused by who handed over', async () => {
    const action = { kind: 'stepDown', to: 'best' } as const;
    const { events } = await played({
      origin,
      faults: [faultOf(1, action, { when: 'skipInFlight' })],
    });
    const skips = events.flatMap((event) =>
      event.kind === 'replica' && event.event.kind === 'propose' && event.event.what === 'skips'
        ? [`${event.event.first} ${event.event.refused?.code ?? 'accepted'}`]
        : [],
    );
    expect(skips.slice(0, 2)).toEqual(['201 accepted', '10201 transferring']);
  });

  it('a moment that does not come: told at the end of the phase', async () => {
    const { report, events } = await played({
      faults: [faultOf(300, { kind: 'kill', restartMs: 5 }, { when: 'elected' })],
    });
    expect(report.installed).toEqual({});
    expect(statesOf(events)).toEqual(['f1 skipped elected did not come']);
  });

  it('flap: deposed, and the same member elected again in the next term', async () => {
    const { report, events } = await played({ faults: [faultOf(400, { kind: 'flap' })] });
    expect(report.failure).toBeNull();
    const wins = events.flatMap((event) =>
      event.kind === 'replica' && event.event.kind === 'role' && event.event.role === 'leader'
        ? [`${event.slot} ${event.event.term}`]
        : [],
    );
    expect(wins).toHaveLength(2);
    expect(wins[1]!.split(' ')[0]).toBe(wins[0]!.split(' ')[0]);
  });
});

describe('sim: swarm: what an origin does', () => {
  it.each([
    ...(['noIdentity', 'noStart', 'noLast', 'noPending'] as const),
    ...(['beforeAsked', 'beyondLast', 'tooLarge'] as const),
  ])('answers with %s: the error is kept, asked again, nothing is lost', async (how) => {
    const { report, events } = await played({
      faults: [
        faultOf(300, { kind: 'spoilAnswer', how, times: 2 }),
        faultOf(301, { kind: 'dropConsumer' }),
      ],
      safetyMs: 2_500,
    });
    expect(report.failure).toBeNull();
    const retries = events.flatMap((event) =>
      event.kind === 'replica' && event.event.kind === 'retry' ? [event.event] : [],
    );
    expect(retries.map(({ cause, attempt }) => `${cause} ${attempt}`)).toEqual([
      'leading 0',
      'silence 0',
      'malformedAnswer 1',
      'malformedAnswer 2',
    ]);
  });

  it('a late answer to an older request after a newer one: ignored', async () => {
    const { report, events } = await played({
      faults: [
        faultOf(300, { kind: 'delayAnswer', byMs: 3_000, times: 1 }),
        faultOf(301, { kind: 'dropConsumer' }),
      ],
      safetyMs: 5_500,
      timeScale: 0.02,
    });
    expect(report.failure).toBeNull();
    const openings = events.flatMap((event) =>
      event.kind === 'replica' && event.event.kind === 'opening'
        ? [`${event.event.state} ${event.event.opening.generation}`]
        : [],
    );
    expect(openings).toEqual([
      ...['requested 1', 'opened 1', 'closed 1'],
      ...['requested 2', 'closed 2', 'requested 3', 'opened 3'],
    ]);
  });

  it.each(['cut', 'count', 'noNumber', 'noPending'] as const)(
    'a delivery with %s ends its opening and is asked for again',
    async (how) => {
      const { report, events } = await played({
        faults: [faultOf(300, { kind: 'spoilDelivery', how, times: 1 })],
      });
      expect(report.failure).toBeNull();
      const closed = events.flatMap((event) =>
        event.kind === 'replica' && event.event.kind === 'opening' ? [event.event.cause] : [],
      );
      expect(closed.filter((cause) => cause !== undefined)).toEqual(['malformedDelivery']);
    },
  );

  it('made anew under its name: the mirror stops as diverged, and holds what it had', async () => {
    const { report, events } = await played({
      faults: [faultOf(500, { kind: 'recreate', messages: 900 })],
    });
    expect(report.failure).toBeNull();
    const conditions = events.flatMap((event) =>
      event.kind === 'replica' && event.event.kind === 'condition' ? [event.event.condition] : [],
    );
    expect(conditions).toEqual(['diverged']);
  });

  it('deletes and expiry while it runs: what went before it was handed out is passed over', async () => {
    const { report } = await played({
      origin: { ...planOf({}).origin, rate: null },
      load: { heldBack: 10, burst: { messages: 50, everyMs: 60 }, sizeMax: 90, headersEvery: 1 },
      faults: [
        faultOf(150, { kind: 'cutOrigin', forMs: 300 }),
        faultOf(300, { kind: 'delete', first: 160, last: 220 }),
        faultOf(320, { kind: 'expire', count: 30, times: 3, everyMs: 20 }),
      ],
    });
    expect(report.failure).toBeNull();
    expect(report.installed).toEqual({ cutOrigin: 1, delete: 1, expire: 1 });
  });
});

describe('sim: swarm: conductor', () => {
  it.each([
    'leader',
    'leads',
    'termAhead',
    'termBehind',
    'hearsAll',
    'hearsNone',
    'log',
    'stale',
  ] as const)('told that %s is so of every member: costs time, no message', async (how) => {
    const faults = [0, 1, 2].map((target) => {
      return faultOf(200, { kind: 'falsify', how, forMs: 500 }, { target });
    });
    const kill = faultOf(300, { kind: 'kill', restartMs: 400 });
    const { report } = await played({ election: 'conductor', faults: [...faults, kill] });
    expect(report.failure).toBeNull();
    expect(report.installed).toEqual({ falsify: 3, kill: 1 });
  });
});

describe('sim: swarm: disks lost', () => {
  const wipes = [100, 200, 300].map((atMs, target) => faultOf(atMs, { kind: 'wipe' }, { target }));

  it('no more than the cluster tolerates; the others go on', async () => {
    const { report, events } = await played({ faults: wipes, core: [1, 2] });
    expect(report.failure).toBeNull();
    expect(statesOf(events)).toEqual([
      'f1 installed',
      'f2 skipped nothing to strike at this moment',
      'f3 skipped nothing to strike at this moment',
    ]);
    expect(report.simulatedMs).toBeLessThan(3_000);
  });

  it('a core that is left without a majority is excused: votes are forgotten', async () => {
    const { report } = await played({ faults: wipes.slice(0, 1), core: [0, 1], safetyMs: 200 });
    expect(report.failure).toBeNull();
    expect(report.cells['excused: votes forgotten']).toBe(1);
  });

  it('beyond quorum: all may go, nothing is healed, nothing is owed', async () => {
    const { report, events } = await played({ faults: wipes, beyondQuorum: true });
    expect(report.failure).toBeNull();
    expect(report.installed).toEqual({ wipe: 3 });
    expect(report.simulatedMs).toBe(900);
    expect(statesOf(events)).toHaveLength(3);
  });

  it('seeds drawn beyond quorum break more, and hold', async () => {
    const failed: unknown[] = [];
    let wiped = 0;
    for (let seed = 1; seed <= 60; seed++) {
      const plan = drawSwarm(seed, { beyondQuorum: true });
      const { failure, installed } = await runSwarm(plan, hasher);
      if (failure !== null) failed.push({ seed, failure });
      wiped = Math.max(wiped, (installed['wipe'] ?? 0) * 2 - plan.replicas);
    }
    expect(failed).toEqual([]);
    expect(wiped).toBeGreaterThan(0);
  });
});

describe('sim: swarm: pre-vote and check-quorum', () => {
  it.each([
    [false, true],
    [true, false],
    [false, false],
  ])('pre-vote %s, check-quorum %s: safe all the same', async (preVote, checkQuorum) => {
    const { report } = await played({
      replicas: 5,
      core: [0, 1, 2],
      tuning: { preVote, checkQuorum, limits: {} },
      faults: [
        faultOf(200, { kind: 'topology', shape: 'spurs', shift: 0, forMs: 500 }),
        faultOf(300, { kind: 'misorder' }, { target: 3 }),
      ],
    });
    expect(report.failure).toBeNull();
    expect(report.installed).toEqual({ topology: 1, misorder: 1 });
  });
});
