/**
 * At most one consumer of the mirror lives: one member asks in a term, the origin never goes back
 * to an opening older than the newest it served, and is told of each that is closed. Rules 7 and 8
 * of docs/mirror.md; nats-server stream.go, setupMirrorConsumer (a late answer to an older request
 * makes no second consumer), cancelMirrorConsumer.
 */
import type { Member } from '../../base/member.js';
import type { Opening } from '../../mirror/types.js';
import type { Finding } from './types.js';

export class OneConsumer {
  static readonly property = 'one consumer';
  readonly #askedBy = new Map<number, Member>();
  #newest: Opening | null = null;
  /** Closed, and the origin was not told yet. */
  readonly #closed = new Map<Member, Opening>();

  /** A member asked the origin for an opening. */
  asked({ member, term }: Opening): Finding {
    const other = this.#askedBy.get(term);
    this.#askedBy.set(term, other ?? member);
    if (other === undefined || other === member) return null;
    return `${other} and ${member} both asked for an opening in term ${term}`;
  }

  started(member: Member): void {
    this.#closed.delete(member);
  }

  closed(opening: Opening): void {
    this.#closed.set(opening.member, opening);
  }

  /** The origin was told that an opening is closed. */
  closeTold({ member }: Opening): void {
    this.#closed.delete(member);
  }

  /** A turn is over. */
  stands(member: Member): Finding {
    const left = this.#closed.get(member);
    return left === undefined ? null : `the origin was not told that ${textOf(left)} is closed`;
  }

  /** The origin sent a frame of an opening. */
  served(opening: Opening): Finding {
    const newest = this.#newest;
    if (newest === null || isNewer(opening, newest)) {
      this.#newest = opening;
      return null;
    }
    if (!isNewer(newest, opening)) return null;
    return `the origin serves ${textOf(opening)} although ${textOf(newest)} is newer`;
  }
}

function isNewer(a: Opening, b: Opening): boolean {
  return a.term > b.term || (a.term === b.term && a.generation > b.generation);
}

function textOf({ member, term, generation }: Opening): string {
  return `${member}'s opening ${generation} of term ${term}`;
}
