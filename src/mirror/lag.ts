/**
 * How many of the origin's messages are not in the store yet, as one opening knows it. Accepting a
 * batch says what is known to wait behind it; only applying moves the lag down.
 */
export class Lag {
  #known = 0;
  #applied = 0;
  /** Accepted batches that are not applied yet; bounded by the uncommitted window. */
  readonly #accepted: {
    readonly last: number;
    readonly deliverySeq: number;
  }[] = [];

  get value(): number {
    return Math.max(0, this.#known - this.#applied);
  }

  opened(pending: number): void {
    this.#known = pending;
    this.#applied = 0;
    this.#accepted.length = 0;
  }

  /** @param known  deliveries of the opening that exist, those that wait at the origin included */
  accepted(last: number, deliverySeq: number, known: number): void {
    this.#accepted.push({ last, deliverySeq });
    this.#known = known;
  }

  applied(storeLast: number): void {
    while (this.#accepted.length > 0 && this.#accepted[0]!.last <= storeLast) {
      this.#applied = this.#accepted.shift()!.deliverySeq;
    }
  }
}
