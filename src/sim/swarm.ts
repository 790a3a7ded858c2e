/**
 * A whole run drawn from one seed: size of the cluster, load and gaps, encoding of skips, links,
 * disks, clocks and a list of faults. Each draw has its own label, so that one draw more or less
 * does not move the others. Which kinds of fault may come is drawn too (swarm testing: Groce et
 * al., ISSTA 2012): runs without a kind reach states that it would have hidden.
 */
import { createPrng, type OnDraw, type Prng } from '../base/prng.js';
import type { FaultAction, SyntheticOriginPlan } from '../scenario/types.js';
import { CALM, type Conditions, type LinkConditions } from './conditions.js';
import type { LinkFate } from './fates.js';
import type { WorldPlan } from './node.js';

/** Who is hit: whoever leads when it falls, or the member at this position. */
export type SwarmTarget = 'leader' | number;

export type SwarmAction =
  | Extract<FaultAction, { kind: 'failPropose' | 'dropConsumer' }>
  | { readonly kind: 'stepDown'; readonly to: 'best' | number | null }
  | { readonly kind: 'freeze'; readonly forMs: number }
  /** Comes back from its disk after this long. */
  | { readonly kind: 'kill'; readonly restartMs: number }
  /** Every member at once. */
  | { readonly kind: 'killAll'; readonly restartMs: number }
  /** The disk refuses writes from here on; the member is killed later and comes back. */
  | { readonly kind: 'failWrite'; readonly restartMs: number }
  /** Cut off from all others: both ways, or in one direction only. */
  | { readonly kind: 'isolate'; readonly way: 'both' | 'in' | 'out'; readonly forMs: number }
  /** The members in the mask on one side, the others on the other. */
  | { readonly kind: 'partition'; readonly mask: number; readonly forMs: number }
  | { readonly kind: 'cutOrigin'; readonly forMs: number }
  | { readonly kind: 'refuseOpening'; readonly times: number }
  | { readonly kind: 'loseDeliveries'; readonly times: number }
  | { readonly kind: 'repeatDeliveries'; readonly times: number }
  | { readonly kind: 'stallOrigin'; readonly forMs: number };

export type SwarmKind = SwarmAction['kind'];

export interface SwarmFault {
  /** How a replay file calls it; not given: `f` and its position from 1. */
  readonly id?: string;
  /** Milliseconds since the start. */
  readonly atMs: number;
  readonly target: SwarmTarget;
  readonly action: SwarmAction;
}

/** What events and files call a fault. @param at  its position in the plan */
export function faultId({ id }: SwarmFault, at: number): string {
  return id ?? `f${at + 1}`;
}

export interface SwarmPlan extends WorldPlan {
  readonly origin: SyntheticOriginPlan;
  readonly conditions: Conditions;
  /** Rising by time. */
  readonly faults: readonly SwarmFault[];
  /** What becomes of single messages until the core is healed, beside what links draw. */
  readonly fates?: readonly LinkFate[];
  /** How long anything may break. */
  readonly safetyMs: number;
  /** After it: positions that are healed and owe progress; the others stay cut off. */
  readonly core: readonly number[];
}

const KINDS: readonly SwarmKind[] = [
  'stepDown',
  'kill',
  'killAll',
  'freeze',
  'failWrite',
  'isolate',
  'partition',
  'failPropose',
  'dropConsumer',
  'cutOrigin',
  'refuseOpening',
  'loseDeliveries',
  'repeatDeliveries',
  'stallOrigin',
];
const SAFETY_MS_MIN = 500;
const SAFETY_MS_MAX = 3_000;
const FAULTS_MAX = 10;
const GAP_COUNTS = [1, 7, 300, 9_999, 10_000, 10_001, 20_000, 25_000];

export function drawSwarm(seed: number, onDraw?: OnDraw): SwarmPlan {
  const prng = createPrng(seed, onDraw).fork('swarm');
  const replicas = pick(prng, 'replicas', [1, 2, 3, 3, 3, 3, 4, 5, 5]);
  const safetyMs = prng.between('safety', SAFETY_MS_MIN, SAFETY_MS_MAX);
  return {
    seed,
    replicas,
    election: pick(prng, 'election', ['both', 'both', 'timers', 'conductor']),
    skip: pick(prng, 'skip', ['entries', 'range']),
    timeScale: pick(prng, 'time scale', [0.01, 0.05]),
    origin: drawOrigin(prng.fork('origin'), safetyMs),
    conditions: drawConditions(prng.fork('conditions')),
    faults: drawFaults(prng.fork('faults'), replicas, safetyMs),
    safetyMs,
    core: drawCore(prng.fork('core'), replicas),
  };
}

