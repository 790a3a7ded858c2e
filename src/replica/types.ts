/**
 * The contract of a replica: (state, Input) -> Ready. The same inputs give the same outputs, byte
 * for byte. The host must do what a Ready says in the order of its fields.
 */
import type { ErrorData } from '../base/errors.js';
import type { Member } from '../base/member.js';
import type { MirrorEvent, MirrorStatus, OriginCommand, OriginFrame } from '../mirror/types.js';
import type { Message, Persist, RaftEvent, RaftJournal, RaftStatus, Role } from '../raft/types.js';
import type { StreamState } from '../stream/types.js';

/** The conductor's order to campaign: ignored unless the term is still the observed one. */
export interface CampaignOrder {
  readonly type: 'campaign';
  readonly term: number;
  /** The leader reported dead; a member that hears another one ignores the order. */
  readonly deadLeader: Member | null;
}

/** `to`: a member, 'best' (the most caught-up voter) or null (step down and name nobody). */
export interface StepDownOrder {
  readonly type: 'stepDown';
  readonly to: Member | 'best' | null;
}

export type Input =
  | { readonly type: 'peer'; readonly message: Message }
  | { readonly type: 'origin'; readonly frame: OriginFrame }
  | { readonly type: 'persisted'; readonly ticket: number }
  | {
      readonly type: 'persistFailed';
      readonly ticket: number;
      readonly error: ErrorData;
    }
  | CampaignOrder
  | StepDownOrder
  /** Ask every peer to answer, so that this member's view shows whom it hears. */
  | { readonly type: 'probe' }
  /** Sets or removes the mirror's configuration. */
  | { readonly type: 'configure'; readonly mirror: boolean }
  | ProposeFault;

/** Faults of what a member proposes. Two of them add up. */
export type ProposeFault =
  /** So many are refused, behind those that are to be already. */
  | { readonly type: 'failPropose'; readonly count: number; readonly code: RefusalCode }
  /** Each other one is refused by this chance more; less, when it is negative. */
  | { readonly type: 'failByChance'; readonly perMillion: number; readonly code: RefusalCode }
  /** None is refused any more, nor the leader overrun. */
  | { readonly type: 'failNoMore' }
  /**
   * The next one that finds more than so many entries not applied is refused, and the leader steps
   * down (upstream: raft.go isLeaderOverrun).
   */
  | { readonly type: 'overrun'; readonly entries: number };

export type RefusalCode = 'overrun' | 'writeFailed';

export type ReplicaEvent =
  | RaftEvent
  | MirrorEvent
  | { readonly kind: 'commit'; readonly index: number; readonly term: number }
  | {
      readonly kind: 'apply';
      readonly index: number;
      readonly term: number;
      readonly count: number;
      /** Messages stored, sequences skipped, commands at or below last, commands beyond it. */
      readonly stored: number;
      readonly skipped: number;
      readonly seen: number;
      readonly mismatched: number;
      readonly last: number;
      /** Chained over (entry bytes, outcome): equal on every replica at the same index. */
      readonly hash: bigint;
    };

export interface Ready {
  readonly persist: Persist | null;
  readonly sendNow: readonly Message[];
  readonly sendAfterPersist: readonly Message[];
  readonly originCommands: readonly OriginCommand[];
  readonly events: readonly ReplicaEvent[];
}

export interface ReplicaStatus {
  readonly raft: RaftStatus;
  readonly mirror: MirrorStatus | null;
  readonly stream: StreamState;
  readonly applied: number;
  /** True once the leader's own noop is applied: only then it opens the mirror. */
  readonly serving: boolean;
  /** Skip commands accepted, counted on from the sequences that the store had skipped when this
   * leadership began. */
  readonly skipsAccepted: number;
  readonly failed: ErrorData | null;
}

/**
 * What a host gives its replica's surroundings. Everything is synchronous; completions are inputs.
 */
export interface HostIo {
  /** Milliseconds of a monotonic clock. */
  now(): number;
  /** Starts a write; `persisted` or `persistFailed` with its ticket comes back as an input. */
  persist(write: Persist): void;
  send(message: Message): void;
  origin(command: OriginCommand): void;
  report(event: ReplicaEvent): void;
  /** Null on a first start. */
  recover(): RaftJournal | null;
  /** Called before and between proposals of a turn: where faults armed for a state fire. */
  beforeAdvance(replica: ReplicaView): void;
}

/** What an armed fault may look at. */
export interface ReplicaView {
  readonly serving: boolean;
  readonly skipsAccepted: number;
  readonly log: {
    readonly role: Role;
    readonly term: number;
    /** Whether some batch of this leader is durable on exactly so many members, itself counted. */
    appendedOn(members: number): boolean;
  };
  /** Messages that this member's store took, skips not counted. */
  readonly stored: number;
}
