/**
 * What a follower acknowledges is what its leader has: at the index that it names both logs hold
 * the same entry, and by Log Matching all before it. A follower that names its own last entry, or
 * one that replaced the proven one, lets its leader commit what is nowhere. Raft paper, section
 * 5.3; CCF follower_overcommit_partial_verified.
 */
import type { Member } from '../../base/member.js';
import type { Message } from '../../raft/types.js';
import type { Finding, JournalView } from './types.js';

/** What the sender's disk holds. */
interface Held extends JournalView {
  readonly term: number;
}

interface Leader {
  /** One that died is not told of before it starts again. */
  readonly isAlive: boolean;
  readonly member: Member;
  /** Its log as it wrote it, durable or not. */
  readonly disk: { readonly written: JournalView };
}

export class AcknowledgedMatches {
  static readonly property = 'acknowledged matches';
  /** Who leads which term now. */
  readonly #leaders = new Map<number, Leader>();
  readonly #terms = new Map<Member, number>();

  elected(leader: Leader, term: number): void {
    this.#terms.set(leader.member, term);
    this.#leaders.set(term, leader);
  }

  /** Another role, another life: what it had under that term binds nobody any more. */
  over(member: Member): void {
    const term = this.#terms.get(member);
    if (term === undefined) return;
    this.#terms.delete(member);
    this.#leaders.delete(term);
  }

  /** A member that is in a later term by now may have dropped what it held when it said so. */
  sent(message: Message, disk: Held): Finding {
    if (message.type !== 'appendReply' || !message.accepted || disk.term > message.term)
      return null;
    const { from, to, term, index } = message;
    const leader = this.#leaders.get(term);
    if (leader?.member !== to || !leader.isAlive) return null;
    const [held, led] = [disk.termAt(index), leader.disk.written.termAt(index)];
    if (held === led) return null;
    const holds = held === undefined ? 'nothing' : `one of term ${held}`;
    const leads = led === undefined ? 'ends before it' : `has one of term ${led}`;
    return `${from} acknowledged entry ${index} and holds ${holds}, the leader ${to} ${leads}`;
  }
}
