/**
 * The log in memory: entries above a base, whose index and term are kept for the consistency check
 * of section 5.3. Everything at or below the base is held durably by every member and is never
 * asked for again.
 */
import { invariant } from '../base/errors.js';
import type { Entry } from './types.js';

/** Released entries are cut off in blocks, so that releasing costs O(1) amortised. */
const CUT_AT = 1_024;

export class Log {
  #entries: Entry[];
  /** Released entries at the front of the array that were not cut off yet. */
  #released = 0;
  #baseIndex: number;
  #baseTerm: number;

  constructor(baseIndex: number, baseTerm: number, entries: readonly Entry[]) {
    this.#baseIndex = baseIndex;
    this.#baseTerm = baseTerm;
    this.#entries = [...entries];
    entries.forEach((entry, at) => {
      invariant(entry.index === baseIndex + 1 + at, `journal entry ${entry.index} is in its place`);
    });
  }

  get baseIndex(): number {
    return this.#baseIndex;
  }

  get lastIndex(): number {
    return this.#baseIndex + this.size;
  }

  get lastTerm(): number {
    return this.size === 0 ? this.#baseTerm : this.#entries.at(-1)!.term;
  }

  get size(): number {
    return this.#entries.length - this.#released;
  }

  entry(index: number): Entry | undefined {
    if (index <= this.#baseIndex) return undefined;
    return this.#entries[index - this.#baseIndex - 1 + this.#released];
  }

  /** The term at an index; undefined below the base and beyond the last. */
  termAt(index: number): number | undefined {
    if (index === this.#baseIndex) return this.#baseTerm;
    return this.entry(index)?.term;
  }

  append(entry: Entry): void {
    invariant(entry.index === this.lastIndex + 1, `entry ${entry.index} follows the last`);
    this.#entries.push(entry);
  }

  /** Drops the entry at this index and all behind it. */
  truncateFrom(index: number): void {
    invariant(index > this.#baseIndex, `entry ${index} was not released`);
    this.#entries.length = index - this.#baseIndex - 1 + this.#released;
  }

  /** Entries from an index on, at least one, up to a number of bytes. */
  slice(from: number, bytesMax: number): Entry[] {
    const { lastIndex } = this;
    let bytes = 0;
    let end = from;
    for (; end <= lastIndex; end++) {
      bytes += this.entry(end)!.bytes.length;
      if (bytes > bytesMax && end > from) break;
    }
    const first = from - this.#baseIndex - 1 + this.#released;
    return this.#entries.slice(first, first + end - from);
  }

  /** The largest index at or below `index` whose term is at most `term` (fast backtracking). */
  lastAtMost(index: number, term: number): number {
    let at = Math.min(index, this.lastIndex);
    while (at > this.#baseIndex && this.termAt(at)! > term) at--;
    return at;
  }

  releaseTo(index: number): void {
    if (index <= this.#baseIndex) return;
    this.#baseTerm = this.termAt(index)!;
    this.#released += index - this.#baseIndex;
    this.#baseIndex = index;
    if (this.#released < CUT_AT && this.#released < this.#entries.length) return;
    this.#entries = this.#entries.slice(this.#released);
    this.#released = 0;
  }
}
