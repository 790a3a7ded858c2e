/** A seed of a scenario that failed: made small, written down as a scenario, its events kept. */
import { stringify } from 'yaml';
import type { Hasher } from '../base/hasher.js';
import { counted, quoted } from '../report/text.js';
import { planScenario, type ReadFile } from '../scenario/parse.js';
import type { ClusterEvent } from '../scenario/driver.js';
import type { Scenario } from '../scenario/schema.js';
import type { Plan } from '../scenario/types.js';
import { playSeed } from '../sim/seeds.js';
import { SHRINK_CANDIDATES_MAX } from '../sim/shrink-run.js';
import { shrinkScenario, type ScenarioCase } from '../sim/shrink-scenario.js';
import { bodyOf, encodeEvent } from '../verdict/events.js';
import type { SeedFailure } from '../verdict/sweep.js';
import { writeLines } from './output.js';
import type { ShrinkRequest } from './replay-files.js';

export interface ScenarioReplay {
  /** The scenario as it failed last, and where it was written. */
  readonly scenario: Scenario;
  readonly path: string;
  /** What it comes to. */
  readonly failure: SeedFailure;
  /** Its events, as NDJSON. */
  readonly eventsPath: string;
  /** Plays it again. */
  readonly command: string;
  readonly candidates: number;
  /** Faults, before and after. */
  readonly from: number;
  readonly to: number;
}

/**
 * @param failing  what fails, with its seed in it
 * @param request  null: written as it is
 *
 * Errors: usage, when the directory cannot be written to.
 */
export async function writeScenarioReplay(
  failing: ScenarioCase,
  failure: SeedFailure,
  of: {
    readonly hasher: Hasher;
    readonly readFile: ReadFile;
    readonly dir: string;
    readonly shrink: Omit<ShrinkRequest, 'dir'> | null;
  },
): Promise<ScenarioReplay> {
  const { hasher, readFile, dir, shrink } = of;
  const untilMs = performance.now() + (shrink?.limitMs ?? 0);
  const shrunk = await shrinkScenario(failing, failure, {
    hasher,
    readFile,
    candidatesMax: shrink === null ? 0 : SHRINK_CANDIDATES_MAX,
    isOver: () => performance.now() >= untilMs,
  });
  const { scenario, conditions } = shrunk.plan;
  const plan = planScenario(scenario, 'shrunk', readFile);
  const last = await played(plan, conditions, hasher);
  const { property, text } = last.failure ?? failure;
  const name = fileName(failure, plan.seed);
  const about = `# seed ${plan.seed}: ${property}: ${text.replaceAll('\n', ' ')}`;
  const path = writeLines(dir, `${name}.yaml`, [about, stringify(scenario).trimEnd()]);
  const events = eventLines(last.events, plan);
  return {
    scenario,
    path,
    failure: last.failure ?? failure,
    eventsPath: writeLines(dir, `${name}.ndjson`, events),
    command: commandOf(path, conditions, plan.seed),
    candidates: shrunk.candidates,
    from: failing.scenario.faults?.length ?? 0,
    to: scenario.faults?.length ?? 0,
  };
}

/** How small it became, in one line. */
export function shrunkScenarioText({ from, to, candidates }: ScenarioReplay): string {
  return `shrunk from ${counted(from, 'fault')} to ${to} after ${candidates} candidates`;
}

/** `replay-mirror-lost-17`, as replay files of drawn runs are called. */
function fileName({ property }: SeedFailure, seed: number): string {
  const words = property.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  return `replay-${[...words, seed].join('-')}`;
}

/** Drawn links and disks are a sweep's. */
function commandOf(path: string, conditions: ScenarioCase['conditions'], seed: number): string {
  const words =
    conditions === 'calm'
      ? ['lockstep', 'run', path, '--on', 'sim']
      : ['lockstep', 'sweep', path, '--conditions', 'drawn', '--seeds', '1', '--seed', `${seed}`];
  return words.map(quoted).join(' ');
}

async function played(
  plan: Plan,
  conditions: ScenarioCase['conditions'],
  hasher: Hasher,
): Promise<{ readonly failure: SeedFailure | null; readonly events: readonly ClusterEvent[] }> {
  const events: ClusterEvent[] = [];
  const subject = { kind: 'scenario', plan, conditions } as const;
  const onEvent = (event: ClusterEvent): void => void events.push(event);
  const { failure } = await playSeed(subject, plan.seed, hasher, { onEvent });
  return { failure, events };
}

/** NDJSON of what a driver reported. */
export function eventLines(
  events: readonly ClusterEvent[],
  { faults }: Pick<Plan, 'faults'>,
): string[] {
  const kinds = new Map(faults.map(({ id, action }) => [id, action.kind]));
  return events.flatMap((event) => {
    const body = bodyOf(event, kinds);
    return body === null ? [] : [encodeEvent(event.atMs, body)];
  });
}
