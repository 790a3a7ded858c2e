/** Counts what the summary of a run says, event by event; its memory does not grow with the run. */
import type { SkipEncoding } from '../mirror/types.js';
import type { ReplicaEvent } from '../replica/types.js';
import type { RunSummary, Unseen } from './types.js';

export class Tally {
  #elections = 0;
  #lastTerm = 0;
  #openings = 0;
  #rollbacks = 0;
  #retries = 0;
  #refused = 0;
  #sequences = 0;
  #batches = 0;
  #largestBatch = 0;
  #mismatches = 0;
  readonly #unseen: readonly Unseen[];

  /** @param unseen  what is not told of: its count is null, not 0 */
  constructor(unseen: readonly Unseen[] = []) {
    this.#unseen = unseen;
  }

  /** Commands that were applied out of place, by any replica; none ever should. */
  get mismatches(): number {
    return this.#mismatches;
  }

  add(event: ReplicaEvent): void {
    switch (event.kind) {
      case 'role':
        this.#lastTerm = Math.max(this.#lastTerm, event.term);
        if (event.role === 'leader') this.#elections++;
        return;
      case 'opening':
        if (event.state === 'opened') this.#openings++;
        return;
      case 'rollback':
        this.#rollbacks++;
        return;
      case 'retry':
        if (event.inTicks !== null && event.cause !== 'leading') this.#retries++;
        return;
      case 'apply':
        this.#mismatches += event.mismatched;
        return;
      case 'propose':
        this.#proposal(event);
        return;
      default:
    }
  }

  skip(encoding: SkipEncoding | 'direct'): RunSummary['skip'] {
    if (this.#unseen.includes('skips')) {
      return { encoding, sequences: null, batches: null, largestBatch: null, refused: null };
    }
    return {
      encoding,
      sequences: this.#sequences,
      batches: this.#batches,
      largestBatch: this.#largestBatch,
      refused: this.#refused,
    };
  }

  get leadership(): RunSummary['leadership'] {
    return { elections: this.#elections, lastTerm: this.#lastTerm };
  }

  get mirror(): RunSummary['mirror'] {
    return {
      openings: this.#seen('openings', this.#openings),
      rollbacks: this.#seen('rollbacks', this.#rollbacks),
      retries: this.#seen('retries', this.#retries),
    };
  }

  #seen(what: Unseen, count: number): number | null {
    return this.#unseen.includes(what) ? null : count;
  }

  #proposal(event: Extract<ReplicaEvent, { kind: 'propose' }>): void {
    if (event.what === 'messages' || event.what === 'identity') return;
    if (event.refused !== null) {
      this.#refused++;
      return;
    }
    this.#sequences += event.last - event.first + 1;
    this.#batches++;
    this.#largestBatch = Math.max(this.#largestBatch, event.count);
  }
}
