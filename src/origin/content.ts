/**
 * The messages that an origin holds, encoded once in their final layout into large segments, before
 * anything is handed over: delivery bytes are command bytes. The bodies come from (seed, sequence),
 * so that any message can be made again to compare with. Digests of blocks are taken here.
 */
import type { Hasher } from '../base/hasher.js';
import { SEGMENT_BYTES_MAX } from '../base/limits.js';
import { mix } from '../base/prng.js';
import type { OriginIdentity } from '../mirror/types.js';
import type { MadeOriginPlan } from '../scenario/types.js';
import { BlockDigester } from '../stream/digests.js';
import { messageSize, viewOf, writeMessage } from '../stream/layout.js';
import { RecordIndex } from '../stream/records.js';
import { digestParts, type PartDigests } from '../stream/store.js';
import type { SeqRange, StoredMessage, StreamState } from '../stream/types.js';
import type { BlockDigests } from '../verdict/types.js';
import { OriginShape } from './shape.js';

const SUBJECTS = 16;
const ENCODER = new TextEncoder();
const SUBJECT_BYTES = Array.from({ length: SUBJECTS }, (_, at) => ENCODER.encode(`orders.${at}`));
const SENTINEL_SUBJECT = ENCODER.encode('lockstep.sentinel');
const SENTINEL_SIZE = 8;
const HEADERS = ENCODER.encode('NATS/1.0\r\nTrace: lockstep\r\n\r\n');
const NO_BYTES = new Uint8Array(0);
/** One message in this many carries headers. */
const HEADERS_EVERY = 8;
/** 2026-01-01T00:00:00Z. */
const CREATED_NS = 1_767_225_600_000_000_000n;
/** Between two sequences; the time of sequence 2^53-1 still fits 64 bits. */
const APART_NS = 500n;
/** Between the creations of two lives of one name. */
const LIFE_NS = 3_600_000_000_000n;

export interface OriginContentOptions {
  readonly seed: number;
  readonly hasher: Hasher;
  /** Zeroed memory at a multiple of 8, of up to SEGMENT_BYTES_MAX; it must never change again. */
  readonly allocate: (size: number) => Uint8Array;
  /** Bytes of the largest payload, where sizes differ from message to message. */
  readonly sizeMax?: number | undefined;
  /** One message in this many carries headers; 8 by default. */
  readonly headersEvery?: number | undefined;
  /** How often the stream was deleted and made anew before: another identity, other bodies. */
  readonly life?: number;
}

/** One view over messages, gaps between them passed over. */
export interface OriginSlice {
  readonly bytes: Uint8Array;
  readonly count: number;
  readonly firstSeq: number;
  readonly lastSeq: number;
}

export class OriginContent {
  readonly identity: OriginIdentity;
  readonly #shape: OriginShape;
  readonly #seed: number;
  readonly #hasher: Hasher;
  readonly #sizeMax: number;
  readonly #headersEvery: number;
  /** What an origin of somebody else's holds, by number; null: it is made from the seed. */
  readonly #held: readonly StoredMessage[] | null;
  readonly #records = new RecordIndex();
  readonly #blocks: BlockDigests;

