/**
 * What a scenario may still break, and which faults were claimed. One Int32Array that all hosts
 * share (or one thread owns): a fault armed in several hosts fires in one of them, and never when
 * it would break more than the cluster tolerates. Word 0 counts, in four bits a slot, the faults
 * that hold that slot down; words 1 … count the claims of each fault.
 */
import { invariant } from '../base/errors.js';
import type { FaultAction, Plan } from './types.js';

/** Why a fault was not injected. */
export const OVER_BUDGET = 'it would break more than the cluster tolerates';

/** Whether a fault takes its member away, for a while or for good: what the budget counts. */
export function breaksMember({ kind }: FaultAction): boolean {
  return kind === 'freeze' || endsMember(kind);
}

const ENDINGS: readonly FaultAction['kind'][] = [
  'kill',
  'outOfMemory',
  'failWrites',
  'failSync',
  'tornTail',
  'wipe',
];

/** Whether a fault ends its member: for good, unless it comes back. */
export function endsMember(kind: FaultAction['kind']): boolean {
  return ENDINGS.includes(kind);
}

/** How long after its end a member comes back from its journal; null: it stays down. */
export function restartMsOf(action: FaultAction): number | null {
  return ('restartMs' in action ? action.restartMs : undefined) ?? null;
}

/** How long a fault lasts; 0 for one that strikes at once or counts what it strikes. */
export function durationMs(action: FaultAction): number {
  if ('forMs' in action) return action.forMs;
  return 'dose' in action && 'forMs' in action.dose ? action.dose.forMs : 0;
}

/** Whether a fault leaves its member at its work: a leader that it falls on may go on leading. */
export function isAtWork({ kind }: FaultAction): boolean {
  return kind === 'failPropose' || kind === 'clockRate' || kind === 'slow';
}

/** How long a fault holds members down or apart, as the budget counts it; 0: it does not. */
export function holdsMs(action: FaultAction): number {
  return action.kind === 'freeze' || action.kind === 'partition' ? action.forMs : 0;
}

/** Faults that a run takes beyond those of its plan. */
export const LATER_FAULTS_MAX = 1_000;

const BITS = 4;
/** Faults that can hold one slot down at a time. */
const HOLDS_MAX = (1 << BITS) - 1;

export class FaultBudget {
  readonly #words: Int32Array;
  readonly #tolerated: number;

  constructor(words: Int32Array, tolerated: number) {
    this.#words = words;
    this.#tolerated = tolerated;
  }

  /** Words that a scenario with this many faults needs, those that come later counted. */
  static wordsFor(faults: number): number {
    return 1 + faults + LATER_FAULTS_MAX;
  }

  /** What a cluster of `replicas` tolerates: less than half; all of it beyond quorum. */
  static tolerated(replicas: number, beyondQuorum: boolean): number {
    return beyondQuorum ? replicas : Math.floor((replicas - 1) / 2);
  }

  /** Of a plan that one thread plays alone. */
  static ofPlan({ faults, replicas, beyondQuorum }: Plan): FaultBudget {
    const words = new Int32Array(FaultBudget.wordsFor(faults.length));
    return new FaultBudget(words, FaultBudget.tolerated(replicas, beyondQuorum));
  }

  /** Claims a fault that fires once. False: another host was first. */
  claim(fault: number): boolean {
    return Atomics.compareExchange(this.#words, 1 + fault, 0, 1) === 0;
  }

  claimed(fault: number): boolean {
    return Atomics.load(this.#words, 1 + fault) !== 0;
  }

  /**
   * Counts slots as broken, all or none. False, and nothing changed: it would be one too many.
   * What breaks a slot that is broken already takes nothing more away.
   */
  break(slots: readonly number[]): boolean {
    for (;;) {
      const holds = Atomics.load(this.#words, 0);
      const next = slots.reduce((sum, slot) => sum + unit(slot), holds);
      const isFull = slots.some((slot) => heldBy(holds, slot) === HOLDS_MAX);
      if (isFull || broken(next) > this.#tolerated) return false;
      if (Atomics.compareExchange(this.#words, 0, holds, next) === holds) return true;
    }
  }

  mend(slots: readonly number[]): void {
    for (const slot of slots) {
      invariant(this.isBroken(slot), 'what is mended was broken');
      Atomics.sub(this.#words, 0, unit(slot));
    }
  }

  isBroken(slot: number): boolean {
    return heldBy(Atomics.load(this.#words, 0), slot) > 0;
  }

  get broken(): number {
    return broken(Atomics.load(this.#words, 0));
  }
}

/** One fault on that slot. */
function unit(slot: number): number {
  return 1 << (BITS * slot);
}

function heldBy(holds: number, slot: number): number {
  return (holds >>> (BITS * slot)) & HOLDS_MAX;
}

function broken(holds: number): number {
  let count = 0;
  for (let rest = holds >>> 0; rest !== 0; rest >>>= BITS) {
    if ((rest & HOLDS_MAX) !== 0) count++;
  }
  return count;
}
