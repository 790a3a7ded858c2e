/**
 * The origin's side of the conversation: serves one opening at a time, within a window of credit,
 * at a rate, with heartbeats when it has nothing to send. Pure: the clock is an argument, frames
 * come back from pump(). What is handed out and passed over is told to the ledger before hand-over.
 * Upstream: nats-server consumer.go, a push consumer with ack none, flow control and heartbeats.
 */
import type { ErrorData } from '../base/errors.js';
import { ORIGIN_FRAME_MESSAGES_MAX, ORIGIN_HEARTBEAT_MS } from '../base/limits.js';
import type { Member } from '../base/member.js';
import { createPrng } from '../base/prng.js';
import type { Opening, OriginCommand, OriginFrame } from '../mirror/types.js';
import type { SeqRange } from '../stream/types.js';

import type { LedgerReport } from '../verdict/types.js';
import type { OriginContent, OriginSlice } from './content.js';
import { OriginFaults } from './faults.js';
import { OriginLives } from './lives.js';
import { Pace } from './pace.js';
import type { AddressedFrame, LedgerSink, MeanwhileChance, OriginSource } from './source.js';
import type { OriginStream } from './stream.js';
import { DeliveryWindow, type WindowLimits } from './window.js';

export interface OriginServiceOptions {
  readonly ledger: LedgerSink;
  /** Messages a second, all openings together; null: as fast as the window allows. */
  readonly rate: number | null;
  /** Scales the heartbeats. */
  readonly timeScale: number;
  /** Faults by chance are drawn from it. Default 0. */
  readonly seed?: number | undefined;
  /** Not given: as in base/limits.ts. */
  readonly window?: WindowLimits | undefined;
}

/** Bytes of one frame; a single larger record still travels alone. */
const FRAME_BYTES_MAX = 512 * 1024;

/** The live opening: one life of the mirror's consumer. */
interface Served {
  readonly opening: Opening;
  readonly to: Member;
  readonly window: DeliveryWindow;
  /** The next sequence to look at. */
  next: number;
  lastSentMs: number;
}

export class OriginService implements OriginSource {
  readonly #lives: OriginLives;
  readonly #ledger: LedgerSink;
  readonly #heartbeatMs: number;
  readonly #window: WindowLimits | undefined;
  readonly #faults: OriginFaults;
  #served: Served | null = null;
  /** The newest opening that was ever asked for: older ones are never served again. */
  #newest: Opening | null = null;
  /** The answer to the newest opening, until it is sent. */
  #answer: AddressedFrame | null = null;
  #pace: Pace;
  #firstDeliveryMs: number | null = null;
  #handedOut = 0;
  #delivered = 0;

  constructor(content: OriginContent, options: OriginServiceOptions) {
    const { ledger, rate, timeScale, window, seed = 0 } = options;
    this.#faults = new OriginFaults(createPrng(seed).fork('origin faults'));
    this.#lives = new OriginLives(content);
    this.#ledger = ledger;
    this.#pace = new Pace(rate);
    this.#window = window;
    this.#heartbeatMs = ORIGIN_HEARTBEAT_MS * timeScale;
  }

  /** The stream that is served now. */
  get stream(): OriginStream {
    return this.#lives.present;
  }

  get last(): number {
    return this.stream.last;
  }

  get messages(): number {
    return this.stream.messages;
  }

  /** When the first delivery of all was made; null before. */
  get firstDeliveryMs(): number | null {
    return this.#firstDeliveryMs;
  }

  /** The highest sequence that was ever handed out; 0 before the first. */
  get handedOut(): number {
    return this.#handedOut;
  }

  /** Messages that were handed out, to whatever opening: one delivered again counts again. */
  get delivered(): number {
    return this.#delivered;
  }

  /** Whether the live opening was given everything, the sentinel included. */
  get exhausted(): boolean {
    return this.#served !== null && this.#served.next > this.stream.last;
  }

  /** Whether a message behind a store's last sequence exists by now: there is progress to make. */
  hasMore(storeLast: number, nowMs: number): boolean {
    const seq = this.stream.nextSeq(storeLast + 1);
    return seq !== undefined && this.#available(seq, nowMs) >= 1;
  }

