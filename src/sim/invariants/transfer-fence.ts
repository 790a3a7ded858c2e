/**
 * A leader that hands over accepts no proposals until the transfer is given up: the target would
 * never hold the whole log. Raft dissertation, section 3.10; docs/mirror.md, rule 8.
 */
import type { Member } from '../../base/member.js';
import type { Finding } from './types.js';

export class TransferFence {
  static readonly property = 'transfer fence';
  readonly #handsOverTo = new Map<Member, Member>();

  transfer(member: Member, state: 'started' | 'sent' | 'abandoned', to: Member): void {
    if (state === 'abandoned') this.#handsOverTo.delete(member);
    else this.#handsOverTo.set(member, to);
  }

  /** Another role, another term, another life: nothing is handed over any more. */
  over(member: Member): void {
    this.#handsOverTo.delete(member);
  }

  accepted(member: Member): Finding {
    const to = this.#handsOverTo.get(member);
    return to === undefined ? null : `${member} accepted a proposal while it hands over to ${to}`;
  }
}
