/** `lockstep nats up`: a throw-away cluster of nats-servers for whatever wants to try one. */
import type { Command } from 'commander';
import { LockstepError, usageError } from '../base/errors.js';
import { parsePositiveDuration } from '../base/units.js';
import { CLUSTER_SIZES, NatsCluster, type ClusterSize } from '../nats/cluster.js';
import { findServer } from '../nats/server.js';
import { readInput } from '../scenario/input-file.js';
import { plain } from '../scenario/words.js';

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
  readonly config: string;
  readonly binary: string;
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
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
      await up(requestOf(flags), flags.json === true);
    });
}

async function up(request: UpRequest, asJson: boolean): Promise<void> {
  using signalled = new Signalled();
  await using cluster = await NatsCluster.start(request);
  if (signalled.isSo) return;
  process.stdout.write(
    asJson ? `${JSON.stringify(placesOf(cluster))}\n` : textOf(cluster, request),
  );
  await signalled.within(request.forMs);
}

/** Whether a signal asked us to end; one that comes while servers start is not missed. */
class Signalled implements Disposable {
  isSo = false;
  #wake: () => void = () => undefined;
  readonly #note = (): void => {
    this.isSo = true;
    this.#wake();
  };

  constructor() {
    for (const signal of SIGNALS) process.on(signal, this.#note);
  }

  /** Resolves at the signal, or once the time is over. */
  async within(ms: number | null): Promise<void> {
    if (this.isSo) return;
    await new Promise<void>((resolve) => {
      const timer = ms === null ? null : setTimeout(resolve, ms);
      this.#wake = () => {
        if (timer !== null) clearTimeout(timer);
        resolve();
      };
    });
  }

  [Symbol.dispose](): void {
    for (const signal of SIGNALS) process.off(signal, this.#note);
  }
}

/** Errors: usage. */
function requestOf(flags: UpFlags): UpRequest {
  const servers = CLUSTER_SIZES.find((size) => String(size) === flags.servers);
  if (servers === undefined) throw usageError('--servers', flags.servers, '1, 3 or 5');
  const forMs = flags.for === undefined ? null : parsePositiveDuration('--for', flags.for);
  const config = flags.config === undefined ? '' : contentOf(flags.config);
  const binary = findServer(process.env);
  if (binary !== null) return { servers, forMs, config, binary };
  throw new LockstepError('usage', `${noServer(process.env)}; one comes with ${HOW_TO_GET_ONE}`);
}

function noServer(env: NodeJS.ProcessEnv): string {
  const named = env['LOCKSTEP_NATS_SERVER'];
  if (named === undefined || named === '') {
    return 'no nats-server on the PATH, and LOCKSTEP_NATS_SERVER names none';
  }
  return `LOCKSTEP_NATS_SERVER: ${plain(named)} is no program that can be run`;
}

function contentOf(path: string): string {
  try {
    return readInput(path);
  } catch {
    throw new LockstepError('usage', `--config: ${plain(path)} cannot be read`);
  }
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
