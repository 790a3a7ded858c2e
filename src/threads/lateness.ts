/**
 * When a thread counts as late: once by much, or again and again by little. A container that gets a
 * share of a core stops for less than a tenth of a second at a time, and loses most of each second.
 */

/** A thread later than this, with no fault to explain it, makes a stall inconclusive. */
const LATE_MS = 100;
/** So does one that lost so much of a stretch of time, bit by bit. */
const LOST_MS = 250;
const STRETCH_MS = 1_000;

export class Lateness {
  #sinceMs = Number.NEGATIVE_INFINITY;
  #lostMs = 0;

  /** Late by this much: by how much it counts as late now, in milliseconds; 0: not. */
  add(byMs: number, atMs: number): number {
    if (byMs > LATE_MS) return byMs;
    if (atMs - this.#sinceMs > STRETCH_MS) this.#begin(atMs);
    this.#lostMs += byMs;
    const lostMs = this.#lostMs;
    if (lostMs <= LOST_MS) return 0;
    this.#begin(atMs);
    return lostMs;
  }

  #begin(atMs: number): void {
    this.#sinceMs = atMs;
    this.#lostMs = 0;
  }
}
