/** One test over many seeds: played over the cores, the first failure made small and told. */
import { expect, type TestContext } from 'vitest';
import { LockstepError } from '../base/errors.js';
import { loadHasher } from '../base/hasher.js';
import { parseCount, parsePositiveDuration } from '../base/units.js';
import { playSweep, type SweepRequest } from '../kit/sweep.js';
import { version } from '../kit/version.js';
import { missedText } from '../report/coverage.js';
import { counted, printable } from '../report/text.js';
import { readInput } from '../scenario/input-file.js';
import { refuseLive } from '../scenario/origins.js';
import { planScenario, scenarioSource } from '../scenario/parse.js';
import type { Scenario } from '../scenario/schema.js';
import { checkKeys } from '../scenario/words.js';
import { checkMustHit } from '../sim/must-hit.js';
import type { SweepSubject } from '../sim/seeds.js';
import type { SwarmFocus } from '../sim/swarm-focus.js';
import { SweepTally, type FailedSeed, type SweepSummary } from '../verdict/sweep.js';
import { ARTIFACTS_DIR, recordRun } from './artifacts.js';
import { SharedCores } from './cores.js';
import type { Asked } from './environment.js';
import { findingOf, type Failing, type Finding } from './finding.js';
import { replayOf } from './replay.js';

/** A scenario file, a scenario, or `drawn`: clusters, loads and faults drawn as a whole. */
export type SweepScenario = string | Scenario;

export interface SweepOptions {
  /** How many; default 100, or as many as fit into the time limit. */
  readonly seeds?: number;
  /** The first one; default the scenario's, or 1. */
  readonly seed?: number;
  /** Threads that play at once; default all cores, which all sweeps of a run share. */
  readonly cores?: number;
  /** Ends the sweep: inconclusive if it was to play so many seeds. */
  readonly timeLimit?: string;
  /** Links and disks of a scenario; default calm. */
  readonly conditions?: 'calm' | 'drawn';
  /** Every seed is played twice, and has to be the same. */
  readonly checkDeterminism?: boolean;
  /** Drawn runs: faults beyond what the cluster tolerates. */
  readonly beyondQuorum?: boolean;
  /** Drawn runs: what they lean to; default: each draws it. */
  readonly focus?: SwarmFocus;
  /** Cells of the coverage that have to be met, such as `leader:skipping:kill`. */
  readonly mustHit?: readonly string[];
  /** How long the first failure is made smaller; false: not at all. Default 30s. */
  readonly shrink?: string | false;
  /** Of the test, shrinking included; default 10m, or a minute more than the rest needs. */
  readonly timeout?: string;
}

const OPTIONS: readonly (keyof SweepOptions)[] = [
  ...(['seeds', 'seed', 'cores', 'timeLimit', 'conditions', 'checkDeterminism'] as const),
  ...(['beyondQuorum', 'focus', 'mustHit', 'shrink', 'timeout'] as const),
];
const DRAWN = 'drawn';
const SEEDS_DEFAULT = 100;
const SHRINK_DEFAULT_MS = 30_000;
const TIMEOUT_DEFAULT_MS = 600_000;
const SLACK_MS = 60_000;
const ENDED = { timeLimit: 'its time limit', plateau: 'a plateau', signal: 'a signal' } as const;

/** What a test is to do, checked before it runs. */
interface SweepPlan {
  readonly request: SweepRequest;
  readonly shrinkMs: number | null;
  readonly timeoutMs: number;
  /** What fails under a seed. */
  readonly failingAt: (seed: number) => Failing;
}

/** Errors: usage. */
export function planSweep(of: SweepScenario, options: SweepOptions, asked: Asked): SweepPlan {
  checkKeys('test.sweep', options, OPTIONS);
  const { timeLimit, conditions = 'calm', shrink, focus } = options;
  const source = of === DRAWN ? null : sourceOf(of);
  const plan = source === null ? null : planScenario(source.raw, source.where, readInput);
  if (plan !== null) refuseLive('sim', plan);
  const own = timeLimit === undefined ? null : parsePositiveDuration('timeLimit', timeLimit);
  const limitMs = asked.timeLimitMs ?? own;
  const beyondQuorum = options.beyondQuorum ?? false;
  const shrinkMs = shrinkLimit(shrink);
  const cores = coreCount(options.cores) ?? asked.cores;
  const subject: SweepSubject =
    plan === null ? { kind: DRAWN, beyondQuorum, focus } : { kind: 'scenario', plan, conditions };
  return {
    shrinkMs,
    timeoutMs: timeoutOf(options, limitMs, shrinkMs),
    failingAt: (seed) =>
      source === null
        ? { kind: DRAWN, seed, beyondQuorum, focus }
        : { kind: 'scenario', conditions, scenario: { ...(source.raw as Scenario), seed } },
    request: {
      ...{ subject, cores },
      shared: new SharedCores(Math.max(cores, asked.cores)),
      shard: null,
      asked: {
        version: version(),
        scenario: typeof of === 'string' && of !== DRAWN ? of : (plan?.name ?? null),
        conditions: plan === null ? DRAWN : conditions,
        beyondQuorum,
        focus: focus ?? null,
        checkDeterminism: options.checkDeterminism ?? asked.checkDeterminism,
        first: asked.seed ?? parseCount('seed', options.seed ?? plan?.seed ?? 1, { min: 0 }),
        seeds: seedCount(options, limitMs, asked),
        untilPlateau: null,
        timeLimitMs: limitMs,
        mustHit: checkMustHit('mustHit', options.mustHit ?? [], subject),
        shard: null,
      },
    },
  };
}

