/**
 * A scenario's text -> a plan, or one line that says what is wrong, where, and what was expected.
 * Nothing is half done: every check comes before anything starts.
 */
import { LockstepError, usageError } from '../base/errors.js';
import { FAULTS_MAX, SCENARIO_BYTES_MAX } from '../base/limits.js';
import { slotsOf } from '../base/member.js';
import { parseCount, parseDuration, parsePositiveDuration } from '../base/units.js';
import { LATER_FAULTS_MAX } from './budget.js';
import {
  checkBudget,
  checkContent,
  checkLive,
  checkReferences,
  checkTimes,
  type Written,
} from './checks.js';
import { planFault } from './faults.js';
import { issueError } from './issues.js';
import { planOrigin } from './origins.js';
import { addedFaultSchema, scenarioSchema, type Scenario } from './schema.js';
import { parseSource, readText, type ReadFile, type ScenarioSource, type Where } from './source.js';
import type { StreamState } from '../stream/types.js';
import type { DriverName, FaultPlan, Plan } from './types.js';

export type { ReadFile, ScenarioSource, Where } from './source.js';

const REPLICAS = [1, 3, 5, 7];
const TIME_SCALE_DEFAULT = 0.05;
const TIME_LIMIT_DEFAULT_MS = 600_000;
const STALL_DEFAULT_MS: Readonly<Record<DriverName, number>> = {
  threads: 2_000,
  sim: 2_000,
  nats: 60_000,
};

/** YAML (or JSON) text -> plan. `name` is the text's in errors, beside the line. Errors: usage. */
export function parseScenario(text: string, name: string, readFile: ReadFile): Plan {
  const { raw, where } = parseSource(text, name);
  return planScenario(raw, where, readFile);
}

/** A scenario file -> data of unknown shape, and where its parts were written. Errors: usage. */
export function scenarioSource(path: string, readFile: ReadFile): ScenarioSource {
  const source = parseSource(readText('scenario', path, readFile, SCENARIO_BYTES_MAX), path);
  const { raw } = source;
  if (typeof raw === 'object' && raw !== null && 'format' in raw && 'plan' in raw) {
    throw new LockstepError('usage', `${path}: is a replay file; lockstep replay plays it`);
  }
  return source;
}

/**
 * Data of unknown shape -> plan. Errors: usage, one line: place, path, value, what was expected.
 *
 * @param where  the place of every part, or one name for all of them
 */
export function planScenario(raw: unknown, where: string | Where, readFile: ReadFile): Plan {
  try {
    const result = scenarioSchema.safeParse(raw);
    if (!result.success) throw issueError(result.error.issues, raw);
    return planOf(result.data, readFile);
  } catch (error) {
    if (!(error instanceof LockstepError) || error.code !== 'usage') throw error;
    const path = error.detail?.['where'];
    const place = typeof where === 'string' ? where : where(typeof path === 'string' ? path : '');
    throw new LockstepError('usage', `${place}: ${error.message}`, error.detail);
  }
}

/**
 * One more fault for a run that goes on. Without a trigger it strikes at once, or with the first
 * delivery. Errors: usage, one line.
 *
 * @param known  the faults that the run has so far, by position
 */
export function planAdded(raw: unknown, plan: Plan, known: readonly FaultPlan[]): FaultPlan {
  const result = addedFaultSchema.safeParse(raw);
  if (!result.success) throw issueError(result.error.issues, raw, addedFaultSchema);
  const { data: fault } = result;
  const isTriggered = fault.at !== undefined || fault.when !== undefined;
  const text = isTriggered || fault.after !== undefined ? fault : { ...fault, at: '0ms' };
  const where = `faults[${known.length}]`;
  if (known.length >= plan.faults.length + LATER_FAULTS_MAX) {
    throw usageError(where, 'one more fault', `within the ${LATER_FAULTS_MAX} that a run can add`);
  }
  const [added] = planFault(where, text, slotsOf(plan.replicas), plan.seed);
  const written = [...known, added!].map((each) => ({ where: each.id, plan: each }));
  checkReferences(written);
  checkTimes(written, plan.origin);
  checkLive(written, plan.origin);
  checkContent(written, plan.origin);
  return added!;
}

function planOf(scenario: Scenario, readFile: ReadFile): Plan {
  const { expect, timeLimit } = scenario;
  const replicas = parseReplicas(scenario.replicas ?? 3);
  const slots = slotsOf(replicas);
  const seed = parseCount('seed', scenario.seed ?? 1, { min: 0 });
  const written: Written[] = [];
  for (const [index, fault] of (scenario.faults ?? []).entries()) {
    const where = `faults[${index}]`;
    for (const plan of planFault(where, fault, slots, seed)) written.push({ where, plan });
    if (written.length <= FAULTS_MAX) continue;
    const expected = `within the ${FAULTS_MAX} of a scenario, repetitions counted`;
    throw usageError(where, `fault ${written.length}`, expected);
  }
  const faults = written.map(({ plan }) => plan);
  const origin = planOrigin('origin', scenario.origin, readFile);
  const beyondQuorum = scenario.beyondQuorum ?? false;
  checkReferences(written);
  checkTimes(written, origin);
  checkLive(written, origin);
  checkContent(written, origin);
  if (!beyondQuorum) checkBudget(faults, replicas);
  return {
    name: scenario.name,
    seed,
    replicas,
    election: scenario.election ?? 'both',
    skip: scenario.mirror?.skip ?? 'entries',
    timeScale: parseTimeScale(scenario.timeScale ?? TIME_SCALE_DEFAULT),
    origin,
    faults,
    beyondQuorum,
    timeLimitMs:
      timeLimit === undefined
        ? TIME_LIMIT_DEFAULT_MS
        : parsePositiveDuration('timeLimit', timeLimit),
    expect: {
      stallAtMostMs: stallLimits('expect.stallAtMost', expect?.stallAtMost),
      covered: expect?.covered ?? [],
      mirror: expect?.mirror ?? 'running',
      state: expect?.state === undefined ? null : stateOf('expect.state', expect.state),
    },
  };
}

function parseReplicas(value: number | string): number {
  if (REPLICAS.some((count) => String(count) === String(value))) return Number(value);
  throw usageError('replicas', value, `one of ${REPLICAS.join(', ')}`);
}

function parseTimeScale(value: number | 'upstream'): number {
  if (value === 'upstream') return 1;
  if (value >= 0.001 && value <= 10) return value;
  throw usageError('timeScale', value, 'upstream or a number from 0.001 to 10');
}

/** Four numbers of which three say the fourth: one that is off is a slip of whoever wrote them. */
function stateOf(
  where: string,
  raw: NonNullable<NonNullable<Scenario['expect']>['state']>,
): StreamState {
  const first = parseCount(`${where}.first`, raw.first, { min: 1 });
  const last = parseCount(`${where}.last`, raw.last, { min: first });
  const messages = parseCount(`${where}.messages`, raw.messages, { min: 1 });
  const deleted = parseCount(`${where}.deleted`, raw.deleted, { min: 0 });
  const between = last - first + 1;
  if (messages + deleted === between) return { first, last, messages, deleted };
  const found = `${messages} messages and ${deleted} deleted`;
  throw usageError(where, found, `${between} in all, from ${first} to ${last}`);
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
