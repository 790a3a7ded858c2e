/** `lockstep run`: flags over a scenario, one run, a report or a summary. */
import { join } from 'node:path';
import type { Command } from 'commander';
import { LockstepError, usageError } from '../base/errors.js';
import { loadHasher } from '../base/hasher.js';
import { renderPartings } from '../report/parting.js';
import { renderRun } from '../report/terminal.js';
import { holdsSecret, overlaid, withLogin } from '../scenario/connection.js';
import { faultLine, originCredentials, originLine } from '../scenario/lines.js';
import { readInput } from '../scenario/input-file.js';
import { planScenario, scenarioSource, type ScenarioSource } from '../scenario/parse.js';
import { play, type PlayResult } from '../scenario/play.js';
import type { Driver } from '../scenario/driver.js';
import type { Plan } from '../scenario/types.js';
import { partings, verdictOfAll } from '../verdict/parting.js';
import { EXIT } from '../verdict/types.js';
import { addConnectionFlags, connectionOf } from './connection-flags.js';
import { ProgressLine } from './progress.js';
import { replayCommand } from './replay-command.js';
import { driversOf, type DriverFlags } from './run-drivers.js';
import { RunFiles } from './run-files.js';
import { Signals } from './signals.js';

export interface RunFlags extends DriverFlags {
  readonly origin?: string;
  readonly replicas?: string;
  readonly skip?: string;
  readonly fault?: readonly string[];
  readonly seed?: string;
  readonly election?: string;
  readonly timeScale?: string;
  readonly timeLimit?: string;
  readonly beyondQuorum?: boolean;
  readonly json?: boolean;
  readonly outDir?: string;
}

/** What is run without a scenario file. */
const DEFAULT_SOURCE: ScenarioSource = {
  raw: { version: 1, name: 'a run', origin: originLine('synthetic:messages=100000') },
  where: () => 'flags',
};

export function addRunCommand(program: Command): void {
  const command = program
    .command('run')
    .description('play a scenario once and judge what every replica ends with')
    .argument('[scenario]', 'a scenario file (YAML)')
    .option('--on <drivers>', 'who runs it: threads, sim, nats, or more with a comma', 'threads')
    .option(
      '--origin <source>',
      'synthetic:messages=1e6,gap=40000+25000, nats-gaps:FILE,info=FILE or nats://HOST/STREAM',
    )
    .option('--replicas <n>', '1, 3, 5 or 7')
    .option('--skip <encoding>', 'entries or range')
    .option('--fault <line>', 'stepDown=leader,when=skipped:10000 (repeatable)', collect)
    .option('--seed <n>', 'seed of timeouts and of the synthetic content')
    .option('--election <mode>', 'conductor, timers or both')
    .option('--time-scale <scale>', "of the mirror's constants; upstream is 1, default 0.05")
    .option('--time-limit <duration>', 'ends the run inconclusive; default 10m')
    .option('--beyond-quorum', 'allow faults beyond what the cluster tolerates')
    .option('--cluster [url]', 'on nats: servers that are there already; without a url those of -s')
    .option('--allow-faults', 'of --cluster: faults may strike it')
    .option('--cluster-name <name>', 'of --cluster: its name, typed, for faults')
    .option('--json', 'print the summary alone')
    .option('--out-dir <dir>', 'keep events.ndjson and summary.json there');
  addConnectionFlags(command)
    .exitOverride()
    .configureOutput({ writeErr: () => undefined })
    .action(async (scenario: string | undefined, flags: RunFlags) => {
      process.exitCode = await run(scenario, flags);
    });
}

async function run(scenario: string | undefined, flags: RunFlags): Promise<number> {
  const plan = planOf(scenario, flags);
  const drivers = driversOf(flags);
  // Whatever one of them refuses is known before any of them plays.
  for (const driver of drivers) driver.check?.(plan);
  using signals = new Signals();
  const results: PlayResult[] = [];
  for (const driver of drivers) {
    if (results.length > 0 && signals.asked.aborted) break;
    const replay = replayCommand(scenario, { ...flags, on: driver.name }, plan.seed);
    const dir = drivers.length === 1 ? flags.outDir : eachDir(flags.outDir, driver);
    results.push(await playOn(plan, { driver, replay, dir, signal: signals.asked }));
  }
  if (drivers.length === 1) print(plan, flags, results[0]!);
  else printPartings(plan, flags, results, drivers.slice(results.length));
  return EXIT[verdictOfAll(results.map(({ summary }) => summary))];
}

function eachDir(dir: string | undefined, { name }: Driver): string | undefined {
  return dir === undefined ? undefined : join(dir, name);
}

interface Playing {
  readonly driver: Driver;
  readonly replay: string;
  /** Where events and summary are kept. */
  readonly dir: string | undefined;
  readonly signal: AbortSignal;
}

async function playOn(plan: Plan, { driver, replay, dir, signal }: Playing): Promise<PlayResult> {
  const progress = new ProgressLine(process.stderr);
  using files = dir === undefined ? null : new RunFiles(dir, plan, driver.name);
  try {
    const result = await play(plan, {
      ...{ driver, replay, signal, hasher: await loadHasher() },
      onEvent: (event) => {
        progress.event(event);
        if (event.kind === 'note') progress.note(event.text);
        files?.event(event);
      },
    });
    progress.end();
    files?.ended(result);
    return result;
  } finally {
    progress.end();
  }
}

