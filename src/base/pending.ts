/**
 * What waits to be handed over all together, in order. Most of the time that is nothing or one
 * thing: neither makes an array that is larger than needed.
 */
const NOTHING: readonly never[] = Object.freeze([]);

export class Pending<T> {
  #items: T[] = [];

  get isEmpty(): boolean {
    return this.#items.length === 0;
  }

  push(item: T): void {
    if (this.#items.length === 0) this.#items = [item];
    else this.#items.push(item);
  }

  clear(): void {
    if (this.#items.length > 0) this.#items = [];
  }

  /** Everything since the last call; it never changes again. */
  drain(): readonly T[] {
    if (this.#items.length === 0) return NOTHING;
    const items = this.#items;
    this.#items = [];
    return items;
  }
}
