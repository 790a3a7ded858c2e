/**
 * A leader commits by counting only up to an entry of its own term; those before it are committed
 * with it. Raft paper, section 5.4.2 and figure 8; nats-server pull request 7955.
 */
import type { Member } from '../../base/member.js';
import type { Finding } from './types.js';

export class OwnTermCommits {
  static readonly property = 'own term commits';
  /** By term. */
  readonly #leaders = new Map<number, Member>();

  elected(member: Member, term: number): void {
    this.#leaders.set(term, member);
  }

  /** @param entryTerm  of the last entry that is committed now */
  committed(member: Member, term: number, index: number, entryTerm: number): Finding {
    if (this.#leaders.get(term) !== member || entryTerm === term) return null;
    return `${member} leads term ${term} and committed up to entry ${index} of term ${entryTerm}`;
  }
}
