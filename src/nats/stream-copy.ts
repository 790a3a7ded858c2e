/**
 * A stream as a reader of one of its copies finds it, digested message by message while it comes:
 * what the judge asks a replica, or an origin, for.
 */
import type { Hasher } from '../base/hasher.js';
import { IntervalSet } from '../stream/intervals.js';
import { readMessage, recordSize, viewOf } from '../stream/layout.js';
import type { RecordSlice } from '../stream/records.js';
import type { SeqRange, StreamState } from '../stream/types.js';
import { ContentLedger } from '../verdict/content-ledger.js';
import { span, subtract } from '../verdict/ranges.js';
import type { CopyReport, RecordDigest } from '../verdict/types.js';
import type { JetStreamAccess } from './access.js';
import { openReader } from './stream-reader.js';

export interface CopyRequest {
  readonly stream: string;
  /** The server whose copy is read; null: whichever serves. */
  readonly replica: string | null;
  readonly range: SeqRange;
}

export class StreamCopy {
  readonly #content: ContentLedger;
  readonly #held = new IntervalSet();

  constructor(hasher: Hasher) {
    this.#content = new ContentLedger(hasher);
  }

  /** Adds what a range holds now. Errors: timeout, originRefused. */
  async read(access: JetStreamAccess, request: CopyRequest): Promise<void> {
    const { stream, replica, range } = request;
    if (range.last < range.first) return;
    const reader = await openReader(access, {
      ...{ stream, replica, from: range.first, to: range.last },
      bytesPerSecond: null,
    });
    try {
      for (let batch = await reader.next(); batch !== null; batch = await reader.next()) {
        this.#take(batch);
      }
    } finally {
      await reader.close();
    }
  }

  /** Sequences that were found, rising. */
  held(): SeqRange[] {
    return this.#held.ranges();
  }

  records(range: SeqRange): RecordDigest[] {
    return this.#content.records(range);
  }

  blocks(): CopyReport['blocks'] {
    return this.#content.blockDigests();
  }

  /** @param state  what the server says that this copy holds */
  report(state: StreamState): CopyReport {
    // Servers say of an empty stream that it begins and ends at 0, which is no sequence.
    const gaps = subtract(span(Math.max(1, state.first), state.last), this.held());
    return { state, gaps, blocks: this.blocks() };
  }

  #take({ bytes, count }: RecordSlice): void {
    const view = viewOf(bytes);
    let at = 0;
    for (let left = count; left > 0; left--) {
      const end = at + recordSize(view, at);
      const message = readMessage(bytes, at);
      this.#content.take(message, bytes, at, end);
      this.#held.add(message.seq, message.seq);
      at = end;
    }
    this.#content.settle();
  }
}
