/** The clock of one host: the machine's, faster or slower while faults make it so. */
import { TICK_MS } from '../base/limits.js';
import { monotonicMs } from './clock.js';
import type { SharedConditions } from './conditions.js';

export class HostClock {
  readonly #conditions: SharedConditions;
  readonly #member: number;
  /** How far it is ahead of the machine's; behind, when negative. */
  #aheadMs = 0;
  #readMs = monotonicMs();

  /** @param member  whose clock it is, by position */
  constructor(conditions: SharedConditions, member: number) {
    this.#conditions = conditions;
    this.#member = member;
  }

  /** Milliseconds; never less than at the call before. */
  now(): number {
    const nowMs = monotonicMs();
    const perMille = this.#conditions.hurriedBy(this.#member);
    if (perMille !== 0) this.#aheadMs += ((nowMs - this.#readMs) * perMille) / 1_000;
    this.#readMs = nowMs;
    return nowMs + this.#aheadMs;
  }

  /** Milliseconds of the machine between two ticks; a slow clock is looked at no less often. */
  get tickMs(): number {
    return (TICK_MS * 1_000) / (1_000 + Math.max(0, this.#conditions.hurriedBy(this.#member)));
  }
}
