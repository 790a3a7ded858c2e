/** Threads that were late while a run went on: what that explains, and how it is told. */
import type { Reason } from './types.js';

interface Late {
  readonly who: string;
  readonly atMs: number;
  readonly byMs: number;
}

export class Busy {
  readonly #late: Late[] = [];

  add(late: Late): void {
    this.#late.push(late);
  }

  /**
   * What is held against the cluster if nothing was late meanwhile: what was late at another time
   * explains nothing.
   */
  unlessLate(text: string, fromMs: number, toMs: number): Reason {
    let worst: Late | null = null;
    for (const late of this.#late) {
      const isMeanwhile = late.atMs >= fromMs && late.atMs - late.byMs <= toMs;
      if (isMeanwhile && late.byMs > (worst?.byMs ?? 0)) worst = late;
    }
    if (worst === null) return { verdict: 'stalled', text };
    const by = `${worst.who} late by ${(worst.byMs / 1000).toFixed(1)} s`;
    return { verdict: 'inconclusive', text: `machine too busy: ${by}` };
  }
}
