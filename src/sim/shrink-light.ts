/**
 * Less to play, early on: what makes a candidate slow is its load and its members, so these are
 * taken away in large steps before events are, under several seeds each.
 */
import { CALM } from './conditions.js';
import { reseeded } from './shrink-events.js';
import { isSame, withoutReplica } from './shrink-plan.js';
import type { Attempt } from './shrink.js';
import type { SwarmPlan } from './swarm.js';

const SEEDS = 6;
const REPLICAS_ENOUGH = 3;
const MESSAGES_ENOUGH = 100;

export async function lighterToPlay(
  current: () => SwarmPlan,
  attempt: Attempt<SwarmPlan>,
): Promise<void> {
  for (const lighter of [withoutGaps, withFewerMessages, withFewerReplicas]) {
    while (await takes(lighter(current()), attempt));
  }
}

/** Once few events are left: what shows on rough links may show on calm ones under other draws. */
export async function calmToPlay(
  current: () => SwarmPlan,
  attempt: Attempt<SwarmPlan>,
): Promise<void> {
  await takes(inCalm(current()), attempt);
}

async function takes(
  candidates: Iterable<SwarmPlan>,
  attempt: Attempt<SwarmPlan>,
): Promise<boolean> {
  for (const candidate of candidates) {
    for (let nth = 0; nth < SEEDS; nth++) {
      if (await attempt(reseeded(candidate, nth))) return true;
    }
  }
  return false;
}

function* inCalm(plan: SwarmPlan): Generator<SwarmPlan> {
  if (!isSame(plan.conditions, CALM)) yield { ...plan, conditions: CALM };
}

function* withoutGaps(plan: SwarmPlan): Generator<SwarmPlan> {
  if (plan.origin.gaps.length > 0) yield { ...plan, origin: { ...plan.origin, gaps: [] } };
}

/** No fewer than a gap needs before it. */
function* withFewerMessages({ origin, ...plan }: SwarmPlan): Generator<SwarmPlan> {
  const least = Math.max(MESSAGES_ENOUGH, origin.gaps.at(-1)?.after ?? 0);
  const messages = Math.max(least, Math.floor(origin.messages / 4));
  if (messages < origin.messages) yield { ...plan, origin: { ...origin, messages } };
}

function* withFewerReplicas(plan: SwarmPlan): Generator<SwarmPlan> {
  if (plan.replicas <= REPLICAS_ENOUGH) return;
  for (let at = plan.replicas - 1; at >= 0; at--) {
    const less = withoutReplica(plan, at);
    if (less !== null) yield less;
  }
}
