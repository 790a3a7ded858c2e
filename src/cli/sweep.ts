/** `lockstep sweep`: many drawn runs in virtual time, over the cores. */
import { availableParallelism } from 'node:os';
import type { Command } from 'commander';
import { parseCount } from '../base/units.js';
import { sweep, SweepTally, type SweepSummary } from '../sim/sweep.js';
import { EXIT } from '../verdict/types.js';

interface SweepFlags {
  readonly seeds: string;
  readonly seed: string;
  readonly cores?: string;
  readonly json?: boolean;
}

const PROGRESS_EVERY_MS = 200;

export function addSweepCommand(program: Command): void {
  program
    .command('sweep')
    .description('play many runs drawn from seeds, in virtual time, and check every invariant')
    .requiredOption('--seeds <n>', 'how many')
    .option('--seed <first>', 'the first one', '1')
    .option('--cores <n>', 'threads; default: all cores')
    .option('--json', 'print the summary alone')
    .exitOverride()
    .configureOutput({ writeErr: () => undefined })
    .action(async (flags: SweepFlags) => {
      process.exitCode = await runSweep(flags);
    });
}

async function runSweep(flags: SweepFlags): Promise<number> {
  const seeds = parseCount('--seeds', flags.seeds, { min: 1 });
  const first = parseCount('--seed', flags.seed, { min: 0 });
  const cores = parseCount('--cores', flags.cores ?? availableParallelism(), { min: 1, max: 256 });
  const abort = new AbortController();
  const interrupt = (): void => {
    abort.abort();
  };
  process.once('SIGINT', interrupt);
  process.once('SIGTERM', interrupt);
  const tally = new SweepTally((seed) => `lockstep sweep --seeds 1 --seed ${seed}`);
  const startedAt = performance.now();
  let drawnAt = startedAt;
  const { stderr } = process;
  await sweep({
    first,
    seeds,
    cores,
    signal: abort.signal,
    onReport: (report) => {
      tally.add(report);
      if (!stderr.isTTY || performance.now() - drawnAt < PROGRESS_EVERY_MS) return;
      drawnAt = performance.now();
      stderr.write(`\r\u001b[K${tally.seeds} of ${seeds} seeds`);
    },
  });
  if (stderr.isTTY) stderr.write('\r\u001b[K');
  process.off('SIGINT', interrupt);
  process.off('SIGTERM', interrupt);
  const summary = tally.summary(performance.now() - startedAt, tally.seeds === seeds);
  const text = flags.json === true ? `${JSON.stringify(summary)}\n` : sweepText(summary, cores);
  process.stdout.write(text);
  return EXIT[summary.verdict];
}

function sweepText(summary: SweepSummary, cores: number): string {
  const count = (value: number): string => value.toLocaleString('en');
  const lines = summary.failed.flatMap(({ seed, property, text, replay }) => [
    `seed ${seed}  ${property}: ${text}`,
    `  replay: ${replay}`,
  ]);
  const faults = Object.entries(summary.coverage).map(([kind, times]) => `${kind} ${count(times)}`);
  const { wallSeconds, seedsPerSecond, simulatedSeconds, timesRealTime } = summary;
  return `${[
    ...lines,
    `faults  ${faults.length === 0 ? 'none' : faults.join(', ')}`,
    `time    ${wallSeconds} s on ${cores} cores, ${count(seedsPerSecond)} seeds/s; ` +
      `${count(simulatedSeconds)} virtual seconds, ${count(timesRealTime)} x real time`,
    '',
    `${summary.verdict}: ${count(summary.seeds)} seeds, ${count(summary.failed.length)} failed`,
  ].join('\n')}\n`;
}
