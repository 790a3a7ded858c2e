/**
 * xxh64 over the message records of fixed blocks of 1,024 sequences. However a stream was cut into
 * batches, the digest of a block is the same; complete blocks are hashed once.
 */
import type { Hasher } from "../base/hasher.js";
import { DIGEST_BLOCK } from "../base/limits.js";
import type { RecordIndex } from "./records.js";

export class BlockDigester {
  readonly #hasher: Hasher;
  readonly #records: RecordIndex;
  readonly #blocks: number[] = [];
  readonly #digests: bigint[] = [];
  /** Blocks below this one are complete and hashed. */
  #complete = 0;

  constructor(hasher: Hasher, records: RecordIndex) {
    this.#hasher = hasher;
    this.#records = records;
  }

  /** Digests of the blocks of first … last that hold a message, rising by block. */
  digests(
    first: number,
    last: number,
  ): { blocks: Float64Array; digests: BigUint64Array } {
    const wholeBlocks = Math.floor(last / DIGEST_BLOCK);
    let block = Math.max(
      this.#complete,
      Math.floor(Math.max(0, first - 1) / DIGEST_BLOCK),
    );
    while (block < wholeBlocks) block = this.#hashFrom(block, wholeBlocks);
    this.#complete = Math.max(this.#complete, wholeBlocks);
    const blocks = [...this.#blocks];
    const digests = [...this.#digests];
    const open = this.#digestOf(wholeBlocks);
    if (open !== undefined) {
      blocks.push(wholeBlocks);
      digests.push(open);
    }
    return {
      blocks: Float64Array.from(blocks),
      digests: BigUint64Array.from(digests),
    };
  }

  /** Hashes one block and returns the next that can hold a message. */
  #hashFrom(block: number, end: number): number {
    const digest = this.#digestOf(block);
    if (digest !== undefined) {
      this.#blocks.push(block);
      this.#digests.push(digest);
      return block + 1;
    }
    const next = this.#records.nextSeq(block * DIGEST_BLOCK + 1);
    return next === undefined ? end : Math.floor((next - 1) / DIGEST_BLOCK);
  }

  #digestOf(block: number): bigint | undefined {
    const slices = this.#records.slices(
      block * DIGEST_BLOCK + 1,
      (block + 1) * DIGEST_BLOCK,
    );
    const [only, ...more] = slices;
    if (only === undefined) return undefined;
    if (more.length === 0) return this.#hasher.hash64(only.bytes);
    const stream = this.#hasher.stream64();
    for (const slice of slices) stream.update(slice.bytes);
    return stream.digest();
  }
}
