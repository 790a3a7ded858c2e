/**
 * Log Matching: two entries of the same index and term are the same, and so is all before them.
 * Raft paper, figure 3 and section 5.3. By induction it is enough that the entries before them have
 * the same term, so each entry is looked at once a journal, when it is written.
 */
import type { Finding } from './types.js';

interface Known {
  readonly term: number;
  readonly termBefore: number;
  readonly hash: bigint;
}

export class LogMatching {
  static readonly property = 'log matching';
  /** By index: one for each term that any journal ever had there. */
  readonly #known: (Known[] | undefined)[] = [];

  /** @param hash  of the entry's kind, count and bytes */
  written(index: number, entry: Known): Finding {
    const known = (this.#known[index] ??= []);
    const twin = known.find(({ term }) => term === entry.term);
    if (twin === undefined) {
      known.push(entry);
      return null;
    }
    const where = `two logs hold an entry ${index} of term ${entry.term}`;
    if (twin.hash !== entry.hash) return `${where} with different commands`;
    if (twin.termBefore === entry.termBefore) return null;
    return `${where} behind terms ${twin.termBefore} and ${entry.termBefore}`;
  }
}
