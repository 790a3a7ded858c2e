/**
 * The origin's side of the conversation: serves one opening at a time, within a window of credit, at
 * a rate, with heartbeats when it has nothing to send. Pure: the clock is an argument, frames come
 * back from pump(). What is handed out and passed over is told to the ledger before hand-over.
 */
import {
  ORIGIN_FRAME_MESSAGES_MAX,
  ORIGIN_HEARTBEAT_MS,
  ORIGIN_WINDOW_BYTES,
  ORIGIN_WINDOW_MESSAGES,
} from '../base/limits.js';
import type { Member } from '../base/member.js';
import type { Opening, OriginCommand, OriginFrame } from '../mirror/types.js';
import { readSafe, viewOf } from '../stream/layout.js';
import type { SeqRange } from '../stream/types.js';
import type { OriginContent } from './content.js';

/** Told before anything is handed over. */
export interface LedgerSink {
  delivered(range: SeqRange): void;
  passedOver(range: SeqRange): void;
}

export interface AddressedFrame {
  readonly to: Member;
  readonly frame: OriginFrame;
}

/** Bytes of one frame. */
const FRAME_BYTES_MAX = 512 * 1024;

interface Served {
  readonly opening: Opening;
  /** The next sequence to look at. */
  next: number;
  deliverySeq: number;
  credited: number;
  /** Deliveries under way with the bytes they took, oldest first. */
  readonly flights: { readonly deliverySeq: number; readonly bytes: number }[];
  bytesUnderWay: number;
  lastSentMs: number;
}

export class OriginService {
  readonly content: OriginContent;
  readonly #ledger: LedgerSink;
  readonly #rate: number | null;
  readonly #heartbeatMs: number;
  readonly #messagesBefore: (seq: number) => number;
  #served: Served | null = null;
  /** The newest opening that was ever asked for: older ones are never served again. */
  #newest: Opening | null = null;
  #answers: AddressedFrame[] = [];
  #firstDeliveryMs: number | null = null;
  #handedOut = 0;

  constructor(
    content: OriginContent,
    options: {
      readonly ledger: LedgerSink;
      /** Messages a second; null: as fast as the window allows. */
      readonly rate: number | null;
      readonly timeScale: number;
    },
  ) {
    this.content = content;
    this.#ledger = options.ledger;
    this.#rate = options.rate;
    this.#heartbeatMs = ORIGIN_HEARTBEAT_MS * options.timeScale;
    const total = content.messages;
    this.#messagesBefore = (seq) => total - content.countFrom(seq);
  }

  /** When the first message ever was handed out; null before. */
  get firstDeliveryMs(): number | null {
    return this.#firstDeliveryMs;
  }

  /** The highest sequence that was ever handed out. */
  get handedOut(): number {
    return this.#handedOut;
  }

  command(from: Member, command: OriginCommand, nowMs: number): void {
    switch (command.type) {
      case 'open':
        this.#open(from, command.opening, command.startSeq, nowMs);
        return;
      case 'close':
        if (this.#serves(command.opening)) this.#served = null;
        return;
      case 'credit':
        if (this.#serves(command.opening)) this.#takeCredit(this.#served!, command.deliverySeq);
    }
  }

  /** Forgets the live opening and tells nobody. False: there was none. */
  dropConsumer(): boolean {
    const dropped = this.#served !== null;
    this.#served = null;
    return dropped;
  }

  /** What is to be sent now. */
  pump(nowMs: number): AddressedFrame[] {
    const frames = this.#answers;
    this.#answers = [];
    const served = this.#served;
    if (served === null) return frames;
    for (let frame = this.#deliver(served, nowMs); frame !== null;) {
      frames.push({ to: served.opening.member, frame });
      frame = this.#deliver(served, nowMs);
    }
    if (frames.length > 0) served.lastSentMs = nowMs;
    else if (nowMs - served.lastSentMs >= this.#heartbeatMs) {
      served.lastSentMs = nowMs;
      const { opening, deliverySeq } = served;
      const frame: OriginFrame = {
        type: 'heartbeat',
        opening,
        lastDeliverySeq: deliverySeq,
      };
      frames.push({ to: opening.member, frame });
    }
    return frames;
  }

  /** When pump has something to say again without a command; null: only after one. */
  nextDueMs(nowMs: number): number | null {
    const served = this.#served;
    if (served === null) return null;
    const heartbeat = served.lastSentMs + this.#heartbeatMs;
    const seq = this.content.nextSeq(served.next);
    if (seq === undefined || this.#rate === null || this.#firstDeliveryMs === null)
      return heartbeat;
    if (!this.#hasWindow(served)) return heartbeat;
    const available = this.#firstDeliveryMs + (this.#messagesBefore(seq) / this.#rate) * 1000;
    return Math.min(heartbeat, Math.max(available, nowMs + 1));
  }

  #open(from: Member, opening: Opening, startSeq: number, nowMs: number): void {
    if (this.#newest !== null && !isNewer(opening, this.#newest)) return;
    this.#newest = opening;
    const first = this.content.nextSeq(startSeq);
    const startsAfter = (first ?? Math.max(startSeq, this.content.last + 1)) - 1;
    this.#served = {
      opening,
      next: startsAfter + 1,
      deliverySeq: 0,
      credited: 0,
      flights: [],
      bytesUnderWay: 0,
      lastSentMs: nowMs,
    };
    if (startsAfter >= startSeq) this.#ledger.passedOver({ first: startSeq, last: startsAfter });
    const { identity, last } = this.content;
    const pending = this.content.countFrom(startsAfter + 1);
    this.#answers.push({
      to: from,
      frame: { type: 'opened', opening, identity, startsAfter, last, pending },
    });
  }

  #serves(opening: Opening): boolean {
    return this.#served !== null && compareOpenings(opening, this.#served.opening) === 0;
  }

