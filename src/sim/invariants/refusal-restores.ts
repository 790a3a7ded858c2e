/**
 * Whatever refuses a proposal, cursor, delivery number and lag are afterwards what they were before
 * the delivery, and the opening is closed. Where the store itself refused what it already holds,
 * the cursor goes to the store's last. docs/mirror.md, rules 4 and 6; nats-server pull request
 * 8152.
 */
import type { Member } from '../../base/member.js';
import type { MirrorCause, MirrorCursor } from '../../mirror/types.js';
import type { Finding } from './types.js';

/** A mirror before one unit of its work. */
export interface MirrorStanding {
  readonly cursor: MirrorCursor;
  readonly lag: number;
  readonly storeLast: number;
}

/** The refusal that was not undone yet. */
interface Refusal {
  readonly what: string;
  readonly before: MirrorStanding;
}

export class RefusalRestores {
  static readonly property = 'refusal restores';
  readonly #standing = new Map<Member, MirrorStanding>();
  readonly #refused = new Map<Member, Refusal>();

  /** A unit of work begins: one that ended with a refusal was undone by now. */
  begins(member: Member, standing: MirrorStanding): Finding {
    const left = this.#refused.get(member);
    this.#refused.delete(member);
    this.#standing.set(member, standing);
    return left === undefined ? null : `${member} went on although ${left.what} was refused`;
  }

  /** @param what  `skips 6..15` */
  refused(member: Member, what: string): void {
    const before = this.#standing.get(member);
    if (before !== undefined) this.#refused.set(member, { what, before });
  }

  /** @param to  where it went; the store's last is what it had when the unit of work began */
  rolledBack(member: Member, { to, lag, cause }: RolledBack): Finding {
    const refusal = this.#refused.get(member);
    this.#refused.delete(member);
    if (refusal === undefined) return null;
    const { what, before } = refusal;
    const { deliverySeq } = before.cursor;
    const seq =
      cause === 'mismatch' ? Math.max(before.cursor.seq, before.storeLast) : before.cursor.seq;
    if (to.seq === seq && to.deliverySeq === deliverySeq && lag === before.lag) return null;
    const expected = textOf({ seq, deliverySeq }, before.lag);
    return `${member} stands at ${textOf(to, lag)} after ${what} was refused, not at ${expected}`;
  }

  /** A member that starts anew has forgotten all of it. */
  started(member: Member): void {
    this.#refused.delete(member);
    this.#standing.delete(member);
  }
}

export interface RolledBack {
  readonly to: MirrorCursor;
  readonly lag: number;
  readonly cause: MirrorCause;
}

function textOf({ seq, deliverySeq }: MirrorCursor, lag: number): string {
  return `cursor ${seq}, delivery ${deliverySeq}, lag ${lag}`;
}
