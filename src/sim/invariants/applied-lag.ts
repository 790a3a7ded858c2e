/**
 * While a mirror takes in deliveries its lag is a number that only applied entries move: what was
 * accepted may still vanish. docs/mirror.md, rule 3; nats-server stream.go, processMirrorMsgs.
 */
import type { Member } from '../../base/member.js';
import type { Finding } from './types.js';

export class AppliedLag {
  static readonly property = 'applied lag';
  /** What each mirror said last; none: something happened since that may move it. */
  readonly #lags = new Map<Member, number>();

  /** An entry was applied, an opening answered or closed, or a life began. */
  mayMove(member: Member): void {
    this.#lags.delete(member);
  }

  /** A unit of work begins, or is over; @param receives  its opening was set up */
  stands(member: Member, lag: number, receives: boolean): Finding {
    if (!receives) return null;
    const before = this.#lags.get(member);
    this.#lags.set(member, lag);
    if (!Number.isSafeInteger(lag) || lag < 0) return `the lag of ${member} is ${lag}`;
    if (before === undefined || before === lag) return null;
    return `the lag of ${member} went from ${before} to ${lag}, nothing was applied`;
  }
}
