/**
 * Leader Append-Only: a leader never overwrites or removes entries of its log, it only appends.
 * Raft paper, figure 3 and section 5.3.
 */
import type { Slot } from '../../base/member.js';
import type { Finding } from './types.js';

export class LeaderAppendOnly {
  static readonly property = 'leader append-only';
  readonly #leading = new Set<Slot>();

  role(slot: Slot, leads: boolean): void {
    if (leads) this.#leading.add(slot);
    else this.#leading.delete(slot);
  }

  /** A write with entries from `first` on is handed to a journal that ends at `last`. */
  written(slot: Slot, first: number, last: number): Finding {
    if (!this.#leading.has(slot) || first === last + 1) return null;
    return `the leader ${slot} wrote from ${first} on over a log that ends at ${last}`;
  }
}
