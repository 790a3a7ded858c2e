/**
 * The messages that an origin holds, encoded once in their final layout into large segments, before
 * anything is handed over: delivery bytes are command bytes. The bodies come from (seed, sequence),
 * so that any message can be made again to compare with. Digests of blocks are taken here.
 */
import type { Hasher } from '../base/hasher.js';
import { DIGEST_BLOCK, SEGMENT_BYTES_MAX } from '../base/limits.js';
import { mix } from '../base/prng.js';
import type { OriginIdentity } from '../mirror/types.js';
import type { OriginPlan } from '../scenario/types.js';
import { IntervalSet } from '../stream/intervals.js';
import { FIXED_BYTES, messageSize, viewOf, writeMessage } from '../stream/layout.js';
import { RecordIndex } from '../stream/records.js';
import { blockOf, digestParts, type PartDigests } from '../stream/store.js';
import type { SeqRange, StoredMessage, StreamState } from '../stream/types.js';

/** Where the sequences of a plan have messages: runs, rising, the sentinel's included. */
export interface Shape {
  readonly name: string;
  readonly runs: readonly SeqRange[];
  readonly size: number;
  readonly sentinel: number;
}

const SUBJECTS = 16;
const ENCODER = new TextEncoder();
const SUBJECT_BYTES = Array.from({ length: SUBJECTS }, (_, at) => ENCODER.encode(`orders.${at}`));
const SENTINEL_SUBJECT = ENCODER.encode('lockstep.sentinel');
const HEADERS = ENCODER.encode('NATS/1.0\r\nTrace: lockstep\r\n\r\n');
const NO_BYTES = new Uint8Array(0);
/** One message in this many carries headers. */
const HEADERS_EVERY = 8;
/** 2026-01-01T00:00:00Z; messages are 25 us apart. */
const CREATED_NS = 1_767_225_600_000_000_000n;
const APART_NS = 25_000n;

/** Runs of a plan, with a sentinel behind its last sequence. */
export function shapeOf(plan: OriginPlan): Shape {
  const gaps: { at: number; count: number }[] = [];
  let first = 1;
  let last: number;
  if (plan.kind === 'synthetic') {
    let passed = 0;
    for (const { after, count } of plan.gaps) {
      gaps.push({ at: after + passed + 1, count });
      passed += count;
    }
    last = plan.messages + passed;
  } else {
    first = plan.first;
    last = plan.last;
    for (const gap of plan.gaps) gaps.push({ at: gap.first, count: gap.last - gap.first + 1 });
  }
  const runs: SeqRange[] = [];
  for (const { at, count } of gaps) {
    if (at > first) runs.push({ first, last: at - 1 });
    first = at + count;
  }
  const sentinel = Math.max(last, first - 1) + 1;
  if (first <= last) runs.push({ first, last: sentinel });
  else runs.push({ first: sentinel, last: sentinel });
  const name = plan.kind === 'synthetic' ? 'SYNTHETIC' : plan.name;
  return { name, runs, size: plan.size, sentinel };
}

export interface OriginSlice {
  readonly bytes: Uint8Array;
  readonly count: number;
}

export class OriginContent {
  readonly identity: OriginIdentity;
  readonly sentinel: number;
  readonly #shape: Shape;
  readonly #seed: number;
  readonly #hasher: Hasher;
  readonly #records = new RecordIndex();
  readonly #present = new IntervalSet();
  readonly #blocks: number[] = [];
  readonly #digests: bigint[] = [];

