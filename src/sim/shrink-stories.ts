/**
 * A plain story in place of many events: one fault of whoever leads, or one and then one of the
 * leader after it. What takes twenty late messages in a drawn run is often what a leader that is
 * cut off for a while does to a cluster as well, and leaving out alone never comes from the one to
 * the other.
 */
import { eventsOf, reseeded } from './shrink-events.js';
import type { Attempt } from './shrink.js';
import type { SwarmAction, SwarmFault, SwarmPlan } from './swarm.js';

/** Longer than an election takes by default, so that another one leads meanwhile. */
const WHILE_MS = 450;
const RESTART_MS = 100;
/** What drawn runs take for a slow disk, in the middle. */
const SLOW_US = 20_000;

/** Of one story: where its faults fall depends on the draws. */
const SEEDS_OF_ONE = 3;
const SEEDS_OF_TWO = 2;

const CUT_OFF: SwarmAction = { kind: 'isolate', way: 'both', forMs: WHILE_MS };
const UNHEARD: SwarmAction = { kind: 'isolate', way: 'out', forMs: WHILE_MS };
const CLOGGED: SwarmAction = { kind: 'clog', way: 'both', forMs: WHILE_MS };
const FROZEN: SwarmAction = { kind: 'freeze', forMs: WHILE_MS };
const KILLED: SwarmAction = { kind: 'kill', restartMs: RESTART_MS };
const FLAP: SwarmAction = { kind: 'flap' };
const STEP_DOWN: SwarmAction = { kind: 'stepDown', to: 'best' };

const ALONE: readonly SwarmAction[] = [
  ...[CUT_OFF, UNHEARD, CLOGGED, FROZEN, KILLED, FLAP, STEP_DOWN],
  { kind: 'isolate', way: 'in', forMs: WHILE_MS },
  { kind: 'slowDisk', writeUs: SLOW_US, forMs: WHILE_MS },
  { kind: 'echo', times: 20, afterMs: 50 },
  { kind: 'dropConsumer' },
  { kind: 'repeatDeliveries', times: 5 },
  { kind: 'loseDeliveries', times: 5 },
];

const FIRST: readonly SwarmAction[] = [CUT_OFF, UNHEARD, CLOGGED, FROZEN, KILLED];
const SECOND: readonly SwarmAction[] = [CUT_OFF, KILLED, FLAP, STEP_DOWN];

/** As long as there is more than such a story has. */
export async function plainStories(
  current: () => SwarmPlan,
  attempt: Attempt<SwarmPlan>,
): Promise<void> {
  const plan = current();
  const stories = [
    ...storiesOfOne(plan).map((faults) => ({ faults, seeds: SEEDS_OF_ONE })),
    ...storiesOfTwo(plan).map((faults) => ({ faults, seeds: SEEDS_OF_TWO })),
  ];
  for (const { faults, seeds } of stories) {
    if (eventsOf(plan) <= faults.length) return;
    const told = { ...plan, faults, fates: [] };
    for (let nth = 0; nth < seeds; nth++) if (await attempt(reseeded(told, nth))) return;
  }
}

/** Early, in the middle and late in the first phase. */
function storiesOfOne({ safetyMs }: SwarmPlan): SwarmFault[][] {
  const times = [1, 2, 3].map((quarters) => Math.floor((safetyMs * quarters) / 4));
  return ALONE.flatMap((action) => times.map((atMs) => [strike('s1', atMs, action)]));
}

/** The second falls on whoever is elected because of the first, or when the first is over. */
function storiesOfTwo({ safetyMs }: SwarmPlan): SwarmFault[][] {
  const atMs = Math.floor(safetyMs / 4);
  return FIRST.flatMap((action) => {
    const first = strike('s1', atMs, action);
    return SECOND.flatMap((next): SwarmFault[][] => [
      [first, { ...strike('s2', atMs + 1, next), when: 'elected' }],
      [first, strike('s2', Math.min(atMs + WHILE_MS, safetyMs), next)],
    ]);
  });
}

function strike(id: string, atMs: number, action: SwarmAction): SwarmFault {
  return { id, atMs, target: 'leader', action };
}
