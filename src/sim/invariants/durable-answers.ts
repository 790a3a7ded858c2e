/**
 * A member says only what its disk holds: the term that it names, the vote that it gives or asks
 * others to join, the entries that it acknowledges. Raft paper, figure 2 ("updated on stable
 * storage before responding"); akka-raft issue 62, nats-server issue 7564.
 */
import type { Member } from '../../base/member.js';
import type { Message } from '../../raft/types.js';
import { isInItsTerm, type Finding, type JournalView } from './types.js';

/** What the sender's disk holds at the moment of sending. */
export interface DurableState extends JournalView {
  readonly term: number;
  readonly vote: Member | null;
  /** The longest that the log ever was. */
  readonly longest: number;
}

export class DurableAnswers {
  static readonly property = 'durable answers';

  sent(message: Message, disk: DurableState): Finding {
    const { from, to, term } = message;
    if (isInItsTerm(message) && disk.term < term) {
      return `${from} told ${to} of term ${term}, its disk is in ${disk.term}`;
    }
    if (message.type === 'vote' && !message.pre && disk.term === term && disk.vote !== from) {
      return `${from} asked ${to} for a vote, its disk lacks its own`;
    }
    if (message.type === 'voteReply' && message.granted && !message.pre) {
      if (disk.term === term && disk.vote === to) return null;
      // A vote of an earlier term is void by now: nothing in it can be broken any more.
      return disk.term > term ? null : `${from} told ${to} of a vote that its disk lacks`;
    }
    if (message.type !== 'appendReply' || !message.accepted) return null;
    // What was durable when its term ended may be cut off before the answer leaves: to whoever
    // hears it, it is an answer that took long on its way.
    const reach = disk.term > term ? disk.longest : disk.lastIndex;
    if (message.index <= reach) return null;
    return `${from} acknowledged ${message.index}, its disk ends at ${disk.lastIndex}`;
  }
}
