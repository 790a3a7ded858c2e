/**
 * Plays one drawn run: a phase in which anything may break, then the core is healed and owes that
 * it takes in what is published from then on, within a stated virtual time. Invariants are checked
 * all along; at the end every copy is judged against what the origin handed out, those outside of
 * the core up to where they are. What comes of it is data.
 */
import type { Hasher } from '../base/hasher.js';
import type { ClusterEvent } from '../scenario/driver.js';
import { copyReport } from '../verdict/copy.js';
import { judge } from '../verdict/judge.js';
import type { SeedFailure, SeedReport } from '../verdict/sweep.js';
import type { Excuse } from './excuse.js';
import type { SimNode } from './node.js';
import { SwarmFaults } from './swarm-faults.js';
import { SwarmOutcome } from './swarm-outcome.js';
import type { SwarmPlan } from './swarm-plan.js';
import type { Taps } from './taps.js';
import { failureOf } from './thrown.js';
import { SimWorld } from './world.js';

export interface SwarmReport extends SeedReport {
  /** Faults that fell, by kind. */
  readonly installed: Readonly<Record<string, number>>;
}

const STEP_MS = 10;
/** Of elections, and of the mirror's longest waits: unanswered request, then backoff, twice. */
const CATCH_UP_MS = 3_000;
const CATCH_UP_UPSTREAM_MS = 320_000;

/** Milliseconds that a healed core may take until it holds everything. */
export function catchUpLimitMs(plan: SwarmPlan): number {
  const { timeScale, origin, safetyMs, sentinelAfterMs = 0 } = plan;
  const left = origin.rate === null ? 0 : (origin.messages / origin.rate) * 1_000;
  return CATCH_UP_MS + CATCH_UP_UPSTREAM_MS * timeScale + safetyMs + sentinelAfterMs + left;
}

/**
 * @param onEvent  told of every event as it comes
 * @param endMs  virtual time at which it ends early: what has not failed by then has not failed
 */
export async function runSwarm(
  plan: SwarmPlan,
  hasher: Hasher,
  onEvent?: (event: ClusterEvent) => void,
  taps?: Taps,
  endMs = Number.POSITIVE_INFINITY,
): Promise<SwarmReport> {
  let failure: SeedFailure | null = null;
  let excuse: Excuse | null = null;
  const told = (event: ClusterEvent): void => {
    onEvent?.(event);
    outcome.event(event);
    if (event.kind !== 'violation') return;
    failure ??= { verdict: 'violated', property: event.property, text: event.text };
  };
  const { conditions, fates } = plan;
  const world = new SimWorld({ plan, conditions, hasher, onEvent: told, fates, taps });
  const faults = new SwarmFaults(world, plan, told);
  const outcome = new SwarmOutcome(plan, world, faults);
  const failed = (): SeedFailure | null => failure;
  try {
    const stall = playPhases({ plan, world, faults, outcome, failed, endMs });
    excuse = stall === null ? null : outcome.excuse();
    failure = failed() ?? (excuse === null ? stall : null);
    if (failure === null && world.nowMs < endMs) {
      if (plan.beyondQuorum !== true && stall === null) failure = outcome.lagLeft();
      failure ??= await judgeCopies(plan, world, { outcome, hasher, excused: excuse !== null });
    }
  } catch (error) {
    failure = failed() ?? failureOf(error);
  }
  count(world, faults, excuse);
  return {
    seed: plan.seed,
    failure,
    simulatedMs: world.nowMs,
    cells: faults.coverage.cells,
    installed: Object.fromEntries(faults.installed),
  };
}

/** What else of a run is worth a cell: writes that a crash tore, and what excused a stall. */
function count({ nodes }: SimWorld, { coverage }: SwarmFaults, excuse: Excuse | null): void {
  if (nodes.some(({ disk }) => disk.torn > 0)) coverage.met('torn write dropped');
  if (excuse !== null) coverage.met(`excused: ${excuse}`);
}

interface Played {
  readonly plan: SwarmPlan;
  readonly world: SimWorld;
  readonly faults: SwarmFaults;
  readonly outcome: SwarmOutcome;
  readonly failed: () => SeedFailure | null;
  readonly endMs: number;
}

/** What is not caught up in time, excused or not; null: everything that was owed. */
function playPhases({ plan, world, faults, outcome, ...of }: Played): SeedFailure | null {
  const isOver = (): boolean => of.failed() !== null || world.nowMs >= of.endMs;
  world.origin.serve();
  faults.schedule();
  while (world.nowMs < plan.safetyMs && !isOver()) world.run(STEP_MS);
  if (world.nowMs >= of.endMs) return null;
  if (plan.beyondQuorum === true) {
    faults.end();
    return null;
  }
  faults.heal();
  world.agenda.after((plan.sentinelAfterMs ?? 0) * 1_000, () => {
    world.origin.publishAll();
  });
  const limitMs = catchUpLimitMs(plan);
  const untilMs = world.nowMs + limitMs;
  while (!outcome.isDone() && !isOver()) {
    if (world.nowMs >= untilMs) return outcome.stalled(limitMs);
    world.run(STEP_MS);
  }
  return null;
}

/** The core up to where it had to come; then all that live, up to where they are. */
async function judgeCopies(
  { core, beyondQuorum }: SwarmPlan,
  { nodes, origin }: SimWorld,
  of: { readonly outcome: SwarmOutcome; readonly hasher: Hasher; readonly excused: boolean },
): Promise<SeedFailure | null> {
  const { hasher, outcome, excused } = of;
  const living = nodes.filter(({ isAlive }) => isAlive);
  const inCore = living.filter((node) => core.includes(nodes.indexOf(node)));
  const owes = beyondQuorum !== true && !excused;
  const tasks = [
    ...(owes ? [{ copies: inCore.map(readerOf), upTo: outcome.owedSeq }] : []),
    ...(owes && inCore.length === living.length ? [] : [{ copies: living.map(readerOf), upTo: 0 }]),
  ];
  for (const task of tasks) {
    const { differences } = await judge({ ledger: origin.ledger, hasher, ...task });
    const [first] = differences;
    if (first === undefined) continue;
    const text = `${first.replica} at ${first.seq}: ${first.text}`;
    return { verdict: 'violated', property: `mirror: ${first.kind}`, text };
  }
  return null;
}

function readerOf({ slot, replica }: SimNode): Parameters<typeof judge>[0]['copies'][number] {
  const { store } = replica!;
  return {
    slot,
    reader: {
      report: () => Promise.resolve(copyReport(store)),
      records: (range) => Promise.resolve(store.partDigests(range)),
    },
  };
}
