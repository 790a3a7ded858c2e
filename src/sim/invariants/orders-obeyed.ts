/**
 * A member campaigns by order only if the order names the term that it is in, and it neither leads
 * nor hears a leader other than the one reported dead: an order that comes late costs an election
 * that nobody needs. src/raft/raft.ts, campaign.
 */
import type { Member, Slot } from '../../base/member.js';
import type { Finding } from './types.js';

interface Order {
  readonly term: number;
  readonly deadLeader: Member | null;
}

/** How the member stands as it reads an order. */
interface Standing {
  readonly term: number;
  readonly leads: boolean;
  /** Null: none within the shortest election time-out. */
  readonly hears: Member | null;
}

interface Read {
  /** Orders that may be obeyed, and were not yet. */
  right: number;
  against: string;
}

export class OrdersObeyed {
  static readonly property = 'orders obeyed';
  /** What each slot has read in its present turn. */
  readonly #read = new Map<Slot, Read>();

  /** A turn is over, or a life. */
  over(slot: Slot): void {
    this.#read.delete(slot);
  }

  /** An order is read. */
  ordered(slot: Slot, order: Order, standing: Standing): void {
    let read = this.#read.get(slot);
    if (read === undefined) this.#read.set(slot, (read = { right: 0, against: 'twice' }));
    const against = againstOf(order, standing);
    if (against === null) read.right++;
    else read.against = against;
  }

  /** The member campaigns by order. */
  campaigns(slot: Slot): Finding {
    const read = this.#read.get(slot);
    if (read === undefined) return `${slot} campaigns by an order that nobody gave`;
    if (read.right-- > 0) return null;
    return `${slot} obeys an order ${read.against}`;
  }
}

function againstOf({ term, deadLeader }: Order, standing: Standing): string | null {
  const { leads, hears } = standing;
  if (term !== standing.term) return `of term ${term} in term ${standing.term}`;
  if (leads) return 'while it leads';
  if (hears === null || hears === deadLeader) return null;
  return `against ${deadLeader ?? 'nobody'} and hears ${hears}`;
}
