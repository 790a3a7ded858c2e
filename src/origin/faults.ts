/**
 * Faults of the origin that are still to strike. Each is armed with a number and used up by the
 * traffic that it meets; the service asks before it sends.
 */
import type { ErrorData } from '../base/errors.js';

export class OriginFaults {
  #refusals = 0;
  #refusal: ErrorData | null = null;
  #lost = 0;
  #repeated = 0;
  #stalledUntilMs = Number.NEGATIVE_INFINITY;

  refuse(count: number, error: ErrorData): void {
    this.#refusals = count;
    this.#refusal = error;
  }

  lose(count: number): void {
    this.#lost += count;
  }

  repeat(count: number): void {
    this.#repeated += count;
  }

  stallUntil(untilMs: number): void {
    this.#stalledUntilMs = Math.max(this.#stalledUntilMs, untilMs);
  }

  /** The error that a request to open gets; null: none is armed. */
  takeRefusal(): ErrorData | null {
    if (this.#refusals === 0) return null;
    this.#refusals--;
    return this.#refusal;
  }

  /** At most this many deliveries may share a frame, so that one fate fits all of them. */
  get frameMessagesMax(): number {
    if (this.#lost > 0) return this.#lost;
    return this.#repeated > 0 ? this.#repeated : Number.POSITIVE_INFINITY;
  }

  /** How often the next frame, of so many deliveries, is sent: 0, 1 or 2 times. */
  takeCopies(count: number): number {
    if (this.#lost > 0) {
      this.#lost -= count;
      return 0;
    }
    if (this.#repeated === 0) return 1;
    this.#repeated -= count;
    return 2;
  }

  isStalled(nowMs: number): boolean {
    return nowMs < this.#stalledUntilMs;
  }

  get stalledUntilMs(): number {
    return this.#stalledUntilMs;
  }
}
