/**
 * A seed that failed, told to whoever wrote the test: what does not hold and where, the least that
 * still shows it, the commands that play it again and the files that are left.
 */
import { stringify } from 'yaml';
import type { Hasher } from '../base/hasher.js';
import { describeSwarm } from '../kit/drawn-text.js';
import { canShrink, shrinkToFile, shrunkText } from '../kit/replay-files.js';
import { shrunkScenarioText, writeScenarioReplay } from '../kit/scenario-replay.js';
import { printable, quoted } from '../report/text.js';
import type { ReadFile } from '../scenario/parse.js';
import type { Scenario } from '../scenario/schema.js';
import type { ScenarioCase } from '../sim/shrink-scenario.js';
import type { SwarmFocus } from '../sim/swarm-focus.js';
import { drawSwarm } from '../sim/swarm.js';
import type { SeedFailure } from '../verdict/sweep.js';
import { folderOf } from './artifacts.js';

export interface Finding {
  readonly lines: readonly string[];
  /** Files that show it. */
  readonly paths: readonly string[];
  /** Plays the least of it again, outside of a test. */
  readonly replay: string | null;
}

/** What failed: a run drawn as a whole, or a scenario with its seed in it. */
export type Failing =
  | {
      readonly kind: 'drawn';
      readonly seed: number;
      readonly beyondQuorum: boolean;
      readonly focus: SwarmFocus | undefined;
    }
  | ({ readonly kind: 'scenario' } & ScenarioCase);

export interface FindingOptions {
  readonly hasher: Hasher;
  readonly readFile: ReadFile;
  /** Milliseconds; null: told as it is. */
  readonly shrinkMs: number | null;
}

/** Errors: usage, when nothing can be written to the folder of artifacts. */
export async function findingOf(
  failing: Failing,
  failure: SeedFailure,
  options: FindingOptions,
): Promise<Finding> {
  if (!canShrink(failure)) return { lines: [], paths: [], replay: null };
  return failing.kind === 'drawn'
    ? drawnFinding(failing, options)
    : scenarioFinding(failing, failure, options);
}

async function drawnFinding(
  { seed, beyondQuorum, focus }: Extract<Failing, { kind: 'drawn' }>,
  { hasher, shrinkMs }: FindingOptions,
): Promise<Finding> {
  const plan = drawSwarm(seed, { beyondQuorum, focus });
  const leaning = focus === undefined ? [] : [focus];
  const dir = folderOf('drawn', ...leaning, ...(beyondQuorum ? ['beyond-quorum'] : []));
  const request = { dir, limitMs: shrinkMs ?? 0 };
  const written = await shrinkToFile(plan, hasher, request);
  if (written === null) return { lines: [], paths: [], replay: null };
  const { path, replay } = written;
  const { failure } = replay;
  const lines = [`${shrunkText(replay)}: ${failure.text}`, ...describeSwarm(replay.plan).slice(1)];
  return { lines, paths: [path], replay: `npx lockstep replay ${quoted(path)}` };
}

async function scenarioFinding(
  { scenario, conditions }: ScenarioCase,
  failure: SeedFailure,
  { hasher, readFile, shrinkMs }: FindingOptions,
): Promise<Finding> {
  const shrink = shrinkMs === null ? null : { limitMs: shrinkMs };
  const written = await writeScenarioReplay({ scenario, conditions }, failure, {
    ...{ hasher, readFile, shrink },
    dir: folderOf(scenario.name),
  });
  const { path, eventsPath, command } = written;
  const shrunk = `${shrunkScenarioText(written)}: ${printable(written.failure.text)}`;
  const lines = [...(shrink === null ? [] : [shrunk]), ...scriptLines(written.scenario)];
  return { lines, paths: [path, eventsPath], replay: `npx ${command}` };
}

/** As a scenario file would state it. */
function scriptLines(scenario: Scenario): string[] {
  return stringify(scenario)
    .trimEnd()
    .split('\n')
    .map((line) => `  ${printable(line)}`);
}
