#!/usr/bin/env node
/** The command line: parses, calls, prints. What goes wrong is one line and an exit code. */
import { Command, CommanderError } from 'commander';
import { toErrorData } from '../base/errors.js';
import { EXIT, EXIT_USAGE } from '../verdict/types.js';
import { scenarioJsonSchema } from '../scenario/schema.js';
import { addMergeCommand } from './merge.js';
import { addReplayCommand } from './replay.js';
import { addRunCommand } from './run.js';
import { addSweepCommand } from './sweep.js';

const program = new Command('lockstep')
  .description('a cluster of raft replicas that mirrors a message stream, and tries to break it')
  .exitOverride()
  .configureOutput({ writeErr: () => undefined });

addRunCommand(program);
addSweepCommand(program);
addMergeCommand(program);
addReplayCommand(program);
program
  .command('schema')
  .description('print the JSON Schema of scenario files')
  .action(() => {
    process.stdout.write(`${JSON.stringify(scenarioJsonSchema(), null, 2)}\n`);
  });

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = exitCodeOf(error);
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return 0;
    process.stderr.write(`lockstep: ${refusalOf(error)}\n`);
    return EXIT_USAGE;
  }
  const { code, message } = toErrorData(error);
  process.stderr.write(`lockstep: ${message.replaceAll('\n', ' ')}\n`);
  return code === 'usage' ? EXIT_USAGE : EXIT.harness;
}

/** In one line: commander puts what may be meant on a second one, and shows help for no command. */
function refusalOf({ code, message }: CommanderError): string {
  if (code === 'commander.help') return 'no command is given; lockstep --help lists them';
  return message
    .replace(/^error: /, '')
    .replace(/\n\(Did you mean (.+)\?\)$/, '; did you mean $1?')
    .replaceAll('\n', ' ');
}
