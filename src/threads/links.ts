/**
 * The two kinds of link of a replica's thread: to a peer and to the origin. Both are MessagePorts.
 */
import { receiveMessageOnPort, type MessagePort } from 'node:worker_threads';
import type { OriginCommand, OriginFrame } from '../mirror/types.js';
import type { Entry, Message } from '../raft/types.js';
import type { PackedBytes, SegmentCarrier, SegmentTable } from './segments.js';
import { SegmentSender } from './segments.js';

type PackedEntry = Omit<Entry, 'bytes'> & { readonly bytes: PackedBytes };
type PackedFrame = Omit<Extract<OriginFrame, { type: 'deliver' }>, 'bytes'> & {
  readonly bytes: PackedBytes;
};

/** What crosses a link: a segment once, then what refers to it. */
type Parcel =
  | { readonly kind: 'segment'; readonly carrier: SegmentCarrier }
  | { readonly kind: 'message'; readonly message: Message }
  | {
      readonly kind: 'append';
      readonly message: Message & { type: 'append' };
      readonly entries: readonly PackedEntry[];
    }
  | { readonly kind: 'frame'; readonly frame: OriginFrame }
  | { readonly kind: 'deliver'; readonly frame: PackedFrame }
  | { readonly kind: 'command'; readonly command: OriginCommand }
  | OriginStrike;

/** A fault of the origin whose state a member reached, by its position in the plan. */
export interface OriginStrike {
  readonly kind: 'strike';
  readonly at: number;
}

/** What a link delivers: one of these at a time, in the order in which it was sent. */
export type Received =
  | { readonly kind: 'message'; readonly message: Message }
  | { readonly kind: 'frame'; readonly frame: OriginFrame }
  | { readonly kind: 'command'; readonly command: OriginCommand }
  | OriginStrike;

/**
 * One end of a link. Messages are pulled, not pushed: `wake` is called when something waits, and
 * whatever came meanwhile is taken with it. The queue is the port's own; its bound is the sender's
 * window (raft's in-flight window, the origin's window).
 */
export class Link {
  readonly #port: MessagePort;
  readonly #table: SegmentTable;
  readonly #sender: SegmentSender;
  /** At most two: one that an event of the port brought, and one of a look ahead. */
  readonly #ahead: Received[] = [];
  #closed = false;

  constructor(port: MessagePort, table: SegmentTable, wake: () => void) {
    this.#port = port;
    this.#table = table;
    this.#sender = new SegmentSender(table);
    port.on('message', (parcel: Parcel) => {
      const received = this.#open(parcel);
      if (received === undefined) return;
      this.#ahead.push(received);
      wake();
    });
  }

  /** The oldest that waits, or undefined. */
  take(): Received | undefined {
    return this.#ahead.shift() ?? this.#receive();
  }

  waits(): boolean {
    if (this.#ahead.length > 0) return true;
    const received = this.#receive();
    if (received === undefined) return false;
    this.#ahead.push(received);
    return true;
  }

  sendMessage(message: Message): void {
    if (message.type !== 'append' || message.entries.length === 0) {
      this.#post({ kind: 'message', message });
      return;
    }
    const entries = message.entries.map((entry) => ({
      ...entry,
      bytes: this.#pack(entry.bytes),
    }));
    this.#post({
      kind: 'append',
      message: { ...message, entries: [] },
      entries,
    });
  }

  sendFrame(frame: OriginFrame): void {
    if (frame.type !== 'deliver') this.#post({ kind: 'frame', frame });
    else
      this.#post({
        kind: 'deliver',
        frame: { ...frame, bytes: this.#pack(frame.bytes) },
      });
  }

  sendCommand(command: OriginCommand): void {
    this.#post({ kind: 'command', command });
  }

  /** No fault of the link touches it: it is the harness's own. */
  sendStrike(at: number): void {
    this.#post({ kind: 'strike', at });
  }

  close(): void {
    this.#closed = true;
    this.#port.close();
  }

  #pack(bytes: Uint8Array): PackedBytes {
    return this.#sender.pack(bytes, (carrier) => {
      this.#post({ kind: 'segment', carrier });
    });
  }

  #post(parcel: Parcel): void {
    if (!this.#closed) this.#port.postMessage(parcel);
  }

  #receive(): Received | undefined {
    for (;;) {
      const next = receiveMessageOnPort(this.#port) as { message: Parcel } | undefined;
      if (next === undefined) return undefined;
      const received = this.#open(next.message);
      if (received !== undefined) return received;
    }
  }

  #open(parcel: Parcel): Received | undefined {
    switch (parcel.kind) {
      case 'segment':
        this.#table.add(parcel.carrier.segment, parcel.carrier.memory);
        return undefined;
      case 'append': {
        const entries = parcel.entries.map((entry) => ({
          ...entry,
          bytes: this.#table.unpack(entry.bytes),
        }));
        return { kind: 'message', message: { ...parcel.message, entries } };
      }
      case 'deliver': {
        const frame = {
          ...parcel.frame,
          bytes: this.#table.unpack(parcel.frame.bytes),
        };
        return { kind: 'frame', frame };
      }
      default:
        return parcel;
    }
  }
}
