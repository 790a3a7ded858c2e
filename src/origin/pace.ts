/**
 * When messages come to exist: at a rate from the first delivery on, or all of them at once; and
 * none of them before it is published, where that is left to somebody else.
 */

export class Pace {
  readonly #rate: number | null;
  /** When the first delivery was made, and the number of the message that it began with. */
  #published = Number.POSITIVE_INFINITY;
  #from: { readonly ms: number; readonly number: number } | null = null;

  /** @param rate  messages a second; null: everything exists already */
  constructor(rate: number | null) {
    this.#rate = rate;
  }

  /** Messages from this number on do not exist before this is called again. */
  publishUpTo(number: number): void {
    this.#published = number;
  }

  /** Not held back; the rate may still keep it. */
  isPublished(number: number): boolean {
    return number < this.#published;
  }

  /** The message with that number is about to be delivered; only the first call counts. */
  begin(nowMs: number, number: number): void {
    this.#from ??= { ms: nowMs, number };
  }

  /** How many messages from this number on exist by now; one, before the first delivery. */
  available(number: number, nowMs: number): number {
    return Math.min(this.#published - number, this.#paced(number, nowMs));
  }

  /** When the message with that number comes to exist, or came; now, where nothing is paced. */
  dueMs(number: number, nowMs: number): number {
    if (this.#rate === null || this.#from === null) return nowMs;
    return this.#from.ms + ((number - this.#from.number) / this.#rate) * 1_000;
  }

  get isPaced(): boolean {
    return this.#rate !== null && this.#from !== null;
  }

  #paced(number: number, nowMs: number): number {
    if (this.#rate === null) return Number.POSITIVE_INFINITY;
    if (this.#from === null) return 1;
    const made = Math.floor(((nowMs - this.#from.ms) * this.#rate) / 1_000) + 1;
    return made - (number - this.#from.number);
  }
}
