/**
 * A member that hears no leader and gives no vote campaigns within its longest election time-out:
 * nothing else puts it off, a refused request for its vote least of all. Who hears its leader,
 * gives a vote or has just campaigned waits for the shortest one at least: else nobody leads for
 * long. Raft paper, section 5.2; nats-server
 * TestNRGUnsuccessfulVoteRequestDoesntResetElectionTimer.
 */
import type { Slot } from '../../base/member.js';
import type { RoleCause } from '../../raft/types.js';
import type { Finding } from './types.js';

export class TimeoutKept {
  static readonly property = 'time-out kept';
  readonly #ticksMin: number;
  readonly #ticksMax: number;
  /** All ticks of each slot's present life up to when it last had a reason to wait. */
  readonly #waitsFrom = new Map<Slot, number>();
  /** The tick of each slot's present life at which its time-out began last. */
  readonly #since = new Map<Slot, number>();
  readonly #leading = new Set<Slot>();
  /** Requests for a vote of a later term that the present turn reads: term and tick. */
  readonly #asked = new Map<Slot, { readonly term: number; readonly tick: number }>();

  /** Of the shortest and of the longest time-out. */
  constructor(ticksMin: number, ticksMax: number) {
    this.#ticksMin = ticksMin;
    this.#ticksMax = ticksMax;
  }

  started(slot: Slot): void {
    this.#since.set(slot, 0);
    this.#waitsFrom.set(slot, 0);
    this.#leading.delete(slot);
    this.#asked.delete(slot);
  }

  /** A later term that was met begins nothing for who did not lead. */
  role(slot: Slot, leads: boolean, cause: RoleCause, tick: number): void {
    const led = this.#leading.has(slot);
    if (leads) this.#leading.add(slot);
    else this.#leading.delete(slot);
    if (led || cause !== 'higherTerm') this.begins(slot, tick);
  }

  /** A leader was heard, or a vote given. */
  begins(slot: Slot, tick: number): void {
    this.#since.set(slot, tick);
  }

  /**
   * A message of its leader was read, or a vote given.
   *
   * @param ticks  all of this life: a time-out goes on while messages lie unread
   */
  waitsFrom(slot: Slot, ticks: number): void {
    this.#waitsFrom.set(slot, ticks);
  }

  /** Its time-out has expired. */
  campaigns(slot: Slot, ticks: number): Finding {
    const waited = ticks - (this.#waitsFrom.get(slot) ?? 0);
    this.#waitsFrom.set(slot, ticks);
    if (waited >= this.#ticksMin) return null;
    const shortest = `its time-out is ${this.#ticksMin} at least`;
    return `${slot} campaigns ${waited} ticks after it had a reason to wait, ${shortest}`;
  }

  /** A vote of this term, later than its own, was asked for. */
  asked(slot: Slot, term: number, tick: number): void {
    this.#asked.set(slot, { term, tick });
  }

  /**
   * A turn is over. A vote given in it can no longer be told from one refused if the same turn met
   * a term later still: that one is taken for given.
   *
   * @param tick  ticks of this life at which no peer's message lay unread
   */
  stands(slot: Slot, tick: number, term: number): Finding {
    const asked = this.#asked.get(slot);
    this.#asked.delete(slot);
    if (asked !== undefined && asked.term < term) this.begins(slot, asked.tick);
    const waited = tick - (this.#since.get(slot) ?? 0);
    if (waited <= this.#ticksMax || this.#leading.has(slot)) return null;
    const longest = `its time-out is ${this.#ticksMax} at most`;
    return `${slot} waits for a leader since ${waited} ticks, ${longest}`;
  }
}
