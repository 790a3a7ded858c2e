/** `lockstep sweep`: many seeds in virtual time, over the cores. */
import { Option, type Command } from 'commander';
import { renderSweep } from '../report/sweep.js';
import { FOCUSES } from '../sim/swarm-focus.js';
import { drawSwarm, type SwarmPlan } from '../sim/swarm.js';
import { SweepTally, type SweepSummary } from '../verdict/sweep.js';
import { EXIT } from '../verdict/types.js';
import { describeSwarm } from '../kit/drawn-text.js';
import { withReplays } from '../kit/replay-files.js';
import { playSweep } from '../kit/sweep.js';
import { collect } from './run.js';
import { Signals } from './signals.js';
import { SweepFiles } from './sweep-files.js';
import { SweepProgress } from './sweep-progress.js';
import { replaySeed, sweepRequest, type SweepCommand, type SweepFlags } from './sweep-request.js';

export function addSweepCommand(program: Command): void {
  program
    .command('sweep')
    .description('play many seeds in virtual time and check every invariant')
    .argument('[scenario]', 'a scenario file (YAML); without one, runs drawn as a whole')
    .option('--seeds <n>', 'how many; this, --time-limit or --until-plateau has to end it')
    .option('--seed <first>', 'the first one', '1')
    .option('--cores <n>', 'threads; default: all cores')
    .option('--time-limit <duration>', 'end then; without --seeds: as many as fit')
    .option('--until-plateau <n>', 'end when this many seeds in a row showed nothing new')
    .option('--must-hit <cell>', 'leader:skipping:kill has to be met (repeatable)', collect)
    .option('--coverage', 'print how often each fault fell in each phase')
    .option('--keep-going', 'go on after a seed that failed')
    .addOption(
      new Option('--conditions <which>', 'links and disks of a scenario; default: calm').choices([
        'calm',
        'drawn',
      ]),
    )
    .option('--check-determinism', 'play every seed twice, in two threads and orders')
    .option('--beyond-quorum', 'allow faults beyond what the cluster tolerates')
    .addOption(
      new Option('--focus <what>', 'what all drawn runs lean to; default: drawn').choices(FOCUSES),
    )
    .option('--shard <i/n>', 'only these of the seeds: 3/16 is the third of sixteen shards')
    .option('--shrink', 'make the first failed seeds small and write replay files of them')
    .option('--shrink-limit <duration>', 'for each of them, at most; default 30s')
    .option('--scaling', 'measure the same seeds on one core first')
    .option('--json', 'print the summary alone')
    .option('--junit <file>', 'write a JUnit report there')
    .option('--out-dir <dir>', 'keep summary, events and replay files of failed seeds there')
    .exitOverride()
    .configureOutput({ writeErr: () => undefined })
    .action(async (scenario: string | undefined, flags: SweepFlags) => {
      process.exitCode = await runSweep(scenario, flags);
    });
}

async function runSweep(scenario: string | undefined, flags: SweepFlags): Promise<number> {
  const request = sweepRequest(scenario, flags);
  const files = new SweepFiles(flags);
  const keepGoing = flags.keepGoing === true;
  const play = (cores: number): Promise<SweepSummary> => once({ ...request, cores }, keepGoing);
  const { cores, shrink } = request;
  const played = flags.scaling === true ? await scaled(play, cores) : await play(cores);
  const say = (line: string): boolean => process.stderr.write(`${line}\n`);
  const summary = shrink === null ? played : await withReplays(played, shrink, say);
  await files.ended(summary, request.subject);
  const drawn = drawnOf(request);
  const whole = drawn === null ? summary : { ...summary, drawn };
  const drawnText = drawn === null ? '' : `${describeSwarm(drawn).join('\n')}\n\n`;
  const text =
    flags.json === true
      ? `${JSON.stringify(whole)}\n`
      : `${drawnText}${renderSweep(summary, flags.coverage)}`;
  process.stdout.write(text);
  return EXIT[summary.verdict];
}

/** What a single seed drew; a run of many says what came of it. */
function drawnOf({ subject, asked }: SweepCommand): SwarmPlan | null {
  if (subject.kind !== 'drawn' || asked.seeds !== 1) return null;
  return drawSwarm(asked.first, subject);
}

/** The same seeds on one core, then on all; what ends the first one early ends both. */
async function scaled(
  play: (cores: number) => Promise<SweepSummary>,
  cores: number,
): Promise<SweepSummary> {
  const alone = await play(1);
  if (alone.ended !== 'seeds') return alone;
  const all = await play(cores);
  const scaling = [
    { cores: 1, seedsPerSecond: alone.seedsPerSecond },
    { cores, seedsPerSecond: all.seedsPerSecond },
  ];
  return { ...all, scaling };
}

async function once(request: SweepCommand, keepGoing: boolean): Promise<SweepSummary> {
  const { asked, shard } = request;
  using signals = new Signals();
  const tally = new SweepTally((seed) => replaySeed(asked, seed));
  using _ = new SweepProgress(process.stderr, tally, asked.seeds, shard?.of ?? 1);
  return await playSweep(request, tally, { keepGoing, signal: signals.asked });
}
