import { faultCellOf } from '../../src/base/cells.js';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { runSeed } from '../../src/sim/seeds.js';
import { runSwarm } from '../../src/sim/swarm-run.js';
import { KINDS } from '../../src/sim/swarm-draws.js';
import { FOCUSES, LEANINGS, type SwarmFocus } from '../../src/sim/swarm-focus.js';
import { drawSwarm, type SwarmFault, type SwarmPlan } from '../../src/sim/swarm.js';
import { encodeEvent, bodyOf } from '../../src/verdict/events.js';
import { CALM } from '../../src/sim/conditions.js';
import { hasher } from './stage.js';

async function linesOf(plan: SwarmPlan): Promise<string[]> {
  const lines: string[] = [];
  await runSwarm(plan, hasher, (event) => {
    const body = bodyOf(event, new Map());
    if (body !== null) lines.push(encodeEvent(event.atMs, body));
  });
  return lines;
}

const kindOf = ({ action }: SwarmFault): SwarmFault['action']['kind'] => action.kind;

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

describe('sim: swarm: seeds', () => {
  it('100 seeds hold, and nearly every kind of fault falls among them', async () => {
    const failed: unknown[] = [];
    const kinds = new Set<string>();
    for (let seed = 1; seed <= 100; seed++) {
      const { failure, cells } = await runSeed({ kind: 'drawn' }, seed, hasher);
      if (failure !== null) failed.push({ seed, failure });
      for (const cell of Object.keys(cells)) kinds.add(faultCellOf(cell)?.kind ?? cell);
    }
    expect(failed).toEqual([]);
    expect(KINDS.filter((kind) => !kinds.has(kind))).toEqual(['recreate']);
  });

  it('same seed -> same plan, same events, byte for byte', async () => {
    for (const seed of [3, 17]) {
      expect(drawSwarm(seed)).toEqual(drawSwarm(seed));
      const lines = await linesOf(drawSwarm(seed));
      expect(lines.length).toBeGreaterThan(50);
      expect((await linesOf(drawSwarm(seed))).join('\n') === lines.join('\n')).toBe(true);
    }
    expect(drawSwarm(3)).not.toEqual(drawSwarm(4));
  });

  it('a focus -> its kinds of fault alone; none asked -> all of them come up', () => {
    const seeds = Array.from({ length: 60 }, (_, at) => at + 1);
    const strange = FOCUSES.flatMap((focus) => {
      const { chances } = LEANINGS[focus];
      const kinds = seeds.flatMap((seed) => drawSwarm(seed, { focus }).faults.map(kindOf));
      return kinds.filter((kind) => chances[kind] === undefined);
    });
    expect(strange).toEqual([]);
    const same = (focus: SwarmFocus) => (seed: number) =>
      isDeepStrictEqual(drawSwarm(seed, { focus }), drawSwarm(seed));
    const counts = FOCUSES.map((focus) => seeds.filter(same(focus)).length);
    expect([counts.every((count) => count >= 5), counts.reduce((a, b) => a + b)]).toEqual([
      true,
      seeds.length,
    ]);
  });

  it('one fault less -> nothing before it changes', async () => {
    const seed = 17;
    const plan = drawSwarm(seed);
    const last = plan.faults.at(-1)!;
    const before = (lines: string[]): string[] =>
      lines.filter((line) => (JSON.parse(line) as { at: number }).at < last.atMs);
    const one = before(await linesOf(plan));
    const other = before(await linesOf({ ...plan, faults: plan.faults.slice(0, -1) }));
    expect(one.length).toBeGreaterThan(20);
    expect(other).toEqual(one);
  });
});

describe('sim: swarm: found', () => {
  it('a cluster of one restarts: its first opening is newer than any before the kill', async () => {
    const faults = [100, 250, 400].map((atMs) => {
      return { atMs, target: 0, action: { kind: 'kill', restartMs: 20 } } as const;
    });
    const openings: string[] = [];
    const report = await runSwarm(planOf({ replicas: 1, faults }), hasher, (event) => {
      if (event.kind !== 'replica' || event.event.kind !== 'opening') return;
      const { state, opening } = event.event;
      if (state === 'opened') openings.push(`${opening.term} ${opening.generation}`);
    });
    expect(report.failure).toBeNull();
    expect(openings).toEqual(['1 1', '2 1', '3 1', '4 1']);
  });
});

describe('sim: swarm: what a run may survive', () => {
  it('all members killed at once come back from their disks with nothing lost', async () => {
    const faults = [{ atMs: 300, target: 0, action: { kind: 'killAll', restartMs: 50 } }] as const;
    const report = await runSwarm(planOf({ faults }), hasher);
    expect(report.failure).toBeNull();
    expect(report.installed).toEqual({ killAll: 1 });
  });

  it('a core without an outsider that is still heard catches up', async () => {
    const report = await runSwarm(planOf({ core: [1, 2] }), hasher);
    expect(report.failure).toBeNull();
  });

  it('a core without a majority stalls, and is excused', async () => {
    const plan = planOf({ core: [1], safetyMs: 200 });
    const { failure, cells } = await runSwarm(plan, hasher);
    expect(failure).toBeNull();
    expect(cells).toEqual({ 'excused: no quorum reachable': 1 });
  });
});
