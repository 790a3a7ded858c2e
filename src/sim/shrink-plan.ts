/**
 * What can be made less of a plan, one aspect at a time. A reduction gives candidates, the boldest
 * first; each of them is simpler than the plan that it was given, so that reducing comes to an end.
 * It treats conditions and the parameters of faults as plain values, whatever their names.
 */
import { slotsOf, type Slot } from '../base/member.js';
import { CALM, type Conditions, type LinkConditions } from './conditions.js';
import type { LinkFate } from './fates.js';
import { lower } from './lower.js';
import type { Reduction } from './shrink.js';
import type { SwarmFault, SwarmPlan } from './swarm.js';

/** In this order: what makes every later candidate cheaper to play comes first. */
export const REDUCTIONS: readonly Reduction<SwarmPlan>[] = [
  calmerConditions,
  fewerReplicas,
  fewerGaps,
  fewerMessages,
  earlierFaults,
  shorterPhase,
  simplerCluster,
  simplerFaults,
  weakerFaults,
  weakerFates,
];

function* calmerConditions(plan: SwarmPlan): Generator<SwarmPlan> {
  const { conditions } = plan;
  const withOnly = (change: Partial<Conditions>): SwarmPlan => {
    return { ...plan, conditions: { ...conditions, ...change } };
  };
  const keys = keysOf(CALM).filter((key) => !isSame(conditions[key], CALM[key]));
  if (keys.length > 1) yield { ...plan, conditions: CALM };
  for (const key of keys) yield withOnly({ [key]: CALM[key] });
  for (const key of ['peers', 'origin', 'control'] as const) {
    const link = conditions[key];
    const calm = CALM[key];
    for (const part of keysOf(calm)) {
      if (isSame(link[part], calm[part])) continue;
      const less = calmer(link, calm, part);
      if (less.delayMinUs <= less.delayMaxUs) yield withOnly({ [key]: less });
    }
  }
}

function calmer(
  link: LinkConditions,
  calm: LinkConditions,
  part: keyof LinkConditions,
): LinkConditions {
  return { ...link, [part]: calm[part] };
}

/** The last one first: the others then keep their names, and with them their draws. */
function* fewerReplicas(plan: SwarmPlan): Generator<SwarmPlan> {
  for (let at = plan.replicas - 1; at >= 0; at--) {
    const less = withoutReplica(plan, at);
    if (less !== null) yield less;
  }
}

/** Null: those left in the core would be no majority, and would owe nothing. */
export function withoutReplica(plan: SwarmPlan, gone: number): SwarmPlan | null {
  const replicas = plan.replicas - 1;
  const moved = (at: number): number => (at > gone ? at - 1 : at);
  const core = plan.core.filter((at) => at !== gone).map(moved);
  if (core.length * 2 <= replicas) return null;
  const faults = plan.faults.map((fault): SwarmFault => {
    const { target, action } = fault;
    const to = target === gone ? 'leader' : target;
    return { ...fault, target: typeof to === 'number' ? moved(to) : to, action: renamed(action) };
  });
  function renamed(action: SwarmFault['action']): SwarmFault['action'] {
    if (action.kind === 'partition') return { ...action, mask: withoutBit(action.mask, gone) };
    if (action.kind !== 'stepDown' || typeof action.to !== 'number') return action;
    return { ...action, to: action.to === gone ? 'best' : moved(action.to) };
  }
  const fates = renameLinks(plan.fates ?? [], slotsOf(plan.replicas), gone);
  return { ...plan, replicas, core, faults, fates };
}

function withoutBit(mask: number, bit: number): number {
  const below = (1 << bit) - 1;
  return (mask & below) | ((mask >> 1) & ~below);
}

/** Fates of links of the one that is gone go with it. */
function renameLinks(fates: readonly LinkFate[], slots: readonly Slot[], gone: number): LinkFate[] {
  const names = new Map(slots.map((slot, at) => [slot, slots[at > gone ? at - 1 : at]!]));
  return fates.flatMap((fate) => {
    const ends = fate.link.split(' to ');
    if (ends.includes(slots[gone]!)) return [];
    return [{ ...fate, link: ends.map((end) => names.get(end) ?? end).join(' to ') }];
  });
}

function* fewerGaps(plan: SwarmPlan): Generator<SwarmPlan> {
  const { origin } = plan;
  const { gaps } = origin;
  if (gaps.length > 1) yield { ...plan, origin: { ...origin, gaps: [] } };
  for (const gap of gaps) {
    yield { ...plan, origin: { ...origin, gaps: gaps.filter((other) => other !== gap) } };
  }
  for (const [at, gap] of gaps.entries()) {
    for (const count of lower(gap.count, 1)) {
      yield { ...plan, origin: { ...origin, gaps: gaps.with(at, { ...gap, count }) } };
    }
    for (const after of lower(gap.after, at === 0 ? 0 : gaps[at - 1]!.after + 1)) {
      yield { ...plan, origin: { ...origin, gaps: gaps.with(at, { ...gap, after }) } };
    }
  }
}

