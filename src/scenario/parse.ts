/**
 * A scenario's text -> a plan, or one line that says what is wrong, where, and what was expected.
 * Nothing is half done: every check comes before anything starts.
 */
import { parse as parseYaml } from 'yaml';
import type * as z from 'zod';
import { LockstepError, usageError } from '../base/errors.js';
import { slotsOf } from '../base/member.js';
import { parseCount, parseDuration, parseSize } from '../base/units.js';
import { planFault } from './faults.js';
import { rebuildOrigin } from './rebuild.js';
import { scenarioSchema, type Scenario } from './schema.js';
import type { DriverName, FaultPlan, OriginPlan, Plan, SyntheticOriginPlan } from './types.js';
import { nearest } from './words.js';

/** Reads a file that a scenario or a flag names; throws what the file system throws. */
export type ReadFile = (path: string) => string;

const REPLICAS = [1, 3, 5, 7];
const TIME_SCALE_DEFAULT = 0.05;
const TIME_LIMIT_DEFAULT_MS = 600_000;
const STALL_DEFAULT_MS: Readonly<Record<DriverName, number>> = {
  threads: 2_000,
  sim: 2_000,
  nats: 60_000,
};

/** YAML (or JSON) text -> plan. `where` names the text in errors. */
export function parseScenario(text: string, where: string, readFile: ReadFile): Plan {
  return planScenario(parseText(text, where), where, readFile);
}

/** A scenario file -> data of unknown shape. Errors: usage. */
export function readScenario(path: string, readFile: ReadFile): unknown {
  return parseText(readText('scenario', path, readFile), path);
}

/** Errors: usage, with the reason why the file cannot be read. */
export function readText(where: string, path: string, readFile: ReadFile): string {
  try {
    return readFile(path);
  } catch (error) {
    const { code } = error as { code?: string };
    const why = code === 'ENOENT' ? 'no such file' : (code ?? 'it cannot be read');
    throw new LockstepError('usage', `${where}: ${path}: ${why}`);
  }
}

function parseText(text: string, where: string): unknown {
  try {
    return parseYaml(text);
  } catch (error) {
    const [line] = (error instanceof Error ? error.message : String(error)).split('\n');
    throw new LockstepError('usage', `${where}: not YAML: ${line ?? ''}`);
  }
}

/** Data of unknown shape -> plan. */
export function planScenario(raw: unknown, where: string, readFile: ReadFile): Plan {
  const result = scenarioSchema.safeParse(raw);
  if (!result.success) throw issueError(where, result.error.issues[0]!, raw);
  return planOf(result.data, where, readFile);
}

function planOf(scenario: Scenario, where: string, readFile: ReadFile): Plan {
  const at = (path: string): string => `${where}: ${path}`;
  const replicas = parseReplicas(at('replicas'), scenario.replicas ?? 3);
  const slots = slotsOf(replicas);
  const faults = (scenario.faults ?? []).map((fault, index) => {
    const id = fault.id ?? `faults[${index}]`;
    return { ...planFault(at(`faults[${index}]`), fault, slots), id };
  });
  const origin = planOrigin(at('origin'), scenario.origin, readFile);
  const beyondQuorum = scenario.beyondQuorum ?? false;
  checkReferences(at, faults);
  checkTimes(at, faults, origin);
  if (!beyondQuorum) checkBudget(at, faults, replicas);
  return {
    name: scenario.name,
    seed: parseCount(at('seed'), scenario.seed ?? 1, { min: 0 }),
    replicas,
    election: scenario.election ?? 'both',
    skip: scenario.mirror?.skip ?? 'entries',
    timeScale: parseTimeScale(at('timeScale'), scenario.timeScale ?? TIME_SCALE_DEFAULT),
    origin,
    faults,
    beyondQuorum,
    timeLimitMs:
      scenario.timeLimit === undefined
        ? TIME_LIMIT_DEFAULT_MS
        : parseDuration(at('timeLimit'), scenario.timeLimit),
    expect: {
      stallAtMostMs: stallLimits(at('expect.stallAtMost'), scenario.expect?.stallAtMost),
      covered: scenario.expect?.covered ?? [],
      mirror: scenario.expect?.mirror ?? 'running',
    },
  };
}

