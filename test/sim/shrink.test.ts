import { describe, expect, it } from 'vitest';
import { CALM } from '../../src/sim/conditions.js';
import { explicitPlan, failsAlike } from '../../src/sim/explicit.js';
import { eventsOf, shrink } from '../../src/sim/shrink.js';
import { shrinkRun } from '../../src/sim/shrink-run.js';
import { runSwarm } from '../../src/sim/swarm-run.js';
import type { ClusterEvent } from '../../src/scenario/driver.js';
import type { SwarmFault, SwarmPlan } from '../../src/sim/swarm.js';
import { bodyOf, encodeEvent } from '../../src/verdict/events.js';
import { FATES, idsOf, LARGE, ROUGH_LINK } from './large-plan.js';
import { hasher } from './stage.js';

describe('sim: shrink: synthetic', () => {
  it('nothing matters -> the least plan that there is, after a few candidates', async () => {
    const { plan, candidates, end } = await shrink(
      { ...LARGE, fates: FATES },
      { fails: () => true, candidatesMax: 1_000 },
    );
    expect(end).toBe('minimal');
    expect(candidates).toBeLessThan(30);
    expect(plan).toEqual({
      ...LARGE,
      replicas: 1,
      election: 'timers',
      origin: { kind: 'synthetic', messages: 1, size: 0, rate: 600, gaps: [] },
      conditions: CALM,
      faults: [],
      fates: [],
      safetyMs: 1,
      core: [0],
    });
  });

  it('two faults and two fates far apart matter -> these four, weakened to within an eighth', async () => {
    const matter = (plan: SwarmPlan): boolean => {
      const { faults, fates = [] } = plan;
      const freeze = faults.some(({ action }) => action.kind === 'freeze' && action.forMs >= 120);
      const killed = faults.some(({ action }) => action.kind.startsWith('kill'));
      const late = fates.filter(({ byUs }) => byUs === 17 || byUs >= 202);
      return freeze && killed && late.length >= 2;
    };
    const { plan, end } = await shrink(
      { ...LARGE, fates: FATES },
      { fails: matter, candidatesMax: 5_000 },
    );
    expect(end).toBe('minimal');
    expect(plan.faults).toEqual([
      { id: 'a', atMs: 1, target: 'leader', action: { kind: 'kill', restartMs: 1 } },
      { id: 'b', atMs: 1, target: 'leader', action: { kind: 'freeze', forMs: 131 } },
    ]);
    expect(plan.fates!.map(({ byUs }) => byUs)).toHaveLength(2);
    for (const { byUs } of plan.fates!) expect(byUs === 17 || byUs >= 202).toBe(true);
  });

  it('the end is a local minimum: without any one event it no longer fails', async () => {
    // Not monotone: a superset of what fails may hold.
    const fails = (plan: SwarmPlan): boolean => {
      const ids = idsOf(plan);
      return /b.*e/.test(ids) ? plan.faults.length % 2 === 0 : /d.*f.*g/.test(ids);
    };
    const { plan, end } = await shrink(LARGE, { fails, candidatesMax: 5_000 });
    expect(end).toBe('minimal');
    expect(fails(plan)).toBe(true);
    for (const gone of plan.faults) {
      const without = { ...plan, faults: plan.faults.filter((fault) => fault !== gone) };
      expect(fails(without), `without ${gone.id}`).toBe(false);
    }
  });

  it('the same answers give the same candidates in the same order', async () => {
    const asked = async (): Promise<string[]> => {
      const seen: string[] = [];
      const fails = (plan: SwarmPlan): boolean => {
        seen.push(JSON.stringify(plan));
        return /c.*h/.test(idsOf(plan)) && plan.origin.messages > 77;
      };
      await shrink({ ...LARGE, fates: FATES }, { fails, candidatesMax: 400 });
      return seen;
    };
    const one = await asked();
    expect(new Set(one).size).toBe(one.length);
    expect(await asked()).toEqual(one);
  });

  it('a limit ends it with the best so far, and says which limit', async () => {
    const fails = (plan: SwarmPlan): boolean => idsOf(plan).includes('e');
    const bounded = await shrink(LARGE, { fails, candidatesMax: 50 });
    expect(bounded).toMatchObject({ candidates: 50, end: 'candidates' });
    expect(eventsOf(bounded.plan)).toBeLessThan(8);
    expect(fails(bounded.plan)).toBe(true);
    let asked = 0;
    const isOver = (): boolean => ++asked > 2;
    expect(await shrink(LARGE, { fails, candidatesMax: 100, isOver })).toMatchObject({
      candidates: 2,
      end: 'time',
    });
    const none = await shrink(LARGE, { fails, candidatesMax: 0 });
    expect(none).toEqual({ plan: { ...LARGE, fates: [] }, candidates: 0, end: 'candidates' });
  });

  it('a replica less: targets, heirs, sides and links follow, and the core stays a majority', async () => {
    const seen: SwarmPlan[] = [];
    const plan: SwarmPlan = {
      ...LARGE,
      conditions: CALM,
      core: [0, 3, 4],
      faults: LARGE.faults.filter(({ id }) => id === 'a' || id === 'd' || id === 'g'),
      fates: [
        { link: 'r1 to r2', nth: 1, fate: 'lost', byUs: 0 },
        { link: 'r3 to r5', nth: 2, fate: 'lost', byUs: 0 },
        { link: 'origin to r4', nth: 3, fate: 'lost', byUs: 0 },
      ],
    };
    const fails = (candidate: SwarmPlan): boolean => {
      if (candidate.replicas === 4 && candidate.seed === plan.seed) seen.push(candidate);
      return false;
    };
    await shrink(plan, { fails, candidatesMax: 100 });
    const [kill, stepDown, partition] = plan.faults.map(({ action }) => action);
    const less = { ...plan, replicas: 4, core: [0, 2, 3] };
    expect(seen).toEqual([
      {
        ...less,
        faults: [
          { ...plan.faults[0]!, target: 2, action: kill },
          { ...plan.faults[1]!, target: 'leader', action: { ...stepDown, to: 3 } },
          { ...plan.faults[2]!, target: 3, action: { ...partition, mask: 0b1010 } },
        ],
        fates: [
          { link: 'r1 to r2', nth: 1, fate: 'lost', byUs: 0 },
          { link: 'origin to r3', nth: 3, fate: 'lost', byUs: 0 },
        ],
      },
      {
        ...less,
        faults: [
          { ...plan.faults[0]!, target: 2, action: kill },
          { ...plan.faults[1]!, target: 1, action: { ...stepDown, to: 3 } },
          { ...plan.faults[2]!, target: 3, action: { ...partition, mask: 0b1000 } },
        ],
        fates: [
          { link: 'r2 to r4', nth: 2, fate: 'lost', byUs: 0 },
          { link: 'origin to r3', nth: 3, fate: 'lost', byUs: 0 },
        ],
      },
    ]);
  });
});

