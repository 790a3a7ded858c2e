/** Election Safety: at most one leader in a term. Raft paper, figure 3 and section 5.2. */
import type { Member } from '../../base/member.js';
import type { Finding } from './types.js';

export class ElectionSafety {
  static readonly property = 'election safety';
  readonly #leaders = new Map<number, Member>();

  elected(member: Member, term: number): Finding {
    const other = this.#leaders.get(term);
    this.#leaders.set(term, other ?? member);
    if (other === undefined || other === member) return null;
    return `${other} and ${member} both led term ${term}`;
  }
}
