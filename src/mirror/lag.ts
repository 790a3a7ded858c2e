/**
 * How many of the origin's messages are not in the store yet. A set-up that succeeded says how many
 * wait; from then on only applying moves the lag: to what was known to wait behind the last message
 * that the store took. To accept a batch, or to refuse one, moves nothing (rules 3 and 4).
 */
import { Fifo } from './fifo.js';

interface AcceptedBatch {
  readonly last: number;
  /** Messages that the origin still had behind `last`. */
  readonly behind: number;
}

export class Lag {
  #value = 0;
  /** Accepted, not applied yet; bounded by the uncommitted window. */
  readonly #accepted = new Fifo<AcceptedBatch>();

  get value(): number {
    return this.#value;
  }

  /** `pending` is newer than what the batches of an earlier opening knew. */
  opened(pending: number): void {
    this.#value = pending;
    this.#accepted.clear();
  }

  accepted(last: number, behind: number): void {
    this.#accepted.push({ last, behind });
  }

  /** What was accepted in a leadership that ended may never be applied. */
  forget(): void {
    this.#accepted.clear();
  }

  applied(storeLast: number): void {
    for (let batch = this.#accepted.at(0); batch !== undefined; batch = this.#accepted.at(0)) {
      if (batch.last > storeLast) return;
      this.#value = batch.behind;
      this.#accepted.dropFirst();
    }
  }
}
