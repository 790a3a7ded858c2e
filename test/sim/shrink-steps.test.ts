import { describe, expect, it } from 'vitest';
import { CALM } from '../../src/sim/conditions.js';
import { eventsOf, shrink } from '../../src/sim/shrink.js';
import type { SwarmPlan } from '../../src/sim/swarm.js';
import { FATES, idsOf, LARGE, ROUGH, ROUGH_LINK } from './large-plan.js';

/** What is asked of each candidate, in the order in which they come. */
async function candidatesOf(
  plan: SwarmPlan,
  fails: (candidate: SwarmPlan) => boolean,
): Promise<{ readonly all: readonly SwarmPlan[]; readonly plan: SwarmPlan }> {
  const all: SwarmPlan[] = [];
  const ask = (candidate: SwarmPlan): boolean => {
    all.push(candidate);
    return fails(candidate);
  };
  const shrunk = await shrink(plan, { fails: ask, candidatesMax: 5_000 });
  expect(shrunk.end).toBe('minimal');
  return { all, plan: shrunk.plan };
}

describe('sim: shrink: other seeds', () => {
  it('half of the events fail under another seed alone -> that seed, and no other again', async () => {
    const fails = (plan: SwarmPlan): boolean =>
      plan.seed === LARGE.seed + 3 ? /e.*h/.test(idsOf(plan)) : idsOf(plan) === idsOf(LARGE);
    const { plan } = await candidatesOf(LARGE, fails);
    expect({ seed: plan.seed, ids: idsOf(plan) }).toEqual({ seed: LARGE.seed + 3, ids: 'e h' });
  });

  it('chunks are left out under 24 seeds together, single ones at least once', async () => {
    const fates = FATES.slice(0, 40);
    const { all } = await candidatesOf({ ...LARGE, fates }, () => false);
    const seedsOf = (events: number): number[] => {
      const left = all.filter((each) => eventsOf(each) === events && each.faults[0]?.id === 'a');
      return left.slice(0, 24).map(({ seed }) => seed - LARGE.seed);
    };
    const upTo = (count: number): number[] => Array.from({ length: count }, (_, nth) => nth);
    // Of 48: halves under 12 seeds each, quarters under 6, single ones under one.
    expect(seedsOf(24)).toEqual(upTo(12));
    expect(seedsOf(36)).toEqual([...upTo(6), ...upTo(6), ...upTo(6)]);
    expect(seedsOf(47)).toEqual(Array.from({ length: 24 }, () => 0));
  });

  it('gaps, load and members go before events do, each under another seed if need be', async () => {
    const fails = ({ seed, origin, replicas }: SwarmPlan): boolean => {
      const lighter = [origin.gaps.length === 0, origin.messages < 600, replicas < 5];
      return seed >= LARGE.seed + 2 * lighter.filter(Boolean).length;
    };
    const { all } = await candidatesOf(LARGE, (plan) => plan.faults.length === 8 && fails(plan));
    const light = all.find(({ replicas }) => replicas === 3)!;
    expect(light).toEqual({
      ...LARGE,
      seed: LARGE.seed + 6,
      replicas: 3,
      origin: { ...LARGE.origin, messages: 100, gaps: [] },
      faults: light.faults,
      fates: [],
      core: [0, 2],
    });
    expect(light.faults).toHaveLength(8);
  });

  it('rough links matter under this seed alone -> calm ones, under the next', async () => {
    const fails = ({ seed, conditions }: SwarmPlan): boolean =>
      seed > LARGE.seed ? conditions === CALM : conditions !== CALM;
    const steady = { ...LARGE, origin: { ...LARGE.origin, messages: 1, gaps: [] } };
    const { plan } = await candidatesOf({ ...steady, faults: [], replicas: 1, core: [0] }, fails);
    expect({ seed: plan.seed, conditions: plan.conditions }).toEqual({
      seed: LARGE.seed + 1,
      conditions: CALM,
    });
  });

  it('nothing to take away -> no other seed either', async () => {
    const { plan: least } = await candidatesOf(LARGE, () => true);
    const { all } = await candidatesOf(least, () => true);
    expect(all).toEqual([]);
  });

  it('no candidate has links whose least delay is above their most', async () => {
    const slow = { ...ROUGH_LINK, delayMinUs: 1_000, delayMaxUs: 1_000 };
    const conditions = { ...ROUGH, peers: slow };
    const fails = (plan: SwarmPlan): boolean => plan.conditions.peers.delayMinUs > 500;
    const { all } = await candidatesOf({ ...LARGE, conditions }, fails);
    const links = all.map(({ conditions: { peers } }) => peers);
    expect(links.filter(({ delayMinUs, delayMaxUs }) => delayMinUs > delayMaxUs)).toEqual([]);
  });
});

describe('sim: shrink: plain stories', () => {
  it('all events, or a leader cut off and the next one killed -> these two', async () => {
    const tells = ({ faults }: SwarmPlan): boolean => {
      const [first, second] = faults;
      if (faults.length !== 2 || first!.action.kind !== 'isolate') return false;
      return second!.action.kind === 'kill' && second!.when === 'elected';
    };
    const { plan } = await candidatesOf(
      { ...LARGE, fates: FATES },
      (candidate) => eventsOf(candidate) === 308 || tells(candidate),
    );
    expect(plan.fates).toEqual([]);
    expect(plan.faults).toEqual([
      { id: 's1', atMs: 1, target: 'leader', action: { kind: 'isolate', way: 'in', forMs: 1 } },
      {
        ...{ id: 's2', atMs: 1, when: 'elected', target: 'leader' },
        action: { kind: 'kill', restartMs: 1 },
      },
    ]);
  });

  it.each([
    ['one event', 'e', 0],
    ['two events', 'b e', 1],
    ['three events', 'b e h', 2],
  ])('%s left -> only shorter stories are tried', async (_, left, most) => {
    const { all, plan } = await candidatesOf(LARGE, (candidate) => {
      return left.split(' ').every((id) => idsOf(candidate).includes(id));
    });
    expect(idsOf(plan)).toBe(left);
    const told = all.filter(({ faults }) => faults[0]?.id === 's1');
    expect(Math.max(0, ...told.map(eventsOf))).toBe(most);
  });
});
