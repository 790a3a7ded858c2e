/** What a member has to say at the next ready(): messages of both kinds, and events. */
import type { Member } from '../base/member.js';
import { Pending } from '../base/pending.js';
import type { Message, RaftEvent } from './types.js';

export interface Outgoing {
  readonly sendNow: readonly Message[];
  readonly sendAfterPersist: readonly Message[];
  readonly events: readonly RaftEvent[];
}

export class Outbox {
  readonly #member: Member;
  readonly #sendNow = new Pending<Message>();
  readonly #sendAfterPersist = new Pending<Message>();
  readonly #events = new Pending<RaftEvent>();
  /** Acknowledgements of one turn are one: the last covers those before it. */
  #acknowledged: { readonly to: Member; readonly term: number; readonly index: number } | null =
    null;

  constructor(member: Member) {
    this.#member = member;
  }

  get isEmpty(): boolean {
    return (
      this.#events.isEmpty &&
      this.#sendNow.isEmpty &&
      this.#sendAfterPersist.isEmpty &&
      this.#acknowledged === null
    );
  }

  event(event: RaftEvent): void {
    this.#events.push(event);
  }

  /** Says nothing that must be durable first. */
  sendNow(message: Message): void {
    this.#sendNow.push(message);
  }

  /** Promises what only the next write, or one under way, makes durable. */
  sendAfterPersist(message: Message): void {
    this.#sendAfterPersist.push(message);
  }

  acknowledge(to: Member, term: number, index: number): void {
    const before = this.#acknowledged?.index ?? 0;
    this.#acknowledged = { to, term, index: Math.max(index, before) };
  }

  /** The acknowledgement was for a leader that is no longer followed. */
  forgetAcknowledgement(): void {
    this.#acknowledged = null;
  }

  /** `hintIndex` and `hintTerm`: the last entry that may match (see AppendReply). */
  refuse(to: Member, term: number, index: number, hintIndex: number, hintTerm: number): void {
    this.#sayAcknowledgement();
    this.#appendReply(to, term, false, index, hintIndex, hintTerm);
  }

  /** Drops all messages: a member whose journal failed says nothing any more. */
  silence(): void {
    this.#sendNow.clear();
    this.#sendAfterPersist.clear();
    this.#acknowledged = null;
  }

  drain(): Outgoing {
    this.#sayAcknowledgement();
    return {
      sendNow: this.#sendNow.drain(),
      sendAfterPersist: this.#sendAfterPersist.drain(),
      events: this.#events.drain(),
    };
  }

  #sayAcknowledgement(): void {
    if (this.#acknowledged === null) return;
    const { to, term, index } = this.#acknowledged;
    this.#acknowledged = null;
    this.#appendReply(to, term, true, index, 0, 0);
  }

  #appendReply(
    to: Member,
    term: number,
    accepted: boolean,
    index: number,
    hintIndex: number,
    hintTerm: number,
  ): void {
    const from = this.#member;
    this.#sendAfterPersist.push({
      type: 'appendReply',
      from,
      to,
      term,
      accepted,
      index,
      hintIndex,
      hintTerm,
    });
  }
}