function drawOrigin(prng: Prng, safetyMs: number): SyntheticOriginPlan {
  const messages = prng.between('messages', 20, 2_000);
  const gaps: { after: number; count: number }[] = [];
  const wanted = prng.below('gaps', 4);
  let after = 0;
  for (let gap = 0; gap < wanted; gap++) {
    after += prng.between('after', gap === 0 ? 0 : 1, Math.max(1, Math.floor(messages / 3)));
    if (after > messages) break;
    gaps.push({ after, count: pick(prng, 'count', GAP_COUNTS) });
  }
  // Most runs deliver over the whole phase, so that faults fall into a load.
  const paced = Math.max(1, Math.floor((messages * 1_100) / safetyMs));
  const rate = prng.chance('flood', 1, 5) ? null : paced;
  return { kind: 'synthetic', messages, size: prng.between('size', 0, 256), rate, gaps };
}

export function drawConditions(prng: Prng): Conditions {
  return {
    peers: drawLink(prng.fork('peers')),
    origin: drawLink(prng.fork('origin')),
    control: drawLink(prng.fork('control')),
    writeMinUs: 10,
    writeMaxUs: pick(prng, 'write', [50, 500, 5_000, 20_000]),
    turnUs: pick(prng, 'turn', [5, 20, 200]),
    driftPerMille: pick(prng, 'drift', [0, 0, 20, 100]),
  };
}

function drawLink(prng: Prng): LinkConditions {
  const delayMinUs = pick(prng, 'delay', [20, 100, 1_000]);
  return {
    delayMinUs,
    delayMaxUs: delayMinUs * pick(prng, 'spread', [1, 2, 10]),
    lossPerMille: pick(prng, 'loss', [0, 0, 1, 10, 50]),
    duplicatePerMille: pick(prng, 'duplicate', [0, 0, 10, 50]),
    reorderPerMille: pick(prng, 'reorder', [0, 0, 10, 100]),
    reorderMaxUs: pick(prng, 'overtaken', [500, 5_000, 50_000]),
  };
}

function drawFaults(prng: Prng, replicas: number, safetyMs: number): SwarmFault[] {
  const kinds = KINDS.filter((kind) => prng.chance(kind, 1, 2));
  if (kinds.length === 0) return [];
  const faults = Array.from({ length: prng.below('count', FAULTS_MAX + 1) }, () => {
    const kind = pick(prng, 'kind', kinds);
    const leader = prng.chance('leader', 3, 5);
    return {
      atMs: prng.between('at', 1, safetyMs),
      target: leader ? ('leader' as const) : prng.below('position', replicas),
      action: drawAction(prng, kind, replicas),
    };
  });
  return faults.sort((a, b) => a.atMs - b.atMs);
}

function drawAction(prng: Prng, kind: SwarmKind, replicas: number): SwarmAction {
  const whileMs = prng.between('while', 1, 700);
  const times = prng.between('times', 1, 5);
  switch (kind) {
    case 'stepDown':
      return { kind, to: pick(prng, 'to', ['best', null, prng.below('to whom', replicas)]) };
    case 'freeze':
    case 'cutOrigin':
    case 'stallOrigin':
      return { kind, forMs: whileMs };
    case 'kill':
    case 'killAll':
    case 'failWrite':
      return { kind, restartMs: whileMs };
    case 'isolate':
      return { kind, way: pick(prng, 'way', ['both', 'in', 'out']), forMs: whileMs };
    case 'partition':
      return { kind, mask: prng.below('mask', 1 << replicas), forMs: whileMs };
    case 'failPropose':
      return { kind, times, code: pick(prng, 'code', ['overrun', 'writeFailed']) };
    case 'refuseOpening':
    case 'loseDeliveries':
    case 'repeatDeliveries':
      return { kind, times };
    case 'dropConsumer':
      return { kind };
  }
}

/** All members in most runs, else a majority. */
function drawCore(prng: Prng, replicas: number): number[] {
  const positions = Array.from({ length: replicas }, (_, at) => at);
  if (!prng.chance('some stay out', 1, 3)) return positions;
  for (let out = prng.between('out', 1, Math.max(1, Math.ceil(replicas / 2) - 1)); out > 0; out--) {
    if ((positions.length - 1) * 2 <= replicas) break;
    positions.splice(prng.below('who', positions.length), 1);
  }
  return positions;
}

function pick<T>(prng: Prng, label: string, values: readonly T[]): T {
  return values[prng.below(label, values.length)]!;
}

/** What the world is like once it is healed. */
export const HEALED: Conditions = CALM;
