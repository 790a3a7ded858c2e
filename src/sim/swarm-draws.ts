/**
 * The faults of a drawn run. Each has draws of its own, by its number. Many wait for a moment: a
 * uniform time seldom falls between a vote and its answer.
 */
import type { Prng } from '../base/prng.js';
import type { SyntheticOriginPlan } from '../scenario/types.js';
import type { Falsehood } from './conductor-faults.js';
import type { AnswerFault, DeliveryFault } from './frame-faults.js';
import { LEANINGS, type Leaning } from './swarm-focus.js';
import type { SwarmAction, SwarmFault, SwarmKind } from './swarm-plan.js';
import { SHAPE_MEMBERS_MIN, type Shape } from '../scenario/shapes.js';

export interface FaultDraws {
  readonly replicas: number;
  readonly safetyMs: number;
  readonly origin: SyntheticOriginPlan;
  readonly beyondQuorum: boolean;
  readonly leaning: Leaning;
}

export const KINDS = Object.keys(LEANINGS.mixed.chances) as SwarmKind[];
const FAULTS_MAX_BEYOND = 40;

export const MOMENTS = LEANINGS.mixed.moments;
export const ANSWER_FAULTS: readonly AnswerFault[] = [
  'noIdentity',
  'noStart',
  'noLast',
  'noPending',
  'beforeAsked',
  'beyondLast',
  'tooLarge',
];
export const DELIVERY_FAULTS: readonly DeliveryFault[] = ['cut', 'count', 'noNumber', 'noPending'];
export const FALSEHOODS: readonly Falsehood[] = [
  'leader',
  'leads',
  'termAhead',
  'termBehind',
  'hearsAll',
  'hearsNone',
  'log',
  'stale',
];

export function drawFaults(prng: Prng, draws: FaultDraws): SwarmFault[] {
  const { chances, faultsMax } = draws.leaning;
  const kinds = KINDS.filter((kind) => prng.chance(kind, chances[kind] ?? 0, 20));
  if (draws.beyondQuorum) kinds.push('wipe', 'kill', 'killAll', 'isolate');
  if (kinds.length === 0) return [];
  const most = draws.beyondQuorum ? FAULTS_MAX_BEYOND : faultsMax;
  const faults = Array.from({ length: prng.below('count', most + 1) }, (_, at) =>
    drawFault(prng.fork(`${at + 1}`), pick(prng, 'kind', kinds), draws),
  );
  return faults.sort((a, b) => a.atMs - b.atMs);
}

function drawFault(prng: Prng, kind: SwarmKind, draws: FaultDraws): SwarmFault {
  const leader = prng.chance('leader', 3, 5);
  const fault = {
    atMs: prng.between('at', 1, draws.safetyMs),
    target: leader ? ('leader' as const) : prng.below('position', draws.replicas),
    action: drawAction(prng, kind, draws),
  };
  const { waits, moments } = draws.leaning;
  if (!prng.chance('waits', waits, 20)) return fault;
  return { ...fault, when: pick(prng, 'moment', moments) };
}

function drawAction(prng: Prng, kind: SwarmKind, draws: FaultDraws): SwarmAction {
  const { replicas } = draws;
  const forMs = prng.between('while', 1, 700);
  const times = prng.between('times', 1, 5);
  switch (kind) {
    case 'stepDown':
      return { kind, to: pick(prng, 'to', ['best', null, prng.below('to whom', replicas)]) };
    case 'flap':
    case 'wipe':
    case 'misorder':
    case 'dropConsumer':
      return { kind };
    case 'freeze':
    case 'cutOrigin':
    case 'clogOrigin':
    case 'stallOrigin':
      return { kind, forMs };
    case 'overrun':
      return { kind, entries: pick(prng, 'entries', [0, 0, 1, 5]) };
    case 'clockRate':
      return { kind, byPerMille: pick(prng, 'faster', [-800, -300, 300, 1_000, 4_000]), forMs };
    case 'kill':
    case 'killAll':
    case 'failWrite':
    case 'failSync':
    case 'tornTail':
      // Back at once, too: into the election that it caused.
      return {
        kind,
        restartMs: prng.chance('at once', 1, 3) ? prng.between('soon', 1, 30) : forMs,
      };
    case 'slowDisk':
      return { kind, writeUs: pick(prng, 'write', [5_000, 50_000, 200_000]), forMs };
    case 'isolate':
    case 'clog':
      return { kind, way: pick(prng, 'way', ['both', 'in', 'out']), forMs };
    case 'partition':
      return {
        ...{ kind, mask: prng.below('mask', 1 << replicas), forMs },
        way: pick(prng, 'way', ['both', 'both', 'out']),
      };
    case 'topology':
      return {
        ...{ kind, forMs, shift: prng.below('shift', replicas) },
        shape: shapeOf(prng, draws),
      };
    case 'echo':
      return { kind, times: times * 4, afterMs: prng.between('after', 50, 1_500) };
    case 'falsify':
      return { kind, how: pick(prng, 'how', FALSEHOODS), forMs };
    case 'failPropose':
      return { kind, times, code: pick(prng, 'code', ['overrun', 'writeFailed']) };
    case 'refuseOpening':
    case 'loseDeliveries':
    case 'repeatDeliveries':
      return { kind, times };
    case 'spoilAnswer':
      return { kind, how: pick(prng, 'how', ANSWER_FAULTS), times };
    case 'spoilDelivery':
      return { kind, how: pick(prng, 'how', DELIVERY_FAULTS), times };
    case 'delayAnswer':
      return { kind, times, byMs: prng.between('by', 1, 2_500) };
    case 'delete':
      return drawDelete(prng, draws.origin);
    case 'expire':
      return { kind, count: prng.between('count', 1, 60), times: 2 * times, everyMs: forMs };
    case 'recreate':
      return { kind, messages: prng.between('messages', 1, 2_000) };
  }
}

function shapeOf(prng: Prng, { replicas }: FaultDraws): Shape {
  const shapes = (['ring', 'bridge', 'spurs'] as const).filter(
    (shape) => replicas >= SHAPE_MEMBERS_MIN[shape],
  );
  return shapes.length === 0 ? 'bridge' : pick(prng, 'shape', shapes);
}

/** A range in the middle, or in one of three everything up to somewhere: a purge. */
function drawDelete(prng: Prng, { messages, gaps }: SyntheticOriginPlan): SwarmAction {
  const span = gaps.reduce((sum, { count }) => sum + count, messages);
  const last = prng.between('last', 1, span);
  const isPurge = prng.chance('purge', 1, 3);
  return { kind: 'delete', first: isPurge ? 1 : prng.between('first', 1, last), last };
}

function pick<T>(prng: Prng, label: string, values: readonly T[]): T {
  return values[prng.below(label, values.length)]!;
}