  /**
   * @param allocate  zeroed, 8-byte aligned memory of up to SEGMENT_BYTES_MAX
   */
  constructor(
    plan: OriginPlan,
    options: {
      readonly seed: number;
      readonly hasher: Hasher;
      readonly allocate: (size: number) => Uint8Array;
    },
  ) {
    this.#shape = shapeOf(plan);
    this.#seed = options.seed;
    this.#hasher = options.hasher;
    this.sentinel = this.#shape.sentinel;
    this.identity = { name: this.#shape.name, created: CREATED_NS };
    this.#build(options.allocate);
    this.#digestBlocks();
  }

  get last(): number {
    return this.sentinel;
  }

  get messages(): number {
    return this.#records.count;
  }

  state(): StreamState {
    const first = this.#records.firstSeq;
    const messages = this.#records.count;
    return {
      first,
      last: this.last,
      messages,
      deleted: this.last - first + 1 - messages,
    };
  }

  blockDigests(): {
    readonly blocks: Float64Array;
    readonly digests: BigUint64Array;
  } {
    return {
      blocks: Float64Array.from(this.#blocks),
      digests: BigUint64Array.from(this.#digests),
    };
  }

  /** The first existing sequence at or above this one; undefined behind the last. */
  nextSeq(seq: number): number | undefined {
    return this.#records.nextSeq(seq);
  }

  /** How many messages exist from this sequence on. */
  countFrom(seq: number): number {
    return this.#present.countWithin(seq, this.last);
  }

  has(seq: number): boolean {
    return this.#present.has(seq);
  }

  /** One view over messages from a sequence on, gaps passed over, within both bounds. */
  slice(from: number, countMax: number, bytesMax: number): OriginSlice | null {
    return this.#records.head(from, countMax, bytesMax);
  }

  /** Every message of a range by its parts, made again from the seed: shared bytes prove nothing. */
  partDigests(range: SeqRange): PartDigests[] {
    const parts: PartDigests[] = [];
    for (const run of this.#present.ranges(range.first, range.last)) {
      for (let seq = run.first; seq <= run.last; seq++) {
        parts.push(digestParts(this.message(seq), this.#hasher));
      }
    }
    return parts;
  }

  /** The message at a sequence, made from the seed. */
  message(seq: number): StoredMessage {
    const sentinel = seq === this.sentinel;
    const payload = new Uint8Array(sentinel ? 8 : this.#shape.size);
    fillPayload(payload, this.#seed, seq);
    return {
      seq,
      timestamp: CREATED_NS + BigInt(seq) * APART_NS,
      subject: sentinel ? SENTINEL_SUBJECT : subjectOf(this.#seed, seq),
      headers: seq % HEADERS_EVERY === 0 ? HEADERS : NO_BYTES,
      payload,
    };
  }

  #build(allocate: (size: number) => Uint8Array): void {
    const largest = messageSize(SENTINEL_SUBJECT.length, HEADERS.length, this.#shape.size);
    let left = 0;
    for (const run of this.#shape.runs) left += (run.last - run.first + 1) * largest;
    let segment = allocate(Math.min(left, segmentSize(largest)));
    let view = viewOf(segment);
    let at = 0;
    for (const run of this.#shape.runs) {
      this.#present.add(run.first, run.last);
      for (let seq = run.first; seq <= run.last; seq++) {
        if (at + largest > segment.length) {
          segment = allocate(Math.min(left, segmentSize(largest)));
          view = viewOf(segment);
          at = 0;
        }
        const end = this.#write(segment, view, at, seq);
        this.#records.append(segment, at, end - at, {
          firstSeq: seq,
          lastSeq: seq,
          count: 1,
        });
        at = end;
        left -= largest;
      }
    }
  }

  #write(segment: Uint8Array, view: DataView, at: number, seq: number): number {
    if (seq === this.sentinel) return writeMessage(segment, view, at, this.message(seq));
    const subject = subjectOf(this.#seed, seq);
    const headers = seq % HEADERS_EVERY === 0 ? HEADERS : NO_BYTES;
    const start = at + FIXED_BYTES + subject.length + headers.length;
    const payload = segment.subarray(start, start + this.#shape.size);
    fillPayload(payload, this.#seed, seq);
    const timestamp = CREATED_NS + BigInt(seq) * APART_NS;
    return writeMessage(segment, view, at, {
      seq,
      timestamp,
      subject,
      headers,
      payload,
    });
  }

  #digestBlocks(): void {
    let seq = this.#records.nextSeq(1);
    while (seq !== undefined) {
      const block = blockOf(seq);
      const end = (block + 1) * DIGEST_BLOCK;
      const stream = this.#hasher.stream64();
      for (const slice of this.#records.slices(seq, end)) stream.update(slice.bytes);
      this.#blocks.push(block);
      this.#digests.push(stream.digest());
      seq = this.#records.nextSeq(end + 1);
    }
  }
}

function segmentSize(largest: number): number {
  return Math.max(SEGMENT_BYTES_MAX, largest);
}

function subjectOf(seed: number, seq: number): Uint8Array {
  return SUBJECT_BYTES[mix(seed ^ (seq | 0)) % SUBJECTS]!;
}

/** Words of a generator that starts from (seed, seq), then the bytes that are left. */
function fillPayload(payload: Uint8Array, seed: number, seq: number): void {
  let state = mix((seed ^ Math.imul(seq | 0, 0x9e3779b1)) | 0) ^ Math.floor(seq / 4_294_967_296);
  for (let at = 0; at < payload.length; at++) {
    if ((at & 3) === 0) state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    payload[at] = state >>> ((at & 3) * 8);
  }
}