describe('sim: shrink: alike', () => {
  const stall = { verdict: 'stalled', property: 'catch-up', text: 'not at 5' } as const;

  it.each([
    ['another text', { ...stall, text: 'not at 6' }, true],
    ['another verdict', { ...stall, verdict: 'violated' as const }, false],
    ['another property', { ...stall, property: 'Log Matching' }, false],
    ['held', null, false],
  ])('%s', (_, failure, alike) => {
    expect(failsAlike(failure, stall)).toBe(alike);
  });

  it('a fault of lockstep: another text is another fault', () => {
    const fault = { verdict: 'harness', property: 'harness', text: 'a' } as const;
    expect(failsAlike({ ...fault, text: 'a' }, fault)).toBe(true);
    expect(failsAlike({ ...fault, text: 'b' }, fault)).toBe(false);
  });
});

/** Every event of a run as a line. */
async function linesOf(plan: SwarmPlan): Promise<string[]> {
  const lines: string[] = [];
  await runSwarm(plan, hasher, (event) => {
    const body = bodyOf(event, new Map());
    if (body !== null) lines.push(encodeEvent(event.atMs, body));
  });
  return lines;
}

/** Whether a refused message is rolled back after a change of leader, in the first phase. */
async function refusedLater(plan: SwarmPlan): Promise<boolean> {
  const terms = new Set<number>();
  let found = false;
  const onEvent = (told: ClusterEvent): void => {
    if (told.kind !== 'replica') return;
    const { event } = told;
    if (event.kind === 'role' && event.role === 'leader') terms.add(event.term);
    found ||= event.kind === 'rollback' && event.cause === 'messageRefused' && terms.size > 1;
  };
  await runSwarm(plan, hasher, onEvent, undefined, plan.safetyMs);
  return found;
}

