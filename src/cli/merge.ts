/** `lockstep merge`: the summaries of all shards of a sweep in one, with one verdict. */
import type { Command } from 'commander';
import { renderSweep } from '../report/sweep.js';
import { readInput } from '../scenario/input-file.js';
import { mergeShards } from '../sim/merge.js';
import { EXIT } from '../verdict/types.js';
import { SweepFiles } from './sweep-files.js';

interface MergeFlags {
  readonly coverage?: boolean;
  readonly json?: boolean;
  readonly junit?: string;
  readonly outDir?: string;
}

export function addMergeCommand(program: Command): void {
  program
    .command('merge')
    .description('one summary and one verdict from the shards of a sweep')
    .argument('<file...>', 'the summaries of all shards (JSON)')
    .option('--coverage', 'print how often each fault fell in each phase')
    .option('--json', 'print the summary alone')
    .option('--junit <file>', 'write a JUnit report there')
    .option('--out-dir <dir>', 'keep the summary there')
    .exitOverride()
    .configureOutput({ writeErr: () => undefined })
    .action(async (paths: string[], flags: MergeFlags) => {
      const summary = mergeShards(paths, readInput);
      await new SweepFiles(flags).ended(summary, null);
      process.stdout.write(
        flags.json === true ? `${JSON.stringify(summary)}\n` : renderSweep(summary, flags.coverage),
      );
      process.exitCode = EXIT[summary.verdict];
    });
}
