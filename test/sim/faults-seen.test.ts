import { describe, expect, it } from 'vitest';
import { CALM } from '../../src/sim/conditions.js';
import { runSwarm } from '../../src/sim/swarm-run.js';
import type { SwarmAction, SwarmPlan } from '../../src/sim/swarm.js';
import { hasher } from './stage.js';

const FROM_MS = 300;
const FOR_MS = 200;

function planWith(action: SwarmAction): SwarmPlan {
  return {
    seed: 1,
    replicas: 3,
    election: 'both',
    skip: 'entries',
    timeScale: 0.05,
    origin: { kind: 'synthetic', messages: 500, size: 32, rate: 500, gaps: [] },
    conditions: CALM,
    faults: [{ atMs: FROM_MS, target: 'leader', action }],
    safetyMs: 900,
    core: [0, 1, 2],
  };
}

describe('sim: faults: what is told to have fallen', () => {
  it.each([
    { kind: 'isolate', way: 'both', forMs: FOR_MS },
    { kind: 'isolate', way: 'in', forMs: FOR_MS },
    { kind: 'isolate', way: 'out', forMs: FOR_MS },
    { kind: 'partition', mask: 1, way: 'both', forMs: FOR_MS },
    { kind: 'cutOrigin', forMs: FOR_MS },
  ] as const)(
    '$kind $way -> is seen in the world: messages meet the cut, then no more',
    async (action) => {
      const cutAt: number[] = [];
      const { failure, installed } = await runSwarm(planWith(action), hasher, undefined, {
        onCrossing: ({ atMs, became }) => {
          if (became === 'cut') cutAt.push(atMs);
        },
      });
      expect(failure).toBeNull();
      expect(installed).toEqual({ [action.kind]: 1 });
      expect(cutAt.length).toBeGreaterThan(2);
      expect(cutAt[0]).toBeGreaterThanOrEqual(FROM_MS);
      expect(cutAt.at(-1)).toBeLessThanOrEqual(FROM_MS + FOR_MS);
    },
  );
});