/** The first message is one that no mirror can store: it stops there. */
const BLOCKED: SwarmPlan = {
  ...LARGE,
  origin: { ...LARGE.origin, size: 800, gaps: [] },
  tuning: { preVote: true, checkQuorum: true, limits: { recordBytesMax: 100 } },
};

describe('sim: shrink: runs', () => {
  it('a drawn run with its fates stated gives the same events, byte for byte', async () => {
    const plan = BLOCKED;
    const { failure } = await runSwarm(plan, hasher);
    expect(failure).toMatchObject({ verdict: 'stalled' });
    const stated = await explicitPlan(plan, failure!, hasher);
    expect(stated.conditions.peers).toEqual({
      ...ROUGH_LINK,
      ...{ lossPerMille: 0, duplicatePerMille: 0, reorderPerMille: 0, reorderMaxUs: 0 },
    });
    expect(new Set(stated.fates!.map(({ fate }) => fate)).size).toBe(3);
    expect(await linesOf(stated)).toEqual(await linesOf(plan));
  });

  it('a message that no mirror can store -> no event at all is needed', async () => {
    const shrunk = await shrinkRun(BLOCKED, hasher);
    expect(shrunk).toMatchObject({
      failure: { verdict: 'stalled', property: 'catch-up' },
      events: { to: 0 },
      end: 'minimal',
      plan: { replicas: 1, conditions: CALM, tuning: BLOCKED.tuning, fates: [] },
    });
    expect(shrunk!.events.from).toBeGreaterThan(8);
  });

  it('a refusal behind a change of leader -> one fault for each, nothing else', async () => {
    const refusals = Array.from({ length: 8 }, (_, at): SwarmFault => {
      const action = { kind: 'failPropose', times: 9, code: 'overrun' } as const;
      return { id: `refuse ${at}`, atMs: 310 + at * 70, target: 'leader', action };
    });
    const faults = [...LARGE.faults, ...refusals].sort((one, other) => one.atMs - other.atMs);
    const gaps = LARGE.origin.gaps.slice(0, 1);
    const plan = { ...LARGE, origin: { ...LARGE.origin, gaps }, faults };
    expect(await refusedLater(plan)).toBe(true);
    const shrunk = await shrink(plan, { fails: refusedLater, candidatesMax: 1_000 });
    expect(shrunk.end).toBe('minimal');
    const { faults: left, conditions, origin, fates } = shrunk.plan;
    const kinds = left.map(({ action }) => action.kind);
    expect(kinds).toHaveLength(2);
    expect(kinds).toContain('failPropose');
    expect({ conditions, gaps: origin.gaps, fates }).toEqual({
      conditions: CALM,
      gaps: [],
      fates: [],
    });
  });

  it('a run that ends early has not failed of what would come later', async () => {
    const whole = await runSwarm(BLOCKED, hasher);
    expect(whole.failure).toMatchObject({ verdict: 'stalled' });
    for (const endMs of [700, 3_000]) {
      const { failure, simulatedMs } = await runSwarm(BLOCKED, hasher, undefined, undefined, endMs);
      expect(failure).toBeNull();
      expect(simulatedMs).toBeGreaterThanOrEqual(endMs);
      expect(simulatedMs).toBeLessThan(endMs + 20);
    }
    const longer = whole.simulatedMs + 1;
    expect(await runSwarm(BLOCKED, hasher, undefined, undefined, longer)).toEqual(whole);
  });

  it('a run that holds is not shrunk', async () => {
    const calm = { ...LARGE, conditions: CALM, faults: [], origin: { ...LARGE.origin, gaps: [] } };
    expect(await shrinkRun(calm, hasher)).toBeNull();
  });
});