  #takeCredit(served: Served, deliverySeq: number): void {
    served.credited = Math.max(served.credited, deliverySeq);
    while (served.flights.length > 0 && served.flights[0]!.deliverySeq <= deliverySeq) {
      served.bytesUnderWay -= served.flights.shift()!.bytes;
    }
  }

  #hasWindow(served: Served): boolean {
    return (
      served.deliverySeq - served.credited < ORIGIN_WINDOW_MESSAGES &&
      served.bytesUnderWay < ORIGIN_WINDOW_BYTES
    );
  }

  /** The next frame, or null: nothing exists, nothing is available yet, or the window is full. */
  #deliver(served: Served, nowMs: number): OriginFrame | null {
    const seq = this.content.nextSeq(served.next);
    if (seq === undefined || !this.#hasWindow(served)) return null;
    const available = this.#available(seq, nowMs);
    if (available < 1) return null;
    const window = ORIGIN_WINDOW_MESSAGES - (served.deliverySeq - served.credited);
    const countMax = Math.min(ORIGIN_FRAME_MESSAGES_MAX, window, available);
    const slice = this.content.slice(seq, countMax, FRAME_BYTES_MAX);
    if (slice === null) return null;
    this.#firstDeliveryMs ??= nowMs;
    const last = this.#record(served.next, slice.bytes);
    const deliverySeq = served.deliverySeq + 1;
    served.next = last + 1;
    served.deliverySeq += slice.count;
    served.bytesUnderWay += slice.bytes.length;
    served.flights.push({
      deliverySeq: served.deliverySeq,
      bytes: slice.bytes.length,
    });
    const pending = this.content.countFrom(last + 1);
    const { opening } = served;
    return { type: 'deliver', opening, deliverySeq, pending, ...slice };
  }

  /** Messages from this sequence on that the rate has made available. */
  #available(seq: number, nowMs: number): number {
    if (this.#rate === null) return Number.POSITIVE_INFINITY;
    const since = nowMs - (this.#firstDeliveryMs ?? nowMs);
    return Math.floor((since * this.#rate) / 1000) + 1 - this.#messagesBefore(seq);
  }

  /** Tells the ledger what the view holds and what it passes over; returns its last sequence. */
  #record(from: number, bytes: Uint8Array): number {
    const view = viewOf(bytes);
    let runFirst = 0;
    let previous = from - 1;
    for (let at = 0; at < bytes.length; at += view.getUint32(at, true)) {
      const seq = readSafe(view, at + 8) + 1;
      if (seq !== previous + 1) {
        if (runFirst > 0) this.#ledger.delivered({ first: runFirst, last: previous });
        this.#ledger.passedOver({ first: previous + 1, last: seq - 1 });
        runFirst = seq;
      }
      if (runFirst === 0) runFirst = seq;
      previous = seq;
    }
    this.#ledger.delivered({ first: runFirst, last: previous });
    this.#handedOut = Math.max(this.#handedOut, previous);
    return previous;
  }
}

function isNewer(a: Opening, b: Opening): boolean {
  return compareOpenings(a, b) > 0;
}

/** By term, then by generation: of two openings the higher one is newer. */
function compareOpenings(a: Opening, b: Opening): number {
  return a.term - b.term || a.generation - b.generation;
}
