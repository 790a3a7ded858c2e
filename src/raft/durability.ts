/**
 * What of term, vote and log is on its way to the journal and what arrived. Completions come by
 * ticket, in order. A truncation takes back what earlier writes will prove (the ABA case of etcd's
 * asynchronous storage writes):
 *   1. the leader of term 1 has entry 5 written here, ticket 7, not yet complete;
 *   2. the leader of term 2 truncates from 5 and sends its own entry 5, ticket 8;
 *   3. ticket 7 completes. It proves the old entry 5, which is no longer in the log;
 *   4. were it to count for index 5, the new entry would be acknowledged before it is durable.
 */
import type { Member } from '../base/member.js';
import type { Log } from './log.js';
import type { Persist } from './types.js';

interface Write {
  readonly ticket: number;
  /** The last index that its completion proves; lowered by truncation. */
  lastIndex: number;
}

export class Durability {
  #index: number;
  #term: number;
  #vote: Member | null;
  #ticket = 0;
  #completed = 0;
  /** The first index that no write covers yet. */
  #unwritten: number;
  readonly #writes: Write[] = [];

  constructor(lastIndex: number, term: number, vote: Member | null) {
    this.#index = lastIndex;
    this.#unwritten = lastIndex + 1;
    this.#term = term;
    this.#vote = vote;
  }

  /** The log is durable up to here. */
  get index(): number {
    return this.#index;
  }

  get completedTicket(): number {
    return this.#completed;
  }

  truncatedFrom(index: number): void {
    this.#index = Math.min(this.#index, index - 1);
    this.#unwritten = Math.min(this.#unwritten, index);
    for (const write of this.#writes) write.lastIndex = Math.min(write.lastIndex, index - 1);
  }

  isDue(term: number, vote: Member | null, lastIndex: number): boolean {
    return term !== this.#term || vote !== this.#vote || this.#unwritten <= lastIndex;
  }

  /** The next write, or null when nothing changed since the last. */
  write(term: number, vote: Member | null, log: Log): Persist | null {
    if (!this.isDue(term, vote, log.lastIndex)) return null;
    const entries =
      this.#unwritten <= log.lastIndex ? log.slice(this.#unwritten, Number.POSITIVE_INFINITY) : [];
    this.#term = term;
    this.#vote = vote;
    this.#unwritten = log.lastIndex + 1;
    const ticket = ++this.#ticket;
    this.#writes.push({ ticket, lastIndex: log.lastIndex });
    return { ticket, term, vote, entries };
  }

  completed(ticket: number): void {
    while (this.#writes.length > 0 && this.#writes[0]!.ticket <= ticket) {
      const write = this.#writes.shift()!;
      this.#index = Math.max(this.#index, write.lastIndex);
      this.#completed = write.ticket;
    }
  }
}
