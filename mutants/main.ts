/**
 * Breaks the built product in known ways and sees whether the checks notice: `npm run mutants`.
 * Exit 0 when every mutant is killed, 1 when one survives, 2 when time ran out, 64 for bad input.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Command, CommanderError } from 'commander';
import { LockstepError, toErrorData, usageError } from '../src/base/errors.js';
import { parseCount, parsePositiveDuration } from '../src/base/units.js';
import { loadHasher } from '../src/base/hasher.js';
import { SWARM_MUTANTS, TESTED_MUTANTS } from './catalogue.js';
import { hunt, type Hunt, type HuntOptions } from './hunt.js';
import { writePage } from './page.js';
import { outcomeOfHunt, outcomeOfTrial, withTrial, type Outcome } from './outcome.js';
import { tableText } from './table.js';
import { trial } from './trial.js';
import type { SwarmMutant } from './types.js';

interface Flags {
  readonly only?: string;
  readonly seeds: string;
  readonly bases: string;
  readonly cores: string;
  readonly timeLimit?: string;
  readonly shrinks: string;
  readonly parts: string;
  readonly outDir?: string;
  readonly json?: boolean;
  readonly write?: string[];
  readonly note?: string;
}

const PATIENCE_MS = 600_000;

async function run(flags: Flags): Promise<number> {
  if (flags.write !== undefined) return writePage(flags.write, flags.note ?? null);
  const seeds = parseCount('--seeds', flags.seeds, { min: 1 });
  const bases = parseCount('--bases', flags.bases, { min: 0 });
  const shrinks = parseCount('--shrinks', flags.shrinks, { min: 0 });
  const parts = parseCount('--parts', flags.parts, { min: 0 });
  const cores = parseCount('--cores', flags.cores, { min: 1, max: 256 });
  const wanted = chosen(flags.only);
  const abort = new AbortController();
  const { signal } = abort;
  const limitMs =
    flags.timeLimit === undefined ? null : parsePositiveDuration('--time-limit', flags.timeLimit);
  const timer = limitMs === null ? undefined : setTimeout(() => abort.abort(), limitMs);
  const hasher = await loadHasher();
  const options = { bases, seeds, shrinks, parts, hasher, patienceMs: PATIENCE_MS, signal };
  const jobs = [
    ...TESTED_MUTANTS.map((mutant) => ({
      id: mutant.id,
      play: async () => outcomeOfTrial(await trial(mutant, signal)),
    })),
    ...SWARM_MUTANTS.map((mutant) => ({
      id: mutant.id,
      play: () => playSwarm(mutant, options, flags.outDir),
    })),
  ].filter(({ id }) => wanted.has(id));
  const outcomes = new Map<string, Outcome>();
  const queue = jobs.values();
  const feed = async (): Promise<void> => {
    for (const { id, play } of queue) {
      if (signal.aborted) return;
      const outcome = await play();
      outcomes.set(id, outcome);
      process.stderr.write(`${id} ${outcome.state} ${outcome.killed}/${outcome.bases}\n`);
    }
  };
  await Promise.all(Array.from({ length: cores }, feed));
  clearTimeout(timer);
  const order = [...SWARM_MUTANTS, ...TESTED_MUTANTS].map(({ id }) => id);
  const sorted = order.flatMap((id) => outcomes.get(id) ?? []);
  process.stdout.write(shown(sorted, flags, { seeds, bases }));
  return exitOf(sorted, jobs.length);
}

/** What the swarm does not find every time must be found by the test that it names. */
async function playSwarm(
  mutant: SwarmMutant,
  options: HuntOptions,
  outDir: string | undefined,
): Promise<Outcome> {
  const found = await hunt(mutant, options);
  if (outDir !== undefined) keepSmallest(found, outDir);
  const hunted = outcomeOfHunt(found);
  const { directed } = mutant;
  if (hunted.state !== 'survived' || directed === undefined) return hunted;
  return withTrial(hunted, await trial({ ...mutant, ...directed }, options.signal));
}

/** The shortest of the shrunk kills, as a replay file. */
function keepSmallest({ mutant, shrunk }: Hunt, dir: string): void {
  const [smallest] = [...shrunk].sort((one, other) => one.to - other.to);
  if (smallest === undefined) return;
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, `${mutant.id}.json`), smallest.replayed.text);
}

/** Errors: usage, when a name is nobody's. */
function chosen(only: string | undefined): ReadonlySet<string> {
  const all = [...SWARM_MUTANTS, ...TESTED_MUTANTS].map(({ id }) => id);
  if (only === undefined) return new Set(all);
  const names = only.split(',');
  // `M12` means all of its variants.
  const matches = (name: string): string[] =>
    all.filter((id) => id === name || id.replace(/[a-z]$/, '') === name);
  for (const name of names) {
    if (matches(name).length === 0) throw usageError('--only', name, `one of ${all.join(', ')}`);
  }
  return new Set(names.flatMap(matches));
}

function shown(
  outcomes: readonly Outcome[],
  { json }: Flags,
  played: { readonly seeds: number; readonly bases: number },
): string {
  if (json !== true) return `${tableText(outcomes)}\n`;
  return `${JSON.stringify({ schema: 1, ...played, outcomes }, null, 1)}\n`;
}

function exitOf(outcomes: readonly Outcome[], wanted: number): number {
  const survivors = outcomes.filter(({ state }) => state === 'survived');
  for (const { id, title, killed, bases } of survivors) {
    process.stderr.write(`${id} survived ${bases - killed} of ${bases}: ${title}\n`);
  }
  const troubled = outcomes.filter(({ state }) => state === 'trouble');
  for (const { id, text } of troubled) process.stderr.write(`${id}: ${text ?? 'no report'}\n`);
  if (outcomes.length < wanted) {
    process.stderr.write(`time ran out: ${outcomes.length} of ${wanted} mutants were played\n`);
  }
  if (survivors.length > 0) return 1;
  return troubled.length > 0 || outcomes.length < wanted ? 2 : 0;
}

async function main(): Promise<number> {
  const program = new Command('mutants')
    .option('--only <ids>', 'these alone, with commas between them')
    .option('--seeds <n>', 'seeds of one base', '200')
    .option('--bases <n>', 'hunts of each mutant, from other seeds; 0: its script alone', '20')
    .option('--cores <n>', 'processes side by side', String(availableParallelism()))
    .option('--time-limit <duration>', 'end after so long with what is known')
    .option('--json', 'print JSON')
    .option('--shrinks <n>', 'how many kills of each mutant are shrunk', '3')
    .option('--parts <n>', 'seeds of each part of a script by hand, which must not kill', '20')
    .option('--out-dir <dir>', 'keep the shortest script of each mutant there')
    .option('--write <files...>', 'play nothing: write docs/mutants.md from what --json printed')
    .option('--note <text>', 'on that page: what else the machine did')
    .allowExcessArguments(false)
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  try {
    program.parse();
    return await run(program.opts());
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    const isUsage =
      error instanceof CommanderError || (error instanceof LockstepError && error.code === 'usage');
    process.stderr.write(`${toErrorData(error).message}\n`);
    return isUsage ? 64 : 70;
  }
}

process.exitCode = await main();
