/**
 * The store of one replica: commands in, a stream out. It applies what raft committed, judges each
 * command by the sequence that it expects to follow, and keeps views of the bytes it was given. It
 * never copies, never decides, and knows nothing of terms.
 */
import { invariant } from '../base/errors.js';
import type { Hasher } from '../base/hasher.js';
import { BlockDigester } from './digests.js';
import { IntervalSet } from './intervals.js';
import {
  countOf,
  expectedOf,
  firstOf,
  KIND_IDENTITY,
  KIND_MESSAGE,
  KIND_RESET,
  KIND_SKIP,
  KIND_SKIP_RANGE,
  readIdentity,
  readMessage,
  recordKind,
  recordSize,
  timestampOf,
  viewOf,
} from './layout.js';
import { RecordIndex } from './records.js';
import type { ApplyOutcome, SeqRange, StoredMessage, StreamState } from './types.js';

export { blockOf } from './digests.js';

/** The origin that this stream copies: set once, by the first command of its log. */
export interface StoreIdentity {
  readonly name: string;
  /** Nanoseconds since 1970. */
  readonly created: bigint;
}

/** What one message is made of, each part hashed alone. All are xxh64. */
export interface PartDigests {
  readonly seq: number;
  readonly timestamp: bigint;
  readonly subject: bigint;
  readonly headers: bigint;
  readonly payload: bigint;
}

interface Tally {
  stored: number;
  skipped: number;
  seen: number;
  mismatched: number;
  firstMismatch: ApplyOutcome['firstMismatch'];
}

/** A byte order mark is part of a name. */
const NAME_DECODER = new TextDecoder('utf-8', { ignoreBOM: true });

/** Written and hashed within one call of chainHash. */
const OUTCOME_BYTES = new Uint8Array(32);
const OUTCOME_VIEW = viewOf(OUTCOME_BYTES);

export class Store {
  readonly #hasher: Hasher;
  readonly #records = new RecordIndex();
  /** Passed-over sequences, those before the first message included. */
  readonly #skipped = new IntervalSet();
  readonly #digester: BlockDigester;
  #last = 0;
  #lastTime = 0n;
  #identity: StoreIdentity | null = null;

  constructor(options: { readonly hasher: Hasher }) {
    this.#hasher = options.hasher;
    this.#digester = new BlockDigester(options.hasher, this.#records);
  }

  get lastSeq(): number {
    return this.#last;
  }

  get messages(): number {
    return this.#records.count;
  }

  /** Timestamp of the last message; skips leave it as it is (nats-server #8327). */
  get lastTime(): bigint {
    return this.#lastTime;
  }

  get identity(): StoreIdentity | null {
    return this.#identity;
  }

  /** Sequences passed over so far, whatever command did it. */
  get skippedCount(): number {
    return this.#skipped.count;
  }

  state(): StreamState {
    const messages = this.#records.count;
    const last = this.#last;
    if (messages === 0) return { first: last === 0 ? 0 : last + 1, last, messages, deleted: 0 };
    const first = this.#records.firstSeq;
    return { first, last, messages, deleted: last - first + 1 - messages };
  }

  /** Interior gaps, rising: what is passed over between first and last. */
  gaps(): SeqRange[] {
    return this.messages === 0 ? [] : this.#skipped.ranges(this.#records.firstSeq, this.#last);
  }

  /** The message at a sequence, its parts as views of the bytes it came in. */
  read(seq: number): StoredMessage | undefined {
    const place = this.#records.find(seq);
    return place === undefined ? undefined : readMessage(place.bytes, place.at);
  }

  /**
   * Applies the commands of one entry, each judged by itself: at or below last is a counted no-op,
   * equal to what is expected is applied, beyond it is a mismatch and is left out. `bytes` hold
   * `count` well-formed commands and must never change again. Source: nats-server #8045, for ranges
   * that straddle last.
   */
  apply(bytes: Uint8Array, count: number): ApplyOutcome {
    const tally: Tally = { stored: 0, skipped: 0, seen: 0, mismatched: 0, firstMismatch: null };
    const view = viewOf(bytes);
    let at = 0;
    let left = count;
    while (left > 0) {
      const stored = tally.stored;
      const end = this.#applyMessages(bytes, view, at, left, tally);
      if (end > at) {
        left -= tally.stored - stored;
        at = end;
        continue;
      }
      this.#applyOne(bytes, view, at, tally);
      at += recordSize(view, at);
      left--;
    }
    return tally;
  }

