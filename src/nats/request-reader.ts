/**
 * Reads a stream by asking its leader for message after message: for streams that take no consumer
 * of ours. Sequences are asked for side by side; where a stretch of them is gone, one request jumps
 * to the next message that there is. Upstream: jetstream_api.go, jsMsgGetRequest.
 */
import { messageSize, viewOf, writeMessage } from '../stream/layout.js';
import type { StoredMessage } from '../stream/types.js';
import type { JetStreamApi } from './api.js';
import { ByteRate } from './byte-rate.js';
import { patiently } from './patience.js';
import type { ReadBatch } from './reader-intake.js';
import type { ReadRequest, StreamReader } from './stream-reader.js';

/** Requests under way. */
const AT_ONCE = 64;

export class RequestReader implements StreamReader {
  readonly way = 'requests';
  readonly servers = [];
  readonly load = { messages: 0, bytes: 0 };
  readonly #api: JetStreamApi;
  readonly #request: ReadRequest;
  readonly #rate: ByteRate;
  #next: number;

  constructor(api: JetStreamApi, request: ReadRequest) {
    this.#api = api;
    this.#request = request;
    this.#rate = new ByteRate(request.bytesPerSecond);
    this.#next = Math.max(1, request.from);
  }

  async next(): Promise<ReadBatch | null> {
    const { to } = this.#request;
    while (this.#next <= to) {
      const last = Math.min(to, this.#next + AT_ONCE - 1);
      const messages = await this.#messages(this.#next, last);
      this.#next = last + 1;
      if (messages.length === 0) await this.#jump();
      if (messages.length === 0) continue;
      const batch = this.#batch(messages, last);
      await this.#rate.keep(this.load.bytes);
      return batch;
    }
    return null;
  }

  async close(): Promise<void> {
    // Nothing is kept on the server.
  }

  async #messages(first: number, last: number): Promise<StoredMessage[]> {
    const asked = Array.from({ length: last - first + 1 }, (_, at) =>
      this.#patiently(() => this.#api.messageAt(this.#request.stream, first + at)),
    );
    const messages = await Promise.all(asked);
    return messages.filter((message) => message !== null);
  }

  /** To the next message that there is, or behind the end. */
  async #jump(): Promise<void> {
    const { stream, to } = this.#request;
    if (this.#next > to) return;
    const found = await this.#patiently(() => this.#api.messageFrom(stream, this.#next));
    this.#next = found?.seq ?? to + 1;
  }

  #batch(messages: readonly StoredMessage[], last: number): ReadBatch {
    let room = 0;
    let size = 0;
    for (const { subject, headers, payload } of messages) {
      room += messageSize(subject.length, headers.length, payload.length);
      size += subject.length + headers.length + payload.length;
    }
    const bytes = new Uint8Array(room);
    const view = viewOf(bytes);
    let at = 0;
    for (const message of messages) at = writeMessage(bytes, view, at, message);
    this.load.messages += messages.length;
    this.load.bytes += size;
    const pending = this.#request.to - last;
    return { bytes, count: messages.length, size, last: messages.at(-1)!.seq, pending };
  }

  #patiently<T>(ask: () => Promise<T>): Promise<T> {
    return patiently(ask, this.#request.patienceMs);
  }
}
