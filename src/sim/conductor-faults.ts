/**
 * What the conductor is told of members that is not true. It may cost an election and time; votes
 * decide, so it never costs a message.
 */
import type { Member } from '../base/member.js';
import type { MemberView } from '../election/conductor.js';

/**
 * What a falsified view says: that another leads, that itself leads, a term that is ahead or
 * behind, that it hears everybody or nobody, a log far ahead, or ever again what it said first.
 */
export type Falsehood =
  'leader' | 'leads' | 'termAhead' | 'termBehind' | 'hearsAll' | 'hearsNone' | 'log' | 'stale';

interface Lie {
  readonly how: Falsehood;
  readonly untilMs: number;
  /** The first view of that time. */
  first: MemberView | null;
}

const AHEAD = 3;
const LOG_AHEAD = 1_000;

export class ConductorFaults {
  readonly #members: readonly Member[];
  readonly #lies = new Map<Member, Lie>();

  constructor(members: readonly Member[]) {
    this.#members = members;
  }

  falsify(member: Member, how: Falsehood, untilMs: number): void {
    this.#lies.set(member, { how, untilMs, first: null });
  }

  clear(): void {
    this.#lies.clear();
  }

  /** What the conductor is told in place of a view. */
  told(view: MemberView, nowMs: number): MemberView {
    const lie = this.#lies.get(view.member);
    if (lie === undefined || nowMs >= lie.untilMs) return view;
    lie.first ??= view;
    switch (lie.how) {
      case 'leader':
        return { ...view, role: 'follower', leader: this.#next(view.member) };
      case 'leads':
        return { ...view, role: 'leader', leader: view.member };
      case 'termAhead':
        return { ...view, term: view.term + AHEAD };
      case 'termBehind':
        return { ...view, term: Math.max(0, view.term - 1) };
      case 'hearsAll':
        return { ...view, hears: this.#members };
      case 'hearsNone':
        return { ...view, hears: [view.member] };
      case 'log':
        return { ...view, lastIndex: view.lastIndex + LOG_AHEAD, lastTerm: view.lastTerm + AHEAD };
      case 'stale':
        return lie.first;
    }
  }

  #next(member: Member): Member {
    const at = this.#members.indexOf(member);
    return this.#members[(at + 1) % this.#members.length]!;
  }
}
