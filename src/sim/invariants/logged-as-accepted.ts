/**
 * The batches that a leader logs in its term are those that its mirror had accepted in that term,
 * in that order, and no others: nothing overtakes, and nothing that waited is logged after a change
 * of leadership. nats-server issues 5543, 5666 and 7297 (cases A3 and B3).
 */
import type { Member } from '../../base/member.js';
import type { Finding } from './types.js';

/** A batch by what shows in it: how many commands, and what the first one follows. */
export interface BatchSeen {
  readonly count: number;
  readonly follows: number;
}

interface Leading {
  readonly term: number;
  /** Accepted and not logged yet. */
  readonly accepted: BatchSeen[];
}

export class LoggedAsAccepted {
  static readonly property = 'logged as accepted';
  readonly #leading = new Map<Member, Leading>();

  /** @param term  that it leads; null: it does not lead */
  role(member: Member, term: number | null): void {
    if (term === null) this.#leading.delete(member);
    else this.#leading.set(member, { term, accepted: [] });
  }

  accepted(member: Member, batch: BatchSeen): void {
    this.#leading.get(member)?.accepted.push(batch);
  }

  /** A batch of `term` is handed to the member's disk. */
  written(member: Member, term: number, { count, follows }: BatchSeen): Finding {
    const leading = this.#leading.get(member);
    if (leading?.term !== term) return null;
    const next = leading.accepted.shift();
    if (next?.count === count && next.follows === follows) return null;
    const accepted = next === undefined ? 'nothing' : textOf(next);
    const logged = textOf({ count, follows });
    return `${member} logged ${logged} in term ${term}, accepted was ${accepted}`;
  }
}

function textOf({ count, follows }: BatchSeen): string {
  return `${count} commands behind ${follows}`;
}
