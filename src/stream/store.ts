/**
 * The store of one replica: commands in, a stream out. It applies what raft committed, judges each
 * command by the sequence that it expects to follow, and keeps views of the bytes it was given. It
 * never copies, never decides, and knows nothing of terms.
 */
import { invariant } from "../base/errors.js";
import type { Hasher } from "../base/hasher.js";
import { DIGEST_BLOCK } from "../base/limits.js";
import { BlockDigester } from "./digests.js";
import { IntervalSet } from "./intervals.js";
import {
  KIND_IDENTITY,
  KIND_MESSAGE,
  KIND_RESET,
  KIND_SKIP,
  KIND_SKIP_RANGE,
  readIdentity,
  readMessage,
  readSafe,
  viewOf,
} from "./layout.js";
import { RecordIndex } from "./records.js";
import type {
  ApplyOutcome,
  SeqRange,
  StoredMessage,
  StreamState,
} from "./types.js";

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
  firstMismatch: ApplyOutcome["firstMismatch"];
}

export class Store {
  readonly #hasher: Hasher;
  readonly #records = new RecordIndex();
  /** Passed-over sequences, those before the first message included. */
  readonly #skipped = new IntervalSet();
  readonly #digester: BlockDigester;
  /** First and last as upstream keeps them: first is 0 only while the store is untouched. */
  #first = 0;
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

  /** Timestamp of the last message; skips leave it as it is (upstream #8327). */
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
    const deleted = messages > 0 ? this.#last - this.#first + 1 - messages : 0;
    return { first: this.#first, last: this.#last, messages, deleted };
  }

  /** Interior gaps, rising: what is passed over between first and last. */
  gaps(): SeqRange[] {
    return this.messages === 0
      ? []
      : this.#skipped.ranges(this.#first, this.#last);
  }

  read(seq: number): StoredMessage | undefined {
    const record = this.#records.find(seq);
    return record === undefined ? undefined : readMessage(record, 0);
  }

  /**
   * Applies the commands of one entry, each judged by itself: at or below last is a counted no-op,
   * equal to what is expected is applied, beyond it is a mismatch and is left out. `bytes` hold
   * `count` well-formed commands and must never change again.
   */
  apply(bytes: Uint8Array, count: number): ApplyOutcome {
    const tally: Tally = {
      stored: 0,
      skipped: 0,
      seen: 0,
      mismatched: 0,
      firstMismatch: null,
    };
    const view = viewOf(bytes);
    let at = 0;
    let left = count;
    while (left > 0) {
      const kind = view.getUint8(at + 4);
      const taken =
        kind === KIND_MESSAGE
          ? this.#applyMessages(bytes, view, at, left, tally)
          : 0;
      if (taken > 0) {
        at = this.#runEnd;
        left -= taken;
        continue;
      }
      this.#applyOne(bytes, view, at, kind, tally);
      at += view.getUint32(at, true);
      left--;
    }
    return tally;
  }

  /** Offset behind the run that #applyMessages took last. */
  #runEnd = 0;

  /** Takes as many messages as follow one another from last + 1 on; returns how many. */
  #applyMessages(
    bytes: Uint8Array,
    view: DataView,
    start: number,
    most: number,
    tally: Tally,
  ): number {
    let at = start;
    let taken = 0;
    let tail = start;
    while (taken < most) {
      if (view.getUint8(at + 4) !== KIND_MESSAGE) break;
      if (readSafe(view, at + 8) !== this.#last + taken) break;
      tail = at;
      at += view.getUint32(at, true);
      taken++;
    }
    if (taken === 0) return 0;
    const firstSeq = this.#last + 1;
    if (this.#records.count === 0) this.#first = firstSeq;
    this.#last += taken;
    this.#lastTime = view.getBigInt64(tail + 16, true);
    this.#records.append(bytes, start, at - start, {
      firstSeq,
      lastSeq: this.#last,
      count: taken,
    });
    this.#runEnd = at;
    tally.stored += taken;
    return taken;
  }

  #applyOne(
    bytes: Uint8Array,
    view: DataView,
    at: number,
    kind: number,
    tally: Tally,
  ): void {
    const expected = readSafe(view, at + 8);
    switch (kind) {
      case KIND_MESSAGE:
      case KIND_SKIP:
        return this.#passOver(expected, expected + 1, tally);
      case KIND_SKIP_RANGE:
        return this.#passOver(
          expected,
          expected + readSafe(view, at + 16),
          tally,
        );
      case KIND_RESET:
        return this.#reset(expected, readSafe(view, at + 16), tally);
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
    if (this.#records.count === 0) this.#first = end + 1;
  }

  /** Only an empty stream jumps (upstream #4249); nothing is stored. */
  #reset(expected: number, first: number, tally: Tally): void {
    if (this.#records.count > 0 && first - 1 > this.#last)
      this.#mismatch(expected, tally);
    else this.#passOver(expected, first - 1, tally);
  }

  #identify(
    found: { readonly name: Uint8Array; readonly created: bigint },
    expected: number,
    tally: Tally,
  ): void {
    const name = new TextDecoder().decode(found.name);
    if (this.#identity === null)
      this.#identity = { name, created: found.created };
    else if (
      this.#identity.name === name &&
      this.#identity.created === found.created
    )
      tally.seen++;
    else this.#mismatch(expected, tally);
  }

  #mismatch(expected: number, tally: Tally): void {
    tally.mismatched++;
    tally.firstMismatch ??= { expected, last: this.#last };
  }

  /** Digests of all blocks with a message; those that are complete are kept for the next call. */
  blockDigests(): {
    readonly blocks: Float64Array;
    readonly digests: BigUint64Array;
  } {
    return this.#digester.digests(this.#first, this.#last);
  }

  /** Every message of a range by its parts, rising. At most a few blocks at a time. */
  partDigests(range: SeqRange): PartDigests[] {
    const parts: PartDigests[] = [];
    for (const slice of this.#records.slices(range.first, range.last)) {
      const view = viewOf(slice.bytes);
      for (
        let at = 0;
        at < slice.bytes.length;
        at += view.getUint32(at, true)
      ) {
        parts.push(digestParts(readMessage(slice.bytes, at), this.#hasher));
      }
    }
    return parts;
  }
}

export function digestParts(
  message: StoredMessage,
  hasher: Hasher,
): PartDigests {
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
 * same entries with the same outcome have the same hash.
 */
export function chainHash(
  hash: bigint,
  bytes: Uint8Array,
  outcome: ApplyOutcome,
  hasher: Hasher,
): bigint {
  const entry = hasher.hash64(bytes, hash);
  const { stored, skipped, seen, mismatched } = outcome;
  return BigInt.asUintN(
    64,
    entry + BigInt(stored * 3 + seen * 5 + mismatched * 7) + BigInt(skipped),
  );
}

/** The block of a sequence: block b holds b * 1024 + 1 … (b + 1) * 1024. */
export function blockOf(seq: number): number {
  return Math.floor((seq - 1) / DIGEST_BLOCK);
}
