/** `lockstep verify`: is a mirror what its origin is? */
import { randomInt } from 'node:crypto';
import { closeSync, existsSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { CommanderError, Option, type Command } from 'commander';
import { LockstepError, toErrorData, usageError } from '../base/errors.js';
import { loadHasher, type Hasher } from '../base/hasher.js';
import { plain } from '../base/plain.js';
import { parseCount, parsePositiveDuration, parseSize } from '../base/units.js';
import { resolveSettings, settingsOfContext, type Settings } from '../nats/settings.js';
import { formatReplicas } from '../report/replica-formats.js';
import {
  formatVerify,
  nagiosExit,
  unknown,
  VERIFY_FORMATS,
  type VerifyFormat,
} from '../report/verify-formats.js';
import { readInput } from '../scenario/input-file.js';
import { readText } from '../scenario/source.js';
import { isStreamName } from '../scenario/subjects.js';
import { dryRun, permissions } from '../verify/plan.js';
import { exitOf, type Depth, type VerifyReport } from '../verify/result.js';
import { parseToken, type ResumeToken } from '../verify/resume.js';
import { dryRunReplicas, verifyReplicas } from '../verify/verify-replicas.js';
import { verifyMirror, type VerifyRequest, type VerifyTools } from '../verify/verify.js';
import { Signals } from './signals.js';
import { TOLD } from './told.js';
import { addConnectionFlags, connectionOf, type ConnectionFlags } from './connection-flags.js';
import { VerifyProgressLine } from './verify-progress.js';

interface VerifyFlags extends ConnectionFlags {
  /** natscli's name of --user-seed, which is free here. */
  readonly seed?: string;
  readonly origin?: string;
  readonly originContext?: string;
  readonly sysContext?: string;
  readonly depth: Depth;
  readonly replicas?: boolean;
  readonly from?: string;
  readonly to?: string;
  readonly rate: string;
  readonly resume?: string;
  readonly format: VerifyFormat;
  readonly strict?: boolean;
  readonly watch?: string;
  readonly dryRun?: boolean;
  readonly permissions?: boolean;
}

/** Nagios' own, of whatever kept it from an answer. */
const EXIT_UNKNOWN = 3;
const TOKEN_SHOWN_MAX = 4_096;

export function addVerifyCommand(program: Command): void {
  const command = program
    .command('verify')
    .description('compare a mirror on a NATS server with its origin; publishes nothing')
    .argument('<stream>', 'the mirror; its configuration names the origin')
    .option('--origin <name>', 'what it was a mirror of, where its configuration no longer says so')
    .option('--origin-context <name>', 'a natscli context that reaches the origin')
    .option('--sys-context <name>', 'one of a system account: what each server says is noted')
    .addOption(
      new Option('--depth <depth>', 'how much is read')
        .choices(['state', 'sample', 'full'])
        .default('state'),
    )
    .option('--replicas', 'read each replica and compare them; of any replicated stream')
    .option('--from <seq>', 'the first sequence to compare')
    .option('--to <seq>', "the last one; default: the mirror's last")
    .option('--rate <size>', 'a second, of each side; 0 for no limit', '10MiB')
    .option(
      '--resume <file>',
      'go on where a comparison ended; written when it ends early, removed at its end',
    )
    .addOption(
      new Option('--format <format>', 'of the result').choices([...VERIFY_FORMATS]).default('text'),
    )
    .addOption(new Option('--seed <location>').hideHelp())
    .option('--strict', 'exit 1 also for differences that are explained')
    .option('--watch <duration>', 'again and again, so long apart')
    .option('--dry-run', 'print what would be asked for')
    .option(
      '--permissions',
      'print the subjects that are needed; ORIGIN stands for one that --origin does not name',
    );
  addConnectionFlags(command)
    .exitOverride((error) => {
      const { format } = command.opts<VerifyFlags>();
      if (error.exitCode === 0 || format !== 'nagios') throw error;
      process.stdout.write(unknown(format, 'verify', error.message.replace(/^error: /, '')));
      throw new CommanderError(EXIT_UNKNOWN, TOLD, '');
    })
    .configureOutput({ writeErr: () => undefined })
    .action(async (stream: string, flags: VerifyFlags) => {
      try {
        if (flags.replicas === true) refuseBeside(flags, command.getOptionValueSource('depth'));
        process.exitCode = await runVerify(stream, flags);
      } catch (error) {
        const { message } = toErrorData(error);
        process.stdout.write(unknown(flags.format, stream, message));
        if (flags.format !== 'nagios') throw error;
        process.exitCode = EXIT_UNKNOWN;
      }
    });
}

async function runVerify(stream: string, flags: VerifyFlags): Promise<number> {
  refuseIdle(flags);
  const request = requestOf(stream, flags);
  if (flags.permissions === true)
    return say(permissionLines(request, flags.replicas !== true || flags.origin !== undefined));
  if (flags.dryRun === true) {
    return say(await (flags.replicas === true ? dryRunReplicas(request) : dryRun(request)));
  }
  if (flags.resume !== undefined) refuseUnwritable(flags.resume);
  const hasher = await loadHasher();
  const everyMs = flags.watch === undefined ? null : parsePositiveDuration('--watch', flags.watch);
  using signals = new Signals();
  const { asked } = signals;
  let code = await once(request, flags, hasher, asked);
  while (everyMs !== null && (await passes(everyMs, asked))) {
    code = await once({ ...request, resume: null }, flags, hasher, asked);
  }
  return code;
}

async function once(
  request: VerifyRequest,
  flags: VerifyFlags,
  hasher: Hasher,
  signal: AbortSignal,
): Promise<number> {
  const { format, strict = false, replicas = false, resume } = flags;
  const ended = ({ result }: Pick<VerifyReport, 'result'>): number =>
    format === 'nagios' ? nagiosExit({ result }, strict) : exitOf({ result }, strict);
  try {
    const tools = { hasher, signal, clock: Date.now, seed: randomInt(2 ** 32) };
    if (replicas) {
      const outcome = await watched((progress) => verifyReplicas(request, { ...tools, progress }));
      process.stdout.write(formatReplicas(outcome, format, strict));
      return ended(outcome);
    }
    const outcome = await watched((progress) => verifyMirror(request, { ...tools, progress }));
    const { report, token } = outcome;
    process.stdout.write(formatVerify(report, format, strict));
    if (token !== null) keep(token, resume);
    else if (request.resume !== null) remove(resume!);
    return ended(report);
  } catch (error) {
    const { code, message } = toErrorData(error);
    // Whatever a server has against a request says nothing of the mirror.
    if (code !== 'timeout' && code !== 'originRefused') throw error;
    sayUnknown(request, flags, `inconclusive: ${message}`);
    return ended({ result: 'inconclusive' });
  }
}

/** What kept it from an answer, where those who read the format look for it. */
function sayUnknown({ stream }: VerifyRequest, { format }: VerifyFlags, problem: string): void {
  process.stdout.write(unknown(format, stream, problem));
  if (format !== 'nagios') process.stderr.write(`lockstep: ${problem}\n`);
}

/** Shows how far it is while it reads. */
async function watched<Outcome>(
  verify: (progress: VerifyTools['progress']) => Promise<Outcome>,
): Promise<Outcome> {
  using line = new VerifyProgressLine(process.stderr);
  return await verify((now) => {
    line.tell(now);
  });
}

/** Hours of reading must not be lost for a folder that cannot be written. */
function keep(token: ResumeToken, file: string | undefined): void {
  const text = JSON.stringify(token);
  const problem = file === undefined ? null : unwritten(file, `${text}\n`);
  if (problem !== null)
    process.stderr.write(`lockstep: --resume: ${file}: cannot be written to (${problem})\n`);
  if (file !== undefined && problem === null) {
    process.stderr.write(`go on with --resume ${file}\n`);
  } else if (text.length <= TOKEN_SHOWN_MAX) {
    process.stderr.write(`go on with --resume FILE, where FILE holds: ${text}\n`);
  } else {
    process.stderr.write('it found too much for a line; --resume FILE keeps where it ended\n');
  }
}

/** Errors: usage: hours later it would be told too late. */
function refuseUnwritable(file: string): void {
  const isThere = existsSync(file);
  try {
    closeSync(openSync(file, 'a'));
    if (!isThere) rmSync(file);
  } catch (error) {
    const { message } = toErrorData(error);
    throw new LockstepError('usage', `--resume: ${plain(file)}: cannot be written to (${message})`);
  }
}

/** It was gone on with to the end: who names the file again wants all of it to be read. */
function remove(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch (error) {
    const { message } = toErrorData(error);
    process.stderr.write(`lockstep: --resume: ${file}: remove it, it is done with: ${message}\n`);
  }
}

/** Why it could not be written; null: it was. */
function unwritten(file: string, text: string): string | null {
  try {
    writeFileSync(file, text);
    return null;
  } catch (error) {
    return toErrorData(error).message;
  }
}

async function passes(ms: number, signal: AbortSignal): Promise<boolean> {
  return await sleep(ms, !signal.aborted, { signal }).catch(() => false);
}

function say(lines: readonly string[]): number {
  process.stdout.write(`${lines.join('\n')}\n`);
  return 0;
}

function permissionLines(request: VerifyRequest, withOrigin: boolean): string[] {
  const { stream, origin, settings, originSettings, sysSettings } = request;
  return permissions(stream, origin, withOrigin, sysSettings !== null, {
    mirror: settings.apiPrefix,
    origin: (originSettings ?? settings).apiPrefix,
    inbox: settings.inboxPrefix ?? '_INBOX',
  });
}

/** Errors: usage, naming the flag. */
function refuseBeside(
  { depth, resume, sysContext }: VerifyFlags,
  depthSource: string | undefined,
): void {
  if (sysContext !== undefined) {
    const text = '--sys-context: does not go with --replicas, which reads what servers only say';
    throw new LockstepError('usage', text);
  }
  if (depthSource === 'cli' && depth !== 'full') {
    const text = `--depth: ${depth} does not go with --replicas, which reads everything`;
    throw new LockstepError('usage', text);
  }
  if (resume === undefined) return;
  const text = '--resume: does not go with --replicas; --from goes on where it ended';
  throw new LockstepError('usage', text);
}

/** Flags of a comparison, where none is made. Errors: usage, naming the flag. */
function refuseIdle(flags: VerifyFlags): void {
  const { permissions, dryRun, watch, resume, strict } = flags;
  if (permissions !== true && dryRun !== true) return;
  const beside = permissions === true ? '--permissions' : '--dry-run';
  const [idle] = Object.entries({
    ...{ '--watch': watch, '--resume': resume, '--strict': strict },
    '--dry-run': permissions === true ? dryRun : undefined,
  }).find(([, given]) => given !== undefined) ?? [null];
  if (idle === null) return;
  throw new LockstepError('usage', `${idle}: does not go with ${beside}, which compares nothing`);
}

/** Errors: usage, naming the flag. */
function requestOf(stream: string, flags: VerifyFlags): VerifyRequest {
  const { origin = null, depth } = flags;
  for (const [where, name] of [
    ['stream', stream],
    ['--origin', origin],
  ] as const) {
    if (name !== null && !isStreamName(name)) throw usageError(where, name, 'a name of a stream');
  }
  const rate = parseSize('--rate', flags.rate.replace(/\/s$/, ''));
  const [from, to] = [seqOf('--from', flags.from), seqOf('--to', flags.to)];
  if (from !== null && to !== null && from > to) {
    throw new LockstepError('usage', `--from: ${from} lies above --to, ${to}`);
  }
  if (flags.resume !== undefined && depth !== 'full') {
    throw new LockstepError('usage', '--resume: only --depth full can be gone on with');
  }
  const { userSeed = flags.seed } = flags;
  const reached = userSeed === undefined ? flags : { ...flags, userSeed };
  return {
    ...{ stream, origin, depth, from, to },
    settings: resolveSettings(connectionOf(reached, process.env), process.env),
    originSettings: settingsOf(flags.originContext, flags),
    sysSettings: settingsOf(flags.sysContext, flags),
    bytesPerSecond: rate === 0 ? null : rate,
    resume: tokenIn(flags),
  };
}

/** The context alone says how: flags and environment are the mirror's. */
function settingsOf(context: string | undefined, { timeout }: VerifyFlags): Settings | null {
  if (context === undefined) return null;
  const timeoutMs = timeout === undefined ? undefined : parsePositiveDuration('--timeout', timeout);
  return settingsOfContext(context, process.env, timeoutMs);
}

/** A file that is not there yet is one to be written. */
function tokenIn({ resume, from, to }: VerifyFlags): ResumeToken | null {
  if (resume === undefined || !existsSync(resume)) return null;
  if (from !== undefined || to !== undefined) {
    throw new LockstepError('usage', '--resume: the file says from where to where; leave them out');
  }
  return parseToken(`--resume: ${plain(resume)}`, readText('--resume', resume, readInput));
}

function seqOf(where: string, text: string | undefined): number | null {
  return text === undefined ? null : parseCount(where, text, { min: 1 });
}
