/**
 * How a cluster came back after each fault: the next leader, the next progress after it, and when
 * every living replica had passed what the furthest one held when the fault fell.
 */
import type { Slot } from '../base/member.js';

export interface Recovery {
  newLeaderMs: number | null;
  firstMessageMs: number | null;
  caughtUpMs: number | null;
}

interface Watched {
  readonly atMs: number;
  readonly level: number;
  readonly recovery: Recovery;
}

export class RecoveryWatch {
  readonly #last = new Map<Slot, number>();
  readonly #gone = new Set<Slot>();
  readonly #watched: Watched[] = [];

  /** A fault fell; what is returned fills in as the cluster recovers. */
  fault(atMs: number): Recovery {
    const level = Math.max(0, ...this.#last.values());
    const recovery = { newLeaderMs: null, firstMessageMs: null, caughtUpMs: null };
    this.#watched.push({ atMs, level, recovery });
    return recovery;
  }

  leader(atMs: number): void {
    for (const { atMs: since, recovery } of this.#watched) {
      if (atMs > since) recovery.newLeaderMs ??= atMs - since;
    }
  }

  gone(slot: Slot): void {
    this.#gone.add(slot);
    this.#last.delete(slot);
  }

  progress(slot: Slot, atMs: number, last: number): void {
    if (this.#gone.has(slot)) return;
    this.#last.set(slot, Math.max(last, this.#last.get(slot) ?? 0));
    const lowest = Math.min(...this.#last.values());
    for (const { atMs: since, level, recovery } of this.#watched) {
      if (atMs <= since || last <= level) continue;
      recovery.firstMessageMs ??= atMs - since;
      if (lowest > level) recovery.caughtUpMs ??= atMs - since;
    }
  }
}
