/**
 * How late a thread is that has no ticks of a replica: main, and the origin's. It is to beat as
 * often as a host ticks, and its lateness is counted as a host's.
 */
import { TICK_MS } from '../base/limits.js';
import { monotonicMs } from './clock.js';
import { Lateness } from './lateness.js';

/** When a thread was late, milliseconds of the monotonic clock, and by how much. */
export interface Late {
  readonly atMs: number;
  readonly byMs: number;
}

export class Pulse {
  readonly #tell: (late: Late) => void;
  readonly #now: () => number;
  readonly #lateness = new Lateness();
  #timer: NodeJS.Timeout | null = null;
  #beatMs = 0;

  /** @param tell  told whenever the thread counts as late */
  constructor(tell: (late: Late) => void, now: () => number = monotonicMs) {
    this.#tell = tell;
    this.#now = now;
  }

  /** From here on the thread is expected to be on time. */
  start(): void {
    this.#beatMs = this.#now();
    this.#timer ??= setInterval(() => {
      this.#beat();
    }, TICK_MS);
  }

  /** What the thread did since then was asked of it, however long it took. */
  excuse(sinceMs: number): void {
    this.#beatMs += this.#now() - sinceMs;
  }

  /** How late it is at this moment still counts. */
  stop(): void {
    if (this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
    this.#beat();
  }

  #beat(): void {
    const atMs = this.#now();
    const owed = Math.floor((atMs - this.#beatMs) / TICK_MS);
    if (owed < 1) return;
    this.#beatMs += owed * TICK_MS;
    const byMs = this.#lateness.add((owed - 1) * TICK_MS, atMs);
    if (byMs > 0) this.#tell({ atMs, byMs });
  }
}
