/** When a fault strikes, as written -> as planned; what is written as a range is drawn here. */
import { usageError } from '../base/errors.js';
import { createPrng, type Prng } from '../base/prng.js';
import { parseCount, parseDuration, parseDurations, parsePositiveDuration } from '../base/units.js';
import type { FaultSource } from './actions.js';
import type { FaultText } from './schema.js';
import type { StateTrigger, Trigger } from './types.js';

const WITHIN_DEFAULT_MS = 30_000;
const STATES = ['skipped', 'applied', 'term', 'role', 'appended', 'phase'] as const;
/** Each stroke is a fault of its own in the report. */
const REPEATS_MAX = 1_000;

/**
 * The triggers of a fault: the first one as written, then one for each time that it strikes again,
 * so long after it was decided before.
 *
 * @param id  the fault's; what waits for the stroke before it names that one
 * @param strokeId  the id of a stroke, by its number from 0
 */
export function planTriggers(
  source: FaultSource,
  options: {
    readonly id: string;
    readonly seed: number;
    readonly strokeId: (stroke: number) => string;
  },
): Trigger[] {
  const { fault } = source;
  const prng = createPrng(options.seed).fork('faults').fork(options.id);
  const triggers = [firstOf(source, prng)];
  const strokes = strokesOf(source);
  for (let stroke = 1; stroke < strokes; stroke++) {
    const delayMs = drawn(prng, 'every', parseDurations(`${source.where}.every`, fault.every!));
    const before = options.strokeId(stroke - 1);
    triggers.push({ kind: 'after', fault: before, delayMs, settled: true });
  }
  return triggers;
}

function strokesOf({ where, fault }: FaultSource): number {
  if (fault.every === undefined && fault.repeat === undefined) return 1;
  if (fault.every === undefined) {
    throw usageError(`${where}.repeat`, fault.repeat, 'used with every');
  }
  if (fault.repeat === undefined) {
    throw usageError(`${where}.every`, fault.every, 'used with repeat');
  }
  return parseCount(`${where}.repeat`, fault.repeat, { min: 2, max: REPEATS_MAX });
}

function firstOf({ where, fault, slots }: FaultSource, prng: Prng): Trigger {
  const given = (['at', 'when', 'after'] as const).filter((known) => fault[known] !== undefined);
  if (given.length !== 1) {
    const found = given.length === 0 ? 'no trigger' : given.join(' and ');
    throw usageError(where, found, 'exactly one of at, when, after');
  }
  if (fault.within !== undefined && fault.when === undefined) {
    throw usageError(`${where}.within`, fault.within, 'used here: it belongs to when');
  }
  if (fault.delay !== undefined && fault.after === undefined) {
    throw usageError(`${where}.delay`, fault.delay, 'used here: it belongs to after');
  }
  if (fault.at !== undefined) {
    return { kind: 'time', atMs: drawn(prng, 'at', parseDurations(`${where}.at`, fault.at)) };
  }
  if (fault.after !== undefined) {
    const delayMs = fault.delay === undefined ? 0 : parseDuration(`${where}.delay`, fault.delay);
    return { kind: 'after', fault: fault.after, delayMs, settled: false };
  }
  const withinMs =
    fault.within === undefined
      ? WITHIN_DEFAULT_MS
      : parsePositiveDuration(`${where}.within`, fault.within);
  const state = stateOf(`${where}.when`, fault.when!, slots.length);
  return { kind: 'state', state, withinMs };
}

/** Whole microseconds, so that a plan reads the same everywhere. */
function drawn(
  prng: Prng,
  label: string,
  { minMs, maxMs }: { readonly minMs: number; readonly maxMs: number },
): number {
  if (minMs === maxMs) return minMs;
  return prng.between(label, Math.round(minMs * 1_000), Math.round(maxMs * 1_000)) / 1_000;
}

function stateOf(
  where: string,
  when: NonNullable<FaultText['when']>,
  replicas: number,
): StateTrigger {
  const names = STATES.filter((known) => when[known] !== undefined);
  const [name, ...others] = names;
  if (name === undefined || others.length > 0) {
    const found = name === undefined ? 'no state' : names.join(' and ');
    throw usageError(where, found, `exactly one of ${STATES.join(', ')}`);
  }
  if (name === 'role') return { kind: 'role', role: when.role! };
  if (name === 'phase') return { kind: 'phase', phase: when.phase! };
  if (name === 'appended') {
    const of = parseCount(`${where}.appended.of`, when.appended!.of, { min: 1 });
    if (of !== replicas) throw usageError(`${where}.appended.of`, of, `the ${replicas} replicas`);
    const on = parseCount(`${where}.appended.on`, when.appended!.on, { min: 1, max: of });
    return { kind: 'appended', on, of };
  }
  const count = parseCount(`${where}.${name}`, when[name], { min: 1 });
  return name === 'term' ? { kind: 'term', term: count } : { kind: name, count };
}

/** Why a state cannot come about on any driver yet; null: it can. */
export function unreachable(trigger: Trigger): string | null {
  if (trigger.kind !== 'state' || trigger.state.kind !== 'phase') return null;
  return trigger.state.phase === 'snapshot' ? 'comes with snapshots' : null;
}
