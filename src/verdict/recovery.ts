/**
 * How a cluster came back after each fault: the next leader when the fault hit the one that led,
 * the first progress after that, and when every living replica had passed what the furthest one
 * held when the fault fell. Times are milliseconds since the fault.
 */
import type { Slot } from '../base/member.js';

export interface Recovery {
  /** Null too when the fault hit no leader: nobody had to follow. */
  newLeaderMs: number | null;
  firstMessageMs: number | null;
  caughtUpMs: number | null;
}

interface Watched {
  readonly atMs: number;
  readonly level: number;
  readonly ofLeader: boolean;
  /** It leaves its member at its work: nobody has to follow a leader that it fell on. */
  readonly isAtWork: boolean;
  /** Its own time is over: whoever leads now, what comes is the work of a whole cluster. */
  healed: boolean;
  readonly recovery: Recovery;
}

export class RecoveryWatch {
  readonly #last = new Map<Slot, number>();
  readonly #gone = new Set<Slot>();
  readonly #watched: Watched[] = [];
  #leader: Slot | null = null;

  /** @param slots  all that there are: one that was not heard of yet holds nothing */
  constructor(slots: readonly Slot[]) {
    for (const slot of slots) this.#last.set(slot, 0);
  }

  /**
   * A fault fell on members, or left them without a majority (none: it fell on the origin or on
   * links of others); what is returned fills in as time goes on.
   *
   * @param isAtWork  it leaves them at their work: a leader goes on unless somebody follows it
   */
  fault(atMs: number, slots: readonly Slot[], isAtWork = false): Recovery {
    const level = Math.max(0, ...this.#last.values());
    const recovery = { newLeaderMs: null, firstMessageMs: null, caughtUpMs: null };
    const ofLeader = this.#leader !== null && slots.includes(this.#leader);
    this.#watched.push({ atMs, level, ofLeader, isAtWork, healed: false, recovery });
    return recovery;
  }

  /** A leader that nobody replaced meanwhile goes on. */
  healed(recovery: Recovery): void {
    for (const watched of this.#watched) watched.healed ||= watched.recovery === recovery;
  }

  leader(slot: Slot, atMs: number): void {
    this.#leader = slot;
    for (const { atMs: since, ofLeader, recovery } of this.#watched) {
      // All have caught up under the one that it fell on: who leads later is no matter of it.
      const isOpen = recovery.newLeaderMs === null && recovery.caughtUpMs === null;
      if (!ofLeader || !isOpen || atMs <= since) continue;
      recovery.newLeaderMs = atMs - since;
      recovery.firstMessageMs = null;
    }
  }

  gone(slot: Slot): void {
    this.#gone.add(slot);
    this.#last.delete(slot);
  }

  /** It begins anew, with what its journal held. */
  returned(slot: Slot): void {
    this.#gone.delete(slot);
    this.#last.set(slot, 0);
  }

  progress(slot: Slot, atMs: number, last: number): void {
    if (this.#gone.has(slot)) return;
    this.#last.set(slot, Math.max(last, this.#last.get(slot) ?? 0));
    const lowest = Math.min(...this.#last.values());
    for (const watched of this.#watched) {
      const { recovery, level } = watched;
      if (last <= level || !hasLeader(watched, atMs)) continue;
      recovery.firstMessageMs ??= atMs - watched.atMs;
      if (lowest > level) recovery.caughtUpMs ??= atMs - watched.atMs;
    }
  }
}

/** What the fallen leader had under way still moves stores; only its successor's work counts. */
function hasLeader(watched: Watched, nowMs: number): boolean {
  const { atMs, ofLeader, isAtWork, healed, recovery } = watched;
  const goesOn = (isAtWork || healed) && recovery.newLeaderMs === null;
  if (!ofLeader || goesOn) return nowMs > atMs;
  return recovery.newLeaderMs !== null && nowMs > atMs + recovery.newLeaderMs;
}
