/** Faults as written -> faults as planned: kind, target, trigger and parameters, checked. */
import { usageError } from '../base/errors.js';
import type { Slot } from '../base/member.js';
import { planAction } from './actions.js';
import { FAULT_KINDS, type FaultText } from './schema.js';
import { leadingTarget, memberTarget } from './selections.js';
import { isMemberKind, MEMBER_KINDS } from './target.js';
import { planTriggers } from './triggers.js';
import type { FaultKind, FaultPlan, Target } from './types.js';

/**
 * One fault as written; more than one plan when it strikes repeatedly, named `id`, `id#2`, `id#3`.
 * Errors: usage.
 *
 * @param where  the fault's path; its id, when it has none of its own
 * @param seed  what is written as a range of times is drawn from it
 */
export function planFault(
  where: string,
  fault: FaultText,
  slots: readonly Slot[],
  seed: number,
): FaultPlan[] {
  const source = { where, fault, slots };
  const kind = kindOf(where, fault);
  const action = planAction(source, kind);
  const target = targetOf(where, fault, kind, slots);
  const id = fault.id ?? where;
  const strokeId = (stroke: number): string => (stroke === 0 ? id : `${id}#${stroke + 1}`);
  return planTriggers(source, { id, seed, strokeId }).map((trigger, stroke) => ({
    id: strokeId(stroke),
    action,
    target,
    trigger,
    on: fault.on ?? null,
  }));
}

function kindOf(where: string, fault: FaultText): FaultKind {
  const [kind, ...others] = FAULT_KINDS.filter((known) => fault[known] !== undefined);
  if (kind !== undefined && others.length === 0) return kind;
  const found = kind === undefined ? 'no kind of fault' : [kind, ...others].join(' and ');
  throw usageError(where, found, `exactly one of ${FAULT_KINDS.join(', ')}`);
}

function targetOf(
  where: string,
  fault: FaultText,
  kind: FaultKind,
  slots: readonly Slot[],
): Target | null {
  if (!isMemberKind(kind)) return null;
  const read = MEMBER_KINDS[kind] === 'leading' ? leadingTarget : memberTarget;
  return read(`${where}.${kind}`, fault[kind]!, slots);
}