/** No fewer than a gap needs before it. */
function* fewerMessages(plan: SwarmPlan): Generator<SwarmPlan> {
  const { origin } = plan;
  const least = Math.max(1, origin.gaps.at(-1)?.after ?? 0);
  for (const messages of lower(origin.messages, least)) {
    yield { ...plan, origin: { ...origin, messages } };
  }
  for (const size of lower(origin.size, 0)) yield { ...plan, origin: { ...origin, size } };
}

/** One at a time, and never before the one that it follows. */
function* earlierFaults(plan: SwarmPlan): Generator<SwarmPlan> {
  for (const [at, fault] of plan.faults.entries()) {
    for (const atMs of lower(fault.atMs, plan.faults[at - 1]?.atMs ?? 1)) {
      yield { ...plan, faults: plan.faults.with(at, { ...fault, atMs }) };
    }
  }
}

/** Faults that would fall behind its end are kept out of it: leaving them out is another's job. */
function* shorterPhase(plan: SwarmPlan): Generator<SwarmPlan> {
  const lastMs = plan.faults.reduce((last, { atMs }) => Math.max(last, Math.ceil(atMs)), 0);
  for (const safetyMs of lower(plan.safetyMs, lastMs + 1)) yield { ...plan, safetyMs };
}

function* simplerCluster(plan: SwarmPlan): Generator<SwarmPlan> {
  const { tuning, load, sentinelAfterMs = 0, ...rest } = plan;
  const withLoad = load === undefined ? rest : { ...rest, load };
  if (tuning !== undefined) yield { ...withLoad, sentinelAfterMs };
  const withTuning = tuning === undefined ? rest : { ...rest, tuning };
  if (load !== undefined) yield { ...withTuning, sentinelAfterMs };
  if (sentinelAfterMs > 0) yield { ...plan, sentinelAfterMs: 0 };
  const everybody = Array.from({ length: plan.replicas }, (_, at) => at);
  if (plan.core.length < plan.replicas) yield { ...plan, core: everybody };
  if (plan.election !== 'both') return;
  yield { ...plan, election: 'timers' };
  yield { ...plan, election: 'conductor' };
}

function* simplerFaults(plan: SwarmPlan): Generator<SwarmPlan> {
  for (const [at, fault] of plan.faults.entries()) {
    for (const simpler of simplerThan(fault, plan)) {
      yield { ...plan, faults: plan.faults.with(at, simpler) };
    }
  }
}

/** A time instead of a moment, one member instead of all, one direction instead of both, a role. */
function* simplerThan(fault: SwarmFault, { replicas }: SwarmPlan): Generator<SwarmFault> {
  const { when, ...atOnce } = fault;
  const { target, action } = fault;
  if (when !== undefined) yield atOnce;
  if (action.kind === 'killAll') yield { ...fault, action: { ...action, kind: 'kill' } };
  if (action.kind === 'isolate' && action.way === 'both') {
    yield { ...fault, action: { ...action, way: 'in' } };
    yield { ...fault, action: { ...action, way: 'out' } };
  }
  if (action.kind === 'partition') {
    const { forMs } = action;
    for (let position = 0; position < replicas; position++) {
      if ((action.mask & (1 << position)) === 0) continue;
      yield { ...fault, target: position, action: { kind: 'isolate', way: 'both', forMs } };
    }
  }
  if (action.kind === 'stepDown' && action.to !== 'best') {
    yield { ...fault, action: { ...action, to: 'best' } };
  }
  if (target !== 'leader') yield { ...fault, target: 'leader' };
}

/** What is no measure of a fault's strength, but says whom or what it concerns. */
const NAMES: ReadonlySet<string> = new Set(['to', 'mask', 'shift', 'first', 'last']);

function* weakerFaults(plan: SwarmPlan): Generator<SwarmPlan> {
  for (const [at, fault] of plan.faults.entries()) {
    for (const [name, value] of Object.entries(fault.action)) {
      if (typeof value !== 'number' || NAMES.has(name)) continue;
      for (const less of lower(value, 1)) {
        const action = { ...fault.action, [name]: less };
        yield { ...plan, faults: plan.faults.with(at, { ...fault, action }) };
      }
    }
  }
}

function* weakerFates(plan: SwarmPlan): Generator<SwarmPlan> {
  const fates = plan.fates ?? [];
  for (const [at, fate] of fates.entries()) {
    for (const byUs of lower(fate.byUs, fate.fate === 'overtaken' ? 1 : 0)) {
      yield { ...plan, fates: fates.with(at, { ...fate, byUs }) };
    }
  }
}

function keysOf<T extends object>(value: T): (keyof T)[] {
  return Object.keys(value) as (keyof T)[];
}

export function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
