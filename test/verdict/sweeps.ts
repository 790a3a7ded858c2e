/** What sweeps are asked and come to, for the suites that count, merge and print them. */
import { SweepTally, type SweepAsked, type SweepSummary } from '../../src/verdict/sweep.js';

export const ASKED: SweepAsked = {
  version: '1.2.3',
  scenario: null,
  conditions: 'drawn',
  beyondQuorum: false,
  focus: null,
  checkDeterminism: false,
  first: 1,
  seeds: 3,
  untilPlateau: null,
  timeLimitMs: null,
  mustHit: [],
  shard: null,
};

/** Seeds 1 to 3 in 2 s, the second one violated. */
export function summaryOf(change: Partial<SweepAsked> = {}): SweepSummary {
  const tally = new SweepTally((seed) => `lockstep sweep --seeds 1 --seed ${seed}`);
  const failure = { verdict: 'violated', property: 'log matching', text: 'r1 <&> r2' } as const;
  tally.add({ seed: 1, failure: null, simulatedMs: 1_000, cells: { 'leader:idle:kill': 2 } });
  tally.add({ seed: 2, failure, simulatedMs: 2_500, cells: { 'leader:idle:kill': 1 } });
  tally.add({ seed: 3, failure: null, simulatedMs: 500, cells: { 'follower:idle:freeze': 1 } });
  return tally.summary(2_000, 'seeds', { ...ASKED, ...change });
}
