/** Shrinks a failing run by playing it: what comes out was played twice and failed alike. */
import type { Hasher } from '../base/hasher.js';
import type { SeedFailure } from '../verdict/sweep.js';
import { explicitPlan, failsAlike } from './explicit.js';
import { eventsOf, shrink, type ShrinkEnd } from './shrink.js';
import type { SwarmPlan } from './swarm.js';
import { runSwarm } from './swarm-run.js';

export interface ShrunkRun {
  readonly plan: SwarmPlan;
  /** Of the shrunk plan. */
  readonly failure: SeedFailure;
  /** Faults and fates, before and after. */
  readonly events: { readonly from: number; readonly to: number };
  readonly candidates: number;
  readonly end: ShrinkEnd;
}

export const SHRINK_CANDIDATES_MAX = 5_000;

/** Candidates are played for a quarter longer than what fails, and this: then they hold. */
const LONGER_MS = 100;

/**
 * Null: the plan does not fail.
 *
 * @param isOver  asked before each candidate; true ends early with the best plan so far
 */
export async function shrinkRun(
  plan: SwarmPlan,
  hasher: Hasher,
  isOver: () => boolean = () => false,
): Promise<ShrunkRun | null> {
  const { failure, simulatedMs } = await runSwarm(plan, hasher);
  if (failure === null) return null;
  const stated = await explicitPlan(plan, failure, hasher);
  const endMs = simulatedMs * 1.25 + LONGER_MS;
  const played = async (candidate: SwarmPlan): Promise<SeedFailure | null> => {
    return (await runSwarm(candidate, hasher, undefined, undefined, endMs)).failure;
  };
  const shrunk = await shrink(stated, {
    fails: async (candidate) => failsAlike(await played(candidate), failure),
    candidatesMax: SHRINK_CANDIDATES_MAX,
    isOver,
  });
  const last = (await runSwarm(shrunk.plan, hasher)).failure;
  // What failed while it was shrunk and now does not would be no replay of anything.
  const [least, found] = failsAlike(last, failure) ? [shrunk.plan, last!] : [stated, failure];
  const events = { from: eventsOf(stated), to: eventsOf(least) };
  const { candidates, end } = shrunk;
  return { plan: least, failure: found, events, candidates, end };
}
