/**
 * One nats-server process on loopback, on a free port and in a folder of its own. It is stopped by
 * its own process id, and also when this process is killed: a shell holds the other end of a pipe
 * and ends the server when the pipe closes. What it logged is kept if it failed.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { accessSync, constants, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { LockstepError } from '../base/errors.js';
import type { Environment } from './contexts.js';

export interface ServerOptions {
  /** Path of nats-server. */
  readonly binary: string;
  /** Lines of a configuration file: accounts, users, TLS. */
  readonly config?: string;
  /** Default true. */
  readonly jetStream?: boolean;
}

const START_WITHIN_MS = 20_000;
const STOP_WITHIN_MS = 5_000;
const LOOK_EVERY_MS = 5;
const LOG_SHOWN = 400;
/** Reads until nobody holds the pipe any more. */
const WATCH = 'read -r _; kill -KILL "$1"';

/** The binary named by LOCKSTEP_NATS_SERVER, else the one on the PATH; null: there is none. */
export function findServer(env: Environment): string | null {
  const named = env['LOCKSTEP_NATS_SERVER'];
  if (named !== undefined && named !== '') return isExecutable(named) ? named : null;
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, 'nats-server')).find(isExecutable) ?? null;
}

export class NatsServer implements AsyncDisposable {
  /** Holds the store, the configuration and the log. */
  readonly dir: string;
  readonly #options: ServerOptions;
  #port: number | null = null;
  #process: ChildProcess | null = null;
  #watcher: ChildProcess | null = null;
  #failed = false;

  private constructor(options: ServerOptions) {
    this.#options = options;
    this.dir = mkdtempSync(join(tmpdir(), 'lockstep-nats-'));
    writeFileSync(join(this.dir, 'server.conf'), options.config ?? '');
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
    if (this.#port !== null) return this.#port;
    throw new LockstepError('harness', 'the server was not started');
  }

  /** Of the running process; null: it was killed. */
  get pid(): number | null {
    return this.#process?.pid ?? null;
  }

  /** As a machine that loses power, its disk spared. Resolves when the process is gone. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** The same port, store and configuration. Errors: harness. */
  async restart(): Promise<void> {
    await this.#end('SIGKILL');
    await this.#start();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end('SIGTERM');
    if (!this.#failed) rmSync(this.dir, { recursive: true, force: true });
  }

  async #start(): Promise<void> {
    const { binary, jetStream = true } = this.#options;
    const port = this.#port === null ? '-1' : String(this.#port);
    const args = [
      ...['-a', '127.0.0.1', '-p', port, '-c', join(this.dir, 'server.conf')],
      ...['-l', join(this.dir, 'server.log'), '--ports_file_dir', this.dir],
      ...(jetStream ? ['-js', '-sd', join(this.dir, 'store')] : []),
    ];
    // A group of its own: an interrupt typed at a terminal is for us.
    const server = spawn(binary, args, { stdio: 'ignore', detached: true });
    const failure = new Promise<string>((resolve) => {
      server.once('error', (error) => {
        resolve(error.message);
      });
      server.once('exit', (code, signal) => {
        resolve(`ended with ${signal ?? `code ${code ?? 0}`}`);
      });
    });
    this.#process = server;
    this.#watcher = server.pid === undefined ? null : watch(server.pid);
    await this.#listening(server, failure);
  }

  /** The server writes down its ports when it takes connections. */
  async #listening(server: ChildProcess, failure: Promise<string>): Promise<void> {
    const file = join(this.dir, `nats-server_${server.pid ?? 0}.ports`);
    let failed: string | null = null;
    void failure.then((reason) => (failed = reason));
    for (let waitedMs = 0; waitedMs < START_WITHIN_MS; waitedMs += LOOK_EVERY_MS) {
      const port = portIn(file);
      if (port !== null) {
        this.#port = port;
        return;
      }
      if (failed !== null) break;
      await setTimeout(LOOK_EVERY_MS);
    }
    this.#failed = true;
    const reason = failed ?? `takes no connections after ${START_WITHIN_MS} ms`;
    await this.#end('SIGKILL');
    const log = join(this.dir, 'server.log');
    throw new LockstepError('harness', `nats-server ${reason}; ${log}: ${endOf(log)}`);
  }

  async #end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const server = this.#process;
    this.#process = null;
    if (server !== null && isRunning(server)) {
      const exited = new Promise<void>((resolve) => {
        server.once('exit', () => {
          resolve();
        });
      });
      server.kill(signal);
      const late = new AbortController();
      const forced = setTimeout(STOP_WITHIN_MS, undefined, { signal: late.signal }).then(
        () => server.kill('SIGKILL'),
        () => undefined,
      );
      await exited;
      late.abort();
      await forced;
    }
    // After the server: its process id stays its own until then.
    this.#watcher?.kill('SIGKILL');
    this.#watcher = null;
  }
}

function watch(pid: number): ChildProcess {
  const watcher = spawn('/bin/sh', ['-c', WATCH, 'watch', String(pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  watcher.unref();
  return watcher;
}

function isRunning(server: ChildProcess): boolean {
  return server.pid !== undefined && server.exitCode === null && server.signalCode === null;
}

function portIn(file: string): number | null {
  try {
    const { nats } = JSON.parse(readFileSync(file, 'utf8')) as { readonly nats: readonly string[] };
    return Number(new URL(nats[0]!).port);
  } catch {
    // Not there, or not wholly written.
    return null;
  }
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
