/**
 * What is committed stays: all members commit the same entry at an index, and no journal replaces
 * an entry that its member has committed. Raft paper, section 5.4; nats-server pull request 6944.
 */
import type { Slot } from '../../base/member.js';
import type { Finding } from './types.js';

export class CommittedImmutable {
  static readonly property = 'committed immutable';
  /** Terms, by index. */
  readonly #terms: (number | undefined)[] = [];
  readonly #high = new Map<Slot, number>();

  committed(slot: Slot, index: number, term: number): Finding {
    this.#high.set(slot, Math.max(index, this.#high.get(slot) ?? 0));
    const first = (this.#terms[index] ??= term);
    if (first === term) return null;
    return `entry ${index} was committed with term ${first} and with term ${term}`;
  }

  written(slot: Slot, index: number, term: number): Finding {
    const first = this.#terms[index];
    if (index > (this.#high.get(slot) ?? 0) || first === undefined || first === term) return null;
    return `committed entry ${index} of term ${first} was replaced by one of term ${term}`;
  }
}
