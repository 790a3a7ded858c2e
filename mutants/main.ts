/**
 * Breaks the built product in known ways and sees whether the checks notice: `npm run mutants`.
 * Exit 0 when every mutant is killed, 1 when one survives, 2 when time ran out, 64 for bad input.
 */
import { availableParallelism } from 'node:os';
import { Command, CommanderError } from 'commander';
import { LockstepError, toErrorData, usageError } from '../src/base/errors.js';
import { parseCount, parsePositiveDuration } from '../src/base/units.js';
import { SWARM_MUTANTS, TESTED_MUTANTS, WAITING_MUTANTS } from './catalogue.js';
import { hunt, type HuntOptions } from './hunt.js';
import { markdownOf } from './markdown.js';
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
  readonly json?: boolean;
  readonly markdown?: boolean;
}

const PATIENCE_MS = 120_000;

async function run(flags: Flags): Promise<number> {
  const seeds = parseCount('--seeds', flags.seeds, { min: 1 });
  const bases = parseCount('--bases', flags.bases, { min: 1 });
  const cores = parseCount('--cores', flags.cores, { min: 1, max: 256 });
  const wanted = chosen(flags.only);
  const abort = new AbortController();
  const { signal } = abort;
  const limitMs =
    flags.timeLimit === undefined ? null : parsePositiveDuration('--time-limit', flags.timeLimit);
  const timer = limitMs === null ? undefined : setTimeout(() => abort.abort(), limitMs);
  const options = { bases, seeds, patienceMs: PATIENCE_MS, signal };
  const jobs = [
    ...TESTED_MUTANTS.map((mutant) => ({
      id: mutant.id,
      play: async () => outcomeOfTrial(await trial(mutant, signal)),
    })),
    ...SWARM_MUTANTS.map((mutant) => ({
      id: mutant.id,
      play: () => playSwarm(mutant, options),
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
async function playSwarm(mutant: SwarmMutant, options: HuntOptions): Promise<Outcome> {
  const hunted = outcomeOfHunt(await hunt(mutant, options));
  const { directed } = mutant;
  if (hunted.state !== 'survived' || directed === undefined) return hunted;
  return withTrial(hunted, await trial({ ...mutant, ...directed }, options.signal));
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
  { json, markdown, timeLimit }: Flags,
  played: { readonly seeds: number; readonly bases: number },
): string {
  if (json === true) {
    return `${JSON.stringify({ schema: 1, ...played, outcomes, waiting: WAITING_MUTANTS })}\n`;
  }
  return markdown === true
    ? markdownOf(outcomes, { ...played, timeLimit })
    : `${tableText(outcomes)}\n`;
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
    .option('--bases <n>', 'how often each mutant is hunted, from other seeds', '20')
    .option('--cores <n>', 'processes side by side', String(availableParallelism()))
    .option('--time-limit <duration>', 'end after so long with what is known')
    .option('--json', 'print JSON')
    .option('--markdown', 'print docs/mutants.md')
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
