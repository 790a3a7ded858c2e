/**
 * One nats-server process on loopback, on free ports and in a folder of its own; alone or as a
 * member of a cluster. What it logged is kept if it failed.
 */
import { execFile } from 'node:child_process';
import { accessSync, constants, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { LockstepError } from '../base/errors.js';
import { plain } from '../base/plain.js';
import type { Environment } from './environment.js';
import { OwnedProcess } from './owned-process.js';
import { includeLine, ourLines, refusalIn, type Membership, type Ports } from './server-config.js';
import { keepFolder, makeFolder } from './server-folder.js';

export interface ServerOptions {
  /** Path of nats-server. */
  readonly binary: string;
  /** Lines of a configuration file: accounts, users, TLS. */
  readonly config?: string;
  /** Path of one of the user's; what a server has against it is an error of usage. */
  readonly configFile?: string | undefined;
  /** Default true. */
  readonly jetStream?: boolean;
  readonly membership?: Membership;
  /** Ends the start of it: interrupted. */
  readonly signal?: AbortSignal | undefined;
}

const START_WITHIN_MS = 20_000;
const VERSION_WITHIN_MS = 10_000;
const RELOAD_WITHIN_MS = 10_000;
const ANSWER_WITHIN_MS = 5_000;
const LOOK_EVERY_MS = 5;
const LOG_SHOWN = 400;
/** Before many lines of who called whom. */
const CRASH = /^(panic|fatal error): /;
/** The binary named by LOCKSTEP_NATS_SERVER, else the one on the PATH; null: there is none. */
export function findServer(env: Environment): string | null {
  const named = env['LOCKSTEP_NATS_SERVER'];
  if (named !== undefined && named !== '') return isExecutable(named) ? named : null;
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, 'nats-server')).find(isExecutable) ?? null;
}

/** `2.15.2`. Errors: usage, if the binary says no version; interrupted. */
export async function versionOf(binary: string, signal?: AbortSignal): Promise<string> {
  const said = await promisify(execFile)(binary, ['--version'], {
    signal,
    timeout: VERSION_WITHIN_MS,
  })
    .then(({ stdout }) => stdout.trim())
    .catch((error: unknown) => (error instanceof Error ? error.message : String(error)));
  refuseIfEnded(signal);
  const version = /^nats-server: v(\d+\.\d+\.\d+\S*)$/.exec(said)?.[1];
  if (version !== undefined) return version;
  const text = `${plain(binary)} is no nats-server: --version says "${plain(said)}"`;
  throw new LockstepError('usage', text);
}

