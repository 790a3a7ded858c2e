/** The votes of one election, each member counted once however often its reply arrives. */
import type { Member } from '../base/member.js';

export class Ballot {
  /** Asks whether votes would be given (dissertation, section 9.6); binds nobody. */
  readonly pre: boolean;
  /** The term to lead in. */
  readonly term: number;
  /** Requests of this ballot skip the lease. */
  readonly ordered: boolean;
  /** The write that makes the own vote durable, once it was handed to the journal. */
  ticket: number | null = null;
  readonly #voters: number;
  readonly #majority: number;
  readonly #granted = new Set<Member>();
  readonly #refused = new Set<Member>();

  constructor(pre: boolean, term: number, ordered: boolean, voters: number) {
    this.pre = pre;
    this.term = term;
    this.ordered = ordered;
    this.#voters = voters;
    this.#majority = Math.floor(voters / 2) + 1;
  }

  count(member: Member, granted: boolean): void {
    if (this.#granted.has(member) || this.#refused.has(member)) return;
    (granted ? this.#granted : this.#refused).add(member);
  }

  get won(): boolean {
    return this.#granted.size >= this.#majority;
  }

  /** So many refused that a majority can no longer be had. */
  get lost(): boolean {
    return this.#refused.size > this.#voters - this.#majority;
  }
}
