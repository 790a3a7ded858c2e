/**
 * What is under way to one opening: messages and bytes that were sent and for which no credit came
 * back. Credit follows the delivery number, whatever became of the delivery.
 */
import { ORIGIN_WINDOW_BYTES, ORIGIN_WINDOW_MESSAGES, RECORD_BYTES_MAX } from '../base/limits.js';

/** Frames whose credit came are let go in one piece, when there are so many. */
const SETTLED_MAX = 1_024;

/** Bounds of what may be under way, and the largest record that must always fit. */
export interface WindowLimits {
  readonly messages: number;
  readonly bytes: number;
  readonly recordBytes: number;
}

const LIMITS: WindowLimits = {
  messages: ORIGIN_WINDOW_MESSAGES,
  bytes: ORIGIN_WINDOW_BYTES,
  recordBytes: RECORD_BYTES_MAX,
};

export class DeliveryWindow {
  readonly #limits: WindowLimits;
  /** Number of the last delivery that was sent; the first one is 1. */
  #sent = 0;
  #credited = 0;
  #bytes = 0;
  /** Frames in order of sending; those before `#oldest` have their credit. */
  #frames: { readonly deliverySeq: number; readonly bytes: number }[] = [];
  #oldest = 0;

  constructor(limits = LIMITS) {
    this.#limits = limits;
  }

  get lastDeliverySeq(): number {
    return this.#sent;
  }

  get roomMessages(): number {
    return this.#limits.messages - (this.#sent - this.#credited);
  }

  get roomBytes(): number {
    return this.#limits.bytes - this.#bytes;
  }

  /** Whether any record fits: then a frame does, whatever the next message turns out to be. */
  get hasRoom(): boolean {
    return this.roomMessages > 0 && this.#limits.recordBytes <= this.roomBytes;
  }

  /** One frame of `count` deliveries is under way. */
  send(count: number, bytes: number): void {
    this.#sent += count;
    this.#bytes += bytes;
    this.#frames.push({ deliverySeq: this.#sent, bytes });
  }

  /** Every delivery up to this number was taken in. What was never sent cannot be credited. */
  credit(deliverySeq: number): void {
    this.#credited = Math.max(this.#credited, Math.min(deliverySeq, this.#sent));
    let frame = this.#frames[this.#oldest];
    while (frame !== undefined && frame.deliverySeq <= this.#credited) {
      this.#bytes -= frame.bytes;
      frame = this.#frames[++this.#oldest];
    }
    if (this.#oldest < SETTLED_MAX) return;
    this.#frames = this.#frames.slice(this.#oldest);
    this.#oldest = 0;
  }
}
