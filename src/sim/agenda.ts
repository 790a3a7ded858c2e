/**
 * Virtual time: what is to happen, ordered by (time, order of entry). Times are whole microseconds,
 * so that sums are exact on every engine. Nothing here knows a real clock.
 */

interface Item {
  readonly atUs: number;
  readonly order: number;
  readonly happen: (subject: unknown) => void;
  readonly subject: unknown;
}

export class Agenda {
  /** A binary heap, earliest first. */
  readonly #items: Item[] = [];
  #order = 0;
  #nowUs = 0;
  #happened = 0;

  get nowUs(): number {
    return this.#nowUs;
  }

  get nowMs(): number {
    return this.#nowUs / 1_000;
  }

  /** Items that have happened so far. */
  get happened(): number {
    return this.#happened;
  }

  /**
   * `happen` is called when the clock stands at `atUs`; at once if that is past. What happens often
   * is one function with a subject: a function for each time costs more than the rest of it.
   */
  at(atUs: number, happen: () => void): void;
  at<T>(atUs: number, happen: (subject: T) => void, subject: T): void;
  at(atUs: number, happen: (subject: never) => void, subject?: unknown): void {
    const call = happen as (subject: unknown) => void;
    this.#push({ atUs: Math.max(atUs, this.#nowUs), order: this.#order++, happen: call, subject });
  }

  after(delayUs: number, happen: () => void): void {
    this.at(this.#nowUs + delayUs, happen);
  }

  /** Lets everything happen up to and including `untilUs`; the clock then stands there. */
  runUntil(untilUs: number): void {
    for (let item = this.#items[0]; item !== undefined && item.atUs <= untilUs;) {
      this.#pop();
      this.#nowUs = item.atUs;
      this.#happened++;
      item.happen(item.subject);
      item = this.#items[0];
    }
    this.#nowUs = Math.max(this.#nowUs, untilUs);
  }

  #push(item: Item): void {
    const items = this.#items;
    let at = items.length;
    items.push(item);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(item, items[parent]!)) break;
      items[at] = items[parent]!;
      at = parent;
    }
    items[at] = item;
  }

  #pop(): void {
    const items = this.#items;
    const item = items.pop()!;
    if (items.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && isBefore(items[child + 1]!, items[child]!)) child++;
      if (!isBefore(items[child]!, item)) break;
      items[at] = items[child]!;
      at = child;
    }
    items[at] = item;
  }
}

function isBefore(a: Item, b: Item): boolean {
  return a.atUs < b.atUs || (a.atUs === b.atUs && a.order < b.order);
}
