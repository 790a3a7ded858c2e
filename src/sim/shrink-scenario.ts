/**
 * A scenario that fails under a seed, made small: fewer faults, weaker ones, fewer replicas, less
 * load, calm links, nothing said that is the default. What comes out is a scenario again, as a file
 * would state it; every candidate is checked as a file is before it is played.
 */
import type { Hasher } from '../base/hasher.js';
import { LockstepError } from '../base/errors.js';
import { formatDuration, parseCount, parseDurations } from '../base/units.js';
import { planScenario, type ReadFile } from '../scenario/parse.js';
import type { FaultText, Scenario } from '../scenario/schema.js';
import type { Plan } from '../scenario/types.js';
import type { SeedFailure } from '../verdict/sweep.js';
import { failsAlike } from './explicit.js';
import { lower } from './lower.js';
import { playSeed } from './seeds.js';
import { fewest } from './shrink-events.js';
import { reducing, shrinkBy, type Pass, type Reduction, type Shrunk } from './shrink.js';

/** A scenario, the seed in it, and what it is played on. */
export interface ScenarioCase {
  readonly scenario: Scenario;
  readonly conditions: 'calm' | 'drawn';
}

export interface ScenarioShrinkOptions {
  readonly hasher: Hasher;
  /** For what an origin is rebuilt from. */
  readonly readFile: ReadFile;
  readonly candidatesMax: number;
  readonly isOver?: () => boolean;
}

/** @param failure  what the case comes to */
export function shrinkScenario(
  failing: ScenarioCase,
  failure: SeedFailure,
  { hasher, readFile, candidatesMax, isOver }: ScenarioShrinkOptions,
): Promise<Shrunk<ScenarioCase>> {
  const fails = async ({ scenario, conditions }: ScenarioCase): Promise<boolean> => {
    const plan = planned(scenario, readFile);
    if (plan === null) return false;
    const report = await playSeed({ kind: 'scenario', plan, conditions }, plan.seed, hasher);
    return failsAlike(report.failure, failure);
  };
  return shrinkBy([[], PASSES], failing, { fails, candidatesMax, ...(isOver ? { isOver } : {}) });
}

/** Null: what was left out leaves no scenario. */
function planned(scenario: Scenario, readFile: ReadFile): Plan | null {
  try {
    return planScenario(scenario, 'shrunk', readFile);
  } catch (error) {
    if (error instanceof LockstepError && error.code === 'usage') return null;
    throw error;
  }
}

const PASSES: readonly Pass<ScenarioCase>[] = [
  (current, attempt) => fewest({ eventsIn: faultsIn, withEvents: withFaults }, current, attempt),
  ...[calmer, fewerReplicas, fewerGaps, fewerMessages, fewerStrokes, weakerFaults, plainer].map(
    (reduction: Reduction<ScenarioCase>) => reducing(reduction),
  ),
];

function faultsIn({ scenario }: ScenarioCase): readonly FaultText[] {
  return scenario.faults ?? [];
}

function withFaults(of: ScenarioCase, faults: readonly FaultText[]): ScenarioCase {
  return changed(of, { faults: [...faults] });
}

function changed(of: ScenarioCase, change: Partial<Scenario>): ScenarioCase {
  return { ...of, scenario: { ...of.scenario, ...change } };
}

function* calmer(of: ScenarioCase): Generator<ScenarioCase> {
  if (of.conditions === 'drawn') yield { ...of, conditions: 'calm' };
}

function* fewerReplicas(of: ScenarioCase): Generator<ScenarioCase> {
  const replicas = Number(of.scenario.replicas ?? 3);
  for (const fewer of [1, 3, 5]) if (fewer < replicas) yield changed(of, { replicas: fewer });
}

function* fewerGaps(of: ScenarioCase): Generator<ScenarioCase> {
  const { synthetic } = of.scenario.origin;
  if (synthetic === undefined) return;
  const { gaps = [] } = synthetic;
  const withGaps = (left: typeof gaps): ScenarioCase => {
    const { gaps: _gaps, ...rest } = synthetic;
    const some = left.length === 0 ? rest : { ...rest, gaps: left };
    return changed(of, { origin: { synthetic: some } });
  };
  if (gaps.length > 1) yield withGaps([]);
  for (const gap of gaps) yield withGaps(gaps.filter((other) => other !== gap));
  for (const [at, gap] of gaps.entries()) {
    for (const count of lower(counted(gap.count), 1))
      yield withGaps(gaps.with(at, { ...gap, count }));
    const least = at === 0 ? 0 : counted(gaps[at - 1]!.after) + 1;
    for (const after of lower(counted(gap.after), least)) {
      yield withGaps(gaps.with(at, { ...gap, after }));
    }
  }
}

/** No fewer than a gap needs before it. */
function* fewerMessages(of: ScenarioCase): Generator<ScenarioCase> {
  const { synthetic } = of.scenario.origin;
  if (synthetic === undefined) return;
  const last = synthetic.gaps?.at(-1);
  const least = Math.max(1, last === undefined ? 1 : counted(last.after));
  for (const messages of lower(counted(synthetic.messages), least)) {
    yield changed(of, { origin: { synthetic: { ...synthetic, messages } } });
  }
}

/** One stroke instead of several. */
function* fewerStrokes(of: ScenarioCase): Generator<ScenarioCase> {
  const faults = faultsIn(of);
  for (const [at, fault] of faults.entries()) {
    if (fault.every === undefined) continue;
    const { every: _every, repeat: _repeat, ...once } = fault;
    yield withFaults(of, faults.with(at, once));
  }
}

const DURATIONS = ['at', 'delay', 'for', 'by', 'latency', 'every'] as const;
const COUNTS = ['times', 'repeat'] as const;

function* weakerFaults(of: ScenarioCase): Generator<ScenarioCase> {
  const faults = faultsIn(of);
  for (const [at, fault] of faults.entries()) {
    for (const weaker of weakerThan(fault)) yield withFaults(of, faults.with(at, weaker));
  }
}

function* weakerThan(fault: FaultText): Generator<FaultText> {
  for (const name of DURATIONS) {
    const text = fault[name];
    if (text === undefined) continue;
    const { minMs, maxMs } = parseDurations(name, text);
    for (const ms of lower(Math.floor(minMs), name === 'at' || name === 'delay' ? 0 : 1)) {
      yield { ...fault, [name]: formatDuration(ms) };
    }
    if (maxMs > minMs) yield { ...fault, [name]: formatDuration(minMs) };
  }
  for (const name of COUNTS) {
    for (const less of lower(counted(fault[name] ?? 1), 1)) yield { ...fault, [name]: less };
  }
  const { when } = fault;
  for (const name of ['skipped', 'applied', 'term'] as const) {
    for (const less of lower(counted(when?.[name] ?? 1), 1)) {
      yield { ...fault, when: { [name]: less } };
    }
  }
}

const OPTIONAL = ['election', 'mirror', 'timeScale', 'timeLimit', 'expect', 'faults'] as const;

/** What may be left out because nothing depends on it. */
function* plainer(of: ScenarioCase): Generator<ScenarioCase> {
  for (const name of OPTIONAL) {
    const { [name]: said, ...rest } = of.scenario;
    if (said === undefined) continue;
    if (name !== 'faults' || faultsIn(of).length === 0) yield { ...of, scenario: rest };
  }
}

/** A count as a scenario that was planned already states it. */
function counted(count: number | string): number {
  return parseCount('count', count, { min: 0 });
}
