/**
 * One nats-server process on loopback, on free ports and in a folder of its own; alone or as a
 * member of a cluster. What it logged is kept if it failed.
 */
import { execFile } from 'node:child_process';
import { accessSync, constants, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { LockstepError } from '../base/errors.js';
import { plain } from '../scenario/words.js';
import type { Environment } from './contexts.js';
import { OwnedProcess } from './owned-process.js';

export interface ServerOptions {
  /** Path of nats-server. */
  readonly binary: string;
  /** Lines of a configuration file: accounts, users, TLS. */
  readonly config?: string;
  /** Default true. */
  readonly jetStream?: boolean;
  readonly membership?: Membership;
}

/** A server's place in a cluster. */
export interface Membership {
  readonly cluster: string;
  /** Of the server, in the cluster. */
  readonly name: string;
  /** Where the other servers are reached. */
  readonly routes: readonly string[];
}

/** Ports that a server chose at its first start; the client's and the monitor's stay the same. */
interface Ports {
  readonly client: number;
  readonly monitor: number;
  /** Of routes; null: the server is alone, or not there. */
  readonly route: number | null;
}

const START_WITHIN_MS = 20_000;
const RELOAD_WITHIN_MS = 10_000;
const ANSWER_WITHIN_MS = 5_000;
const LOOK_EVERY_MS = 5;
const LOG_SHOWN = 400;
/**
 * Told to other servers as the place of a route. Nothing listens there: a server that learned of
 * another from a third one would else make a route that goes round what we put in between.
 */
const NOWHERE = '127.0.0.1:1';

/** The binary named by LOCKSTEP_NATS_SERVER, else the one on the PATH; null: there is none. */
export function findServer(env: Environment): string | null {
  const named = env['LOCKSTEP_NATS_SERVER'];
  if (named !== undefined && named !== '') return isExecutable(named) ? named : null;
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, 'nats-server')).find(isExecutable) ?? null;
}

/** `2.15.2`. Errors: usage, if the binary says no version. */
export async function versionOf(binary: string): Promise<string> {
  const said = await promisify(execFile)(binary, ['--version'])
    .then(({ stdout }) => stdout.trim())
    .catch((error: unknown) => (error instanceof Error ? error.message : String(error)));
  const version = /^nats-server: v(\d+\.\d+\.\d+\S*)$/.exec(said)?.[1];
  if (version !== undefined) return version;
  const text = `${plain(binary)} is no nats-server: --version says "${plain(said)}"`;
  throw new LockstepError('usage', text);
}

export class NatsServer implements AsyncDisposable {
  /** Holds the store, the configuration and the log. */
  readonly dir: string;
  readonly name: string;
  readonly #options: ServerOptions;
  #ports: Ports | null = null;
  #process: OwnedProcess | null = null;
  /** The caller's lines; ours follow, and what comes later holds. */
  #config: string;
  #ours: readonly string[] = [];
  #isKept = false;

  private constructor(options: ServerOptions) {
    this.#options = options;
    this.name = options.membership?.name ?? 'n1';
    this.dir = mkdtempSync(join(tmpdir(), 'lockstep-nats-'));
    this.#config = options.config ?? '';
  }

  /** Resolves once it takes connections. Errors: harness, with the end of its log. */
  static async start(options: ServerOptions): Promise<NatsServer> {
    const server = new NatsServer(options);
    await server.#start();
    return server;
  }

