/**
 * At most one consumer of the mirror lives: one member asks in a term, and the origin never goes
 * back to an opening older than the newest it served. docs/mirror.md, 7 and 8; nats-server
 * stream.go, setupMirrorConsumer (a late answer to an older request makes no second consumer).
 */
import type { Member } from '../../base/member.js';
import type { Opening } from '../../mirror/types.js';
import type { Finding } from './types.js';

export class OneConsumer {
  static readonly property = 'one consumer';
  readonly #askedBy = new Map<number, Member>();
  #newest: Opening | null = null;

  /** A member asked the origin for an opening. */
  asked({ member, term }: Opening): Finding {
    const other = this.#askedBy.get(term);
    this.#askedBy.set(term, other ?? member);
    if (other === undefined || other === member) return null;
    return `${other} and ${member} both asked for an opening in term ${term}`;
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
