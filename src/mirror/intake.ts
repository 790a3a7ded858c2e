/**
 * What an opening brought and the mirror has not taken in yet: frames in order, and how far the
 * first one is read. Records are walked in place; adjacent messages, across frames too, are one view.
 */
import { readSafe, viewOf } from '../stream/layout.js';
import type { MirrorCursor, OriginFrame } from './types.js';

type DeliverFrame = Extract<OriginFrame, { type: 'deliver' }>;

/** Consecutive messages behind the cursor, as one view, and where the cursor stands after them. */
export interface MessageRun {
  readonly bytes: Uint8Array;
  readonly count: number;
  readonly first: number;
  readonly last: number;
  readonly deliverySeq: number;
  /** Deliveries known to exist in this opening, those that wait at the origin included. */
  readonly known: number;
}

/** What stands at the head of the queue, against a cursor (section 5, rule 1). */
export type Head =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'frame';
      readonly frame: Exclude<OriginFrame, { type: 'deliver' }>;
    }
  | { readonly kind: 'stale'; readonly deliverySeq: number }
  | { readonly kind: 'next'; readonly seq: number; readonly size: number }
  | { readonly kind: 'gap'; readonly seq: number }
  | {
      readonly kind: 'lost';
      readonly seq: number;
      readonly deliverySeq: number;
    };

export class Intake {
  #frames: OriginFrame[] = [];
  #view: DataView | null = null;
  /** How far the first frame is read. */
  #at = 0;
  #index = 0;
  #bytes = 0;

  /** Bytes of messages that wait here; bounded by the origin's window. */
  get bytes(): number {
    return this.#bytes;
  }

  get isEmpty(): boolean {
    return this.#frames.length === 0;
  }

  push(frame: OriginFrame): void {
    this.#frames.push(frame);
    if (frame.type === 'deliver') this.#bytes += frame.bytes.length;
  }

  clear(): void {
    this.#frames = [];
    this.#rewind();
    this.#bytes = 0;
  }

  /** Throws badRecord when the bytes at the head are no message. */
  head(cursor: MirrorCursor): Head {
    const frame = this.#frames[0];
    if (frame === undefined) return { kind: 'none' };
    if (frame.type !== 'deliver') return { kind: 'frame', frame };
    const view = this.#viewOfHead(frame);
    const seq = readSafe(view, this.#at + 8) + 1;
    const deliverySeq = frame.deliverySeq + this.#index;
    if (seq <= cursor.seq) return { kind: 'stale', deliverySeq };
    if (seq === cursor.seq + 1) return { kind: 'next', seq, size: view.getUint32(this.#at, true) };
    if (deliverySeq === cursor.deliverySeq + 1) return { kind: 'gap', seq };
    return { kind: 'lost', seq, deliverySeq };
  }

  /** Drops what head() showed. */
  drop(): void {
    const frame = this.#frames[0]!;
    if (frame.type !== 'deliver') this.#frames.shift();
    else this.#read(frame, this.#viewOfHead(frame).getUint32(this.#at, true), 1);
  }

  /**
   * The messages that follow the cursor one by one, as far as they lie in one memory side by side
   * and fit the bounds. Nothing is taken: `consume` does that once they were accepted.
   */
  run(
    cursor: MirrorCursor,
    bounds: {
      readonly count: number;
      readonly bytes: number;
      readonly recordBytes: number;
    },
  ): MessageRun | null {
    const start = this.#frames[0];
    if (start?.type !== 'deliver') return null;
    const begin = start.bytes.byteOffset + this.#at;
    let seq = cursor.seq;
    let end = begin;
    let count = 0;
    let deliverySeq = cursor.deliverySeq;
    let known = 0;
    for (let nth = 0; nth < this.#frames.length && count < bounds.count; nth++) {
      const frame = this.#frames[nth]!;
      if (frame.type !== 'deliver' || frame.bytes.buffer !== start.bytes.buffer) break;
      const view = nth === 0 ? this.#viewOfHead(frame) : viewOf(frame.bytes);
      let at = nth === 0 ? this.#at : 0;
      let index = nth === 0 ? this.#index : 0;
      if (frame.bytes.byteOffset + at !== end) break;
      while (index < frame.count && count < bounds.count) {
        const size = view.getUint32(at, true);
        const fits = size <= bounds.recordBytes && end - begin + size <= bounds.bytes;
        if (!fits || readSafe(view, at + 8) !== seq) break;
        seq++;
        count++;
        index++;
        at += size;
        end += size;
      }
      if (index > 0) {
        deliverySeq = frame.deliverySeq + index - 1;
        known = frame.deliverySeq + frame.count - 1 + frame.pending;
      }
      if (index < frame.count) break;
    }
    if (count === 0) return null;
    const bytes = new Uint8Array(start.bytes.buffer, begin, end - begin);
    return {
      bytes,
      count,
      first: cursor.seq + 1,
      last: seq,
      deliverySeq,
      known,
    };
  }

  consume(run: MessageRun): void {
    let bytes = run.bytes.length;
    let count = run.count;
    while (count > 0) {
      const frame = this.#frames[0] as DeliverFrame;
      const taken = Math.min(count, frame.count - this.#index);
      const size = Math.min(bytes, frame.bytes.length - this.#at);
      this.#read(frame, size, taken);
      bytes -= size;
      count -= taken;
    }
  }

  #read(frame: DeliverFrame, size: number, count: number): void {
    this.#at += size;
    this.#index += count;
    this.#bytes -= size;
    if (this.#index < frame.count) return;
    this.#bytes -= frame.bytes.length - this.#at;
    this.#frames.shift();
    this.#rewind();
  }

  #viewOfHead(frame: DeliverFrame): DataView {
    this.#view ??= viewOf(frame.bytes);
    return this.#view;
  }

  #rewind(): void {
    this.#view = null;
    this.#at = 0;
    this.#index = 0;
  }
}
