/**
 * Whatever faults a scenario has, and whenever they are to strike: each ends as installed, skipped,
 * indeterminate or uncovered, with a reason when it did not happen; what lasts is healed in its
 * time; and a demanded kind that did not happen makes the run uncovered, exit 4.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPrng } from '../../src/base/prng.js';
import { durationMs, restartMsOf } from '../../src/scenario/budget.js';
import { FAULT_KINDS } from '../../src/scenario/schema.js';
import type { FaultKind, FaultPlan } from '../../src/scenario/types.js';
import { EXIT } from '../../src/verdict/types.js';
import { drawFault } from '../scenario/mixed.js';
import { planOf, playOnSim, type Played } from './stage.js';

const REPLICAS = 5;

/** Some come, some may, some cannot. */
const trigger = fc.oneof(
  fc.integer({ min: 0, max: 80 }).map((ms) => ({ at: `${ms}ms` })),
  fc.integer({ min: 1, max: 400 }).map((applied) => ({ when: { applied }, within: '300ms' })),
  fc.integer({ min: 1, max: 40 }).map((skipped) => ({ when: { skipped }, within: '300ms' })),
  fc.integer({ min: 1, max: REPLICAS }).map((on) => ({
    when: { appended: { on, of: REPLICAS } },
    within: '300ms',
  })),
  fc.constantFrom('noop', 'snapshot').map((phase) => ({ when: { phase }, within: '300ms' })),
  fc.integer({ min: 1, max: 3 }).map((term) => ({ when: { term }, within: '300ms' })),
);

/** What takes the origin's name ends what there is to mirror: it has a test of its own. */
const kinds = FAULT_KINDS.filter((kind) => kind !== 'originRecreate');

const fault = fc.record({
  kind: fc.constantFrom(...kinds),
  seed: fc.nat(1_000),
  trigger,
});

function played(faults: readonly object[], covered: readonly FaultKind[]): Promise<Played> {
  const gaps = [{ after: 100, count: 40 }];
  return playOnSim(
    planOf({
      replicas: REPLICAS,
      origin: { synthetic: { messages: 300, size: 32, rate: 3_000, gaps } },
      faults,
      expect: { covered, stallAtMost: '20s' },
    }),
  );
}

/** How often a fault was told to be installed and to be healed, and how long that took. */
function course({ events }: Played, { id }: FaultPlan): { installed: number; lasted: number[] } {
  const told = events.filter((event) => event.kind === 'fault').filter((event) => event.id === id);
  const installed = told.filter(({ state }) => state === 'installed');
  const healed = told.filter(({ state }) => state === 'healed');
  return {
    installed: installed.length,
    lasted: healed.map(({ atMs }) => Math.round(atMs - installed[0]!.atMs)),
  };
}

/** Of a fault that is in force for a known time; of one that waits to be met it is at least that. */
function lastsMs({ action }: FaultPlan): number {
  return durationMs(action) + (restartMsOf(action) ?? 0);
}

describe('sim: faults: however they come', () => {
  it('each ends in a known way, and what is demanded decides the verdict', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fault, { minLength: 1, maxLength: 4 }), async (drawn) => {
        const faults = drawn.map(({ kind, seed, trigger: when }) => ({
          ...drawFault(kind, createPrng(seed)),
          ...when,
        }));
        const demanded = [...new Set(drawn.map(({ kind }) => kind))];
        const plan = planOfOrNull(faults);
        fc.pre(plan !== null);
        const run = await played(faults, demanded);
        const { summary, reasons } = run;
        expect(reasons.filter(({ verdict }) => verdict !== 'uncovered')).toEqual([]);

        for (const { status, reason } of summary.faults) {
          expect(['installed', 'skipped', 'indeterminate', 'uncovered']).toContain(status);
          expect(reason === undefined).toBe(status === 'installed');
        }
        for (const [at, each] of plan.entries()) {
          const { installed, lasted } = course(run, each);
          const { status } = summary.faults[at]!;
          if (status === 'installed' || status === 'indeterminate') expect(installed).toBe(1);
          if (status === 'skipped') expect(installed).toBe(0);
          expect(lasted.length).toBeLessThanOrEqual(lastsMs(each) > 0 ? 1 : 0);
          for (const ms of lasted) expect(ms).toBeGreaterThanOrEqual(Math.floor(lastsMs(each)));
        }
        const happened = new Set(
          summary.faults.filter(({ status }) => status === 'installed').map(({ kind }) => kind),
        );
        const missing = demanded.filter((kind) => !happened.has(kind));
        expect(summary.verdict).toBe(missing.length === 0 ? 'held' : 'uncovered');
        expect(EXIT[summary.verdict]).toBe(missing.length === 0 ? 0 : 4);
      }),
      { numRuns: 25 },
    );
  });
});

function planOfOrNull(faults: readonly object[]): readonly FaultPlan[] | null {
  try {
    return planOf({ replicas: REPLICAS, origin: { synthetic: { messages: 300 } }, faults }).faults;
  } catch {
    // More than the cluster tolerates, whatever happens: refused before anything is started.
    return null;
  }
}
