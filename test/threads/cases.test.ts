/**
 * The scenario files on threads: each ends exactly as it says, and every one of its faults fell.
 * Those of an unpaced load take no time and are played always; with LOCKSTEP_RUNS, as in
 * `npm run faults`, all of them are.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseScenario } from '../../src/scenario/parse.js';
import type { FaultAction, Plan } from '../../src/scenario/types.js';
import { threadsDriver } from '../../src/threads/driver.js';
import { playPlanUntilFallen } from './stage.js';

const EVERY = process.env['LOCKSTEP_RUNS'] !== undefined;
const read = (path: string): string => readFileSync(path, 'utf8');

const plans = readdirSync('scenarios')
  .filter((file) => file.endsWith('.yaml'))
  .map((file) => ({ file, plan: parseScenario(read(`scenarios/${file}`), file, read) }))
  .filter(({ plan }) => plan.faults.every(({ action }) => isPlayable(action, plan)))
  .filter(({ plan }) => EVERY || plan.origin.rate === null);

function isPlayable(action: FaultAction, plan: Plan): boolean {
  return threadsDriver.cannot(action, plan) === null;
}

describe('threads: scenario files', () => {
  it('there are some with faults and some without', () => {
    expect(new Set(plans.map(({ plan }) => plan.faults.length > 0))).toEqual(
      new Set([true, false]),
    );
  });

  it.each(plans)('$file', async ({ plan }) => {
    const { summary, reasons } = await playPlanUntilFallen(plan);
    expect(reasons).toEqual([]);
    expect(summary.verdict).toBe('held');
    expect(summary.faults.filter(({ status }) => status !== 'installed')).toEqual([]);
    expect(summary.replicas.length).toBeGreaterThanOrEqual((plan.replicas + 1) / 2);
    for (const { id: _id, digest: _digest, ...state } of summary.replicas) {
      expect(state).toEqual(plan.expect.state);
    }
  });
});