  constructor(plan: MadeOriginPlan, options: OriginContentOptions) {
    const { seed, hasher, allocate, life = 0 } = options;
    this.#shape = new OriginShape(plan);
    this.#held = plan.kind === 'own' ? plan.held : null;
    this.#sizeMax = Math.max(plan.size, options.sizeMax ?? 0);
    this.#headersEvery = options.headersEvery ?? HEADERS_EVERY;
    this.#seed = mix(mix(Math.floor(seed / 4_294_967_296)) ^ (seed | 0)) ^ life;
    this.#hasher = hasher;
    this.identity = { name: this.#shape.name, created: CREATED_NS + BigInt(life) * LIFE_NS };
    this.#encode(allocate);
    this.#blocks = new BlockDigester(hasher, this.#records).digests(this.last);
  }

  /** The last message: it follows the plan's last sequence, so that a gap there shows. */
  get sentinel(): number {
    return this.#shape.sentinel;
  }

  get last(): number {
    return this.#shape.sentinel;
  }

  /** How many, the sentinel counted. */
  get messages(): number {
    return this.#shape.messages;
  }

  state(): StreamState {
    const { first, messages } = this.#shape;
    return { first, last: this.last, messages, deleted: this.last - first + 1 - messages };
  }

  /** Taken when the content was made. */
  blockDigests(): BlockDigests {
    return this.#blocks;
  }

  /** Messages are numbered from 0 as they were made: how many have a lower sequence. */
  numberOf(seq: number): number {
    return this.#shape.messagesBefore(seq);
  }

  /** The sequence of the message with that number, 0 … messages - 1. */
  seqOf(number: number): number {
    return this.#shape.seqOf(number);
  }

  /** The parts of a range where every sequence was made, rising. */
  runs(range: SeqRange): Iterable<SeqRange> {
    return this.#shape.within(range);
  }

  /**
   * The messages from a sequence on, at least one, within both bounds and one segment; null when
   * there is none.
   */
  slice(from: number, countMax: number, bytesMax: number): OriginSlice | null {
    const slice = this.#records.head(from, countMax, bytesMax);
    if (slice === null) return null;
    const number = this.#shape.messagesBefore(from);
    const firstSeq = this.#shape.seqOf(number);
    const { bytes, count } = slice;
    return { bytes, count, firstSeq, lastSeq: this.#shape.seqOf(number + count - 1) };
  }

  /**
   * Every message of a range by its parts, made again from the seed: shared bytes prove nothing.
   */
  partDigests(range: SeqRange): PartDigests[] {
    const parts: PartDigests[] = [];
    for (const run of this.runs(range)) {
      for (let seq = run.first; seq <= run.last; seq++) {
        parts.push(digestParts(this.message(seq), this.#hasher));
      }
    }
    return parts;
  }

  /** The message at an existing sequence, made from the seed. */
  message(seq: number): StoredMessage {
    return this.#make(seq, new DataView(new ArrayBuffer(paddedSize(this.#sizeMax))));
  }

  /** The payload is written to the front of `room`. */
  #make(seq: number, room: DataView<ArrayBuffer>): StoredMessage {
    const sentinel = seq === this.sentinel;
    if (this.#held !== null && !sentinel) return this.#held[this.numberOf(seq)]!;
    const mixed = mix(this.#seed ^ mix(seq | 0) ^ Math.floor(seq / 4_294_967_296));
    const size = sentinel ? SENTINEL_SIZE : this.#sizeOf(mixed);
    fillPayload(room, size, mixed);
    return {
      seq,
      timestamp: CREATED_NS + BigInt(seq) * APART_NS,
      subject: sentinel ? SENTINEL_SUBJECT : SUBJECT_BYTES[mixed % SUBJECTS]!,
      headers: seq % this.#headersEvery === 0 ? HEADERS : NO_BYTES,
      payload: new Uint8Array(room.buffer, 0, size),
    };
  }

  #sizeOf(mixed: number): number {
    const { size } = this.#shape;
    return this.#sizeMax === size ? size : size + (mix(mixed) % (this.#sizeMax - size + 1));
  }

  /** Bytes of the largest record that there can be. */
  #largest(): number {
    const payload = Math.max(this.#sizeMax, SENTINEL_SIZE);
    return (this.#held ?? []).reduce(
      (most, { subject, headers, payload }) =>
        Math.max(most, messageSize(subject.length, headers.length, payload.length)),
      messageSize(SENTINEL_SUBJECT.length, HEADERS.length, payload),
    );
  }

  /** Records lie side by side across gaps, so a segment is one run of the index. */
  #encode(allocate: (size: number) => Uint8Array): void {
    const largest = this.#largest();
    const fitting = Math.floor(SEGMENT_BYTES_MAX / largest);
    const room = new DataView(new ArrayBuffer(paddedSize(this.#sizeMax)));
    let segment = NO_BYTES as Uint8Array;
    let view = viewOf(segment);
    let at = 0;
    let count = 0;
    let firstSeq = 0;
    let lastSeq = 0;
    let left = this.#shape.messages;
    for (const run of this.#shape.runs) {
      for (let seq = run.first; seq <= run.last; seq++) {
        if (at + largest > segment.length) {
          if (count > 0) this.#records.append(segment, 0, at, { firstSeq, lastSeq, count });
          segment = allocate(Math.min(left, fitting) * largest);
          view = viewOf(segment);
          at = 0;
          count = 0;
          firstSeq = seq;
        }
        at = writeMessage(segment, view, at, this.#make(seq, room));
        lastSeq = seq;
        count++;
        left--;
      }
    }
    this.#records.append(segment, 0, at, { firstSeq, lastSeq, count });
  }
}

/** Room for a payload in whole words. */
function paddedSize(size: number): number {
  return Math.ceil(Math.max(size, SENTINEL_SIZE) / 4) * 4;
}

/**
 * Words of a linear congruential generator; what the last one has too many lies behind the size.
 */
function fillPayload(room: DataView, size: number, start: number): void {
  let word = start;
  for (let at = 0; at < size; at += 4) {
    word = (Math.imul(word, 1_664_525) + 1_013_904_223) | 0;
    room.setInt32(at, word, true);
  }
}
