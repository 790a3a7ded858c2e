/**
 * Leader Completeness: what was committed in a term is in the log of every leader of a later term.
 * Raft paper, figure 3 and section 5.4. With Log Matching the last such entry stands for all before
 * it. A leader of an earlier term may still come to power late: it owes nothing of later terms.
 */
import type { JournalView, Finding } from './types.js';

interface Committed {
  readonly term: number;
  /** The term of whoever committed it first. */
  readonly inTerm: number;
}

export class LeaderCompleteness {
  static readonly property = 'leader completeness';
  /** By index - 1; `inTerm` rises. */
  readonly #committed: Committed[] = [];

  committed(index: number, term: number, inTerm: number): void {
    if (index === this.#committed.length + 1) this.#committed.push({ term, inTerm });
  }

  elected(term: number, log: JournalView): Finding {
    let index = this.#committed.length;
    while (index > 0 && this.#committed[index - 1]!.inTerm >= term) index--;
    if (index === 0) return null;
    const owed = this.#committed[index - 1]!;
    const found = log.termAt(index);
    if (found === owed.term) return null;
    const instead = found === undefined ? `its log ends at ${log.lastIndex}` : `it has ${found}`;
    return `the leader of term ${term} lacks entry ${index} of term ${owed.term}: ${instead}`;
  }
}
