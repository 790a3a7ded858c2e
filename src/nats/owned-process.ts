/**
 * A process that is ours: stopped by its own process id, and also when this process is killed. A
 * shell holds the other end of a pipe and ends the process when the pipe closes, be it frozen or
 * not: SIGKILL needs no thaw.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';

const STOP_WITHIN_MS = 5_000;
/** Reads until nobody holds the pipe any more. */
const WATCH = 'read -r _; kill -KILL "$1"';

export class OwnedProcess {
  readonly #process: ChildProcess;
  readonly #watcher: ChildProcess | null;
  /** Resolves when it runs no more. */
  readonly gone: Promise<void>;
  #reason: string | null = null;
  #code: number | null = null;
  #frozen = false;

  /** @param log  file that what it says is added to, to the words of a crash */
  constructor(binary: string, args: readonly string[], log: string) {
    const said = openSync(log, 'a');
    // A group of its own: an interrupt typed at a terminal is for us.
    this.#process = spawn(binary, args, { stdio: ['ignore', said, said], detached: true });
    closeSync(said);
    const { pid } = this.#process;
    this.#watcher = pid === undefined ? null : watch(pid);
    this.gone = new Promise((resolve) => {
      const end = (reason: string): void => {
        this.#reason ??= reason;
        // After the process: its id stays its own until then.
        this.#watcher?.kill('SIGKILL');
        resolve();
      };
      this.#process.once('error', (error) => {
        end(error.message);
      });
      // Nobody would end it if we were killed: it does not run so.
      this.#watcher?.once('error', (error) => {
        this.#reason ??= `was ended, since it cannot be watched: ${error.message}`;
        this.#process.kill('SIGKILL');
      });
      this.#process.once('exit', (code, signal) => {
        this.#code = code;
        end(`ended with ${signal ?? `code ${code ?? 0}`}`);
      });
    });
  }

  /** 0: it never ran. */
  get pid(): number {
    return this.#process.pid ?? 0;
  }

  /** Why it runs no more; null: it does. */
  get ended(): string | null {
    return this.#reason;
  }

  /** It ended by itself, with a code that says that it would not. */
  get refused(): boolean {
    return this.#code !== null && this.#code !== 0;
  }

  get isFrozen(): boolean {
    return this.#frozen;
  }

  signal(signal: NodeJS.Signals): void {
    if (this.#reason === null) this.#process.kill(signal);
  }

  /** It keeps its sockets and answers nothing. */
  freeze(): void {
    this.#frozen = true;
    this.signal('SIGSTOP');
  }

  thaw(): void {
    this.#frozen = false;
    this.signal('SIGCONT');
  }

  /** Resolves when it is gone; one that does not go by itself is killed. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    this.signal(signal);
    // A frozen process keeps any other signal for later.
    if (this.#frozen && signal !== 'SIGKILL') this.thaw();
    const gone = new AbortController();
    const forced = setTimeout(STOP_WITHIN_MS, undefined, { signal: gone.signal }).then(
      () => this.signal('SIGKILL'),
      () => undefined,
    );
    await this.gone;
    gone.abort();
    await forced;
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