/** The body of the test. */
export async function sweepTest(plan: SweepPlan, context: TestContext): Promise<void> {
  const { request, failingAt, shrinkMs } = plan;
  const { task, signal, annotate } = context;
  const again = (seed: number): string => replayOf(task, 'sim', seed);
  const tally = new SweepTally(again);
  const summary = await playSweep(request, tally, { signal });
  if (summary.verdict === 'held') {
    const { seeds, simulatedSeconds, timesRealTime } = summary;
    const time = `${simulatedSeconds} virtual seconds, ${timesRealTime} x real time`;
    await annotate(`${counted(seeds, 'seed')} held, ${time}`);
    return;
  }
  const failed = summary.failed.find(({ verdict }) => verdict === summary.verdict);
  if (failed === undefined) {
    const seeds = request.asked.seeds ?? Math.max(1, summary.seeds);
    const whole = replayOf(task, 'sim', `${request.asked.first} LOCKSTEP_SEEDS=${seeds}`);
    return failWith([...notHeldLines(summary), whole]);
  }
  const found = await findingOf(failingAt(failed.seed), failed, {
    ...{ hasher: await loadHasher(), readFile: readInput, shrinkMs },
  });
  await keep(context, failed, found);
  failWith([...notHeldLines(summary), ...failureLines(failed, found)]);
}

/** What was found, as vitest's reporters show it and as its artifacts. */
export async function keep(
  { task, annotate }: TestContext,
  failed: FailedSeed,
  { paths, replay }: Finding,
): Promise<void> {
  await annotate(`replay: ${replay ?? failed.replay}`, 'error');
  const { seed } = failed;
  await recordRun(task, { driver: 'sim', seed, replay: failed.replay }, paths);
}

/** One finding as the lines of a failed test. */
export function failureLines(failed: FailedSeed, { lines, paths, replay }: Finding): string[] {
  return [
    `seed ${failed.seed}: ${failed.property}: ${printable(failed.text)}`,
    ...lines,
    failed.replay,
    ...(replay === null ? [] : [`replay: ${replay}`]),
    ...(paths.length === 0 ? [] : [`artifacts in ${ARTIFACTS_DIR}: ${paths.join(', ')}`]),
  ];
}

/** The message alone: whoever reads it gains nothing from where lockstep threw it. */
export function failWith(lines: readonly string[]): never {
  try {
    expect.fail(lines.join('\n'));
  } catch (error) {
    if (error instanceof Error) error.stack = `${error.name}: ${error.message}`;
    throw error;
  }
}

function notHeldLines({ verdict, seeds, failed, ended, gates }: SweepSummary): string[] {
  const why = ended === 'seeds' || ended === 'failure' ? '' : `, ended by ${ENDED[ended]}`;
  const missed = gates
    .filter(({ times }) => times === 0)
    .map((gate) => `uncovered: ${missedText(gate)}`);
  return [`${verdict}: ${counted(seeds, 'seed')}, ${failed.length} failed${why}`, ...missed];
}

function sourceOf(of: SweepScenario): ReturnType<typeof scenarioSource> {
  if (typeof of === 'string') return scenarioSource(of, readInput);
  if (typeof of === 'object' && of !== null) return { raw: of, where: () => 'test.sweep' };
  throw new LockstepError('usage', 'test.sweep: takes a scenario, the path of one, or drawn');
}

function coreCount(count: number | undefined): number | undefined {
  return count === undefined ? undefined : parseCount('cores', count, { min: 1, max: 256 });
}

/** LOCKSTEP_SEED alone plays that one. */
function seedCount({ seeds }: SweepOptions, limitMs: number | null, asked: Asked): number | null {
  if (asked.seeds !== undefined) return asked.seeds;
  if (asked.seed !== undefined) return 1;
  if (seeds !== undefined) return parseCount('seeds', seeds, { min: 1 });
  return limitMs === null ? SEEDS_DEFAULT : null;
}

function shrinkLimit(shrink: SweepOptions['shrink']): number | null {
  if (shrink === false) return null;
  return shrink === undefined ? SHRINK_DEFAULT_MS : parsePositiveDuration('shrink', shrink);
}

function timeoutOf(
  { timeout }: SweepOptions,
  limitMs: number | null,
  shrinkMs: number | null,
): number {
  if (timeout !== undefined) return parsePositiveDuration('timeout', timeout);
  if (limitMs === null) return TIMEOUT_DEFAULT_MS;
  return limitMs + (shrinkMs ?? 0) + SLACK_MS;
}
