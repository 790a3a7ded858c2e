/** What the invariants look at. Each says what is wrong in one line, or null. */

/** A log by its terms; indices start at 1. */
export interface JournalView {
  readonly lastIndex: number;
  /** Undefined beyond the last. */
  termAt(index: number): number | undefined;
}

export type Finding = string | null;
