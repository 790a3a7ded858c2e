/**
 * Digests of what came from an origin that lockstep did not make, taken before hand-over: what is
 * shared afterwards cannot change them. A message costs 40 bytes here, in chunks of typed arrays
 * that are never copied, and three hashes; a block costs one more pass over its bytes.
 */
import type { Hasher, HashStream } from '../base/hasher.js';
import { blockOf } from '../stream/digests.js';
import { digestParts } from '../stream/store.js';
import type { SeqRange, StoredMessage } from '../stream/types.js';
import type { BlockDigests, RecordDigest } from './types.js';

const CHUNK = 16_384;

interface Chunk {
  readonly seqs: Float64Array;
  readonly timestamps: BigInt64Array;
  readonly subjects: BigUint64Array;
  readonly headers: BigUint64Array;
  readonly payloads: BigUint64Array;
}

export class ContentLedger {
  readonly #hasher: Hasher;
  readonly #chunks: Chunk[] = [];
  #count = 0;
  #highest = 0;
  /** What came below the highest sequence and was not known, or was known with other content. */
  readonly #late = new Map<number, RecordDigest[]>();
  readonly #noHeaders: bigint;

  readonly #blocks: number[] = [];
  readonly #digests: bigint[] = [];
  /** Blocks that got a message out of order: their digest says nothing, they are read. */
  readonly #spoiled = new Set<number>();
  #block = -1;
  #stream: HashStream | null = null;
  /** Records of the open block that lie side by side and are not hashed yet. */
  #bytes: Uint8Array = new Uint8Array(0);
  #from = 0;
  #to = 0;

  constructor(hasher: Hasher) {
    this.#hasher = hasher;
    this.#noHeaders = hasher.hash64(new Uint8Array(0));
  }

  /** One message and its record, at `at` … `end` of the bytes. The message is not kept. */
  take(message: StoredMessage, bytes: Uint8Array, at: number, end: number): void {
    const { seq } = message;
    if (seq <= this.#highest) {
      this.#takeAgain(message);
      return;
    }
    this.#highest = seq;
    this.#append(message);
    const block = blockOf(seq);
    if (block !== this.#block) {
      this.#endBlock();
      this.#block = block;
      this.#stream = this.#hasher.stream64();
    }
    if (this.#bytes !== bytes || this.#to !== at) {
      this.settle();
      this.#bytes = bytes;
      this.#from = at;
    }
    this.#to = end;
  }

  /** Nothing that was taken may be handed over before this. */
  settle(): void {
    if (this.#to > this.#from) this.#stream?.update(this.#bytes.subarray(this.#from, this.#to));
    this.#from = this.#to;
  }

  blockDigests(): BlockDigests {
    this.settle();
    const open = this.#stream === null ? [] : [[this.#block, this.#stream.digest()] as const];
    const all = [...this.#blocks.map((block, at) => [block, this.#digests[at]!] as const), ...open];
    const sound = all.filter(([block]) => !this.#spoiled.has(block));
    return {
      blocks: Float64Array.from(sound, ([block]) => block),
      digests: BigUint64Array.from(sound, ([, digest]) => digest),
    };
  }

  /** Rising; several share a sequence that came with different content. */
  records({ first, last }: SeqRange): RecordDigest[] {
    const records: RecordDigest[] = [];
    for (const [seq, late] of this.#late) if (seq >= first && seq <= last) records.push(...late);
    for (let at = this.#rowFrom(first); at < this.#count; at++) {
      const record = this.#row(at);
      if (record.seq > last) break;
      records.push(record);
    }
    return records.sort((one, other) => one.seq - other.seq);
  }

  #append({ seq, timestamp, subject, headers, payload }: StoredMessage): void {
    const at = this.#count % CHUNK;
    if (at === 0) this.#chunks.push(newChunk());
    const chunk = this.#chunks.at(-1)!;
    chunk.seqs[at] = seq;
    chunk.timestamps[at] = timestamp;
    chunk.subjects[at] = this.#hasher.hash64(subject);
    chunk.headers[at] = headers.length === 0 ? this.#noHeaders : this.#hasher.hash64(headers);
    chunk.payloads[at] = this.#hasher.hash64(payload);
    this.#count++;
  }

  /** A sequence that was reached before: delivered again, or lost on its way the first time. */
  #takeAgain(message: StoredMessage): void {
    const record = digestParts(message, this.#hasher);
    const { seq } = record;
    const late = this.#late.get(seq) ?? [];
    const at = this.#rowFrom(seq);
    const first = at < this.#count ? this.#row(at) : null;
    const known = first?.seq === seq ? [first, ...late] : late;
    if (known.some((other) => isSame(record, other))) return;
    this.#late.set(seq, [...late, record]);
    if (known.length === 0) this.#spoiled.add(blockOf(seq));
  }

  #endBlock(): void {
    this.settle();
    if (this.#stream === null) return;
    this.#blocks.push(this.#block);
    this.#digests.push(this.#stream.digest());
  }

  #row(at: number): RecordDigest {
    const chunk = this.#chunks[Math.floor(at / CHUNK)]!;
    const row = at % CHUNK;
    return {
      seq: chunk.seqs[row]!,
      timestamp: chunk.timestamps[row]!,
      subject: chunk.subjects[row]!,
      headers: chunk.headers[row]!,
      payload: chunk.payloads[row]!,
    };
  }

  /** The first row whose sequence is at or above this one. */
  #rowFrom(seq: number): number {
    let low = 0;
    let high = this.#count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#chunks[Math.floor(middle / CHUNK)]!.seqs[middle % CHUNK]! < seq) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function newChunk(): Chunk {
  return {
    seqs: new Float64Array(CHUNK),
    timestamps: new BigInt64Array(CHUNK),
    subjects: new BigUint64Array(CHUNK),
    headers: new BigUint64Array(CHUNK),
    payloads: new BigUint64Array(CHUNK),
  };
}

function isSame(one: RecordDigest, other: RecordDigest): boolean {
  return (
    one.timestamp === other.timestamp &&
    one.subject === other.subject &&
    one.headers === other.headers &&
    one.payload === other.payload
  );
}
