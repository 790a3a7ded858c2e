/**
 * What a scenario may still break, and which faults were claimed. One Int32Array that all hosts
 * share (or one thread owns): a fault armed in several hosts fires in one of them, and never when
 * it would break more than the cluster tolerates. Word 0 is the mask of broken slots; words 1 …
 * count the claims of each fault.
 */
import type { FaultAction } from './types.js';

/** Why a fault was not injected. */
export const OVER_BUDGET = 'it would break more than the cluster tolerates';

/** Whether a fault takes its member away, for a while or for good: what the budget counts. */
export function breaksMember({ kind }: FaultAction): boolean {
  return kind === 'kill' || kind === 'freeze';
}

export class FaultBudget {
  readonly #words: Int32Array;
  readonly #tolerated: number;

  constructor(words: Int32Array, tolerated: number) {
    this.#words = words;
    this.#tolerated = tolerated;
  }

  /** Words that a scenario with this many faults needs. */
  static wordsFor(faults: number): number {
    return 1 + faults;
  }

  /** What a cluster of `replicas` tolerates: less than half; all of it beyond quorum. */
  static tolerated(replicas: number, beyondQuorum: boolean): number {
    return beyondQuorum ? replicas : Math.floor((replicas - 1) / 2);
  }

  /** Claims a fault that fires once. False: another host was first. */
  claim(fault: number): boolean {
    return Atomics.compareExchange(this.#words, 1 + fault, 0, 1) === 0;
  }

  claimed(fault: number): boolean {
    return Atomics.load(this.#words, 1 + fault) !== 0;
  }

  /** Counts a slot as broken. False, and nothing changed: it would be one too many. */
  break(slot: number): boolean {
    for (;;) {
      const mask = Atomics.load(this.#words, 0);
      const next = mask | (1 << slot);
      if (bits(next) > this.#tolerated) return false;
      if (Atomics.compareExchange(this.#words, 0, mask, next) === mask) return true;
    }
  }

  mend(slot: number): void {
    Atomics.and(this.#words, 0, ~(1 << slot));
  }

  isBroken(slot: number): boolean {
    return (Atomics.load(this.#words, 0) & (1 << slot)) !== 0;
  }

  get broken(): number {
    return bits(Atomics.load(this.#words, 0));
  }
}

function bits(mask: number): number {
  let count = 0;
  for (let rest = mask; rest !== 0; rest &= rest - 1) count++;
  return count;
}
