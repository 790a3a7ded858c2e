/** The words of a stream store. */

/**
 * State of a stream, with upstream's meaning (nats-server memstore.go and filestore.go): a store
 * never touched is {0, 0, 0, 0}; an emptied one has first = last + 1; `deleted` counts interior
 * gaps, last - first + 1 - messages when last >= first, else 0.
 */
export interface StreamState {
  readonly first: number;
  readonly last: number;
  readonly messages: number;
  readonly deleted: number;
}

/** A message read back. Subject and headers are raw UTF-8 bytes, as they were delivered. */
export interface StoredMessage {
  readonly seq: number;
  /** Nanoseconds since 1970. */
  readonly timestamp: bigint;
  readonly subject: Uint8Array;
  readonly headers: Uint8Array;
  readonly payload: Uint8Array;
}

/** A closed interval of sequences. */
export interface SeqRange {
  readonly first: number;
  readonly last: number;
}

/** What applying one entry did, command by command in sum. */
export interface ApplyOutcome {
  readonly stored: number;
  /** Sequences passed over, skips, ranges and resets together. */
  readonly skipped: number;
  /** Commands at or below last: counted no-ops. */
  readonly seen: number;
  /** Commands beyond last + 1: not applied. */
  readonly mismatched: number;
  /** The first command that was not applied because it lay beyond, and what it expected. */
  readonly firstMismatch: {
    readonly expected: number;
    readonly last: number;
  } | null;
}
