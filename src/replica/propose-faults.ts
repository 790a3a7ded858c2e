/**
 * Proposals that a fault has refused: so many of the next, or each by chance, and whether the
 * leader counts as overrun. Faults add up: what one of them armed no other takes back.
 */
import type { Prng } from '../base/prng.js';
import type { ProposeFault, RefusalCode } from './types.js';

const MILLION = 1_000_000;
const CODES: readonly RefusalCode[] = ['overrun', 'writeFailed'];

export class ProposeFaults {
  readonly #prng: Prng;
  /** In the order in which they were armed. */
  #next: { readonly code: RefusalCode; left: number }[] = [];
  #perMillion: Record<RefusalCode, number> = { overrun: 0, writeFailed: 0 };
  /** Entries that may wait to be applied; null: as many as there are. */
  #entriesMax: number | null = null;
  /** Whether anything is armed: what most proposals ask. */
  #isArmed = false;

  constructor(prng: Prng) {
    this.#prng = prng;
  }

  arm(fault: ProposeFault): void {
    switch (fault.type) {
      case 'failPropose':
        if (fault.count > 0) this.#next.push({ code: fault.code, left: fault.count });
        break;
      case 'failByChance':
        this.#perMillion[fault.code] += fault.perMillion;
        break;
      case 'overrun':
        this.#entriesMax = Math.min(fault.entries, this.#entriesMax ?? fault.entries);
        break;
      case 'failNoMore':
        this.#next = [];
        this.#perMillion = { overrun: 0, writeFailed: 0 };
        this.#entriesMax = null;
    }
    const byChance = CODES.some((code) => this.#perMillion[code] > 0);
    this.#isArmed = this.#next.length > 0 || byChance;
  }

  /** Whether a leader with so many entries not applied is overrun; it is only once. */
  takeOverrun(unapplied: number): boolean {
    if (this.#entriesMax === null || unapplied <= this.#entriesMax) return false;
    this.#entriesMax = null;
    return true;
  }

  /** The code that the present proposal is refused with; null: it is not. */
  take(): RefusalCode | null {
    if (!this.#isArmed) return null;
    const next = this.#next[0];
    if (next !== undefined) {
      if (--next.left === 0) this.#next.shift();
      return next.code;
    }
    return CODES.find((code) => this.#chance(code)) ?? null;
  }

  #chance(code: RefusalCode): boolean {
    const perMillion = Math.min(MILLION, this.#perMillion[code]);
    return perMillion > 0 && this.#prng.chance('propose', perMillion, MILLION);
  }
}
