/**
 * From a drawn run to one that states its events: what became of single messages is written down
 * while it is played, and the links then draw no losses any more. Delays, writes and clocks stay
 * drawn, each by its own label, so that they do not move when an event is left out.
 */
import type { Hasher } from '../base/hasher.js';
import type { SeedFailure } from '../verdict/sweep.js';
import type { Conditions, LinkConditions } from './conditions.js';
import type { LinkFate } from './fates.js';
import { faultId, type SwarmPlan } from './swarm.js';
import { runSwarm } from './swarm-run.js';

/**
 * The same run with every fault named and, if it still comes to the same, every fate stated.
 *
 * @param failure  what the plan comes to
 */
export async function explicitPlan(
  plan: SwarmPlan,
  failure: SeedFailure,
  hasher: Hasher,
): Promise<SwarmPlan> {
  const named = {
    ...plan,
    faults: plan.faults.map((fault, at) => ({ id: faultId(fault, at), ...fault })),
  };
  const fates: LinkFate[] = [];
  await runSwarm(named, hasher, undefined, { onFate: (fate) => fates.push(fate) });
  const stated = { ...named, fates, conditions: faithful(plan.conditions) };
  const again = await runSwarm(stated, hasher);
  return again.failure?.text === failure.text ? stated : named;
}

/** The verdict and the property are the same; of a fault of lockstep itself also its text. */
export function failsAlike(failure: SeedFailure | null, expected: SeedFailure): boolean {
  if (failure === null) return false;
  const { verdict, property, text } = failure;
  if (verdict !== expected.verdict || property !== expected.property) return false;
  return verdict !== 'harness' || text === expected.text;
}

function faithful(conditions: Conditions): Conditions {
  const { peers, origin, control } = conditions;
  return {
    ...conditions,
    peers: lossless(peers),
    origin: lossless(origin),
    control: lossless(control),
  };
}

function lossless(link: LinkConditions): LinkConditions {
  return { ...link, lossPerMille: 0, duplicatePerMille: 0, reorderPerMille: 0, reorderMaxUs: 0 };
}
