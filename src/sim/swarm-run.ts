/**
 * Plays one drawn run: a phase in which anything may break, then the core is healed and owes that
 * it catches up within a stated virtual time. Invariants are checked all along; at the end the
 * copies of the core are judged against what the origin handed out. What comes of it is data.
 */
import { toErrorData } from '../base/errors.js';
import type { Hasher } from '../base/hasher.js';
import type { ClusterEvent } from '../scenario/driver.js';
import { copyReport } from '../verdict/copy.js';
import { judge } from '../verdict/judge.js';
import type { SeedFailure, SeedReport } from '../verdict/sweep.js';
import type { SwarmPlan } from './swarm.js';
import { SwarmFaults } from './swarm-faults.js';
import type { Taps } from './taps.js';
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
export function catchUpLimitMs({ timeScale, origin, safetyMs }: SwarmPlan): number {
  const left = origin.rate === null ? 0 : (origin.messages / origin.rate) * 1_000;
  return CATCH_UP_MS + CATCH_UP_UPSTREAM_MS * timeScale + safetyMs + left;
}

/** @param onEvent  told of every event as it comes */
export async function runSwarm(
  plan: SwarmPlan,
  hasher: Hasher,
  onEvent?: (event: ClusterEvent) => void,
  taps?: Taps,
): Promise<SwarmReport> {
  let failure: SeedFailure | null = null;
  const told = (event: ClusterEvent): void => {
    onEvent?.(event);
    if (event.kind !== 'violation') return;
    failure ??= { verdict: 'violated', property: event.property, text: event.text };
  };
  const { conditions, fates } = plan;
  const world = new SimWorld({ plan, conditions, hasher, onEvent: told, fates, taps });
  const faults = new SwarmFaults(world, told);
  const failed = (): SeedFailure | null => failure;
  try {
    failure = playPhases(plan, world, faults, failed) ?? failed();
    failure ??= await judgeCore(plan, world, hasher);
  } catch (error) {
    failure = { verdict: 'harness', property: 'harness', text: toErrorData(error).message };
  }
  const installed = Object.fromEntries(faults.installed);
  const { cells } = faults.coverage;
  return { seed: plan.seed, failure, simulatedMs: world.nowMs, cells, installed };
}

function playPhases(
  plan: SwarmPlan,
  world: SimWorld,
  faults: SwarmFaults,
  failed: () => SeedFailure | null,
): SeedFailure | null {
  world.origin.serve();
  faults.schedule(plan);
  while (world.nowMs < plan.safetyMs && failed() === null) world.run(STEP_MS);
  faults.heal(plan);
  const untilMs = world.nowMs + catchUpLimitMs(plan);
  while (!isCaughtUp(plan, world) && failed() === null) {
    if (world.nowMs >= untilMs) return stalled(plan, world);
    world.run(STEP_MS);
  }
  return null;
}

function isCaughtUp({ core }: SwarmPlan, { nodes, origin }: SimWorld): boolean {
  return core.every((at) => nodes[at]!.replica!.store.lastSeq >= origin.content.last);
}

function stalled(plan: SwarmPlan, world: SimWorld): SeedFailure {
  const stands = plan.core.map((at) => {
    const { slot, replica } = world.nodes[at]!;
    return `${slot} ${replica!.log.role} at ${replica!.store.lastSeq}`;
  });
  const leader = world.leader();
  const status = leader?.replica!.status().mirror ?? null;
  const mirror = status === null ? '' : `, mirror ${status.condition}, attempts ${status.attempts}`;
  const error = status?.error?.message;
  const within = `${Math.round(catchUpLimitMs(plan))} ms after healing`;
  const leads = `leads${mirror}, last error ${error ?? 'none'}`;
  const led = leader === null ? 'no leader' : `${leader.slot} ${leads}`;
  const last = world.origin.content.last;
  const text = `not at ${last} ${within}: ${stands.join(', ')}; ${led}`;
  return { verdict: 'stalled', property: 'catch-up', text };
}

async function judgeCore(
  { core }: SwarmPlan,
  { nodes, origin }: SimWorld,
  hasher: Hasher,
): Promise<SeedFailure | null> {
  const copies = core.map((at) => {
    const { slot, replica } = nodes[at]!;
    const { store } = replica!;
    const reader = {
      report: () => Promise.resolve(copyReport(store)),
      records: (range: { first: number; last: number }) =>
        Promise.resolve(store.partDigests(range)),
    };
    return { slot, reader };
  });
  const upTo = origin.content.last;
  const { differences } = await judge({ ledger: origin.ledger, copies, upTo, hasher });
  const [first] = differences;
  if (first === undefined) return null;
  const text = `${first.replica} at ${first.seq}: ${first.text}`;
  return { verdict: 'violated', property: `mirror: ${first.kind}`, text };
}
