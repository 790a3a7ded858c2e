/**
 * Scenarios written in TypeScript. What is built is what a scenario file says, plain data in the
 * schema's own words, so that whatever takes a file takes it too; types hold what a fault may name
 * and which parameters go with it, `planScenario` checks the rest.
 */
import type { ParameterOf } from './actions.js';
import { FAULT_KINDS, type FaultText, type Scenario } from './schema.js';
import type { LeadingText, LinksText, MemberText } from './selections.js';
import type { LeadingKind } from './target.js';
import type { FaultKind, LinkAction, MemberAction } from './types.js';

type Given<P extends keyof FaultText> = NonNullable<FaultText[P]>;

/** One of these keys, and none of the others. */
type OneOf<T> = {
  [K in keyof T]-?: Required<Pick<T, K>> & Partial<Record<Exclude<keyof T, K>, never>>;
}[keyof T];

/** Whom or what a kind of fault strikes, as written. */
export type TargetText<K extends FaultKind> = K extends LeadingKind
  ? LeadingText
  : K extends MemberAction['kind']
    ? MemberText
    : K extends LinkAction['kind']
      ? LinksText
      : K extends 'metaStepDown'
        ? 'meta'
        : true extends FaultText[K]
          ? 'origin'
          : Given<K>;

/** A state of the target (docs/faults.md): exactly one. */
export type StateText = OneOf<Given<'when'>>;

/** What goes with a kind of fault beside its trigger. */
export type FaultParameters<K extends FaultKind> = Pick<FaultText, 'id' | ParameterOf<K>>;

/** When a fault strikes: exactly one of at, when and after. */
export type TriggerText =
  | (Pick<FaultText, 'within'> & { when: StateText; at?: never; after?: never; delay?: never })
  | { at: Given<'at'>; when?: never; within?: never; after?: never; delay?: never }
  | (Pick<FaultText, 'delay'> & {
      after: Given<'after'>;
      at?: never;
      when?: never;
      within?: never;
    });

type Repetition = { every?: never; repeat?: never } | { every: Given<'every'>; repeat: number };

export type FaultOptions<K extends FaultKind> = FaultParameters<K> &
  TriggerText &
  Repetition &
  Pick<FaultText, 'on'>;

/** One function for each kind of fault. */
export type FaultWords = {
  readonly [K in FaultKind]: (target: TargetText<K>, options: FaultOptions<K>) => FaultText;
};

/**
 * One function for each kind of fault, in the schema's order.
 *
 * @param make  what becomes of the kind, its target and what goes with it
 */
export function eachKind(make: (text: FaultText) => unknown): unknown {
  const word = (kind: FaultKind) => (target: unknown, options?: object) =>
    make({ [kind]: target, ...options });
  return Object.fromEntries(FAULT_KINDS.map((kind) => [kind, word(kind)]));
}

/** `fault.stepDown('leader', { when: { skipped: 10_000 } })`: one entry of a scenario's faults. */
export const fault = eachKind((text) => text) as FaultWords;

/** The fields of a scenario beside its name. */
export type ScenarioFields = Omit<Scenario, 'version' | 'name' | 'origin'> & {
  readonly origin: OneOf<Scenario['origin']>;
};

/** The data of a scenario file. */
export function scenario(name: string, fields: ScenarioFields): Scenario {
  return { version: 1, name, ...fields };
}
