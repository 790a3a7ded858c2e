import { describe, expect, it } from 'vitest';
import { loadHasher } from '../../src/base/hasher.js';
import { messageSize, viewOf, writeMessage } from '../../src/stream/layout.js';
import { Store } from '../../src/stream/store.js';
import { ContentLedger } from '../../src/verdict/content-ledger.js';
import { copyReport } from '../../src/verdict/copy.js';

const hasher = await loadHasher();
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const SIZE = messageSize(1, 0, 8);

/** The same messages in a ledger and, in order and without the gaps between, in a store. */
class Stage {
  readonly ledger = new ContentLedger(hasher);
  readonly #segment = new Uint8Array(4_000 * SIZE);
  #at = 0;

  take(seq: number, payload = `${seq}`.padStart(8)): void {
    const message = {
      ...{ seq, timestamp: BigInt(seq), subject: bytesOf('s'), headers: new Uint8Array(0) },
      payload: bytesOf(payload),
    };
    const at = this.#at;
    this.#at = writeMessage(this.#segment, viewOf(this.#segment), at, message);
    this.ledger.take(message, this.#segment, at, this.#at);
  }

  /** What a store says of all that was written. */
  stored(): ReturnType<typeof copyReport> {
    const store = new Store({ hasher });
    store.apply(this.#segment.subarray(0, this.#at), this.#at / SIZE);
    return copyReport(store);
  }

  seqs(first: number, last: number): number[] {
    return this.ledger.records({ first, last }).map(({ seq }) => seq);
  }
}

describe('content ledger: what came, in order', () => {
  it('blocks as a store has them, wherever pieces were cut', () => {
    const stage = new Stage();
    for (let seq = 1; seq <= 3_000; seq++) {
      stage.take(seq);
      if (seq % 77 === 0) stage.ledger.settle();
    }
    const { blocks } = stage.stored();
    expect(stage.ledger.blockDigests()).toEqual(blocks);
    expect([...blocks.blocks]).toEqual([0, 1, 2]);
    // Asked once more, and once more after more came.
    expect(stage.ledger.blockDigests()).toEqual(blocks);
    stage.take(3_001);
    expect(stage.ledger.blockDigests()).toEqual(stage.stored().blocks);
  });

  it('messages by their parts, each range its own', () => {
    const stage = new Stage();
    for (const seq of [1, 2, 5, 9]) stage.take(seq);
    expect(stage.seqs(1, 9)).toEqual([1, 2, 5, 9]);
    expect(stage.seqs(2, 8)).toEqual([2, 5]);
    expect(stage.seqs(6, 8)).toEqual([]);
    expect(stage.ledger.records({ first: 5, last: 5 })).toEqual([
      {
        ...{ seq: 5, timestamp: 5n, subject: hasher.hash64(bytesOf('s')) },
        headers: hasher.hash64(new Uint8Array(0)),
        payload: hasher.hash64(bytesOf('5'.padStart(8))),
      },
    ]);
  });

  it('more than a chunk of typed arrays holds', () => {
    const ledger = new ContentLedger(hasher);
    const segment = new Uint8Array(SIZE);
    const [subject, none] = [bytesOf('s'), new Uint8Array(0)];
    for (let seq = 2; seq <= 100_000; seq += 2) {
      const message = { seq, timestamp: 0n, subject, headers: none, payload: none };
      ledger.take(message, segment, 0, SIZE);
    }
    const seqs = ledger.records({ first: 32_760, last: 32_775 }).map(({ seq }) => seq);
    expect(seqs).toEqual([32_760, 32_762, 32_764, 32_766, 32_768, 32_770, 32_772, 32_774]);
  });
});

describe('content ledger: what came again', () => {
  it('the same: nothing new, the block stands', () => {
    const stage = new Stage();
    for (const seq of [1, 2, 3]) stage.take(seq);
    const { blocks } = stage.stored();
    for (const seq of [2, 3, 4]) stage.take(seq);
    expect(stage.seqs(1, 9)).toEqual([1, 2, 3, 4]);
    const digests = stage.ledger.blockDigests();
    expect(digests.blocks).toEqual(blocks.blocks);
    expect(digests.digests).not.toEqual(blocks.digests);
  });

  it('other content: both are allowed', () => {
    const stage = new Stage();
    stage.take(1);
    const before = stage.ledger.blockDigests();
    stage.take(1, 'another!');
    stage.take(1, 'another!');
    expect(stage.seqs(1, 1)).toEqual([1, 1]);
    expect(stage.ledger.blockDigests()).toEqual(before);
  });

  it('late: it is known, and its block says nothing any more', () => {
    const stage = new Stage();
    for (const seq of [1, 3, 1_025, 1_026, 3_000]) stage.take(seq);
    stage.take(2);
    stage.take(2);
    expect(stage.seqs(1, 4)).toEqual([1, 2, 3]);
    expect([...stage.ledger.blockDigests().blocks]).toEqual([1, 2]);
    // The open block too.
    stage.take(2_999);
    expect([...stage.ledger.blockDigests().blocks]).toEqual([1]);
  });
});
