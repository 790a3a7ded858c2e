/**
 * What the origin handed out and passed over. It lives in the origin's thread and is fed before
 * bytes leave it, so nothing that happens to shared bytes later can change it. It knows sequences
 * only; the content that belongs to them is the origin's, digested when it was made.
 */
import { IntervalSet } from '../stream/intervals.js';
import type { SeqRange } from '../stream/types.js';
import type { LedgerReport } from './types.js';

export class Ledger {
  readonly #delivered = new IntervalSet();
  readonly #passedOver = new IntervalSet();

  /** Every message of the range is about to leave for some opening. Empty ranges add nothing. */
  delivered(range: SeqRange): void {
    this.#delivered.add(range.first, range.last);
  }

  /** An opening is told to go on behind this range: no message is left there. */
  passedOver(range: SeqRange): void {
    this.#passedOver.add(range.first, range.last);
  }

  /** What some opening delivered and what some opening passed over: rising, merged. */
  ranges(): Pick<LedgerReport, 'delivered' | 'passedOver'> {
    return { delivered: this.#delivered.ranges(), passedOver: this.#passedOver.ranges() };
  }
}