  /** What the judge asks first of what was served. */
  report(): ReturnType<OriginLives['report']> & Pick<LedgerReport, 'strikes'> {
    return { ...this.#lives.report(), strikes: this.#faults.struck };
  }

  /** Digests of what was or could have been handed out in a range, rising. */
  records(range: SeqRange): ReturnType<OriginLives['records']> {
    return this.#lives.records(range);
  }

  command(from: Member, command: OriginCommand, nowMs: number): void {
    const { opening } = command;
    switch (command.type) {
      case 'open':
        this.#open(from, opening, command.startSeq, nowMs);
        return;
      case 'close':
        if (this.#isServed(opening)) this.#forget();
        return;
      case 'credit':
        if (this.#isServed(opening)) this.#served?.window.credit(command.deliverySeq);
    }
  }

  /** Messages are held back from this number on until this is called again with a higher one. */
  publishUpTo(number: number): void {
    this.#pace.publishUpTo(number);
  }

  /** A fault: forgets the live opening and tells nobody. False: there was none. */
  dropConsumer(): boolean {
    if (this.#served === null) return false;
    this.#forget();
    return true;
  }

  /** A fault: the next `count` requests to open are refused; none is served in their place. */
  refuseNext(count: number, error: ErrorData): void {
    this.#faults.refuse(count, error);
  }

  /** A fault: for so long each request to open is refused by this chance. */
  refuseByChance({ perMillion, forMs }: MeanwhileChance, error: ErrorData, nowMs: number): void {
    this.#faults.refuseByChance(perMillion, nowMs + forMs, error);
  }

  /** Takes back what refuseNext armed and no request met. */
  refuseNoMore(): void {
    this.#faults.refuseNoMore();
  }

  /** A fault: the next `count` messages take their delivery numbers and are never sent. */
  loseDeliveries(count: number): void {
    this.#faults.lose(count);
  }

  /** A fault: the next `count` messages are sent twice under the same delivery numbers. */
  repeatDeliveries(count: number): void {
    this.#faults.repeat(count);
  }

  /** A fault: for so long each delivery is lost by this chance, as loseDeliveries loses it. */
  loseByChance(perMillion: number, forMs: number, nowMs: number): void {
    this.#faults.loseByChance(perMillion, nowMs + forMs);
  }

  /** A fault: for so long each delivery is sent twice by this chance. */
  repeatByChance(perMillion: number, forMs: number, nowMs: number): void {
    this.#faults.repeatByChance(perMillion, nowMs + forMs);
  }

  /** A fault: for so long nothing is sent, neither answers nor heartbeats. */
  stall(ms: number, nowMs: number): void {
    this.#faults.stallUntil(nowMs + ms);
  }

  /**
   * A fault: messages of the range that exist by now are removed. Returns how many there were.
   */
  remove({ first, last }: SeqRange, nowMs: number): number {
    const { stream } = this;
    const made = Math.floor(this.#pace.available(0, nowMs));
    const end = made < stream.content.messages ? stream.content.seqOf(made) - 1 : stream.last;
    return stream.remove({ first, last: Math.min(last, end) });
  }

  /**
   * A fault: the stream is deleted, and another one takes its name; nobody is told. False: nothing
   * was handed out yet, so that nobody could tell the two apart.
   */
  recreate(makeContent: (life: number) => OriginContent): boolean {
    if (this.#firstDeliveryMs === null) return false;
    this.#forget();
    this.#lives.recreate(makeContent(this.#lives.count));
    this.#pace = new Pace(null);
    return true;
  }

  /** What is to be sent now, in this order. */
  pump(nowMs: number): AddressedFrame[] {
    if (this.#faults.isStalled(nowMs)) return [];
    const frames = this.#answer === null ? [] : [this.#answer];
    this.#answer = null;
    const served = this.#served;
    if (served === null) return frames;
    while (this.#deliver(served, nowMs, frames));
    const isSilent = nowMs - served.lastSentMs >= this.#heartbeatMs;
    if (frames.length === 0 && isSilent) {
      const { to, opening, window } = served;
      const { lastDeliverySeq } = window;
      frames.push({ to, frame: { type: 'heartbeat', opening, lastDeliverySeq } });
    }
    if (frames.length > 0) served.lastSentMs = nowMs;
    return frames;
  }

  /** When pump has something to say without another command; null: only after one. */
  nextDueMs(nowMs: number): number | null {
    const served = this.#served;
    if (this.#answer === null && served === null) return null;
    const due = this.#answer !== null ? nowMs : this.#servedDueMs(served!, nowMs);
    return Math.max(due, this.#faults.stalledUntilMs);
  }

  #servedDueMs(served: Served, nowMs: number): number {
    const heartbeat = served.lastSentMs + this.#heartbeatMs;
    const seq = this.stream.nextSeq(served.next);
    if (seq === undefined || !this.#isPublished(seq)) return heartbeat;
    if (!served.window.hasRoom) return heartbeat;
    if (!this.#pace.isPaced) return nowMs;
    const availableMs = this.#pace.dueMs(this.stream.content.numberOf(seq), nowMs);
    // Not sooner than the next millisecond: at a high rate each message would be a turn of its own.
    return Math.min(heartbeat, Math.max(availableMs, nowMs + 1));
  }

  #open(from: Member, opening: Opening, startSeq: number, nowMs: number): void {
    if (this.#newest !== null && compareOpenings(opening, this.#newest) <= 0) return;
    this.#forget();
    this.#newest = opening;
    const error = this.#faults.takeRefusal(nowMs);
    if (error !== null) {
      this.#answer = { to: from, frame: { type: 'refused', opening, error } };
      return;
    }
    const { stream } = this;
    const found = stream.nextSeq(startSeq);
    const exists = found !== undefined && this.#isPublished(found);
    const next = Math.max(1, exists ? found : startSeq);
    const startsAfter = next - 1;
    const window = new DeliveryWindow(this.#window);
    this.#served = { opening, to: from, window, next, lastSentMs: nowMs };
    this.#passOver(Math.max(1, startSeq), startsAfter);
    const { last } = stream;
    const { identity } = stream.content;
    const pending = stream.countFrom(next);
    this.#answer = {
      to: from,
      frame: { type: 'opened', opening, identity, startsAfter, last, pending },
    };
  }

  /** The live opening is over; an answer that was not sent yet has nobody to go to. */
  #forget(): void {
    this.#served = null;
    this.#answer = null;
  }

  #isServed(opening: Opening): boolean {
    return this.#served !== null && compareOpenings(opening, this.#served.opening) === 0;
  }

  /** Adds the next frame. False: nothing exists, nothing is available yet, or no room is left. */
  #deliver(served: Served, nowMs: number, frames: AddressedFrame[]): boolean {
    const { opening, to, window } = served;
    const { stream } = this;
    const seq = stream.nextSeq(served.next);
    if (seq === undefined || !window.hasRoom) return false;
    const available = this.#available(seq, nowMs);
    if (available < 1) return false;
    const bounds = [ORIGIN_FRAME_MESSAGES_MAX, window.roomMessages, available];
    const countMax = Math.min(...bounds, this.#faults.frameMessagesMax(nowMs));
    const bytesMax = Math.min(FRAME_BYTES_MAX, window.roomBytes);
    const slice = stream.slice(seq, countMax, bytesMax)!;
    const { bytes, count, lastSeq } = slice;
    const deliverySeq = window.lastDeliverySeq + 1;
    window.send(count, bytes.length);
    this.#firstDeliveryMs ??= nowMs;
    this.#pace.begin(nowMs, stream.content.numberOf(seq));
    const copies = this.#faults.takeCopies(count, nowMs);
    if (copies > 0) this.#handOver(served.next, slice);
    served.next = lastSeq + 1;
    const pending = stream.countFrom(served.next);
    const frame: OriginFrame = { type: 'deliver', opening, deliverySeq, count, pending, bytes };
    for (let copy = 0; copy < copies; copy++) frames.push({ to, frame });
    return true;
  }

  /** Messages from this sequence on that the rate has made available. */
  #available(seq: number, nowMs: number): number {
    return this.#pace.available(this.stream.content.numberOf(seq), nowMs);
  }

  /** Tells the ledger what a frame holds, and what it passes over from a sequence on. */
  #handOver(from: number, { count, firstSeq, lastSeq }: OriginSlice): void {
    let next = from;
    for (const run of this.stream.content.runs({ first: firstSeq, last: lastSeq })) {
      this.#passOver(next, run.first - 1);
      this.#ledger.delivered(run);
      this.#lives.delivered(run);
      next = run.last + 1;
    }
    this.#handedOut = Math.max(this.#handedOut, lastSeq);
    this.#delivered += count;
  }

  #isPublished(seq: number): boolean {
    return this.#pace.isPublished(this.stream.content.numberOf(seq));
  }

  #passOver(first: number, last: number): void {
    if (last >= first) this.#ledger.passedOver({ first, last });
  }
}

/** By term, then by generation: of two openings the higher one is newer. */
export function compareOpenings(a: Opening, b: Opening): number {
  return a.term - b.term || a.generation - b.generation;
}
