/**
 * xxh64 over the message records of fixed blocks of 1,024 sequences. However a stream was cut into
 * batches, the digest of a block is the same; complete blocks are hashed once.
 */
import type { Hasher } from '../base/hasher.js';
import { DIGEST_BLOCK } from '../base/limits.js';
import type { RecordIndex } from './records.js';

/** The block of a sequence: block b holds b * 1024 + 1 … (b + 1) * 1024. */
export function blockOf(seq: number): number {
  return Math.floor((seq - 1) / DIGEST_BLOCK);
}

export class BlockDigester {
  readonly #hasher: Hasher;
  readonly #records: RecordIndex;
  readonly #blocks: number[] = [];
  readonly #digests: bigint[] = [];
  /** Blocks below this one are complete, and hashed if they hold a message. */
  #complete = 0;

  constructor(hasher: Hasher, records: RecordIndex) {
    this.#hasher = hasher;
    this.#records = records;
  }

  /** Digests of the blocks with a message, rising by block, of a stream that ends at `last`. */
  digests(last: number): { readonly blocks: Float64Array; readonly digests: BigUint64Array } {
    const complete = Math.floor(last / DIGEST_BLOCK);
    this.#hashUntil(complete);
    const blocks = [...this.#blocks];
    const digests = [...this.#digests];
    const open = this.#digestOf(complete);
    if (open !== undefined) {
      blocks.push(complete);
      digests.push(open);
    }
    return { blocks: Float64Array.from(blocks), digests: BigUint64Array.from(digests) };
  }

  /** Hashes the blocks below `end` that have come since; goes from message to message over gaps. */
  #hashUntil(end: number): void {
    while (this.#complete < end) {
      const seq = this.#records.nextSeq(this.#complete * DIGEST_BLOCK + 1);
      const block = seq === undefined ? end : blockOf(seq);
      if (block >= end) break;
      this.#blocks.push(block);
      this.#digests.push(this.#digestOf(block)!);
      this.#complete = block + 1;
    }
    this.#complete = end;
  }

  /** One call over one view is quicker than a stream and gives the same digest. */
  #digestOf(block: number): bigint | undefined {
    const slices = this.#records.slices(block * DIGEST_BLOCK + 1, (block + 1) * DIGEST_BLOCK);
    const [only, ...more] = slices;
    if (only === undefined) return undefined;
    if (more.length === 0) return this.#hasher.hash64(only.bytes);
    const stream = this.#hasher.stream64();
    for (const slice of slices) stream.update(slice.bytes);
    return stream.digest();
  }
}