  get url(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  get port(): number {
    return this.#started.client;
  }

  get monitorUrl(): string {
    return `http://127.0.0.1:${this.#started.monitor}`;
  }

  /** Another one after each start; null: the server is alone, or not there. */
  get routePort(): number | null {
    return this.#started.route;
  }

  /** What JetStream keeps. */
  get storeDir(): string {
    return join(this.dir, 'store');
  }

  /** Of the running process; null: it was killed. */
  get pid(): number | null {
    return this.#process?.pid ?? null;
  }

  /** Whether it takes part: it runs and is not frozen. */
  get isUp(): boolean {
    return this.#process?.ended === null && !this.#process.isFrozen;
  }

  /** Why its process ended without a word of ours, and what it logged; null: it did not. */
  get died(): string | null {
    const reason = this.#process?.ended ?? null;
    return reason === null ? null : `${reason}; ${this.#logFile}: ${this.log}`;
  }

  /** The end of what it logged, in one line. */
  get log(): string {
    return endOf(this.#logFile);
  }

  /** Its folder stays when it is stopped. */
  keep(): void {
    this.#isKept = true;
  }

  /** As a machine that loses power, its disk spared. Resolves when the process is gone. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** As an operator would: it writes down what it has. Resolves when the process is gone. */
  async stop(): Promise<void> {
    await this.#end('SIGTERM');
  }

  /** The same ports, store and configuration; killed before if it runs. Errors: harness. */
  async restart(): Promise<void> {
    await this.#end('SIGKILL');
    await this.#start();
  }

  /** As a machine that hangs: connections stay, nothing is answered. */
  freeze(): void {
    this.#process?.freeze();
  }

  thaw(): void {
    this.#process?.thaw();
  }

  /**
   * Makes it read its configuration again.
   *
   * @param config  new lines of it; without them the same ones are read
   * Errors: harness, if it did not take them.
   */
  async reload(config?: string): Promise<void> {
    this.#config = config ?? this.#config;
    this.#configure();
    const loadedAt = async (): Promise<string | undefined> =>
      (await this.monitor<{ readonly config_load_time?: string }>('varz')).config_load_time;
    const before = await loadedAt();
    this.#process?.signal('SIGHUP');
    for (let waitedMs = 0; waitedMs < RELOAD_WITHIN_MS; waitedMs += LOOK_EVERY_MS) {
      if ((await loadedAt()) !== before) return;
      await setTimeout(LOOK_EVERY_MS);
    }
    throw new LockstepError('harness', `${this.name} did not reload; its log: ${this.log}`);
  }

  /**
   * A page of its monitor, such as `jsz?streams=true`: its own view, whatever others say.
   *
   * Errors: timeout, when it does not answer.
   */
  async monitor<T>(page: string): Promise<T> {
    try {
      const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
      const answer = await fetch(`${this.monitorUrl}/${page}`, { signal });
      return (await answer.json()) as T;
    } catch {
      throw new LockstepError('timeout', `${this.name}: its monitor does not answer /${page}`);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // One that ended by itself has something to tell.
    if (this.#process !== null && this.#process.ended !== null) this.keep();
    await this.#end('SIGTERM');
    if (!this.#isKept) rmSync(this.dir, { recursive: true, force: true });
  }

  get #file(): string {
    return join(this.dir, 'server.conf');
  }

  get #logFile(): string {
    return join(this.dir, 'server.log');
  }

  get #started(): Ports {
    if (this.#ports !== null) return this.#ports;
    throw new LockstepError('harness', 'the server was not started');
  }

  async #start(): Promise<void> {
    this.#ours = linesOf(this, this.#options, this.#ports);
    this.#configure();
    const server = new OwnedProcess(this.#options.binary, ['-c', this.#file], this.#logFile);
    this.#process = server;
    const file = join(this.dir, `nats-server_${server.pid}.ports`);
    for (let waitedMs = 0; waitedMs < START_WITHIN_MS; waitedMs += LOOK_EVERY_MS) {
      // The server writes down its ports when it takes connections.
      const ports = portsIn(file);
      if (ports !== null) {
        this.#ports = ports;
        return;
      }
      if (server.ended !== null) break;
      await setTimeout(LOOK_EVERY_MS);
    }
    this.keep();
    const reason = server.ended ?? `takes no connections after ${START_WITHIN_MS} ms`;
    await this.#end('SIGKILL');
    throw new LockstepError('harness', `nats-server ${reason}; ${this.#logFile}: ${this.log}`);
  }

  /** All of it in the file: what flags say does not outlive a reload on every version. */
  #configure(): void {
    const lines = [this.#config, ...this.#ours];
    writeFileSync(this.#file, `${lines.join('\n')}\n`);
  }

  async #end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const server = this.#process;
    this.#process = null;
    if (this.#ports !== null) this.#ports = { ...this.#ports, route: null };
    await server?.end(signal);
  }
}

/** What a server is started with, and says again at each reload: ports do not change in one. */
function linesOf(server: NatsServer, options: ServerOptions, ports: Ports | null): string[] {
  const { jetStream = true, membership } = options;
  return [
    `server_name: ${server.name}`,
    `listen: "127.0.0.1:${ports?.client ?? -1}"`,
    `http: "127.0.0.1:${ports?.monitor ?? -1}"`,
    `ports_file_dir: ${quoted(server.dir)}`,
    ...(jetStream ? [`jetstream { store_dir: ${quoted(server.storeDir)} }`] : []),
    ...(membership === undefined ? [] : clusterLines(membership)),
  ];
}

function clusterLines({ cluster, routes }: Membership): string[] {
  return [
    `cluster { name: ${cluster}, listen: "127.0.0.1:-1", cluster_advertise: "${NOWHERE}"`,
    `  routes: [${routes.map(quoted).join(', ')}] }`,
  ];
}

/** A text as the configuration's syntax has it. */
function quoted(text: string): string {
  return `"${text}"`;
}

function portsIn(file: string): Ports | null {
  type Listed = Readonly<Record<'nats' | 'monitoring' | 'cluster', readonly string[] | undefined>>;
  try {
    const { nats, monitoring, cluster } = JSON.parse(readFileSync(file, 'utf8')) as Listed;
    const route = cluster?.[0];
    return {
      client: portOf(nats![0]!),
      monitor: portOf(monitoring![0]!),
      route: route === undefined ? null : portOf(route),
    };
  } catch {
    // Not there, or not wholly written.
    return null;
  }
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}

function endOf(log: string): string {
  try {
    return readFileSync(log, 'utf8').trimEnd().slice(-LOG_SHOWN).replaceAll(/\s*\n/g, ' | ');
  } catch {
    return 'it logged nothing';
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
