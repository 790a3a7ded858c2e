/**
 * A leader that hands over accepts no proposals until the transfer is given up: the target would
 * never hold the whole log. It tells the target to campaign only once that one holds all of it, and
 * gives up after one election time-out: for so long nothing is taken in. Raft dissertation, section
 * 3.10; docs/mirror.md, rule 8; hashicorp/raft TestRaft_LeadershipTransferLeaderReplicationTimeout.
 */
import type { Member } from '../../base/member.js';
import type { Finding, JournalView } from './types.js';

interface Transfer {
  readonly to: Member;
  readonly sinceTick: number;
}

/** What the target holds durably. */
interface Held extends JournalView {
  readonly term: number;
}

export class TransferFence {
  static readonly property = 'transfer fence';
  readonly #ticksMax: number;
  readonly #transfers = new Map<Member, Transfer>();

  /** @param ticksMax  of the longest election time-out */
  constructor(ticksMax: number) {
    this.#ticksMax = ticksMax;
  }

  /** @param tick  of the member's present life */
  transfer(
    member: Member,
    { state, to }: { readonly state: 'started' | 'sent' | 'abandoned'; readonly to: Member },
    tick: number,
  ): void {
    if (state === 'abandoned') this.#transfers.delete(member);
    else if (state === 'started') this.#transfers.set(member, { to, sinceTick: tick });
  }

  /** Another role, another term, another life: nothing is handed over any more. */
  over(member: Member): void {
    this.#transfers.delete(member);
  }

  handsOver(member: Member): boolean {
    return this.#transfers.has(member);
  }

  accepted(member: Member): Finding {
    const to = this.#transfers.get(member)?.to;
    return to === undefined ? null : `${member} accepted a proposal while it hands over to ${to}`;
  }

  /**
   * The leader of `term` tells a member to campaign. One in a later term needs no order; nor does
   * an order bind whose sender ceased to lead in the turn that said it, and may hold more by now.
   */
  ordered(
    { from, to, term }: { readonly from: Member; readonly to: Member; readonly term: number },
    log: JournalView,
    target: Held,
  ): Finding {
    const last = log.lastIndex;
    if (!this.handsOver(from) || target.term > term) return null;
    if (target.termAt(last) === log.termAt(last)) return null;
    return `${from} hands over to ${to}, which lacks its entry ${last}`;
  }

  /** A turn is over. */
  stands(member: Member, tick: number): Finding {
    const transfer = this.#transfers.get(member);
    const waited = tick - (transfer?.sinceTick ?? tick);
    if (transfer === undefined || waited <= this.#ticksMax) return null;
    const most = `${this.#ticksMax} at most`;
    return `${member} hands over to ${transfer.to} since ${waited} ticks, ${most}`;
  }
}
