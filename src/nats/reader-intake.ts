/**
 * One consumer's deliveries on their way to a reader: checked against each other by their numbers,
 * copied once into records side by side, handed out as batches. What the server asks for flow
 * control waits behind what came before it, so a reader that takes nothing holds the server back,
 * at 32 MiB at most (upstream: consumer.go). It knows no connection.
 */
import { messageSize, writeMessage } from '../stream/layout.js';
import type { RecordSlice } from '../stream/records.js';
import { SegmentWriter, type RawMessage } from './feed.js';
import { isDeliveryReply, ReplySubject } from './reply-subject.js';

/** Messages of a stream as records of src/stream/layout.ts, in rising order of sequence. */
export interface ReadBatch extends RecordSlice {
  readonly last: number;
  /** Bytes of subjects, headers and payloads. */
  readonly size: number;
  /** Messages that wait behind these, as the server said with the last of them. */
  readonly pending: number;
}

interface FlowRequest {
  readonly flow: string;
}

const BATCH_COUNT_MAX = 4_096;
const BATCH_BYTES_MAX = 512 * 1024;
const DECODER = new TextDecoder();
const STATUS_100 = new TextEncoder().encode('NATS/1.0 100');

export class ReaderIntake {
  /** Deliveries are missing, or cannot be read: what comes later is not taken. */
  fault: string | null = null;
  /** The server has nothing more to deliver, or what comes lies beyond the end. */
  isAtEnd = false;
  readonly #to: number;
  readonly #goOn: (subject: string) => void;
  readonly #reply = new ReplySubject();
  readonly #batchBytesMax: number;
  readonly #writer = new SegmentWriter((size) => new Uint8Array(size));
  readonly #queue: (ReadBatch | FlowRequest)[] = [];
  #delivered = 0;
  #last = 0;
  #pending = 0;
  /** Whether the last that came was a heartbeat. */
  #isIdle = false;
  // The batch that is being filled.
  #from = 0;
  #count = 0;
  #size = 0;

  /**
   * @param goOn  publishes a reply for flow control
   * @param bytesPerSecond  a batch is no more than a quarter of a second takes
   */
  constructor(to: number, goOn: (subject: string) => void, bytesPerSecond = Infinity) {
    this.#batchBytesMax = Math.min(BATCH_BYTES_MAX, bytesPerSecond / 4);
    this.#to = to;
    this.#goOn = goOn;
  }

  /** What the server counted when it made the consumer. */
  counted(pending: number): void {
    this.isAtEnd ||= pending === 0;
    if (this.#delivered === 0) this.#pending = pending;
  }

  /** Takes in what the connection got. Nothing in it makes this throw. */
  take(raw: RawMessage): void {
    if (this.fault !== null || this.isAtEnd) return;
    if (isDeliveryReply(raw.reply)) this.#deliver(raw);
    else if (isStatus100(raw)) this.#control(raw);
  }

  /** The next batch; null: none is there yet. */
  shift(): ReadBatch | null {
    this.#close();
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      if (!('flow' in next)) return next;
      this.#goOn(next.flow);
    }
    return null;
  }

  #deliver(raw: RawMessage): void {
    const reply = this.#reply;
    const fault = reply.read(raw.reply);
    if (fault !== null) {
      this.fault = `reply subject ${DECODER.decode(raw.reply)}: ${fault}`;
      return;
    }
    const { seq, deliverySeq } = reply;
    if (deliverySeq !== this.#delivered + 1 || seq <= this.#last) {
      this.fault = `delivery ${deliverySeq} (sequence ${seq}) after ${this.#delivered}`;
      return;
    }
    if (seq > this.#to) {
      this.isAtEnd = true;
      return;
    }
    this.#delivered = deliverySeq;
    this.#isIdle = false;
    this.#write(raw);
    this.isAtEnd = seq === this.#to || reply.pending === 0;
  }

  #write({ subject, headers, payload }: RawMessage): void {
    const { seq, timestamp, pending } = this.#reply;
    const writer = this.#writer;
    const size = messageSize(subject.length, headers.length, payload.length);
    if (!this.#hasRoom(size)) this.#close();
    writer.reserve(size);
    if (this.#count === 0) this.#from = writer.at;
    const message = { seq, timestamp, subject, headers, payload };
    writer.at = writeMessage(writer.bytes, writer.view, writer.at, message);
    this.#count++;
    this.#size += subject.length + headers.length + payload.length;
    this.#last = seq;
    this.#pending = pending;
  }

  #hasRoom(size: number): boolean {
    const { at, bytes } = this.#writer;
    const isBounded =
      this.#count < BATCH_COUNT_MAX && at - this.#from + size <= this.#batchBytesMax;
    return isBounded && at + size <= bytes.length;
  }

  #close(): void {
    if (this.#count === 0) return;
    const { bytes, at } = this.#writer;
    const batch = { bytes: bytes.subarray(this.#from, at), count: this.#count, size: this.#size };
    this.#queue.push({ ...batch, last: this.#last, pending: this.#pending });
    this.#count = 0;
    this.#size = 0;
  }

  /** With a reply it is a request of flow control, without one a heartbeat. */
  #control({ reply, headers }: RawMessage): void {
    if (reply.length > 0) {
      this.#askedToGoOn(DECODER.decode(reply));
      return;
    }
    const text = DECODER.decode(headers);
    const stalled = /^Nats-Consumer-Stalled:\s*(\S+)\s*$/m.exec(text)?.[1];
    const last = Number(/^Nats-Last-Consumer:\s*(\d{1,16})\s*$/m.exec(text)?.[1] ?? Number.NaN);
    if (last > this.#delivered) this.fault = `delivery ${last} was sent and did not come`;
    else if (stalled !== undefined) this.#askedToGoOn(stalled);
    else if (last === this.#delivered) this.#idle();
  }

  /**
   * A heartbeat is only sent when there is nothing to deliver, or while the server waits for us.
   * Where it counted more than came, one may be ahead of those: the next one decides.
   */
  #idle(): void {
    this.isAtEnd = this.#pending === 0 || this.#isIdle;
    this.#isIdle = true;
  }

  #askedToGoOn(subject: string): void {
    this.#close();
    if (this.#queue.some((queued) => 'flow' in queued && queued.flow === subject)) return;
    this.#queue.push({ flow: subject });
  }
}

function isStatus100({ headers, payload }: RawMessage): boolean {
  return payload.length === 0 && STATUS_100.every((byte, at) => headers[at] === byte);
}
