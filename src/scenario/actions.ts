/** What a fault does, as written -> as planned, each kind with its own parameters. */
import { usageError } from '../base/errors.js';
import type { Slot } from '../base/member.js';
import {
  parseChance,
  parseCount,
  parseDurations,
  parseFactor,
  parsePositiveDuration,
} from '../base/units.js';
import type { FaultText } from './schema.js';
import { linkSelection } from './selections.js';
import type { Dose, FaultAction, FaultKind, LinkTrouble, OriginRange } from './types.js';
import { nearest } from './words.js';

const FOR_DEFAULT_MS = 500;
const SLOW_DEFAULT_MS = 5;
const SLOW_DISK_DEFAULT_MS = 50;
const CLOCK_FACTORS = { min: 0.1, max: 10 };
/** An origin made anew is held in memory beside the first one. */
const RECREATED_MAX = 1_000_000;

/** Parameters that belong to some kinds only. */
const OWNERS = {
  to: ['stepDown'],
  for: [
    'freeze',
    'slow',
    'slowDisk',
    'clockRate',
    'partition',
    'link',
    'stallOrigin',
    'failPropose',
    'refuseOpening',
    'loseDeliveries',
    'repeatDeliveries',
  ],
  by: ['slow', 'slowDisk'],
  factor: ['clockRate'],
  restartAfter: ['kill', 'outOfMemory', 'failWrites', 'failSync', 'tornTail'],
  entries: ['overrun'],
  times: ['failPropose', 'refuseOpening', 'loseDeliveries', 'repeatDeliveries'],
  rate: ['failPropose', 'refuseOpening', 'loseDeliveries', 'repeatDeliveries'],
  code: ['failPropose'],
  between: ['partition', 'link'],
  latency: ['link'],
  loss: ['link'],
  duplicate: ['link'],
  reorder: ['link'],
} as const satisfies Readonly<Partial<Record<keyof FaultText, readonly FaultKind[]>>>;

/** The parameters that a kind of fault takes. */
export type ParameterOf<K extends FaultKind> = {
  [P in keyof typeof OWNERS]: K extends (typeof OWNERS)[P][number] ? P : never;
}[keyof typeof OWNERS];

/** What a fault is read from: where it stands, and whom it can name. */
export interface FaultSource {
  /** The fault's path, for errors. */
  readonly where: string;
  readonly fault: FaultText;
  readonly slots: readonly Slot[];
}

/** Errors: usage. */
export function planAction(source: FaultSource, kind: FaultKind): FaultAction {
  checkParameters(source, kind);
  const { where, fault, slots } = source;
  switch (kind) {
    case 'stepDown':
      return { kind, to: successorOf(source) };
    case 'overrun':
      return { kind, entries: parseCount(`${where}.entries`, fault.entries ?? 0, { min: 0 }) };
    case 'kill':
    case 'outOfMemory':
    case 'failWrites':
    case 'failSync':
    case 'tornTail':
      return { kind, ...restartOf(source) };
    case 'flap':
    case 'wipe':
    case 'reload':
    case 'metaStepDown':
    case 'dropConsumer':
      return { kind };
    case 'freeze':
    case 'stallOrigin':
      return { kind, forMs: forOf(source) };
    case 'slow':
      return { kind, byMs: byOf(source, SLOW_DEFAULT_MS), forMs: forOf(source) };
    case 'slowDisk':
      return { kind, byMs: byOf(source, SLOW_DISK_DEFAULT_MS), forMs: forOf(source) };
    case 'clockRate': {
      const factor = parseFactor(`${where}.factor`, fault.factor, CLOCK_FACTORS);
      return { kind, factor, forMs: forOf(source) };
    }
    case 'failPropose':
      return { kind, dose: doseOf(source), code: fault.code ?? 'overrun' };
    case 'refuseOpening':
    case 'loseDeliveries':
    case 'repeatDeliveries':
      return { kind, dose: doseOf(source) };
    case 'partition': {
      const links = linkSelection(`${where}.partition`, fault.partition!, slots);
      return { kind, links, between: fault.between ?? 'peers', forMs: forOf(source) };
    }
    case 'link': {
      const links = linkSelection(`${where}.link`, fault.link!, slots);
      const trouble = troubleOf(source);
      return { kind, links, between: fault.between ?? 'peers', trouble, forMs: forOf(source) };
    }
    case 'originDelete':
      return { kind, range: rangeOf(`${where}.originDelete`, String(fault.originDelete)) };
    case 'originPurge':
      return { kind, to: purgeOf(`${where}.originPurge`, String(fault.originPurge)) };
    case 'originExpire':
      return { kind, count: parseCount(`${where}.${kind}`, fault.originExpire, { min: 1 }) };
    case 'originRecreate': {
      const bounds = { min: 1, max: RECREATED_MAX };
      return { kind, messages: parseCount(`${where}.${kind}`, fault.originRecreate, bounds) };
    }
  }
}

