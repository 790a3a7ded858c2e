/**
 * One opening's deliveries on their way from the server's connection to the mirror: read, digested,
 * copied once into shared segments in their final layout, kept in pieces that become frames. What
 * the server asks for flow control waits in the same queue, so it is answered only when everything
 * before it was handed on: a full window holds the server back. It knows no connection.
 * Upstream: stream.go, processInboundMirrorMsg; consumer.go, flow control.
 */
import { ORIGIN_FRAME_MESSAGES_MAX } from '../base/limits.js';
import type { OriginFaults } from '../origin/faults.js';
import { messageSize, viewOf, writeMessage } from '../stream/layout.js';
import type { SeqRange } from '../stream/types.js';
import type { ContentLedger } from '../verdict/content-ledger.js';
import { isDeliveryReply, ReplySubject } from './reply-subject.js';

/** A message as a connection hands it over; views that are only good for this moment. */
export interface RawMessage {
  readonly subject: Uint8Array;
  readonly reply: Uint8Array;
  readonly headers: Uint8Array;
  readonly payload: Uint8Array;
}

/** Deliveries with numbers that follow each other, side by side in one segment. */
export interface Piece {
  readonly kind: 'piece';
  readonly bytes: Uint8Array;
  readonly count: number;
  readonly deliverySeq: number;
  /** Sequences that exist, as runs: rising. */
  readonly runs: readonly SeqRange[];
  readonly pending: number;
  /** How often it is sent: twice under a fault. */
  readonly copies: number;
}

/** The server goes on when this subject is published to. */
export interface FlowRequest {
  readonly kind: 'flow';
  readonly subject: string;
}

export type Queued = Piece | FlowRequest;

const NO_BYTES = new Uint8Array(0);
const SUBJECT_BYTES_MAX = 0xffff;
const SEGMENT_BYTES = 8 * 1024 * 1024;
const PIECE_BYTES_MAX = 512 * 1024;
/**
 * The server has at most 32 MiB under way before it waits for a flow control reply (consumer.go).
 * One that does not wait is not followed without end: deliveries beyond this are lost, which the
 * mirror sees by their numbers.
 */
const QUEUE_BYTES_MAX = 96 * 1024 * 1024;
const STATUS_100 = new TextEncoder().encode('NATS/1.0 100');
const DECODER = new TextDecoder();

class Scratch {
  seq = 0;
  timestamp = 0n;
  subject: Uint8Array = NO_BYTES;
  headers: Uint8Array = NO_BYTES;
  payload: Uint8Array = NO_BYTES;
}

/** Where records of all openings are written, one behind the other. */
export class SegmentWriter {
  bytes: Uint8Array = NO_BYTES;
  view = viewOf(this.bytes);
  at = 0;
  readonly #allocate: (size: number) => Uint8Array;

  constructor(allocate: (size: number) => Uint8Array) {
    this.#allocate = allocate;
  }

  /** Begins a new segment if this one has no room for so many bytes. */
  reserve(size: number): void {
    if (this.at + size <= this.bytes.length) return;
    this.bytes = this.#allocate(Math.max(SEGMENT_BYTES, size));
    this.view = viewOf(this.bytes);
    this.at = 0;
  }
}

export interface FeedOptions {
  readonly consumer: string;
  readonly writer: SegmentWriter;
  readonly content: ContentLedger;
  readonly faults: OriginFaults;
  /** Milliseconds of the clock that its source is pumped by. */
  readonly now: () => number;
  readonly note: (text: string) => void;
}

export class Feed {
  readonly #options: FeedOptions;
  readonly #reply = new ReplySubject();
  /** Of the message that is being written: one object for all of them. */
  readonly #message = new Scratch();
  #queue: Queued[] = [];
  #head = 0;
  #queuedBytes = 0;
  /** The last delivery number that the server told of in a heartbeat, until it is taken. */
  #beat: number | null = null;
  #noted = false;

  // The piece that is being filled.
  #from = 0;
  #count = 0;
  #deliverySeq = 0;
  #pending = 0;
  #copies = 1;
  #runs: { first: number; last: number }[] = [];

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  /** Takes in what the connection got. Nothing in it makes this throw. */
  take(raw: RawMessage): void {
    if (isDeliveryReply(raw.reply)) this.#deliver(raw);
    else if (isStatus100(raw)) this.#control(raw);
    else this.#note(`${DECODER.decode(raw.subject)}: neither a delivery nor a control message`);
  }

  /** The next in the queue; it stays there. */
  get first(): Queued | undefined {
    this.#close();
    return this.#queue[this.#head];
  }

