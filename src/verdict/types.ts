/**
 * The judge's words: what was handed out (the ledger), what a replica holds (a copy), and what is
 * said of both. Reports are plain data, so that they cross threads.
 */
import type { ErrorData } from '../base/errors.js';
import type { Slot } from '../base/member.js';
import type { SkipEncoding } from '../mirror/types.js';
import type { DriverName, FaultKind } from '../scenario/types.js';
import type { SeqRange, StreamState } from '../stream/types.js';

/**
 * Digests of blocks of DIGEST_BLOCK sequences: block b holds sequences b * 1024 + 1 … (b + 1) *
 * 1024; its digest is the xxh64 of its message records in rising order. Blocks without a message
 * are left out. Parallel arrays, rising by block.
 */
export interface BlockDigests {
  readonly blocks: Float64Array;
  readonly digests: BigUint64Array;
}

/** What one replica holds. `gaps` are the interior gaps between first and last, rising, merged. */
export interface CopyReport {
  readonly state: StreamState;
  readonly gaps: readonly SeqRange[];
  readonly blocks: BlockDigests;
}

/** One message by its parts, for the comparison message by message. All are xxh64. */
export interface RecordDigest {
  readonly seq: number;
  readonly timestamp: bigint;
  readonly subject: bigint;
  readonly headers: bigint;
  readonly payload: bigint;
}

/** What the origin handed out and passed over, recorded before hand-over. */
/** What faults of the origin struck: armed alone they change nothing. */
export interface OriginStrikes {
  readonly refused: number;
  readonly lost: number;
  readonly repeated: number;
}

export interface LedgerReport {
  /** The origin at the end of the run, its sentinel included. */
  readonly origin: StreamState;
  readonly sentinel: number | null;
  readonly tailGap: SeqRange | null;
  /** Sequences that some opening delivered; that some opening passed over. Rising, merged. */
  readonly delivered: readonly SeqRange[];
  readonly passedOver: readonly SeqRange[];
  /** Of the origin's content as it was made, whether delivered or not. */
  readonly blocks: BlockDigests;
  /** Not given: nothing is known of them. */
  readonly strikes?: OriginStrikes;
}

/** Reads the two sides where they live. Ranges are closed, at most a few blocks long. */
export interface CopyReader {
  report(): Promise<CopyReport>;
  records(range: SeqRange): Promise<readonly RecordDigest[]>;
}

export interface LedgerReader {
  report(): Promise<LedgerReport>;
  /**
   * The origin's messages in the range as they were made, handed out or not, rising; several may
   * share a sequence. One that was delivered and is not among them has unknown content.
   */
  records(range: SeqRange): Promise<readonly RecordDigest[]>;
}

export type DifferenceKind = 'lost' | 'duplicated' | 'reordered' | 'corrupt' | 'phantom' | 'state';

export interface Difference {
  readonly kind: DifferenceKind;
  readonly replica: Slot;
  readonly seq: number;
  /** One line: which part differs, or where the content belongs. */
  readonly text: string;
}

export type MessageCounts = Readonly<
  Record<'ok' | 'lost' | 'duplicated' | 'reordered' | 'corrupt' | 'phantom' | 'unknown', number>
>;

export type Verdict = 'held' | 'violated' | 'inconclusive' | 'stalled' | 'uncovered' | 'harness';

/** Process exit codes, design section 10. `usage` is 64. */
export const EXIT: Readonly<Record<Verdict, number>> = {
  held: 0,
  violated: 1,
  inconclusive: 2,
  stalled: 3,
  uncovered: 4,
  harness: 70,
};
export const EXIT_USAGE = 64;

export type FaultStatus = 'installed' | 'skipped' | 'indeterminate' | 'uncovered';

export interface FaultSummary {
  readonly kind: FaultKind;
  readonly target: string;
  readonly status: FaultStatus;
  /** Why it was skipped, uncovered or indeterminate. */
  readonly reason?: string;
  readonly atMs: number | null;
  readonly newLeaderMs: number | null;
  readonly firstMessageMs: number | null;
  readonly caughtUpMs: number | null;
}

/** Counts of a summary that a driver may be blind to. */
export type Unseen = 'skips' | 'openings' | 'rollbacks' | 'retries';

/** The summary of a run, exactly the fields of design section 10. */
export interface RunSummary {
  readonly schema: 1;
  readonly verdict: Verdict;
  readonly driver: DriverName;
  readonly seed: number;
  readonly elapsedMs: number;
  readonly origin: StreamState & {
    readonly sentinel: number | null;
    readonly tailGap: SeqRange | null;
  };
  readonly replicas: readonly (StreamState & {
    readonly id: Slot;
    readonly digest: string;
  })[];
  readonly messages: MessageCounts;
  readonly skip: {
    readonly encoding: SkipEncoding | 'direct';
    /** These four are null where the driver does not see skips: on nats. */
    readonly sequences: number | null;
    readonly batches: number | null;
    readonly largestBatch: number | null;
    readonly refused: number | null;
  };
  readonly leadership: {
    readonly elections: number;
    readonly lastTerm: number;
  };
  readonly mirror: {
    /**
     * On nats the consumers that were there when it looked, of servers of its own; null on others.
     */
    readonly openings: number | null;
    /** Null on nats: no server tells of them. */
    readonly rollbacks: number | null;
    readonly retries: number | null;
  };
  readonly faults: readonly FaultSummary[];
  readonly stallMs: number;
  /** Why it is not held, every reason found; empty when it is. */
  readonly reasons: readonly Reason[];
  readonly rate: {
    readonly messagesPerSecond: number;
    readonly sequencesPerSecond: number;
  };
  readonly replay: string;
}

/** Why a run is not held: every reason found, not only the one that set the verdict. */
export interface Reason {
  readonly verdict: Exclude<Verdict, 'held'>;
  readonly text: string;
  readonly error?: ErrorData;
}
