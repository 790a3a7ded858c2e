/** What a sweep leaves behind of seeds that failed: replay files, and scenarios made small. */
import { loadHasher, type Hasher } from '../base/hasher.js';
import type { ReadFile } from '../scenario/parse.js';
import { encodeReplay, replayFileName, type ReplayFile } from '../sim/replay-file.js';
import { shrinkRun } from '../sim/shrink-run.js';
import type { ScenarioCase } from '../sim/shrink-scenario.js';
import { FOCUSES } from '../sim/swarm-focus.js';
import { drawSwarm, type SwarmPlan } from '../sim/swarm.js';
import type { FailedSeed, SeedFailure, SweepSummary } from '../verdict/sweep.js';
import { quoted } from '../report/text.js';
import { writeLines } from './output.js';
import { shrunkScenarioText, writeScenarioReplay } from './scenario-replay.js';
import { version } from './version.js';

export interface ShrinkRequest {
  /** Where the files go. */
  readonly dir: string;
  /** Milliseconds for each seed. */
  readonly limitMs: number;
}

export interface SweepShrinkRequest extends ShrinkRequest {
  /** What was swept, and from where its files are read; null: drawn runs. */
  readonly scenario: (ScenarioCase & { readonly readFile: ReadFile }) | null;
}

/** Of a sweep that goes on after failures, the first few: one fault often fails many seeds. */
const SHRUNK_MAX = 3;

/**
 * Shrinks the failed seeds of a sweep and writes them down; in the summary that comes back their
 * replay is what was written. The others keep theirs.
 *
 * @param onText  told in one line how small each became
 */
export async function withReplays(
  summary: SweepSummary,
  request: SweepShrinkRequest,
  onText: (line: string) => void,
): Promise<SweepSummary> {
  const hasher = await loadHasher();
  const write = replaysOf(summary, request, hasher, onText);
  const failed: FailedSeed[] = [];
  let shrunk = 0;
  for (const each of summary.failed) {
    const replay = shrunk < SHRUNK_MAX && canShrink(each);
    if (replay) shrunk++;
    const command = replay ? await write(each) : null;
    failed.push(command === null ? each : { ...each, replay: command });
  }
  return { ...summary, failed };
}

/** Writes one down and says which command plays it; null: it does not fail here. */
function replaysOf(
  { asked: { beyondQuorum, focus: leaning } }: SweepSummary,
  request: SweepShrinkRequest,
  hasher: Hasher,
  onText: (line: string) => void,
): (failed: FailedSeed) => Promise<string | null> {
  const { scenario, dir } = request;
  if (scenario === null) {
    const focus = FOCUSES.find((each) => each === leaning);
    return ({ seed }) =>
      writeReplay(drawSwarm(seed, { beyondQuorum, focus }), hasher, request, onText);
  }
  const { readFile, conditions } = scenario;
  return async (failed) => {
    const { seed } = failed;
    const failing = { scenario: { ...scenario.scenario, seed }, conditions };
    const of = { hasher, readFile, dir, shrink: request };
    const written = await writeScenarioReplay(failing, failed, of);
    onText(`seed ${seed}: ${shrunkScenarioText(written)}`);
    return written.command;
  };
}

/** A run that is not the same twice, or that ends its thread, cannot be shrunk by playing it. */
export function canShrink({ verdict, property }: SeedFailure): boolean {
  return verdict === 'harness' ? property === 'harness' : true;
}

/** The command that plays the file; null: the plan does not fail here. */
export async function writeReplay(
  plan: SwarmPlan,
  hasher: Hasher,
  request: ShrinkRequest,
  onText: (line: string) => void,
): Promise<string | null> {
  const written = await shrinkToFile(plan, hasher, request);
  if (written === null) return null;
  onText(`seed ${plan.seed}: ${shrunkText(written.replay)}`);
  return `lockstep replay ${quoted(written.path)}`;
}

/** Null: the plan does not fail here. */
export async function shrinkToFile(
  plan: SwarmPlan,
  hasher: Hasher,
  { dir, limitMs }: ShrinkRequest,
): Promise<{ readonly path: string; readonly replay: ReplayFile } | null> {
  const untilMs = performance.now() + limitMs;
  const isOver = (): boolean => performance.now() >= untilMs;
  const shrunk = await shrinkRun(plan, hasher, isOver);
  if (shrunk === null) return null;
  const { seed } = plan;
  const { failure, events, candidates, end } = shrunk;
  const replay: ReplayFile = {
    format: 1,
    lockstep: version(),
    about: `seed ${seed}: ${failure.property}`,
    expect: failure.verdict,
    failure,
    shrunk: { ...events, candidates, end },
    plan: shrunk.plan,
  };
  const text = encodeReplay(replay).trimEnd();
  return { path: writeLines(dir, replayFileName(failure, seed), [text]), replay };
}

/** What shrinking came to, in one line. */
export function shrunkText({ shrunk }: ReplayFile): string {
  if (shrunk === undefined) return 'not shrunk';
  const { from, to, candidates, end } = shrunk;
  const events = `${from} faults and fates to ${to}`;
  return `shrunk from ${events} after ${candidates} candidates${LIMITS[end]}`;
}

const LIMITS = {
  minimal: '',
  candidates: ', not to the end: too many candidates',
  time: ', not to the end: --shrink-limit',
} as const;
