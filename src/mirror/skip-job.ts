/**
 * A skip as a resumable job of the leader: each step makes at most one batch, so that a step-down
 * can fall between two, and a gap of any size neither blocks a turn nor overruns the leader.
 */
import { RANGE_BYTES, SKIP_BYTES, viewOf, writeSkip, writeSkipRange } from '../stream/layout.js';
import type { Proposal } from './ports.js';
import type { SkipEncoding } from './types.js';

export class SkipJob {
  /** Whether it belongs to the set-up of an opening; else to a gap met while receiving. */
  readonly setUp: boolean;
  readonly #encoding: SkipEncoding | 'direct';
  readonly #batchCountMax: number;
  readonly #end: number;
  #next: number;

  constructor(
    range: { readonly first: number; readonly last: number },
    options: {
      /** `direct`: one replica without raft; its store skips a range at once. */
      readonly encoding: SkipEncoding | 'direct';
      readonly batchCountMax: number;
      readonly setUp: boolean;
    },
  ) {
    this.#next = range.first;
    this.#end = range.last;
    this.#encoding = options.encoding;
    this.#batchCountMax = options.batchCountMax;
    this.setUp = options.setUp;
  }

  get end(): number {
    return this.#end;
  }

  /** The last sequence that an accepted batch passed over. */
  get passed(): number {
    return this.#next - 1;
  }

  get done(): boolean {
    return this.#next > this.#end;
  }

  /** Bytes of the next batch: what the uncommitted window must have room for. */
  get bytesNeeded(): number {
    return this.#encoding === 'entries' ? this.#batchCount() * SKIP_BYTES : RANGE_BYTES;
  }

  /** The next batch, in bytes of its own: raft keeps them after the hand-over. */
  batch(allocate: (size: number) => Uint8Array): Proposal {
    const bytes = allocate(this.bytesNeeded);
    const view = viewOf(bytes);
    const first = this.#next;
    if (this.#encoding !== 'entries') {
      const count = this.#end - first + 1;
      writeSkipRange(view, 0, first - 1, count);
      return { what: 'range', bytes, count: 1, first, last: this.#end };
    }
    const count = this.#batchCount();
    for (let at = 0; at < count; at++) writeSkip(view, at * SKIP_BYTES, first - 1 + at);
    return { what: 'skips', bytes, count, first, last: first + count - 1 };
  }

  accepted(batch: Proposal): void {
    this.#next = batch.last + 1;
  }

  #batchCount(): number {
    return Math.min(this.#batchCountMax, this.#end - this.#next + 1);
  }
}