function checkParameters({ where, fault }: FaultSource, kind: FaultKind): void {
  for (const [parameter, owners] of Object.entries<readonly FaultKind[]>(OWNERS)) {
    if (fault[parameter as keyof FaultText] !== undefined && !owners.includes(kind)) {
      const does = `${owners.join(', ')} ${owners.length === 1 ? 'does' : 'do'}`;
      throw usageError(`${where}.${parameter}`, kind, `a fault that takes it (${does})`);
    }
  }
}

function successorOf({ where, fault, slots }: FaultSource): Slot | 'best' | null {
  const { to = 'best', stepDown } = fault;
  if (to === 'best') return 'best';
  if (to === 'none') return null;
  if (to === stepDown) throw usageError(`${where}.to`, to, 'another slot than its own target');
  if (slots.includes(to)) return to;
  const words = ['best', 'none', ...slots];
  throw usageError(`${where}.to`, to, `one of ${words.join(', ')}${nearest(to, words)}`);
}

function restartOf({ where, fault }: FaultSource): { readonly restartMs?: number } {
  if (fault.restartAfter === undefined) return {};
  return { restartMs: parsePositiveDuration(`${where}.restartAfter`, fault.restartAfter) };
}

function byOf({ where, fault }: FaultSource, byDefaultMs: number): number {
  return fault.by === undefined ? byDefaultMs : parsePositiveDuration(`${where}.by`, fault.by);
}

function forOf({ where, fault }: FaultSource): number {
  return fault.for === undefined
    ? FOR_DEFAULT_MS
    : parsePositiveDuration(`${where}.for`, fault.for);
}

function timesOf({ where, fault }: FaultSource): number {
  return parseCount(`${where}.times`, fault.times ?? 1, { min: 1 });
}

function doseOf(source: FaultSource): Dose {
  const { where, fault } = source;
  if (fault.rate === undefined) {
    if (fault.for === undefined) return { times: timesOf(source) };
    throw usageError(`${where}.for`, fault.for, 'used with rate');
  }
  if (fault.times !== undefined) {
    throw usageError(`${where}.times`, fault.times, 'either times or rate');
  }
  const perMillion = parseChance(`${where}.rate`, fault.rate);
  if (perMillion > 0) return { perMillion, forMs: forOf(source) };
  throw usageError(`${where}.rate`, fault.rate, 'a chance above zero');
}

function troubleOf({ where, fault }: FaultSource): LinkTrouble {
  const chance = (name: 'loss' | 'duplicate' | 'reorder'): number =>
    fault[name] === undefined ? 0 : parseChance(`${where}.${name}`, fault[name]);
  const delay =
    fault.latency === undefined
      ? { minMs: 0, maxMs: 0 }
      : parseDurations(`${where}.latency`, fault.latency);
  const trouble = {
    delayMinMs: delay.minMs,
    delayMaxMs: delay.maxMs,
    lossPerMillion: chance('loss'),
    duplicatePerMillion: chance('duplicate'),
    reorderPerMillion: chance('reorder'),
  };
  if (Object.values(trouble).some((value) => value > 0)) return trouble;
  throw usageError(where, 'link', 'given with latency, loss, duplicate or reorder');
}

/** `200..300`, `200` alone, or `next:50`. */
function rangeOf(where: string, text: string): OriginRange {
  const next = nextOf(where, text);
  if (next !== null) return next;
  const [from = '', to = from, ...more] = text.split('..');
  if (more.length > 0) throw usageError(where, text, 'sequences such as 200..300, or next:50');
  const first = parseCount(where, from, { min: 1 });
  const last = parseCount(where, to, { min: 1 });
  if (first <= last) return { first, last };
  throw usageError(where, text, `a rising range such as ${last}..${first}`);
}

function purgeOf(where: string, text: string): number | { readonly next: number } {
  return nextOf(where, text) ?? parseCount(where, text, { min: 2 });
}

function nextOf(where: string, text: string): { readonly next: number } | null {
  if (!text.startsWith('next:')) return null;
  return { next: parseCount(where, text.slice('next:'.length), { min: 1 }) };
}