/** Where a run was cut short says nothing of where it would have parted from the others. */
function printPartings(
  plan: Plan,
  { json }: RunFlags,
  results: readonly PlayResult[],
  rest: readonly Driver[],
): void {
  const runs = results.map(({ summary }) => summary);
  const whole = results.filter(({ cutShort }) => !cutShort).map(({ summary }) => summary);
  const parts = partings(whole);
  const compared = whole.map(({ driver }) => driver);
  const notPlayed = rest.map(({ name }) => name);
  if (json === true) {
    const drivers = runs.map(({ driver }) => driver);
    const played = { schema: 1, verdict: verdictOfAll(runs), drivers, compared, notPlayed };
    process.stdout.write(`${JSON.stringify({ ...played, partings: parts, runs })}\n`);
    return;
  }
  process.stdout.write(renderPartings(plan.name, runs, { found: parts, compared, notPlayed }));
}

/** Flags lie over the scenario's own fields, faults are added to its faults. */
export function planOf(scenario: string | undefined, flags: RunFlags): Plan {
  const source = scenario === undefined ? DEFAULT_SOURCE : scenarioSource(scenario, readInput);
  const { raw, where } = source;
  if (!isObject(raw)) return planScenario(raw, where, readInput);
  const fields = fieldsOf(flags);
  const lines = (flags.fault ?? []).map(faultLine);
  const own = raw['faults'] ?? [];
  const faults = Array.isArray(own) ? [...(own as unknown[]), ...lines] : own;
  const ownCount = Array.isArray(own) ? own.length : Number.POSITIVE_INFINITY;
  const isFlag = (path: string): boolean => {
    const [, key = '', index] = /^([^.[]*)(?:\[(\d+))?/.exec(path) ?? [];
    return Object.hasOwn(fields, key) || (key === 'faults' && Number(index) >= ownCount);
  };
  const plan = planScenario(
    {
      ...(flags.origin === undefined ? raw : withoutState(raw)),
      ...fields,
      ...(lines.length === 0 ? {} : { faults }),
    },
    (path) => (isFlag(path) ? 'flags' : where(path)),
    readInput,
  );
  return withConnection(plan, flags);
}

/** The end state that a scenario expects is that of its own origin. */
function withoutState(raw: Record<string, unknown>): Record<string, unknown> {
  const { expect } = raw;
  if (!isObject(expect)) return raw;
  const { state: _state, ...others } = expect;
  return { ...raw, expect: others };
}

/** Credentials never become fields of a scenario: those are shown when they are refused. */
function withConnection(plan: Plan, flags: RunFlags): Plan {
  const given = connectionOf(flags, process.env);
  const inUrl = flags.origin === undefined ? {} : originCredentials(flags.origin);
  const { origin } = plan;
  if (origin.kind === 'nats') {
    const connection = withLogin(overlaid(origin.connection, given), inUrl);
    return { ...plan, origin: { ...origin, connection } };
  }
  if (Object.keys(given).length === 0 || flags.cluster !== undefined) return plan;
  const text =
    '--server, --user and the like belong to a live origin, nats://HOST/STREAM, or to --cluster';
  throw new LockstepError('usage', text);
}

/** What flags say, as fields of a scenario. */
function fieldsOf(flags: RunFlags): Readonly<Record<string, unknown>> {
  if (flags.seed !== undefined && holdsSecret(flags.seed)) {
    const text = "--seed: a number, of a run; a user's seed is --user-seed or NATS_SEED";
    throw new LockstepError('usage', text);
  }
  const { origin, replicas, skip, seed, election, timeScale, timeLimit, beyondQuorum } = flags;
  return {
    ...(origin === undefined ? {} : { origin: originLine(origin) }),
    ...(replicas === undefined ? {} : { replicas }),
    ...(skip === undefined ? {} : { mirror: { skip: wordOf('--skip', skip) } }),
    ...(seed === undefined ? {} : { seed }),
    ...(election === undefined ? {} : { election: wordOf('--election', election) }),
    ...(timeScale === undefined ? {} : { timeScale: scaleOf(timeScale) }),
    ...(timeLimit === undefined ? {} : { timeLimit }),
    ...(beyondQuorum === true ? { beyondQuorum } : {}),
  };
}

function print(plan: Plan, flags: RunFlags, result: PlayResult): void {
  if (flags.json === true) {
    process.stdout.write(`${JSON.stringify(result.summary)}\n`);
    return;
  }
  const color = process.stdout.isTTY && process.env['NO_COLOR'] === undefined;
  const { summary, timeline, ...extras } = result;
  const text = renderRun(summary, timeline, {
    ...extras,
    name: plan.name,
    stallAtMostMs: plan.expect.stallAtMostMs[summary.driver],
    color,
  });
  process.stdout.write(text);
}

const WORDS: Readonly<Record<string, readonly string[]>> = {
  '--skip': ['entries', 'range'],
  '--election': ['conductor', 'timers', 'both'],
};

function wordOf(flag: string, word: string): string {
  if (WORDS[flag]!.includes(word)) return word;
  throw usageError(flag, word, `one of ${WORDS[flag]!.join(', ')}`);
}

function scaleOf(text: string): number | 'upstream' {
  if (text === 'upstream') return text;
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  throw usageError('--time-scale', text, 'upstream or a number from 0.001 to 10');
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Values of an option that may be repeated. */
export function collect(line: string, lines: readonly string[] = []): string[] {
  return [...lines, line];
}
