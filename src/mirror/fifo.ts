/** A queue whose first item leaves in constant time; an array's shift moves all that wait. */

/** Items that left before the array is cut: below it a cut is not worth its copy. */
const CUT_MIN = 64;

export class Fifo<T> {
  #items: T[] = [];
  #left = 0;

  get length(): number {
    return this.#items.length - this.#left;
  }

  /** The nth item that waits, the first one being 0. */
  at(nth: number): T | undefined {
    return this.#items[this.#left + nth];
  }

  push(item: T): void {
    this.#items.push(item);
  }

  /** Puts `item` in the place of the last one. */
  replaceLast(item: T): void {
    this.#items[this.#items.length - 1] = item;
  }

  dropFirst(): void {
    if (this.length <= 1) return this.clear();
    this.#left++;
    if (this.#left < CUT_MIN || this.#left * 2 < this.#items.length) return;
    this.#items = this.#items.slice(this.#left);
    this.#left = 0;
  }

  clear(): void {
    this.#items = [];
    this.#left = 0;
  }
}