export function parseReplicas(where: string, value: unknown): number {
  if (REPLICAS.some((count) => String(count) === String(value))) return Number(value);
  throw usageError(where, value, `one of ${REPLICAS.join(', ')}`);
}

export function parseTimeScale(where: string, value: unknown): number {
  if (value === 'upstream') return 1;
  const scale = Number(value);
  if (Number.isFinite(scale) && scale >= 0.001 && scale <= 10) return scale;
  throw usageError(where, value, 'upstream or a number from 0.001 to 10');
}

/** Raw parts of a synthetic origin -> plan; used by scenario files and by --origin. */
export function planSynthetic(
  where: string,
  raw: NonNullable<Scenario['origin']['synthetic']>,
): SyntheticOriginPlan {
  const messages = parseCount(`${where}.messages`, raw.messages, { min: 1, max: 1e9 });
  let behind = 0;
  let room = Number.MAX_SAFE_INTEGER - messages - 1;
  const gaps = (raw.gaps ?? []).map((gap, index) => {
    const path = `${where}.gaps[${index}]`;
    const after = parseCount(`${path}.after`, gap.after, { min: 0 });
    const count = parseCount(`${path}.count`, gap.count, { min: 1 });
    if (after > messages) {
      throw usageError(`${path}.after`, after, `within the stream of ${messages} messages`);
    }
    if (index > 0 && after <= behind) {
      throw usageError(`${path}.after`, after, `above ${behind}: gaps rise and do not overlap`);
    }
    if (count > room) throw usageError(`${path}.count`, count, 'a gap that ends below 2^53-1');
    behind = after;
    room -= count;
    return { after, count };
  });
  const size = parseSize(`${where}.size`, raw.size ?? 128);
  if (size > 1_048_576) throw usageError(`${where}.size`, raw.size, 'at most 1MiB');
  return { kind: 'synthetic', messages, size, rate: parseRate(`${where}.rate`, raw.rate), gaps };
}

export function parseRate(where: string, rate: unknown): number | null {
  return rate === undefined ? null : parseCount(where, rate, { min: 1, max: 1e9 });
}

function planOrigin(where: string, origin: Scenario['origin'], readFile: ReadFile): OriginPlan {
  const { synthetic, natsGaps } = origin;
  if (synthetic !== undefined && natsGaps === undefined) {
    return planSynthetic(`${where}.synthetic`, synthetic);
  }
  if (natsGaps !== undefined && synthetic === undefined) {
    return rebuildOrigin(`${where}.natsGaps`, natsGaps, readFile);
  }
  const found = synthetic === undefined ? 'no origin' : 'synthetic and natsGaps';
  throw usageError(where, found, 'exactly one of synthetic, natsGaps');
}

type At = (path: string) => string;

/** `after` names another fault, and nothing waits for itself. */
function checkReferences(at: At, faults: readonly FaultPlan[]): void {
  const ids = faults.map(({ id }) => id);
  ids.forEach((id, index) => {
    if (ids.indexOf(id) !== index) throw usageError(at(`faults[${index}].id`), id, 'used once');
  });
  faults.forEach(({ id, trigger }, index) => {
    if (trigger.kind !== 'after') return;
    if (!ids.includes(trigger.fault)) {
      const expected = `the id of another fault${nearest(trigger.fault, ids)}`;
      throw usageError(at(`faults[${index}].after`), trigger.fault, expected);
    }
    const seen = new Set([id]);
    let next: FaultPlan | undefined = faults[ids.indexOf(trigger.fault)];
    while (next !== undefined) {
      if (seen.has(next.id)) {
        throw usageError(at(`faults[${index}].after`), trigger.fault, 'a fault that comes before');
      }
      seen.add(next.id);
      const { trigger: before }: FaultPlan = next;
      next = before.kind === 'after' ? faults[ids.indexOf(before.fault)] : undefined;
    }
  });
}

