/**
 * The cores of this machine, shared by all that plays seeds in one run of vitest, whatever vitest
 * does with files: whoever plays a few seeds takes a core first, and gives it back then.
 *
 * A core that is taken is a local socket on which somebody listens. The kernel closes it with its
 * process or its thread, however that ends, so a worker that is killed gives its cores back. Who
 * waits for a core connects to its socket: the connection ends when the core comes free, and
 * whoever has the core sees that somebody waits, and lets him go first.
 */
import { once } from 'node:events';
import { rmSync, statSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread } from 'node:worker_threads';
import type { CorePool } from '../sim/seed-pool.js';

/** Longer than a few seeds take; after that it goes on with a core of its own. */
const WAIT_MS = 60_000;
/** For one of the cores, before the others are looked at again. */
const LOOK_MS = 1_000;
/** For somebody who waited to take the core that came free. */
const COURTESY_MS = 10;
/** Bytes of a path that every system takes for a socket; what is longer is cut off. */
const PATH_MAX = 103;

export interface CoresOptions {
  /** The same for all that share; default: of this run of vitest. */
  readonly run?: string;
  /** Milliseconds. */
  readonly waitMs?: number;
}

export class SharedCores implements CorePool {
  readonly #count: number;
  readonly #run: string;
  readonly #waitMs: number;
  /** Free ones that nobody else knows of. */
  readonly #own: Disposable[] = [];
  #turn = 0;
  #courteousUntilMs = 0;

  /** @param count  how many all have together; of counts that differ, the largest */
  constructor(count: number, { run = runOfVitest(), waitMs = WAIT_MS }: CoresOptions = {}) {
    this.#count = count;
    this.#run = run;
    this.#waitMs = waitMs;
  }

  async take(signal: AbortSignal): Promise<Disposable> {
    const own = this.#own.pop();
    if (own !== undefined) return own;
    const untilMs = performance.now() + this.#waitMs;
    const courtesyMs = this.#courteousUntilMs - performance.now();
    if (courtesyMs > 0) await sleep(courtesyMs);
    // Those who wait spread over the cores.
    for (let turn = this.#turn++; ; turn++) {
      const core = await this.#takeAny();
      if (core !== null) return core;
      signal.throwIfAborted();
      const leftMs = untilMs - performance.now();
      if (leftMs <= 0) return this.#oneMore();
      await freed(this.#path(turn % this.#count), Math.min(LOOK_MS, leftMs), signal);
    }
  }

  /** Null: all of them are taken. */
  async #takeAny(): Promise<Disposable | null> {
    for (let at = 0; at < this.#count; at++) {
      const core = await this.#tryTake(this.#path(at));
      if (core !== null) return core;
    }
    return null;
  }

  async #tryTake(path: string): Promise<Disposable | null> {
    // Where there are no such sockets, cores cannot be shared.
    if (Buffer.byteLength(path) > PATH_MAX) return this.#oneMore();
    const server = createServer();
    const waiting = new Set<Socket>();
    server.on('connection', (socket) => {
      waiting.add(socket.on('error', () => undefined).on('close', () => waiting.delete(socket)));
    });
    try {
      await once(server.listen(path), 'listening');
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'EADDRINUSE' ? null : this.#oneMore();
    }
    server.unref();
    return { [Symbol.dispose]: () => this.#giveBack(server, waiting) };
  }

  #giveBack(server: Server, waiting: ReadonlySet<Socket>): void {
    if (waiting.size > 0) this.#courteousUntilMs = performance.now() + COURTESY_MS;
    server.close();
    for (const socket of waiting) socket.destroy();
  }

  /** It goes on as if it were alone. */
  #oneMore(): Disposable {
    const core = { [Symbol.dispose]: () => void this.#own.push(core) };
    return core;
  }

  #path(at: number): string {
    return join(tmpdir(), `lockstep-${this.#run}-core-${at}`);
  }
}

/** Resolves when nobody listens there any more, at the latest when the time is over. */
async function freed(path: string, limitMs: number, signal: AbortSignal): Promise<void> {
  const mark = markAt(path);
  const socket = connect(path);
  const abort = AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(limitMs))]);
  const code = await new Promise<string | undefined>((resolve) => {
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code));
    socket.on('close', () => resolve(undefined));
    abort.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  socket.destroy();
  // Whoever had it was killed. A mark that is another by now is somebody's who took it meanwhile.
  if (code === 'ECONNREFUSED' && mark !== null && markAt(path) === mark) {
    rmSync(path, { force: true });
  }
}

/** What tells a socket from a later one at the same path; null: there is none. */
function markAt(path: string): string | null {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? null : `${stats.ino} ${stats.ctimeNs}`;
}

/** vitest's own process has workers that are its threads, or its children; nobody else's. */
function runOfVitest(): string {
  const user = process.getuid?.() ?? '';
  return `${user}-${isMainThread ? process.ppid : process.pid}`;
}
