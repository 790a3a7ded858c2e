/**
 * The election time-out of a member that does not lead, in ticks; drawn anew each time it starts.
 */
import type { Prng } from '../base/prng.js';
import type { RaftLimits } from './options.js';

export class ElectionTimer {
  readonly #prng: Prng;
  readonly #limits: RaftLimits;
  /** Ticks since a leader was heard, a vote was granted or a campaign began. */
  #elapsed = 0;
  #timeoutTicks = 0;

  constructor(prng: Prng, limits: RaftLimits) {
    this.#prng = prng;
    this.#limits = limits;
    this.restart();
  }

  tick(): void {
    this.#elapsed++;
  }

  /** A known leader was heard: the time-out begins again, with the length that it has. */
  touch(): void {
    this.#elapsed = 0;
  }

  restart(): void {
    const { electionTicksMin, electionTicksMax } = this.#limits;
    this.#elapsed = 0;
    this.#timeoutTicks = this.#prng.between('election', electionTicksMin, electionTicksMax);
  }

  get isDue(): boolean {
    return this.#elapsed >= this.#timeoutTicks;
  }

  /** Nobody's time-out can have expired yet: a leader heard at the last touch may well live. */
  get withinLease(): boolean {
    return this.#elapsed < this.#limits.electionTicksMin;
  }
}
