/**
 * A proposal is accepted only from the leadership that it names: of the term in which its member
 * leads now. docs/mirror.md, rule 3; nats-server pull request 8370 (case B2).
 */
import type { Member } from '../../base/member.js';
import type { Finding } from './types.js';

export class TermFence {
  static readonly property = 'term fence';
  readonly #leads = new Map<Member, number>();

  /** @param term  that it leads; null: it does not lead */
  role(member: Member, term: number | null): void {
    if (term === null) this.#leads.delete(member);
    else this.#leads.set(member, term);
  }

  accepted(member: Member, term: number): Finding {
    const leads = this.#leads.get(member);
    if (leads === term) return null;
    const role = leads === undefined ? 'does not lead' : `leads term ${leads}`;
    return `${member} accepted a proposal of term ${term} and ${role}`;
  }
}
