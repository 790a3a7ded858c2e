/** What a member of a raft cluster is made with, and the bounds that it keeps. */
import { invariant } from '../base/errors.js';
import {
  APPEND_BYTES_MAX,
  ELECTION_TICKS_MAX,
  ELECTION_TICKS_MIN,
  HEARTBEAT_TICKS,
  INFLIGHT_APPENDS_MAX,
  INFLIGHT_BYTES_MAX,
  LOG_ENTRIES_MAX,
  UNCOMMITTED_BYTES_MAX,
} from '../base/limits.js';
import type { Member } from '../base/member.js';
import type { Prng } from '../base/prng.js';
import type { RaftJournal } from './types.js';

/** Times in ticks, sizes in bytes of entries; what each bounds is said in base/limits.ts. */
export interface RaftLimits {
  readonly heartbeatTicks: number;
  /** Also the lease: for so long a leader that was heard is not helped to be deposed. */
  readonly electionTicksMin: number;
  /** Also the time after which a leader without a majority, or a transfer, is given up. */
  readonly electionTicksMax: number;
  readonly inflightAppendsMax: number;
  readonly inflightBytesMax: number;
  readonly appendBytesMax: number;
  readonly uncommittedBytesMax: number;
  readonly logEntriesMax: number;
}

export interface RaftOptions {
  readonly member: Member;
  /** The voters, this member included. */
  readonly members: readonly Member[];
  readonly prng: Prng;
  /** Null on a first start. */
  readonly journal: RaftJournal | null;
  readonly preVote?: boolean;
  readonly checkQuorum?: boolean;
  /** False: no election time-outs of its own, it campaigns only when ordered to. */
  readonly timers: boolean;
  readonly limits?: Partial<RaftLimits>;
}

export function limitsOf({ limits }: RaftOptions): RaftLimits {
  const given = limits ?? {};
  const all: RaftLimits = {
    heartbeatTicks: given.heartbeatTicks ?? HEARTBEAT_TICKS,
    electionTicksMin: given.electionTicksMin ?? ELECTION_TICKS_MIN,
    electionTicksMax: given.electionTicksMax ?? ELECTION_TICKS_MAX,
    inflightAppendsMax: given.inflightAppendsMax ?? INFLIGHT_APPENDS_MAX,
    inflightBytesMax: given.inflightBytesMax ?? INFLIGHT_BYTES_MAX,
    appendBytesMax: given.appendBytesMax ?? APPEND_BYTES_MAX,
    uncommittedBytesMax: given.uncommittedBytesMax ?? UNCOMMITTED_BYTES_MAX,
    logEntriesMax: given.logEntriesMax ?? LOG_ENTRIES_MAX,
  };
  invariant(all.heartbeatTicks < all.electionTicksMin, 'heartbeats come before a time-out');
  invariant(all.electionTicksMin <= all.electionTicksMax, 'the election time-out has a range');
  invariant(all.inflightAppendsMax > 0 && all.inflightBytesMax > 0, 'something may be under way');
  return all;
}
