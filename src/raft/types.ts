/**
 * What goes into raft and what comes out of it, in the paper's words. Raft never looks into an
 * entry's bytes and knows no clock, no disk and no network: ticks and completions are inputs.
 */
import type { Member } from '../base/member.js';

export type Role = 'follower' | 'preCandidate' | 'candidate' | 'leader';

/** Commands proposed together: `count` of them, packed in `bytes`. Immutable once handed over. */
export interface Batch {
  readonly count: number;
  readonly bytes: Uint8Array;
}

/** One log entry carries one batch. A noop has count 0 and no bytes. */
export interface Entry {
  readonly term: number;
  readonly index: number;
  readonly kind: 'noop' | 'batch' | 'config';
  readonly count: number;
  readonly bytes: Uint8Array;
}

interface Addressed {
  readonly from: Member;
  readonly to: Member;
  /** The sender's term; of a pre-vote the term that it would campaign in. */
  readonly term: number;
}

/** RequestVote of section 5.2; `pre` is the pre-vote of the dissertation, section 9.6. */
export interface VoteRequest extends Addressed {
  readonly type: 'vote';
  readonly pre: boolean;
  readonly lastIndex: number;
  readonly lastTerm: number;
  /** Ordered by the conductor or by a transfer: the lease is skipped, the log check never is. */
  readonly ordered: boolean;
}

/** A granted pre-vote echoes the requested term; a refusal carries the voter's own. */
export interface VoteReply extends Addressed {
  readonly type: 'voteReply';
  readonly pre: boolean;
  readonly granted: boolean;
}

/** AppendEntries of section 5.3. */
export interface AppendRequest extends Addressed {
  readonly type: 'append';
  readonly prevIndex: number;
  readonly prevTerm: number;
  readonly commit: number;
  /** Every member holds the log durably up to here: it is never asked for again. */
  readonly released: number;
  readonly entries: readonly Entry[];
}

/**
 * `index` is the last matching index when accepted. A refusal names the refused prevIndex in
 * `index` and, in the hint, the last entry of the follower that may match (its index and term).
 */
export interface AppendReply extends Addressed {
  readonly type: 'appendReply';
  readonly accepted: boolean;
  readonly index: number;
  readonly hintIndex: number;
  readonly hintTerm: number;
}

/** Carries min(commit, match) of that follower, so that it never commits beyond what matched. */
export interface Heartbeat extends Addressed {
  readonly type: 'heartbeat';
  readonly commit: number;
  readonly released: number;
}

export interface HeartbeatReply extends Addressed {
  readonly type: 'heartbeatReply';
}

/** Leadership transfer, dissertation section 3.10: campaign now. */
export interface TimeoutNow extends Addressed {
  readonly type: 'timeoutNow';
}

export type Message =
  VoteRequest | VoteReply | AppendRequest | AppendReply | Heartbeat | HeartbeatReply | TimeoutNow;

/**
 * One journal write. Writes complete in the order of their tickets. Entries replace whatever the
 * journal holds from the first one's index on.
 */
export interface Persist {
  readonly ticket: number;
  readonly term: number;
  readonly vote: Member | null;
  readonly entries: readonly Entry[];
}

export type RoleCause =
  | 'start'
  | 'electionTimeout'
  | 'ordered'
  | 'transferOrdered'
  | 'won'
  | 'lost'
  | 'higherTerm'
  | 'leaderHeard'
  | 'quorumLost'
  | 'stepDown'
  | 'overrun'
  | 'transferred'
  | 'writeFailed';

export type RaftEvent =
  | {
      readonly kind: 'role';
      readonly role: Role;
      readonly term: number;
      readonly leader: Member | null;
      readonly cause: RoleCause;
    }
  | {
      readonly kind: 'transfer';
      readonly state: 'started' | 'sent' | 'abandoned';
      readonly to: Member;
    };

/**
 * What the host must do, in this order: start the write, send `sendNow`, send `sendAfterPersist`
 * once this write and all earlier ones are durable.
 */
export interface RaftReady {
  readonly persist: Persist | null;
  readonly sendNow: readonly Message[];
  readonly sendAfterPersist: readonly Message[];
  readonly events: readonly RaftEvent[];
}

/** What a journal gives back at start; `base` is the last compacted index, 0 at first. */
export interface RaftJournal {
  readonly term: number;
  readonly vote: Member | null;
  readonly baseIndex: number;
  readonly baseTerm: number;
  readonly entries: readonly Entry[];
}

export type ProposeRefusal = 'notLeader' | 'staleTerm' | 'transferring' | 'overrun' | 'writeFailed';

export type ProposeResult =
  | { readonly accepted: true; readonly index: number }
  | { readonly accepted: false; readonly code: ProposeRefusal };

/** What others may see of a raft: the conductor's view and the status of a replica. */
export interface RaftStatus {
  readonly member: Member;
  readonly role: Role;
  readonly term: number;
  readonly vote: Member | null;
  readonly leader: Member | null;
  readonly commit: number;
  readonly lastIndex: number;
  readonly lastTerm: number;
  readonly durableIndex: number;
  readonly uncommittedBytes: number;
  readonly transferringTo: Member | null;
  /** Members heard within the last election timeout, itself included. */
  readonly hears: readonly Member[];
}
