/**
 * The event stream of a run, whoever runs it: one JSON object a line, schema 1. docs/events.md says
 * what each field means. Times are milliseconds of the driver's clock, real or virtual.
 */
import type { ErrorData } from '../base/errors.js';
import { Secret } from '../base/secret.js';
import type { Member, Slot } from '../base/member.js';
import type { ReplicaEvent } from '../replica/types.js';
import type { ClusterEvent } from '../scenario/driver.js';
import type { DriverName, FaultKind, Plan } from '../scenario/types.js';
import type { Reason, RunSummary } from './types.js';

export const EVENT_SCHEMA = 1;

/** What every event has. */
interface Stamp {
  readonly schema: typeof EVENT_SCHEMA;
  readonly at: number;
}

/** A replica's event with the slot that it came from, and its member where the driver knows it. */
export type MemberEvent = ReplicaEvent & { readonly slot: Slot; readonly member?: Member };

export type RunEventBody =
  | MemberEvent
  /** First of a run. */
  | {
      readonly kind: 'run';
      readonly name: string;
      readonly driver: DriverName;
      readonly seed: number;
      readonly version: string;
    }
  | { readonly kind: 'config'; readonly plan: Plan }
  | {
      readonly kind: 'fault';
      readonly id: string;
      /** Its kind: one of a scenario, or of a drawn run. */
      readonly fault: string;
      readonly slot: Slot | null;
      readonly state: 'requested' | 'installed' | 'skipped' | 'indeterminate' | 'healed';
      readonly reason?: string;
    }
  /** Something that lockstep asked of the cluster, or did to its origin. */
  | {
      readonly kind: 'op';
      readonly op: string;
      readonly target: string | null;
      readonly outcome: 'ok' | 'failed' | 'unknown';
      readonly error?: ErrorData;
    }
  | {
      readonly kind: 'progress';
      readonly slot: Slot;
      readonly last: number;
      readonly messages: number;
    }
  | { readonly kind: 'firstDelivery' }
  | { readonly kind: 'handedOut' }
  | { readonly kind: 'note'; readonly text: string }
  | { readonly kind: 'late'; readonly who: string; readonly byMs: number }
  | {
      readonly kind: 'exit';
      readonly slot: Slot;
      readonly fault: boolean;
      readonly by?: string;
      readonly reason: string;
    }
  | { readonly kind: 'harness'; readonly reason: string }
  | {
      readonly kind: 'violation';
      readonly property: string;
      readonly slot: Slot | null;
      readonly seq: number | null;
      readonly text: string;
    }
  | {
      readonly kind: 'coverage';
      readonly fault: FaultKind;
      readonly covered: boolean;
      readonly reason?: string;
    }
  /** Last of a run. */
  | { readonly kind: 'summary'; readonly summary: RunSummary; readonly reasons: readonly Reason[] };

export type RunEvent = Stamp & RunEventBody;

/**
 * One event as one line, without its newline: `schema`, `at`, `kind` and then the other keys by
 * name, at every depth, so that equal events are equal text. 64-bit values are decimal strings.
 */
export function encodeEvent(at: number, body: RunEventBody): string {
  const { kind, ...fields } = body;
  const rest = canonicalText(fields);
  const stamp = `"schema":${EVENT_SCHEMA},"at":${JSON.stringify(at)}`;
  const head = `{${stamp},"kind":${JSON.stringify(kind)}`;
  return rest === '{}' ? `${head}}` : `${head},${rest.slice(1)}`;
}

/** Any value as JSON in one line, keys by name at every depth, 64-bit values as decimal strings. */
export function canonicalText(value: unknown): string {
  if (typeof value === 'bigint') return `"${value}"`;
  if (value instanceof Secret) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, field]) => `${JSON.stringify(name)}:${canonicalText(field)}`);
  return `{${fields.join(',')}}`;
}

/** The body of what a driver reported. @param faults  the kind of each fault, by its id */
export function bodyOf(
  event: ClusterEvent,
  faults: ReadonlyMap<string, string>,
): RunEventBody | null {
  if (event.kind === 'replica') return { ...event.event, slot: event.slot };
  const { atMs: _atMs, ...body } = event;
  if (body.kind === 'due') {
    const fault = faults.get(body.id);
    if (fault === undefined) return null;
    return { kind: 'fault', id: body.id, slot: null, state: 'requested', fault };
  }
  if (body.kind !== 'fault') return body;
  const fault = faults.get(body.id);
  return fault === undefined ? null : { ...body, fault };
}
