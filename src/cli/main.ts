#!/usr/bin/env node
/** The command line: parses, calls, prints. What goes wrong is one line and an exit code. */
import { Command, CommanderError } from 'commander';
import { toErrorData } from '../base/errors.js';
import { inOneLine } from '../base/plain.js';
import { EXIT, EXIT_USAGE } from '../verdict/types.js';
import { scenarioJsonSchema } from '../scenario/schema.js';
import { leaveSoon } from './leave.js';
import { addMergeCommand } from './merge.js';
import { addNatsCommand } from './nats-up.js';
import { refuseTwice } from './once.js';
import { addReplayCommand } from './replay.js';
import { addRunCommand } from './run.js';
import { addSweepCommand } from './sweep.js';
import { TOLD } from './told.js';
import { addVerifyCommand } from './verify.js';
import { checkVariables } from '../kit/environment.js';
import { version } from '../kit/version.js';

// Whoever reads our output may go away: what was found still stands, and so does the exit code.
// Output that cannot be written for another reason is a failure of ours.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return;
  process.stderr.write(`lockstep: standard output cannot be written to (${error.message})\n`);
  process.exitCode = EXIT.harness;
});
process.stderr.on('error', () => undefined);

const program = new Command('lockstep')
  .version(version(), '-V, --version', 'print the version')
  .description('a cluster of raft replicas that mirrors a message stream, and tries to break it')
  .exitOverride()
  .configureOutput({ writeErr: () => undefined });

addRunCommand(program);
addSweepCommand(program);
addMergeCommand(program);
addReplayCommand(program);
addNatsCommand(program);
addVerifyCommand(program);
refuseTwice(program);
program.hook('preAction', () => checkVariables(process.env));
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
leaveSoon();

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0 || error.code === TOLD) return error.exitCode;
    process.stderr.write(`lockstep: ${inOneLine(refusalOf(error))}\n`);
    return EXIT_USAGE;
  }
  const { code, message } = toErrorData(error);
  // What a user gave is shown as it is; elsewhere a second line goes on with the first.
  const text = code === 'usage' ? message : message.replaceAll('\n', ' ');
  process.stderr.write(`lockstep: ${inOneLine(text)}\n`);
  if (code === 'usage') return EXIT_USAGE;
  // What was not answered in time might have come to anything.
  return code === 'timeout' ? EXIT.inconclusive : EXIT.harness;
}

/** In one line: commander puts what may be meant on a second one, and shows help for no command. */
function refusalOf({ code, message }: CommanderError): string {
  if (code === 'commander.help') {
    const [, , asked, command] = process.argv;
    if (asked === 'help' && command !== undefined) return `unknown command '${command}'`;
    const group = process.argv[2] === 'nats' ? 'lockstep nats' : 'lockstep';
    return `no command is given; ${group} --help lists them`;
  }
  return message
    .replace(/^error: /, '')
    .replace(/\n\(Did you mean (.+)\?\)$/, '; did you mean $1?');
}
