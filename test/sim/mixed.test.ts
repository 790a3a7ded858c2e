/** The same drawn mixtures as on threads, in virtual time: held, and the same twice. */
import { describe, expect, it } from 'vitest';
import { loadHasher } from '../../src/base/hasher.js';
import { planScenario } from '../../src/scenario/parse.js';
import { play, type PlayResult } from '../../src/scenario/play.js';
import { simDriver } from '../../src/sim/driver.js';
import { DRAWN_KINDS, mixedScenario } from '../scenario/mixed.js';

const hasher = await loadHasher();
const SEEDS = 24;

function playSeed(seed: number): Promise<PlayResult> {
  const plan = planScenario(mixedScenario(seed), 'mixed', () => '');
  return play(plan, { driver: simDriver, hasher, replay: 'lockstep run' });
}

describe('sim: mixed faults', () => {
  it('held, seed after seed; every kind strikes', { timeout: 120_000 }, async () => {
    const struck = new Set<string>();
    for (let seed = 1; seed <= SEEDS; seed++) {
      const { summary, reasons } = await playSeed(seed);
      expect({ seed, reasons }).toEqual({ seed, reasons: [] });
      for (const { kind, status } of summary.faults) if (status === 'installed') struck.add(kind);
    }
    expect([...struck].sort()).toEqual([...DRAWN_KINDS].sort());
  });

  it('the same seed gives the same summary', async () => {
    const [one, other] = [await playSeed(3), await playSeed(3)];
    expect(one.summary).toEqual(other.summary);
  });
});