  dropFirst(): void {
    const first = this.#queue[this.#head++];
    if (first?.kind === 'piece') this.#queuedBytes -= first.bytes.length;
    if (this.#head < this.#queue.length) return;
    this.#queue = [];
    this.#head = 0;
  }

  /** The delivery number of the last heartbeat, once; null: none came since. */
  takeBeat(): number | null {
    const beat = this.#beat;
    this.#beat = null;
    return beat;
  }

  #deliver(raw: RawMessage): void {
    const reply = this.#reply;
    const fault = reply.read(raw.reply);
    if (fault !== null) {
      this.#note(`reply subject ${DECODER.decode(raw.reply)}: ${fault}`);
      return;
    }
    const { subject, headers, payload } = raw;
    const size = messageSize(subject.length, headers.length, payload.length);
    if (subject.length > SUBJECT_BYTES_MAX) {
      this.#note(`a subject of ${subject.length} bytes cannot be stored`);
      return;
    }
    if (this.#queuedBytes + this.#openBytes + size > QUEUE_BYTES_MAX) {
      this.#note(`more than ${QUEUE_BYTES_MAX} bytes wait: the server ignores flow control`);
      return;
    }
    const copies = this.#options.faults.takeCopies(1, this.#options.now());
    if (!this.#continues(copies) || !this.#hasRoom(size)) this.#close();
    this.#options.writer.reserve(size);
    if (this.#count === 0) this.#begin(copies);
    this.#write(raw);
  }

  /** Whether the delivery that was just read belongs behind those of the open piece. */
  #continues(copies: number): boolean {
    const { seq, deliverySeq } = this.#reply;
    if (deliverySeq !== this.#deliverySeq + this.#count || copies !== this.#copies) return false;
    return seq > (this.#runs.at(-1)?.last ?? 0);
  }

  /** Records of one piece lie in one segment. */
  #hasRoom(size: number): boolean {
    const { writer } = this.#options;
    const bytes = this.#openBytes + size;
    return (
      this.#count < ORIGIN_FRAME_MESSAGES_MAX &&
      bytes <= PIECE_BYTES_MAX &&
      writer.at + size <= writer.bytes.length
    );
  }

  get #openBytes(): number {
    return this.#count === 0 ? 0 : this.#options.writer.at - this.#from;
  }

  #begin(copies: number): void {
    this.#from = this.#options.writer.at;
    this.#deliverySeq = this.#reply.deliverySeq;
    this.#copies = copies;
  }

  #write({ subject, headers, payload }: RawMessage): void {
    const { writer, content } = this.#options;
    const { seq, timestamp, pending } = this.#reply;
    const message = this.#message;
    message.seq = seq;
    message.timestamp = timestamp;
    message.subject = subject;
    message.headers = headers;
    message.payload = payload;
    const { at } = writer;
    writer.at = writeMessage(writer.bytes, writer.view, at, message);
    content.take(message, writer.bytes, at, writer.at);
    this.#count++;
    this.#pending = pending;
    const run = this.#runs.at(-1);
    if (run?.last === seq - 1) run.last = seq;
    else this.#runs.push({ first: seq, last: seq });
  }

  /** The open piece goes into the queue; its digests are done. */
  #close(): void {
    if (this.#count === 0) return;
    const { writer, content } = this.#options;
    content.settle();
    const bytes = writer.bytes.subarray(this.#from, writer.at);
    const { count, deliverySeq, pending, copies, runs } = this.#open();
    // Lost by a fault: it was delivered, took its numbers, and goes no further.
    if (copies > 0) {
      this.#queuedBytes += bytes.length;
      this.#queue.push({ kind: 'piece', bytes, count, deliverySeq, runs, pending, copies });
    }
    this.#count = 0;
    this.#runs = [];
  }

  #open(): Omit<Piece, 'kind' | 'bytes'> {
    return {
      count: this.#count,
      deliverySeq: this.#deliverySeq,
      runs: this.#runs,
      pending: this.#pending,
      copies: this.#copies,
    };
  }

  /** With a reply it is a request of flow control, without one a heartbeat. */
  #control({ reply, headers }: RawMessage): void {
    if (reply.length > 0) {
      this.#askedToGoOn(DECODER.decode(reply));
      return;
    }
    const text = DECODER.decode(headers);
    const last = /^Nats-Last-Consumer:\s*(\d{1,16})\s*$/m.exec(text)?.[1];
    if (last !== undefined && Number(last) <= Number.MAX_SAFE_INTEGER) this.#beat = Number(last);
    // A server that waits says so again and again, in case that its request was lost.
    const stalled = /^Nats-Consumer-Stalled:\s*(\S+)\s*$/m.exec(text)?.[1];
    if (stalled !== undefined) this.#askedToGoOn(stalled);
  }

  #askedToGoOn(subject: string): void {
    this.#close();
    const waits = this.#queue.some(
      (queued, at) => at >= this.#head && queued.kind === 'flow' && queued.subject === subject,
    );
    if (!waits) this.#queue.push({ kind: 'flow', subject });
  }

  /** Once an opening: what is wrong with one message is often wrong with all. */
  #note(text: string): void {
    if (this.#noted) return;
    this.#noted = true;
    this.#options.note(`consumer ${this.#options.consumer}: ${text}`);
  }
}

function isStatus100({ headers, payload }: RawMessage): boolean {
  return payload.length === 0 && STATUS_100.every((byte, at) => headers[at] === byte);
}
