/** The replay files that a sweep of drawn runs leaves behind. */
import { loadHasher, type Hasher } from '../base/hasher.js';
import { encodeReplay, replayFileName, type ReplayFile } from '../sim/replay-file.js';
import { shrinkRun } from '../sim/shrink-run.js';
import { FOCUSES } from '../sim/swarm-focus.js';
import { drawSwarm, type SwarmPlan } from '../sim/swarm.js';
import type { FailedSeed, SeedFailure, SweepSummary } from '../verdict/sweep.js';
import { quoted } from '../report/text.js';
import { writeLines } from './output.js';
import { version } from './version.js';

export interface ShrinkRequest {
  /** Where the files go. */
  readonly dir: string;
  /** Milliseconds for each seed. */
  readonly limitMs: number;
}

/** Of a sweep that goes on after failures, the first few: one fault often fails many seeds. */
const SHRUNK_MAX = 3;

/**
 * Shrinks the failed seeds of a sweep of drawn runs and writes them down; in the summary that comes
 * back their replay is the file. The others keep theirs.
 *
 * @param onText  told in one line how small each became
 */
export async function withReplays(
  summary: SweepSummary,
  request: ShrinkRequest,
  onText: (line: string) => void,
): Promise<SweepSummary> {
  const hasher = await loadHasher();
  const { beyondQuorum } = summary.asked;
  const focus = FOCUSES.find((each) => each === summary.asked.focus);
  const failed: FailedSeed[] = [];
  let shrunk = 0;
  for (const each of summary.failed) {
    const replay = shrunk < SHRUNK_MAX && canShrink(each);
    if (replay) shrunk++;
    const command = replay
      ? await writeReplay(drawSwarm(each.seed, { beyondQuorum, focus }), hasher, request, onText)
      : null;
    failed.push(command === null ? each : { ...each, replay: command });
  }
  return { ...summary, failed };
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
