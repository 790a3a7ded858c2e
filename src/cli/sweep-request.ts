/** What the flags of a sweep ask for, checked as a whole before anything starts. */
import { availableParallelism } from 'node:os';
import { LockstepError, usageError } from '../base/errors.js';
import { parseCount, parsePositiveDuration } from '../base/units.js';
import { checkMustHit } from '../sim/must-hit.js';
import type { SweepSubject } from '../sim/seeds.js';
import type { SwarmFocus } from '../sim/swarm-focus.js';
import type { SweepAsked } from '../verdict/sweep.js';
import { quoted } from '../report/text.js';
import { readInput } from '../scenario/input-file.js';
import { refuseLive } from '../scenario/origins.js';
import { planScenario, scenarioSource, type ScenarioSource } from '../scenario/parse.js';
import type { Scenario } from '../scenario/schema.js';
import type { SweepShrinkRequest } from '../kit/replay-files.js';
import type { Shard, SweepRequest } from '../kit/sweep.js';
import { version } from '../kit/version.js';
import { isObject } from './run.js';

const SHRINK_LIMIT_DEFAULT = '30s';

export interface SweepFlags {
  readonly seeds?: string;
  readonly seed: string;
  readonly cores?: string;
  readonly timeLimit?: string;
  readonly untilPlateau?: string;
  readonly mustHit?: readonly string[];
  readonly coverage?: boolean;
  readonly keepGoing?: boolean;
  readonly conditions?: 'calm' | 'drawn';
  readonly checkDeterminism?: boolean;
  readonly beyondQuorum?: boolean;
  readonly focus?: SwarmFocus;
  readonly shard?: string;
  readonly scaling?: boolean;
  readonly json?: boolean;
  readonly junit?: string;
  readonly outDir?: string;
  readonly shrink?: boolean;
  readonly shrinkLimit?: string;
}

export interface SweepCommand extends SweepRequest {
  /** Null: what fails is told as it was drawn. */
  readonly shrink: SweepShrinkRequest | null;
}

/** Errors: usage, with the first flag that is wrong. */
export function sweepRequest(scenario: string | undefined, flags: SweepFlags): SweepCommand {
  const seeds = flags.seeds === undefined ? null : parseCount('--seeds', flags.seeds, { min: 1 });
  const first = parseCount('--seed', flags.seed, { min: 0 });
  const cores = parseCount('--cores', flags.cores ?? availableParallelism(), { min: 1, max: 256 });
  const { timeLimit, untilPlateau } = flags;
  const plateau =
    untilPlateau === undefined ? null : parseCount('--until-plateau', untilPlateau, { min: 1 });
  const limitMs = timeLimit === undefined ? null : parsePositiveDuration('--time-limit', timeLimit);
  if (seeds !== null && first > Number.MAX_SAFE_INTEGER - (seeds - 1)) {
    throw usageError('--seed', flags.seed, 'a first seed that leaves the last below 2^53');
  }
  if (flags.scaling === true && seeds === null) {
    throw refused('--scaling: give --seeds, so that every number of cores plays the same ones');
  }
  const shard = flags.shard === undefined ? null : shardOf(flags.shard, seeds);
  const source = scenario === undefined ? null : sourceOf(scenario, flags.beyondQuorum === true);
  const subject = subjectOf(source, flags);
  const mustHit = checkMustHit('--must-hit', flags.mustHit ?? [], subject);
  const shrink = shrinkOf(source, flags, subject);
  // Last: what was typed is told of before what is missing.
  if (seeds === null && plateau === null && limitMs === null) {
    throw refused('sweep: give --seeds, --time-limit or --until-plateau, or it has no end');
  }
  return {
    cores,
    shard,
    subject,
    shrink,
    asked: {
      version: version(),
      scenario: scenario ?? null,
      conditions: subject.kind === 'drawn' ? 'drawn' : subject.conditions,
      beyondQuorum: flags.beyondQuorum === true,
      focus: flags.focus ?? null,
      checkDeterminism: flags.checkDeterminism === true,
      first,
      seeds,
      untilPlateau: plateau,
      timeLimitMs: limitMs,
      mustHit,
      shard: flags.shard ?? null,
    },
  };
}

/** Errors: usage. @param source  null: drawn runs */
function subjectOf(source: ScenarioSource | null, flags: SweepFlags): SweepSubject {
  const { conditions, beyondQuorum, focus } = flags;
  if (source !== null) {
    if (focus !== undefined) throw refused('--focus: only for drawn runs; a scenario says it all');
    const plan = planScenario(source.raw, source.where, readInput);
    refuseLive('sim', plan);
    return { kind: 'scenario', plan, conditions: conditions ?? 'calm' };
  }
  if (conditions !== undefined) {
    throw refused('--conditions: only for a scenario file; drawn runs draw theirs');
  }
  return { kind: 'drawn', beyondQuorum: beyondQuorum === true, focus };
}

function sourceOf(path: string, beyondQuorum: boolean): ScenarioSource {
  const { raw, where } = scenarioSource(path, readInput);
  return { raw: beyondQuorum && isObject(raw) ? { ...raw, beyondQuorum } : raw, where };
}

function shrinkOf(
  source: ScenarioSource | null,
  { shrink, shrinkLimit, outDir }: SweepFlags,
  subject: SweepSubject,
): SweepShrinkRequest | null {
  if (shrink !== true) {
    if (shrinkLimit === undefined) return null;
    throw refused('--shrink-limit belongs to --shrink');
  }
  const limitMs = parsePositiveDuration('--shrink-limit', shrinkLimit ?? SHRINK_LIMIT_DEFAULT);
  const request = { dir: outDir ?? '.lockstep', limitMs };
  if (source === null || subject.kind === 'drawn') return { ...request, scenario: null };
  // It was planned, so it is what a scenario file may say.
  const scenario = source.raw as Scenario;
  const { conditions } = subject;
  return { ...request, scenario: { scenario, conditions, readFile: readInput } };
}

function shardOf(text: string, seeds: number | null): Shard {
  const match = /^([1-9]\d{0,3})\/([1-9]\d{0,3})$/.exec(text);
  const [index, of] = [Number(match?.[1]), Number(match?.[2])];
  if (match === null || index > of) {
    throw usageError('--shard', text, 'a shard such as 3/16, the third of sixteen');
  }
  if (seeds !== null && of > seeds) {
    throw usageError('--shard', text, `one of at most ${seeds} shards, as there are seeds`);
  }
  return { index, of };
}

/** Plays one seed of a sweep again. */
export function replaySeed(asked: SweepAsked, seed: number): string {
  const { scenario, conditions, beyondQuorum, focus } = asked;
  const words = ['lockstep', 'sweep'];
  if (scenario !== null) words.push(scenario);
  if (scenario !== null && conditions !== 'calm') words.push('--conditions', conditions);
  if (beyondQuorum) words.push('--beyond-quorum');
  if (focus !== null) words.push('--focus', focus);
  words.push('--seeds', '1', '--seed', String(seed));
  return words.map(quoted).join(' ');
}

function refused(text: string): LockstepError {
  return new LockstepError('usage', text);
}
