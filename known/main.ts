/**
 * Plays cases whose outcome is known on real servers of several versions: `npm run known-answers`.
 * Exit 0 when every answer is as known, 1 when one is not, 64 for bad input.
 */
import { writeFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { LockstepError, toErrorData, usageError } from '../src/base/errors.js';
import { findServer } from '../src/nats/server.js';
import { CASES } from './cases.js';
import { markdownOf } from './markdown.js';
import { playCases, type Answer } from './play.js';
import type { KnownCase } from './types.js';

interface Flags {
  readonly only?: string;
  readonly write?: boolean;
  readonly json?: boolean;
}

/** Beside LOCKSTEP_NATS_SERVER and the PATH, which have the newest. Oldest first. */
const OLDER = ['LOCKSTEP_NATS_SERVER_2_9_10', 'LOCKSTEP_NATS_SERVER_2_14_0'];
const TABLE = 'docs/known-answers.md';

async function run(flags: Flags): Promise<number> {
  const cases = chosen(flags.only);
  if (flags.write === true && cases.length < CASES.length) {
    throw new LockstepError('usage', '--write: the table has every case; leave --only out');
  }
  const answers: Answer[] = [];
  for (const binary of binariesOf(process.env)) {
    answers.push(...(await playCases(binary, cases, tell)));
  }
  const table = markdownOf(cases, answers);
  if (flags.write === true) writeFileSync(TABLE, table);
  process.stdout.write(flags.json === true ? `${JSON.stringify(answers)}\n` : table);
  return answers.some(({ isKnown }) => isKnown === false) ? 1 : 0;
}

function tell({ id, version, isKnown, why, elapsedMs }: Answer): void {
  const seconds = (elapsedMs / 1_000).toFixed(1);
  const outcome = isKnown === null ? 'not played' : isKnown ? 'as known' : 'other than known';
  const reason = why === null ? '' : `: ${why}`;
  process.stderr.write(`${version} ${id} ${outcome} after ${seconds} s${reason}\n`);
}

/** Errors: usage, when a name is no case's. */
function chosen(only: string | undefined): readonly KnownCase[] {
  if (only === undefined) return CASES;
  const names = only.split(',').map((name) => name.trim());
  const known = CASES.map(({ id }) => id);
  for (const name of names) {
    if (!known.includes(name)) throw usageError('--only', name, `a case: ${known.join(', ')}`);
  }
  return CASES.filter(({ id }) => names.includes(id));
}

/** Every version that there is; all of them are wanted where servers are required. */
function binariesOf(env: NodeJS.ProcessEnv): string[] {
  const named = OLDER.map((name) => ({ name, binary: env[name] ?? null }));
  const all = [...named, { name: 'LOCKSTEP_NATS_SERVER', binary: findServer(env) }];
  const missing = all.filter(({ binary }) => binary === null).map(({ name }) => name);
  const isRequired = env['LOCKSTEP_REQUIRE_NATS'] === '1';
  if (missing.length === all.length || (isRequired && missing.length > 0)) {
    throw new LockstepError('usage', `no nats-server: ${missing.join(', ')} name none`);
  }
  return all.flatMap(({ binary }) => binary ?? []);
}

const program = new Command('known-answers')
  .description('play cases whose outcome is known on real servers')
  .option('--only <ids>', 'these cases, separated by commas')
  .option('--write', `write ${TABLE}`)
  .option('--json', 'print the answers as JSON')
  .exitOverride()
  .configureOutput({ writeErr: () => undefined })
  .action(async (flags: Flags) => {
    process.exitCode = await run(flags);
  });

try {
  await program.parseAsync();
} catch (error) {
  const isHelp = error instanceof CommanderError && error.exitCode === 0;
  if (!isHelp) {
    const { code, message } = toErrorData(error);
    process.stderr.write(`known-answers: ${message.replaceAll('\n', ' ')}\n`);
    process.exitCode = code === 'usage' || error instanceof CommanderError ? 64 : 70;
  }
}
