/**
 * Whether a core that made no progress owed any. It does if it holds a majority of voters that
 * remember their votes, linked with each other, if one of them can still hold every committed
 * entry, and if pre-vote and check-quorum keep outsiders, where there are any, from deposing its
 * leaders. A stall that none of this explains is a finding.
 */
import type { JournalView } from './invariants/types.js';

/** One member as it stood when the run was given up. */
export interface Standing {
  /** It runs, and is of the healed core. */
  readonly reachable: boolean;
  /** It lost its disk, so that it must not vote as the member that it was. */
  readonly wiped: boolean;
  /** Positions of members that it exchanges messages with, both ways. */
  readonly linked: readonly number[];
  /** What its disk holds. */
  readonly log: JournalView;
}

export interface StallStanding {
  readonly members: readonly Standing[];
  /** The highest entry that any member ever knew as committed; null: none. */
  readonly committed: { readonly index: number; readonly term: number } | null;
  readonly preVote: boolean;
  readonly checkQuorum: boolean;
}

export type Excuse =
  | 'no quorum reachable'
  | 'votes forgotten'
  | 'log held by nobody alive'
  | 'un-synced tail lost everywhere'
  | 'pre-vote or check-quorum off';

/** Null: the stall is a finding. */
export function excuseOf({
  members,
  committed,
  preVote,
  checkQuorum,
}: StallStanding): Excuse | null {
  if (!hasQuorum(members, ({ reachable, wiped }) => reachable && !wiped)) {
    const wouldBe = hasQuorum(members, ({ reachable, wiped }) => reachable || wiped);
    return wouldBe ? 'votes forgotten' : 'no quorum reachable';
  }
  if (committed !== null) {
    const holders = members.filter(({ log }) => log.termAt(committed.index) === committed.term);
    if (holders.length === 0) return 'un-synced tail lost everywhere';
    const alive = holders.some(({ reachable, wiped }) => reachable && !wiped);
    if (!alive) return 'log held by nobody alive';
  }
  // Where nobody stays out there is nobody to depose a leader, or to be taken for one.
  const isWhole = members.every(({ reachable }) => reachable);
  return isWhole || (preVote && checkQuorum) ? null : 'pre-vote or check-quorum off';
}

/** Whether one of those that count is linked with so many of them that they are a majority. */
function hasQuorum(members: readonly Standing[], counts: (member: Standing) => boolean): boolean {
  return members.some((member) => {
    if (!counts(member)) return false;
    const others = member.linked.filter((at) => members[at] !== member && counts(members[at]!));
    return (others.length + 1) * 2 > members.length;
  });
}
