/**
 * What an opening brought and the mirror has not taken in yet: frames in order, and how far the
 * first one is read. Records are walked in place; messages side by side, across frames too, are one
 * view. It knows no cursor: opening.ts says what a message is worth.
 */
import { LockstepError, invariant, toErrorData, type ErrorData } from '../base/errors.js';
import { ORIGIN_WINDOW_BYTES } from '../base/limits.js';
import { isSeq } from '../base/seq.js';
import { readSafe, validateMessages, viewOf } from '../stream/layout.js';
import { Fifo } from './fifo.js';
import type { OriginFrame } from './types.js';

type DeliverFrame = Extract<OriginFrame, { type: 'deliver' }>;

/** Messages that follow one another, as one view. */
export interface MessageRun {
  readonly bytes: Uint8Array;
  readonly count: number;
  readonly first: number;
  readonly last: number;
  /** Delivery number of the last one. */
  readonly deliverySeq: number;
  /** Messages that the origin still had behind the last one. */
  readonly behind: number;
}

export interface RunBounds {
  readonly count: number;
  readonly bytes: number;
  /** No record larger than this is taken. */
  readonly recordBytes: number;
}

/** A link may hand everything over twice, and the last frame may reach over the window. */
const BYTES_MAX = 3 * ORIGIN_WINDOW_BYTES;

export class Intake {
  readonly #frames = new Fifo<OriginFrame>();
  /** Over the first frame, when that is one of deliveries. */
  #view: DataView | null = null;
  /** The first unread message of the first frame: offset and place. */
  #at = 0;
  #index = 0;
  /** Frames from the first one on that were found well-formed. */
  #checked = 0;
  #bytes = 0;

  /** Asserts that the origin keeps to its window. */
  push(frame: OriginFrame): void {
    // Only the newest beat counts, and an origin beats for as long as a leader waits for room.
    const beatsAgain = frame.type === 'heartbeat' && this.#newest?.type === 'heartbeat';
    if (beatsAgain) return this.#frames.replaceLast(frame);
    this.#frames.push(frame);
    if (frame.type !== 'deliver') return;
    this.#bytes += frame.bytes.length;
    invariant(this.#bytes <= BYTES_MAX, 'an origin keeps to the window of its opening');
  }

  get first(): OriginFrame | undefined {
    return this.#frames.at(0);
  }

  /** What is wrong with the first frame, one of deliveries; null when nothing is. */
  fault(): ErrorData | null {
    return this.#faultOf(0);
  }

  /** Sequence of the first unread message. The first frame holds deliveries and has no fault. */
  get seq(): number {
    return readSafe(this.#viewOfFirst(), this.#at + 8) + 1;
  }

  /** Bytes of the first unread message, its header and padding included. */
  get size(): number {
    return this.#viewOfFirst().getUint32(this.#at, true);
  }

  get deliverySeq(): number {
    return (this.first as DeliverFrame).deliverySeq + this.#index;
  }

  dropFrame(): void {
    const frame = this.first;
    if (frame?.type === 'deliver') this.#bytes -= frame.bytes.length;
    this.#frames.dropFirst();
    this.#checked = Math.max(0, this.#checked - 1);
    this.#view = null;
    this.#at = 0;
    this.#index = 0;
  }

  /** Drops what the first frame has up to a sequence; returns the last one's delivery number. */
  dropThrough(seq: number): number {
    const frame = this.first as DeliverFrame;
    while (this.#index < frame.count && this.seq <= seq) this.#pass(1, this.size);
    const deliverySeq = this.deliverySeq - 1;
    if (this.#index === frame.count) this.dropFrame();
    return deliverySeq;
  }

  /**
   * The messages from the first unread one on that follow `after` one by one, as far as they lie in
   * one memory side by side and fit the bounds. Nothing is taken: `take` does that once they were
   * accepted. Null: not even the first one fits.
   */
  run(after: number, bounds: RunBounds): MessageRun | null {
    const { buffer, byteOffset } = (this.first as DeliverFrame).bytes;
    const begin = byteOffset + this.#at;
    let bytes = 0;
    let count = 0;
    let deliverySeq = 0;
    let behind = 0;
    for (let nth = 0; nth < this.#frames.length; nth++) {
      const frame = this.#frames.at(nth)!;
      const start = nth === 0 ? this.#at : 0;
      if (frame.type !== 'deliver' || frame.bytes.buffer !== buffer) break;
      if (frame.bytes.byteOffset + start !== begin + bytes || this.#faultOf(nth) !== null) break;
      const view = nth === 0 ? this.#viewOfFirst() : viewOf(frame.bytes);
      let at = start;
      let index = nth === 0 ? this.#index : 0;
      while (index < frame.count && count < bounds.count) {
        const size = view.getUint32(at, true);
        if (size > bounds.recordBytes || bytes + size > bounds.bytes) break;
        if (readSafe(view, at + 8) !== after + count) break;
        at += size;
        bytes += size;
        count++;
        index++;
      }
      if (at > start) {
        deliverySeq = frame.deliverySeq + index - 1;
        behind = frame.pending + frame.count - index;
      }
      if (index < frame.count) break;
    }
    if (count === 0) return null;
    const view = new Uint8Array(buffer, begin, bytes);
    return { bytes: view, count, first: after + 1, last: after + count, deliverySeq, behind };
  }

  take(run: MessageRun): void {
    let { count } = run;
    let bytes = run.bytes.length;
    while (count > 0) {
      const frame = this.first as DeliverFrame;
      const taken = Math.min(count, frame.count - this.#index);
      const size = Math.min(bytes, frame.bytes.length - this.#at);
      count -= taken;
      bytes -= size;
      this.#pass(taken, size);
      if (this.#index === frame.count) this.dropFrame();
    }
  }

  get #newest(): OriginFrame | undefined {
    return this.#frames.at(this.#frames.length - 1);
  }

  #pass(count: number, size: number): void {
    this.#index += count;
    this.#at += size;
  }

  #viewOfFirst(): DataView {
    this.#view ??= viewOf((this.first as DeliverFrame).bytes);
    return this.#view;
  }

  /** Each frame is walked once; the frames before the nth were found well-formed. */
  #faultOf(nth: number): ErrorData | null {
    if (nth < this.#checked) return null;
    const fault = deliveryFault(this.#frames.at(nth) as DeliverFrame);
    if (fault === null) this.#checked = nth + 1;
    return fault;
  }
}

/** A number that is not one would pass as a gap of 2^64 (case F6). */
function deliveryFault({ deliverySeq, count, pending, bytes }: DeliverFrame): ErrorData | null {
  const numbered = isSeq(deliverySeq) && isSeq(count) && isSeq(deliverySeq + count);
  if (!numbered || (pending !== 0 && !isSeq(pending))) {
    const numbers = `number ${deliverySeq}, count ${count}, pending ${pending}`;
    return toErrorData(new LockstepError('badRecord', `delivery: ${numbers}`));
  }
  try {
    validateMessages(bytes, count);
  } catch (error) {
    return toErrorData(error);
  }
  return null;
}
