/** The votes of one election, each member counted once however often its reply arrives. */
import type { Member } from '../base/member.js';

export class Ballot {
  readonly pre: boolean;
  readonly term: number;
  readonly #majority: number;
  readonly #voters: number;
  readonly #granted = new Set<Member>();
  readonly #refused = new Set<Member>();

  constructor(pre: boolean, term: number, voters: number) {
    this.pre = pre;
    this.term = term;
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