/** Errors: interrupted, once the signal came. */
export function refuseIfEnded(signal: AbortSignal | undefined): void {
  if (signal?.aborted !== true) return;
  throw new LockstepError('interrupted', 'a signal came while servers were started');
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
  #isClosed = false;
  #tellDied: () => void = () => undefined;
  /** Resolves when its process ends without a word of ours. */
  readonly untilDied = new Promise<void>((resolve) => (this.#tellDied = resolve));

  private constructor(options: ServerOptions) {
    this.#options = options;
    this.name = options.membership?.name ?? 'n1';
    this.dir = makeFolder();
    const { config = '', configFile } = options;
    this.#config = configFile === undefined ? config : includeLine(this.dir, configFile);
  }

  /**
   * Resolves once it takes connections.
   *
   * Errors: harness, with the end of its log; usage, when it refuses the user's file; interrupted.
   */
  static async start(options: ServerOptions): Promise<NatsServer> {
    const server = new NatsServer(options);
    await server.#start(options.signal);
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
    return reason === null ? null : `${reason}; ${this.logFile}: ${lastWordsIn(this.#log)}`;
  }

  /** The end of what it logged, in one line. */
  get log(): string {
    return endOf(this.#log);
  }

  get logFile(): string {
    return join(this.dir, 'server.log');
  }

  /** Its folder stays when it is stopped, and whatever becomes of us. */
  keep(): void {
    this.#isKept = true;
    keepFolder(this.dir);
  }

  /** As a machine that loses power, its disk spared. Resolves when the process is gone. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** As an operator would: it writes down what it has. Resolves when the process is gone. */
  async stop(): Promise<void> {
    await this.#end('SIGTERM');
  }

  /** The same ports, store and configuration; killed before. Errors: harness, also once closed. */
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
   * Errors: timeout, if it did not take them.
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
    throw new LockstepError('timeout', `${this.name} did not reload; its log: ${this.log}`);
  }

  /**
   * A page of its monitor, such as `jsz?streams=true`: its own view, whatever others say.
   *
   * @param signal  ends the wait for it
   * Errors: timeout, when it does not answer.
   */
  async monitor<T>(page: string, signal?: AbortSignal): Promise<T> {
    try {
      const late = AbortSignal.timeout(ANSWER_WITHIN_MS);
      const answer = await fetch(`${this.monitorUrl}/${page}`, {
        signal: signal === undefined ? late : AbortSignal.any([late, signal]),
      });
      return (await answer.json()) as T;
    } catch {
      throw new LockstepError('timeout', `${this.name}: its monitor does not answer /${page}`);
    }
  }

  /** For good: what was to start it again finds it closed. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#end('SIGTERM');
    if (!this.#isKept) rmSync(this.dir, { recursive: true, force: true });
  }

  get #log(): string {
    return textOf(this.logFile);
  }

  get #file(): string {
    return join(this.dir, 'server.conf');
  }

  get #started(): Ports {
    if (this.#ports !== null) return this.#ports;
    throw new LockstepError('harness', 'the server was not started');
  }

  async #start(signal?: AbortSignal): Promise<void> {
    if (this.#isClosed) throw new LockstepError('harness', `${this.name} was closed`);
    const { binary, jetStream = true, membership } = this.#options;
    const { name, dir, storeDir } = this;
    const ports = this.#ports;
    this.#ours = ourLines({ name, dir, storeDir, jetStream, membership, ports });
    this.#configure();
    const server = new OwnedProcess(binary, ['-c', this.#file], this.logFile);
    this.#process = server;
    const file = join(this.dir, `nats-server_${server.pid}.ports`);
    for (let waitedMs = 0; waitedMs < START_WITHIN_MS; waitedMs += LOOK_EVERY_MS) {
      // The server writes down its ports when it takes connections.
      const chosen = portsIn(file);
      if (chosen !== null) {
        this.#ports = chosen;
        void server.gone.then(() => this.#noteDeath(server));
        return;
      }
      if (server.ended !== null || signal?.aborted === true) break;
      await setTimeout(LOOK_EVERY_MS);
    }
    await this.#giveUp(server, signal);
  }

  /** Errors: what kept it from starting. */
  async #giveUp(server: OwnedProcess, signal: AbortSignal | undefined): Promise<never> {
    const { configFile } = this.#options;
    const { ended } = server;
    await this.#end('SIGKILL');
    const log = this.#log;
    if (signal?.aborted !== true && (configFile === undefined || !server.refused)) this.keep();
    else rmSync(this.dir, { recursive: true, force: true });
    refuseIfEnded(signal);
    if (configFile !== undefined && server.refused) {
      const why = refusalIn(log, this.dir, configFile);
      throw new LockstepError(
        'usage',
        `--config ${plain(configFile)}: nats-server refuses it: ${why}`,
      );
    }
    const reason = ended ?? `takes no connections after ${START_WITHIN_MS} ms`;
    throw new LockstepError('harness', `nats-server ${reason}; ${this.logFile}: ${endOf(log)}`);
  }

  #noteDeath(server: OwnedProcess): void {
    if (server !== this.#process) return;
    // It has something to tell.
    this.keep();
    this.#tellDied();
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

function textOf(log: string): string {
  try {
    const text = readFileSync(log, 'utf8').trimEnd();
    return text === '' ? 'it logged nothing' : text;
  } catch {
    return 'it logged nothing';
  }
}

/** Its last line, or what it crashed of. */
function lastWordsIn(log: string): string {
  const lines = log.split('\n');
  return lines.findLast((line) => CRASH.test(line)) ?? lines.at(-1)!;
}

/** In one line. */
function endOf(text: string): string {
  return text.slice(-LOG_SHOWN).replaceAll(/\s*\n/g, ' | ');
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
