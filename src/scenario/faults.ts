/** Faults as written -> faults as planned: kind, target, trigger and parameters, checked. */
import { usageError } from '../base/errors.js';
import type { Slot } from '../base/member.js';
import { parseCount, parseDuration, parsePositiveDuration } from '../base/units.js';
import { FAULT_KINDS, type FaultText } from './schema.js';
import type { FaultAction, FaultKind, FaultPlan, StateTrigger, Target, Trigger } from './types.js';
import { nearest } from './words.js';

/** Parameters that belong to some kinds only. */
const OWNERS = {
  to: 'stepDown',
  for: 'freeze',
  times: 'failPropose',
  code: 'failPropose',
} as const satisfies Partial<Record<keyof FaultText, FaultKind>>;
const FREEZE_DEFAULT_MS = 500;
const WITHIN_DEFAULT_MS = 30_000;

/** @param where  the fault's path; its id, when it has none of its own. Errors: usage. */
export function planFault(where: string, fault: FaultText, slots: readonly Slot[]): FaultPlan {
  const kind = kindOf(where, fault);
  checkParameters(where, fault, kind);
  return {
    id: fault.id ?? where,
    action: actionOf(where, fault, kind, slots),
    target: kind === 'dropConsumer' ? null : targetOf(where, fault, kind, slots),
    trigger: triggerOf(where, fault),
    on: fault.on ?? null,
  };
}

function kindOf(where: string, fault: FaultText): FaultKind {
  const [kind, ...others] = FAULT_KINDS.filter((known) => fault[known] !== undefined);
  if (kind !== undefined && others.length === 0) return kind;
  const found = kind === undefined ? 'no kind of fault' : [kind, ...others].join(' and ');
  throw usageError(where, found, `exactly one of ${FAULT_KINDS.join(', ')}`);
}

function checkParameters(where: string, fault: FaultText, kind: FaultKind): void {
  for (const [parameter, owner] of Object.entries(OWNERS)) {
    if (fault[parameter as keyof typeof OWNERS] !== undefined && owner !== kind) {
      throw usageError(`${where}.${parameter}`, kind, `a fault that takes it (${owner} does)`);
    }
  }
}

function actionOf(
  where: string,
  fault: FaultText,
  kind: FaultKind,
  slots: readonly Slot[],
): FaultAction {
  switch (kind) {
    case 'stepDown':
      return { kind, to: successorOf(where, fault, slots) };
    case 'freeze':
      return { kind, forMs: positiveOr(`${where}.for`, fault.for, FREEZE_DEFAULT_MS) };
    case 'failPropose': {
      const times = parseCount(`${where}.times`, fault.times ?? 1, { min: 1 });
      return { kind, times, code: fault.code ?? 'overrun' };
    }
    case 'kill':
    case 'dropConsumer':
      return { kind };
  }
}

function successorOf(
  where: string,
  fault: FaultText,
  slots: readonly Slot[],
): Slot | 'best' | null {
  const { to = 'best', stepDown } = fault;
  if (to === 'best') return 'best';
  if (to === 'none') return null;
  if (to === stepDown) throw usageError(`${where}.to`, to, 'another slot than its own target');
  if (slots.includes(to)) return to;
  const words = ['best', 'none', ...slots];
  throw usageError(`${where}.to`, to, `one of ${words.join(', ')}${nearest(to, words)}`);
}

function targetOf(
  where: string,
  fault: FaultText,
  kind: Exclude<FaultKind, 'dropConsumer'>,
  slots: readonly Slot[],
): Target {
  const word = fault[kind]!;
  const roles = kind === 'stepDown' || kind === 'failPropose' ? ['leader'] : ['leader', 'follower'];
  if (slots.includes(word)) return { kind: 'slot', slot: word };
  if (word === 'leader') return { kind: 'leader' };
  if (word === 'follower' && roles.includes(word)) return { kind: 'follower' };
  const words = [...roles, ...slots];
  throw usageError(`${where}.${kind}`, word, `one of ${words.join(', ')}${nearest(word, words)}`);
}

function triggerOf(where: string, fault: FaultText): Trigger {
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
  if (fault.at !== undefined) return { kind: 'time', atMs: parseDuration(`${where}.at`, fault.at) };
  if (fault.after !== undefined) {
    const delayMs = fault.delay === undefined ? 0 : parseDuration(`${where}.delay`, fault.delay);
    return { kind: 'after', fault: fault.after, delayMs };
  }
  const withinMs = positiveOr(`${where}.within`, fault.within, WITHIN_DEFAULT_MS);
  return { kind: 'state', state: stateOf(`${where}.when`, fault.when!), withinMs };
}

function stateOf(where: string, when: NonNullable<FaultText['when']>): StateTrigger {
  const names = (['skipped', 'applied', 'term', 'role'] as const).filter(
    (known) => when[known] !== undefined,
  );
  const [name, ...others] = names;
  if (name === undefined || others.length > 0) {
    const found = name === undefined ? 'no state' : names.join(' and ');
    throw usageError(where, found, 'exactly one of skipped, applied, term, role');
  }
  if (name === 'role') return { kind: 'role', role: when.role! };
  const count = parseCount(`${where}.${name}`, when[name], { min: 1 });
  return name === 'term' ? { kind: 'term', term: count } : { kind: name, count };
}

function positiveOr(where: string, text: string | undefined, otherwise: number): number {
  return text === undefined ? otherwise : parsePositiveDuration(where, text);
}