/** A bounded load at a known rate has an end; a fault behind it would hit nothing. */
function checkTimes(at: At, faults: readonly FaultPlan[], origin: OriginPlan): void {
  if (origin.rate === null) return;
  const endMs = (origin.messages / origin.rate) * 1000;
  faults.forEach(({ trigger }, index) => {
    if (trigger.kind !== 'time' || trigger.atMs <= endMs) return;
    const expected = `before the last message, at ${Math.round(endMs)}ms`;
    throw usageError(at(`faults[${index}].at`), `${trigger.atMs}ms`, expected);
  });
}

/** More kills than the cluster tolerates can never be installed. */
function checkBudget(at: At, faults: readonly FaultPlan[], replicas: number): void {
  const tolerated = Math.floor((replicas - 1) / 2);
  const kills = faults.filter(({ action }) => action.kind === 'kill').length;
  const freezes = faults.findIndex(({ action }) => action.kind === 'freeze');
  if (kills <= tolerated && (freezes < 0 || tolerated > 0)) return;
  const where = kills > tolerated ? 'faults' : `faults[${freezes}]`;
  const found = kills > tolerated ? `kill ${kills} of ${replicas}` : `freeze 1 of ${replicas}`;
  throw usageError(at(where), found, `within the ${tolerated} tolerated; beyondQuorum lifts that`);
}

function stallLimits(
  where: string,
  limits: NonNullable<Scenario['expect']>['stallAtMost'],
): Readonly<Record<DriverName, number>> {
  if (limits === undefined) return STALL_DEFAULT_MS;
  if (typeof limits === 'string') {
    const ms = parseDuration(where, limits);
    return { threads: ms, sim: ms, nats: ms };
  }
  const one = (driver: DriverName): number =>
    limits[driver] === undefined
      ? STALL_DEFAULT_MS[driver]
      : parseDuration(`${where}.${driver}`, limits[driver]);
  return { threads: one('threads'), sim: one('sim'), nats: one('nats') };
}

/** The first thing that is wrong, as one line. */
function issueError(where: string, issue: z.core.$ZodIssue, raw: unknown): LockstepError {
  const path = issue.path.reduce<string>(
    (text, part) =>
      typeof part === 'number'
        ? `${text}[${part}]`
        : `${text}${text === '' ? '' : '.'}${String(part)}`,
    '',
  );
  const at = path === '' ? where : `${where}: ${path}`;
  if (issue.code === 'unrecognized_keys') {
    const [key = ''] = issue.keys;
    const known = knownKeys(issue.path);
    return usageError(at, key, `a known key${nearest(key, known)}`);
  }
  const found = issue.path.reduce<unknown>((value, part) => {
    return typeof value === 'object' && value !== null
      ? (value as Record<PropertyKey, unknown>)[part]
      : undefined;
  }, raw);
  return usageError(at, found, expectation(issue));
}

function expectation(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `a ${issue.expected}`;
    case 'invalid_value':
      return `one of ${issue.values.map(String).join(', ')}`;
    default:
      return `what is expected there (${issue.message.split('\n')[0] ?? ''})`;
  }
}

/** Keys of the schema at a path, for "did you mean". */
function knownKeys(path: readonly PropertyKey[]): string[] {
  let schema: unknown = scenarioSchema;
  for (const part of path) {
    schema = unwrap(schema);
    const { shape, element } = schema as {
      shape?: Record<PropertyKey, unknown>;
      element?: unknown;
    };
    schema = typeof part === 'number' ? element : shape?.[part];
  }
  const { shape } = (unwrap(schema) ?? {}) as { shape?: Record<string, unknown> };
  return Object.keys(shape ?? {});
}

function unwrap(schema: unknown): unknown {
  let inner = schema;
  while (typeof (inner as { unwrap?: unknown } | undefined)?.unwrap === 'function') {
    inner = (inner as { unwrap: () => unknown }).unwrap();
  }
  return inner;
}
