/**
 * The conversation between a mirror and its origin, and what a mirror tells its replica. Upstream:
 * nats-server stream.go, setupMirrorConsumer and processInboundMirrorMsg.
 */
import type { ErrorData } from '../base/errors.js';
import type { Member } from '../base/member.js';

/** One life of the mirror's consumer. Of two, the higher (term, generation) is the newer. */
export interface Opening {
  readonly member: Member;
  readonly term: number;
  readonly generation: number;
}

/** The life of an origin: a stream deleted and made again has another `created`. */
export interface OriginIdentity {
  readonly name: string;
  /** Nanoseconds since 1970. */
  readonly created: bigint;
}

/** From the leader to the origin. */
export type OriginCommand =
  | {
      readonly type: 'open';
      readonly opening: Opening;
      readonly startSeq: number;
    }
  | { readonly type: 'close'; readonly opening: Opening }
  /** Every delivery up to this number was taken in, whatever became of it. */
  | {
      readonly type: 'credit';
      readonly opening: Opening;
      readonly deliverySeq: number;
    };

/**
 * From the origin to the member of the opening. `deliver` carries `count` message commands in
 * `bytes` (stream/layout.ts), in rising order of sequence, with delivery numbers `deliverySeq`,
 * `deliverySeq + 1`, …; sequences between two of them no longer exist at the origin.
 */
export type OriginFrame =
  | {
      readonly type: 'opened';
      readonly opening: Opening;
      readonly identity: OriginIdentity;
      /** The sequence before the first that will be delivered (upstream: Delivered.Stream). */
      readonly startsAfter: number;
      /** The origin's last sequence now. */
      readonly last: number;
      readonly pending: number;
    }
  | {
      readonly type: 'refused';
      readonly opening: Opening;
      readonly error: ErrorData;
    }
  | {
      readonly type: 'deliver';
      readonly opening: Opening;
      readonly deliverySeq: number;
      readonly count: number;
      /** Messages that wait behind the last one of this frame. */
      readonly pending: number;
      readonly bytes: Uint8Array;
    }
  | {
      readonly type: 'heartbeat';
      readonly opening: Opening;
      readonly lastDeliverySeq: number;
    };

/** How a skip is proposed: one command a sequence, or one for all of them (rule 2). */
export type SkipEncoding = 'entries' | 'range';

export type MirrorCondition = 'running' | 'blocked' | 'diverged';

/** What ended an opening or undid a step: the cause of a rollback or a retry. */
export type MirrorCause =
  | 'mismatch'
  | 'lostDelivery'
  | 'silence'
  | 'createRefused'
  | 'createTimeout'
  | 'malformedAnswer'
  | 'malformedDelivery'
  | 'skipRefused'
  | 'setupSkipRefused'
  | 'messageRefused'
  | 'identityRefused'
  | 'transferAbandoned'
  | 'leading'
  | 'notLeading'
  | 'unconfigured'
  | 'blocked'
  | 'diverged';

export interface MirrorCursor {
  /** Last origin sequence taken in: the next one expected is one higher. */
  readonly seq: number;
  readonly deliverySeq: number;
}

export type MirrorEvent =
  | {
      readonly kind: 'opening';
      readonly state: 'requested' | 'opened' | 'closed';
      readonly opening: Opening;
      /** What was asked for, what the origin starts at, and where the cursor was left. */
      readonly startSeq: number;
      readonly cause?: MirrorCause;
    }
  | {
      readonly kind: 'propose';
      readonly what: 'messages' | 'skips' | 'range' | 'reset' | 'identity';
      readonly term: number;
      readonly first: number;
      readonly last: number;
      readonly count: number;
      /** Null when accepted. */
      readonly refused: ErrorData | null;
    }
  | {
      readonly kind: 'rollback';
      readonly cause: MirrorCause;
      readonly from: MirrorCursor;
      readonly to: MirrorCursor;
      readonly lag: number;
    }
  | {
      readonly kind: 'retry';
      readonly cause: MirrorCause;
      readonly attempt: number;
      /** Ticks until the request may go out; null: this member schedules nothing. */
      readonly inTicks: number | null;
    }
  | {
      readonly kind: 'condition';
      readonly condition: MirrorCondition;
      readonly reason: string;
    };

/** Where an opening stands: unanswered, being set up, moving over a gap, taking deliveries. */
export type OpeningPhase = 'requested' | 'settingUp' | 'skipping' | 'receiving';

export interface MirrorStatus {
  readonly condition: MirrorCondition;
  readonly lag: number;
  readonly error: ErrorData | null;
  readonly attempts: number;
  readonly opening: Opening | null;
  readonly cursor: MirrorCursor;
  /** Ticks since any frame of the opening was heard. */
  readonly silentTicks: number;
}
