/**
 * A replay file: one failing run, stated as a whole in JSON, with what it came to. What lockstep
 * writes it also reads; what it reads is checked field by field before anything is played.
 */
import * as z from 'zod';
import { LockstepError, toErrorData, usageError } from '../base/errors.js';
import { slotsOf } from '../base/member.js';
import { issueError } from '../scenario/issues.js';
import type { SeedFailure } from '../verdict/sweep.js';
import { swarmPlanSchema } from './replay-schema.js';
import { faultId, type SwarmPlan } from './swarm.js';

/** Of the format, raised when a file of before can no longer be read as it was meant. */
export const REPLAY_FORMAT = 1;

export interface ReplayFile {
  readonly format: typeof REPLAY_FORMAT;
  /** The version of lockstep that wrote it. */
  readonly lockstep: string;
  /** What it shows, in one line. */
  readonly about: string;
  /** What playing it comes to: the verdict of `failure`, or held once the fault is mended. */
  readonly expect: 'held' | SeedFailure['verdict'];
  /** What it was written for. */
  readonly failure: SeedFailure;
  /** How small it was made: faults and fates before and after, and why it went no further. */
  readonly shrunk?: {
    readonly from: number;
    readonly to: number;
    readonly candidates: number;
    readonly end: 'minimal' | 'candidates' | 'time';
  };
  readonly plan: SwarmPlan;
}

const text = z.string().regex(/^[^\p{Cc}\u2028\u2029]+$/u);
const VERDICTS = ['violated', 'stalled', 'harness', 'inconclusive', 'uncovered'] as const;

const schema: z.ZodType<ReplayFile> = z.strictObject({
  format: z.literal(REPLAY_FORMAT),
  lockstep: text,
  about: text,
  expect: z.enum(['held', ...VERDICTS]),
  failure: z.strictObject({ verdict: z.enum(VERDICTS), property: text, text }),
  shrunk: z
    .strictObject({
      from: z.int().min(0),
      to: z.int().min(0),
      candidates: z.int().min(0),
      end: z.enum(['minimal', 'candidates', 'time']),
    })
    .exactOptional(),
  plan: swarmPlanSchema,
});

/** The name that a file for this failure gets: `replay-log-matching-17.json`. */
export function replayFileName({ property }: SeedFailure, seed: number): string {
  const words = property.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  return `replay-${[...words, seed].join('-')}.json`;
}

/** Text -> replay. `name` is the file's in errors. Errors: usage, one line. */
export function parseReplay(json: string, name: string): ReplayFile {
  try {
    const raw: unknown = parseJson(json);
    const result = schema.safeParse(raw);
    if (!result.success) throw issueError(result.error.issues, raw, schema);
    checkPlan(result.data.plan);
    return result.data;
  } catch (error) {
    const { code, message } = toErrorData(error);
    if (code !== 'usage') throw error;
    throw new LockstepError('usage', `${name}: ${message}`);
  }
}

/** As JSON that a person can read: what fits a line stands in one. */
export function encodeReplay(replay: ReplayFile): string {
  return `${layout(replay, '', '')}\n`;
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    const why = toErrorData(error).message;
    const text = `is no replay file, which is JSON (${why}); lockstep run plays scenarios`;
    throw new LockstepError('usage', text);
  }
}

/** What the shape alone does not say: whatever is named exists, and lists are in order. */
function checkPlan(plan: SwarmPlan): void {
  const { replicas, core, faults, origin, fates = [] } = plan;
  const known = (where: string, position: unknown): void => {
    if (typeof position !== 'number' || position < replicas) return;
    throw usageError(where, position, `a position below ${replicas}, the number of replicas`);
  };
  core.forEach((position, at) => known(`plan.core[${at}]`, position));
  if (core.length === 0 || new Set(core).size < core.length) {
    throw usageError('plan.core', core, 'a list of different positions, at least one');
  }
  const ids = faults.map(faultId);
  faults.forEach(({ atMs, target, action }, at) => {
    const where = `plan.faults[${at}]`;
    known(`${where}.target`, target);
    if (action.kind === 'stepDown') known(`${where}.action.to`, action.to);
    const beforeMs = faults[at - 1]?.atMs ?? 0;
    if (atMs < beforeMs) throw usageError(`${where}.atMs`, atMs, `${beforeMs} or later`);
    if (ids.indexOf(ids[at]!) < at) throw usageError(`${where}.id`, ids[at], 'used once only');
  });
  origin.gaps.forEach(({ after }, at) => {
    const least = at === 0 ? 0 : origin.gaps[at - 1]!.after + 1;
    if (after >= least && after <= origin.messages) return;
    const expected = `from ${least} to ${origin.messages}`;
    throw usageError(`plan.origin.gaps[${at}].after`, after, expected);
  });
  const ends = ['origin', 'conductor', ...slotsOf(replicas)];
  fates.forEach(({ link }, at) => {
    if (link.split(' to ').every((end) => ends.includes(end))) return;
    throw usageError(`plan.fates[${at}].link`, link, `between members of ${replicas}`);
  });
}

const COLUMNS = 100;

function layout(value: unknown, indent: string, key: string): string {
  const inLine = compact(value);
  const isFlat = indent.length + key.length + inLine.length < COLUMNS;
  // The outer mappings always have a line a key, so that two files can be compared.
  if ((isFlat && indent.length > 2) || typeof value !== 'object' || value === null) {
    return `${key}${inLine}`;
  }
  const inner = `${indent}  `;
  const parts = Array.isArray(value)
    ? value.map((item) => `${inner}${layout(item, inner, '')}`)
    : entriesOf(value).map(
        ([name, item]) => `${inner}${layout(item, inner, `${JSON.stringify(name)}: `)}`,
      );
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  if (parts.length === 0) return `${key}${open}${close}`;
  return `${key}${open}\n${parts.join(',\n')}\n${indent}${close}`;
}

function compact(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(compact).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const parts = entriesOf(value).map(([name, item]) => `${JSON.stringify(name)}: ${compact(item)}`);
  return parts.length === 0 ? '{}' : `{ ${parts.join(', ')} }`;
}

function entriesOf(value: object): [string, unknown][] {
  return Object.entries(value).filter(([, item]) => item !== undefined);
}
