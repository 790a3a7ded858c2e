/**
 * Readers of one sequence space, walked side by side: at each sequence the copies are held against
 * the reference. One batch a reader is in memory, nothing is kept of what was compared.
 */
import { expectedOf, readMessage, recordSize } from '../stream/layout.js';
import type { ReadBatch } from '../nats/reader-intake.js';
import { cursorOf, messageAt, sameRecord, type RecordCursor } from './record-compare.js';
import type { StoredMessage } from '../stream/types.js';

/** Anything that hands out messages in order of sequence; null: there is none up to the end. */
export interface MessageSource {
  next(): Promise<ReadBatch | null>;
}

/** Told of every sequence at which not all are bit for bit alike. `copy` is an index. */
export interface MergeSink {
  /** The reference has it, the copy not. */
  missing(copy: number, message: StoredMessage): void;
  /** The copy has it, the reference not. */
  extra(copy: number, message: StoredMessage): void;
  /** Both have it, and not every bit is the same: headers, subjects may still differ by rule. */
  unlike(copy: number, reference: StoredMessage, message: StoredMessage): void;
  /** Whether `alike` is to be given the message, which costs. */
  readonly wantsAlike: boolean;
  /** Both have it, bit for bit the same; null unless it is wanted. */
  alike(copy: number, message: StoredMessage | null): void;
  /** All copies had it like the reference, or were told of one by one. */
  passed(seq: number): void;
  /** Now and then: the last message of the reference that was compared. */
  border(message: StoredMessage): void;
}

class Head implements RecordCursor {
  bytes: Buffer = Buffer.alloc(0);
  view: DataView = new DataView(new ArrayBuffer(0));
  at = 0;
  /** Infinity: there is nothing more. */
  seq = 0;
  readonly #source: MessageSource;
  #before = -1;

  constructor(source: MessageSource) {
    this.#source = source;
  }

  get isEmpty(): boolean {
    return this.at >= this.bytes.length && this.seq !== Infinity;
  }

  async refill(): Promise<void> {
    const batch = await this.#source.next();
    if (batch === null) {
      this.seq = Infinity;
      return;
    }
    const { bytes, view } = cursorOf(batch.bytes);
    this.bytes = bytes;
    this.view = view;
    this.at = 0;
    this.#before = -1;
    this.seq = expectedOf(view, 0) + 1;
  }

  /** The message before the one it stands at, if it lies in the same batch. */
  get before(): StoredMessage | null {
    return this.#before < 0 ? null : readMessage(this.bytes, this.#before);
  }

  advance(): void {
    this.#before = this.at;
    this.at += recordSize(this.view, this.at);
    if (this.at < this.bytes.length) this.seq = expectedOf(this.view, this.at) + 1;
  }
}

/**
 * Walks until all have ended. Between two batches `pause` is asked: true ends the walk, with every
 * sequence up to the last that `passed` told of compared. Errors: those of the sources.
 */
export async function merge(
  reference: MessageSource,
  copies: readonly MessageSource[],
  sink: MergeSink,
  pause: () => boolean = () => false,
): Promise<'ended' | 'paused'> {
  const first = new Head(reference);
  const others = copies.map((copy) => new Head(copy));
  const heads = [first, ...others];
  for (;;) {
    if (pause()) return 'paused';
    await Promise.all(heads.filter(({ isEmpty }) => isEmpty).map((head) => head.refill()));
    if (heads.every(({ seq }) => seq === Infinity)) return 'ended';
    for (let seq = lowest(heads); seq < Infinity; seq = lowest(heads)) {
      compareAt(seq, first, others, sink);
      for (const head of heads) if (head.seq === seq) head.advance();
      sink.passed(seq);
    }
    const border = first.before;
    if (border !== null) sink.border(border);
  }
}

/** The next sequence that any of them has; Infinity: none, or one has to be filled first. */
function lowest(heads: readonly Head[]): number {
  let seq = Infinity;
  for (const head of heads) {
    if (head.isEmpty) return Infinity;
    if (head.seq < seq) seq = head.seq;
  }
  return seq;
}

function compareAt(seq: number, reference: Head, copies: readonly Head[], sink: MergeSink): void {
  for (let at = 0; at < copies.length; at++) {
    const copy = copies[at]!;
    if (reference.seq !== seq) {
      if (copy.seq === seq) sink.extra(at, messageAt(copy));
    } else if (copy.seq !== seq) sink.missing(at, messageAt(reference));
    else if (!sameRecord(reference, copy)) sink.unlike(at, messageAt(reference), messageAt(copy));
    else sink.alike(at, sink.wantsAlike ? messageAt(copy) : null);
  }
}
