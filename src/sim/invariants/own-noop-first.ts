/**
 * A new leader asks the origin for an opening only once the no-op of its own term is applied: what
 * earlier leaders left in its log is in its store by then, and the opening begins behind all of it.
 * docs/mirror.md, rule 8; raft paper, section 8.
 */
import type { Member } from '../../base/member.js';
import type { Opening } from '../../mirror/types.js';
import type { Finding } from './types.js';

export class OwnNoopFirst {
  static readonly property = 'own no-op first';
  /** The term of the entry that each member's present life applied last. */
  readonly #applied = new Map<Member, number>();

  started(member: Member): void {
    this.#applied.delete(member);
  }

  /** The first entry of a term is its leader's no-op. */
  applied(member: Member, term: number): void {
    this.#applied.set(member, term);
  }

  asked({ member, term }: Opening): Finding {
    const applied = this.#applied.get(member) ?? 0;
    if (applied >= term) return null;
    return `${member} asked for an opening in term ${term}, applied up to entries of ${applied}`;
  }
}
