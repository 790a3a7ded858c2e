/** `lockstep nats up`: a throw-away cluster of nats-servers for whatever wants to try one. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { LockstepError, toErrorData, usageError } from '../base/errors.js';
import { plain } from '../base/plain.js';
import { parsePositiveDuration } from '../base/units.js';
import { CLUSTER_SIZES, NatsCluster, type ClusterSize } from '../nats/cluster.js';
import { isNameable } from '../nats/server-config.js';
import { findServer, type NatsServer } from '../nats/server.js';
import { listed, printable } from '../report/text.js';
import { readInput } from '../scenario/input-file.js';
import { readText } from '../scenario/source.js';
import { EXIT } from '../verdict/types.js';
import { Signals } from './signals.js';

interface UpFlags {
  readonly servers: string;
  readonly for?: string;
  readonly config?: string;
  readonly json?: boolean;
}

interface UpRequest {
  readonly servers: ClusterSize;
  /** Null: until a signal comes. */
  readonly forMs: number | null;
  readonly configFile: string | undefined;
  readonly binary: string;
}

const HOW_TO_GET_ONE =
  'go install github.com/nats-io/nats-server/v2@latest, or the nats-server package of your system';

export function addNatsCommand(program: Command): void {
  program
    .command('nats')
    .description('real nats-servers on this machine')
    .exitOverride()
    .configureOutput({ writeErr: () => undefined })
    .command('up')
    .description('start a throw-away cluster with JetStream; Ctrl-C ends and removes it')
    .option('--servers <n>', '1, 3 or 5', '3')
    .option('--for <duration>', 'end by itself then')
    .option('--config <file>', "lines for every server's configuration: accounts, users, TLS")
    .option('--json', 'print where the servers are as one line of JSON')
    .exitOverride()
    .configureOutput({ writeErr: () => undefined })
    .action(async (flags: UpFlags) => {
      process.exitCode = await up(requestOf(flags), flags.json === true);
    });
}

/** Returns the exit code: that of the signal, if one came before the servers stood. */
async function up(request: UpRequest, asJson: boolean): Promise<number> {
  using signals = new Signals();
  try {
    await using cluster = await NatsCluster.start({ ...request, signal: signals.asked });
    process.stdout.write(
      asJson ? `${JSON.stringify(placesOf(cluster))}\n` : textOf(cluster, request),
    );
    return await stand(cluster, request.forMs, signals.asked);
  } catch (error) {
    if (toErrorData(error).code === 'interrupted') return signals.exitCode;
    throw error;
  }
}

/**
 * Until a signal or the time is over, 0; or until no server is left, which is not what was asked
 * for. One that ends by itself is told at once; the others go on.
 */
async function stand(
  { servers }: NatsCluster,
  forMs: number | null,
  asked: AbortSignal,
): Promise<number> {
  const deaths = servers.map(async (server) => {
    await server.untilDied;
    tellDeath(server, servers);
  });
  const over = new AbortController();
  const lost = Promise.all(deaths).then(() => EXIT.harness);
  const ended = passes(forMs, AbortSignal.any([asked, over.signal])).then(() => 0);
  try {
    return await Promise.race([lost, ended]);
  } finally {
    over.abort();
  }
}

/** @param ms  null: only the signal ends it */
async function passes(ms: number | null, signal: AbortSignal): Promise<void> {
  if (ms !== null) await sleep(ms, undefined, { signal }).catch(() => undefined);
  else if (!signal.aborted) await once(signal, 'abort');
}

function tellDeath(server: NatsServer, servers: readonly NatsServer[]): void {
  const left = servers.filter(({ died }) => died === null).map(({ name }) => name);
  const rest =
    left.length === 0
      ? 'no server is left'
      : `${listed(left)} ${left.length === 1 ? 'goes' : 'go'} on`;
  process.stderr.write(`lockstep: ${printable(`${server.name} ${server.died ?? ''}; ${rest}`)}\n`);
}

/** Errors: usage. */
function requestOf(flags: UpFlags): UpRequest {
  const servers = CLUSTER_SIZES.find((size) => String(size) === flags.servers);
  if (servers === undefined) throw usageError('--servers', flags.servers, '1, 3 or 5');
  const forMs = flags.for === undefined ? null : parsePositiveDuration('--for', flags.for);
  if (flags.config !== undefined) checkConfig(flags.config);
  const binary = findServer(process.env);
  if (binary !== null) return { servers, forMs, configFile: flags.config, binary };
  throw new LockstepError('usage', `${noServer(process.env)}; one comes with ${HOW_TO_GET_ONE}`);
}

function noServer(env: NodeJS.ProcessEnv): string {
  const named = env['LOCKSTEP_NATS_SERVER'];
  if (named === undefined || named === '') {
    return 'no nats-server on the PATH, and LOCKSTEP_NATS_SERVER names none';
  }
  return `LOCKSTEP_NATS_SERVER: ${plain(named)} is no program that can be run`;
}

/** Every server reads it by itself. Errors: usage. */
function checkConfig(path: string): void {
  readText('--config', path, readInput);
  if (isNameable(path)) return;
  const text = `--config: ${plain(path)}: a nats-server reads no file with such a name`;
  throw new LockstepError('usage', text);
}

function placesOf({ version, urls, servers }: NatsCluster): object {
  return {
    schema: 1,
    version,
    url: listOf(urls),
    servers: servers.map(({ name, url, monitorUrl, pid, dir }) => {
      return { name, url, monitor: monitorUrl, pid, dir };
    }),
  };
}

/** Of which the first one alone has its scheme: every client reads that. */
function listOf([first, ...more]: readonly string[]): string {
  return [first, ...more.map((url) => url.replace('nats://', ''))].join(',');
}

function textOf({ version, urls, servers }: NatsCluster, { forMs }: UpRequest): string {
  const rows = servers.map(
    ({ name, url, monitorUrl }) => `  ${name}  ${url}  monitor ${monitorUrl}`,
  );
  return [
    `nats-server ${version}, JetStream is ready`,
    ...rows,
    '',
    `export NATS_URL=${listOf(urls)}`,
    `Ctrl-C ends ${forMs === null ? 'it' : 'it early'} and removes everything.`,
    '',
  ].join('\n');
}