  /** Takes the messages that follow last one by one; returns the offset behind them. */
  #applyMessages(
    bytes: Uint8Array,
    view: DataView,
    start: number,
    most: number,
    tally: Tally,
  ): number {
    const before = this.#last;
    let at = start;
    let tail = start;
    let count = 0;
    while (count < most) {
      if (recordKind(view, at) !== KIND_MESSAGE || expectedOf(view, at) !== before + count) break;
      tail = at;
      at += recordSize(view, at);
      count++;
    }
    if (count === 0) return start;
    this.#last = before + count;
    this.#lastTime = timestampOf(view, tail);
    const run = { firstSeq: before + 1, lastSeq: this.#last, count };
    this.#records.append(bytes, start, at - start, run);
    tally.stored += count;
    return at;
  }

  /** Anything but a message that follows last. */
  #applyOne(bytes: Uint8Array, view: DataView, at: number, tally: Tally): void {
    const expected = expectedOf(view, at);
    const kind = recordKind(view, at);
    switch (kind) {
      case KIND_MESSAGE:
      case KIND_SKIP:
        return this.#passOver(expected, expected + 1, tally);
      case KIND_SKIP_RANGE:
        return this.#passOverRange(expected, countOf(view, at), tally);
      case KIND_RESET:
        return this.#reset(expected, firstOf(view, at), tally);
      case KIND_IDENTITY:
        return this.#identify(readIdentity(bytes, at), expected, tally);
      default:
        invariant(false, `command kind ${kind} was validated`);
    }
  }

  /** A message comes here only when it does not follow last, so it is never passed over. */
  #passOver(expected: number, end: number, tally: Tally): void {
    if (end <= this.#last) {
      tally.seen++;
      return;
    }
    if (expected > this.#last) {
      this.#mismatch(expected, tally);
      return;
    }
    tally.skipped += end - this.#last;
    this.#skipped.add(this.#last + 1, end);
    this.#last = end;
  }

  /** A range of nothing asks for nothing, wherever it starts (nats-server #8045). */
  #passOverRange(expected: number, count: number, tally: Tally): void {
    if (count === 0) tally.seen++;
    else this.#passOver(expected, expected + count, tally);
  }

  /** Only a stream without messages jumps (nats-server #4249); nothing is stored. */
  #reset(expected: number, first: number, tally: Tally): void {
    if (this.#records.count > 0 && first - 1 > this.#last) this.#mismatch(expected, tally);
    else this.#passOver(expected, first - 1, tally);
  }

  /** The first identity stays; what an identity expects does not matter. */
  #identify(
    found: { readonly name: Uint8Array; readonly created: bigint },
    expected: number,
    tally: Tally,
  ): void {
    const name = NAME_DECODER.decode(found.name);
    const { created } = found;
    if (this.#identity === null) this.#identity = { name, created };
    else if (this.#identity.name === name && this.#identity.created === created) tally.seen++;
    else this.#mismatch(expected, tally);
  }

  #mismatch(expected: number, tally: Tally): void {
    tally.mismatched++;
    tally.firstMismatch ??= { expected, last: this.#last };
  }

  /** Digests of all blocks with a message; those that are complete are kept for the next call. */
  blockDigests(): { readonly blocks: Float64Array; readonly digests: BigUint64Array } {
    return this.#digester.digests(this.#last);
  }

  /** Every message of a range by its parts, rising. At most a few blocks at a time. */
  partDigests(range: SeqRange): PartDigests[] {
    const parts: PartDigests[] = [];
    for (const slice of this.#records.slices(range.first, range.last)) {
      const view = viewOf(slice.bytes);
      for (let at = 0; at < slice.bytes.length; at += recordSize(view, at)) {
        parts.push(digestParts(readMessage(slice.bytes, at), this.#hasher));
      }
    }
    return parts;
  }
}

export function digestParts(message: StoredMessage, hasher: Hasher): PartDigests {
  return {
    seq: message.seq,
    timestamp: message.timestamp,
    subject: hasher.hash64(message.subject),
    headers: hasher.hash64(message.headers),
    payload: hasher.hash64(message.payload),
  };
}

/**
 * Extends a running hash by one applied entry and what came of it: two replicas that applied the
 * same entries with the same outcome have the same hash. The outcome's numbers are hashed, not
 * summed: two commands seen must not look like one stored and one mismatched.
 */
export function chainHash(
  hash: bigint,
  bytes: Uint8Array,
  outcome: ApplyOutcome,
  hasher: Hasher,
): bigint {
  OUTCOME_VIEW.setFloat64(0, outcome.stored, true);
  OUTCOME_VIEW.setFloat64(8, outcome.skipped, true);
  OUTCOME_VIEW.setFloat64(16, outcome.seen, true);
  OUTCOME_VIEW.setFloat64(24, outcome.mismatched, true);
  return hasher.hash64(OUTCOME_BYTES, hasher.hash64(bytes, hash));
}
