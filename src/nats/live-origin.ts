/**
 * A stream on a server as an origin source: each opening is a push consumer of its own, and the
 * newest one is served. What happens to a consumer (lost deliveries, a server that restarts, a
 * leader that moves) is left to the mirror, which sees it by delivery numbers and by silence:
 * nothing here asks again, reorders or makes a consumer anew. It knows the server by StreamServer.
 */
import { setTimeout } from 'node:timers/promises';
import { toErrorData, type ErrorData } from '../base/errors.js';
import { ORIGIN_HEARTBEAT_MS } from '../base/limits.js';
import type { Member } from '../base/member.js';
import { createPrng } from '../base/prng.js';
import type { Opening, OriginCommand, OriginIdentity } from '../mirror/types.js';
import { OriginFaults } from '../origin/faults.js';
import { compareOpenings } from '../origin/service.js';
import type {
  AddressedFrame,
  MeanwhileChance,
  OriginSource,
  OriginTools,
} from '../origin/source.js';
import { DeliveryWindow } from '../origin/window.js';
import type { SeqRange, StreamState } from '../stream/types.js';
import { ContentLedger } from '../verdict/content-ledger.js';
import type { LedgerReport, RecordDigest } from '../verdict/types.js';
import type { ConsumerRequest, CreatedConsumer } from './api.js';
import { Feed, SegmentWriter, type Piece, type RawMessage } from './feed.js';
import type { Listening } from './listening.js';

/** The stream as it is now. */
export interface StreamNow {
  readonly identity: OriginIdentity;
  readonly last: number;
}

/** What a live origin needs of the server, for one stream. Promises reject with a LockstepError. */
export interface StreamServer {
  /** Hands over every message of a subject of its own until it is closed. */
  listen(onMessage: (message: RawMessage) => void): Listening;
  createConsumer(request: ConsumerRequest): Promise<CreatedConsumer>;
  deleteConsumer(name: string): Promise<void>;
  state(): Promise<StreamNow>;
  /** Tells the server to go on. */
  goOn(subject: string): void;
  close(): Promise<void>;
}

/** The stream as it was read at the start. */
export interface StartingPoint {
  readonly state: StreamState;
  /** The last message that there is: what lies behind it cannot be reached without another one. */
  readonly reachable: number;
}

/** Least that the server takes. Upstream: consumer.go, JSConsumerSmallHeartbeatErr. */
const HEARTBEAT_MS_MIN = 100;
/** Upstream: stream.go, sourceHealthCheckInterval. */
const INACTIVE_MS = 10_000;
/** A server that does not answer is not waited for any longer; it forgets us by itself. */
const CLOSE_MS = 2_000;

/** One life of the mirror's consumer. */
interface Served {
  readonly opening: Opening;
  readonly to: Member;
  readonly consumer: string;
  readonly listening: Listening;
  readonly feed: Feed;
  readonly window: DeliveryWindow;
  /** Whether its answer was sent, so that deliveries may follow. */
  answered: boolean;
  /** The next sequence to look at, and the delivery number before it. */
  next: number;
  deliverySeq: number;
}

export class LiveOrigin implements OriginSource {
  readonly messages: number;
  readonly last: number;
  firstDeliveryMs: number | null = null;
  handedOut = 0;
  readonly #server: StreamServer;
  readonly #tools: OriginTools;
  readonly #start: StartingPoint;
  readonly #name: string;
  readonly #heartbeatMs: number;
  readonly #faults: OriginFaults;
  readonly #writer: SegmentWriter;
  readonly #content: ContentLedger;
  /** What is asked of the server and not answered: waited for when this closes. */
  readonly #asking = new Set<Promise<void>>();
  #served: Served | null = null;
  #newest: Opening | null = null;
  /** Frames that wait for the next pump: answers, each followed by what it allows. */
  #answer: AddressedFrame | null = null;
  #consumers = 0;
  /** When it was pumped last. */
  #nowMs = 0;

  /** @param name  of this source: the names of its consumers begin with it */
  constructor(name: string, start: StartingPoint, server: StreamServer, tools: OriginTools) {
    this.#name = name;
    this.#faults = new OriginFaults(createPrng(tools.seed).fork('origin faults'));
    this.#start = start;
    this.#server = server;
    this.#tools = tools;
    this.last = start.reachable;
    this.messages = start.state.messages;
    this.#heartbeatMs = Math.max(HEARTBEAT_MS_MIN, ORIGIN_HEARTBEAT_MS * tools.timeScale);
    this.#writer = new SegmentWriter(tools.allocate);
    this.#content = new ContentLedger(tools.hasher);
  }

  command(from: Member, command: OriginCommand, nowMs: number): void {
    const { opening } = command;
    switch (command.type) {
      case 'open':
        this.#open(from, opening, Math.max(1, command.startSeq), nowMs);
        return;
      case 'close':
        if (this.#isServed(opening)) this.#forget();
        return;
      case 'credit':
        if (this.#isServed(opening)) this.#served?.window.credit(command.deliverySeq);
    }
  }

  pump(nowMs: number): AddressedFrame[] {
    this.#nowMs = nowMs;
    if (this.#faults.isStalled(nowMs)) return [];
    const frames = this.#answer === null ? [] : [this.#answer];
    this.#answer = null;
    const served = this.#served;
    if (served === null) return frames;
    served.answered ||= frames.length > 0;
    if (!served.answered) return frames;
    while (this.#serveNext(served, nowMs, frames));
    this.#beat(served, frames);
    return frames;
  }

  nextDueMs(nowMs: number): number | null {
    return this.#faults.isStalled(nowMs) ? this.#faults.stalledUntilMs : null;
  }

  /** Deletes the consumer on the server; whoever listens hears nothing more. */
  dropConsumer(): boolean {
    if (this.#served === null) return false;
    this.#remove(this.#served.consumer);
    return true;
  }

  refuseNext(count: number, error: ErrorData): void {
    this.#faults.refuse(count, error);
  }

  refuseByChance({ perMillion, forMs }: MeanwhileChance, error: ErrorData, nowMs: number): void {
    this.#faults.refuseByChance(perMillion, nowMs + forMs, error);
  }

  loseByChance(perMillion: number, forMs: number, nowMs: number): void {
    this.#faults.loseByChance(perMillion, nowMs + forMs);
  }

  repeatByChance(perMillion: number, forMs: number, nowMs: number): void {
    this.#faults.repeatByChance(perMillion, nowMs + forMs);
  }

  loseDeliveries(count: number): void {
    this.#faults.lose(count);
  }

  repeatDeliveries(count: number): void {
    this.#faults.repeat(count);
  }

  stall(ms: number, nowMs: number): void {
    this.#faults.stallUntil(nowMs + ms);
  }

  report(): Omit<LedgerReport, 'delivered' | 'passedOver'> {
    const { state, reachable } = this.#start;
    const tail = { first: reachable + 1, last: state.last };
    // A message that came later took the mirror over it.
    const isOpen = reachable < state.last && this.handedOut <= reachable;
    const blocks = this.#content.blockDigests();
    const strikes = this.#faults.struck;
    return { origin: state, sentinel: null, tailGap: isOpen ? tail : null, blocks, strikes };
  }

  records(range: SeqRange): RecordDigest[] {
    return this.#content.records(range);
  }

  /** Leaves nothing behind on a server that answers. */
  async close(): Promise<void> {
    this.#forget();
    const waited = new AbortController();
    const limit = setTimeout(CLOSE_MS, undefined, { signal: waited.signal }).catch(() => undefined);
    await Promise.race([limit, Promise.all(this.#asking)]);
    waited.abort();
    await this.#server.close();
  }

  // Openings.

  #open(from: Member, opening: Opening, startSeq: number, nowMs: number): void {
    if (this.#newest !== null && compareOpenings(opening, this.#newest) <= 0) return;
    this.#forget();
    this.#newest = opening;
    const refusal = this.#faults.takeRefusal(nowMs);
    if (refusal !== null) {
      this.#answer = { to: from, frame: { type: 'refused', opening, error: refusal } };
      return;
    }
    const served = this.#listen(from, opening, startSeq);
    this.#served = served;
    this.#ask(this.#create(served, startSeq));
  }

  #listen(to: Member, opening: Opening, next: number): Served {
    const consumer = `${this.#name}-${++this.#consumers}`;
    const { note, wake } = this.#tools;
    const [writer, content, faults] = [this.#writer, this.#content, this.#faults];
    const now = (): number => this.#nowMs;
    const feed = new Feed({ consumer, writer, content, faults, note, now });
    const listening = this.#server.listen((message) => {
      feed.take(message);
      wake();
    });
    const window = new DeliveryWindow();
    return {
      ...{ opening, to, consumer, listening, feed, window },
      ...{ answered: false, next, deliverySeq: 0 },
    };
  }

  /** Deliveries may come before the answer does: they wait in the feed. */
  async #create(served: Served, startSeq: number): Promise<void> {
    const { opening, to, consumer, listening } = served;
    try {
      const created = await this.#server.createConsumer({
        name: consumer,
        deliverSubject: listening.subject,
        startSeq,
        heartbeatMs: this.#heartbeatMs,
        inactiveMs: INACTIVE_MS,
      });
      // Asked afterwards: of a stream that was made again, it is the new one's that is told.
      const { identity, last } = await this.#server.state();
      const { startsAfter, pending } = created;
      if (this.#served !== served) return;
      this.#tools.ledger.passedOver({ first: startSeq, last: startsAfter });
      served.next = startsAfter + 1;
      this.#answer = {
        to,
        frame: { type: 'opened', opening, identity, startsAfter, last, pending },
      };
    } catch (error) {
      if (this.#served !== served) return;
      this.#forget();
      this.#answer = { to, frame: { type: 'refused', opening, error: toErrorData(error) } };
    }
    this.#tools.wake();
  }

  /** The live opening is over; an answer that was not sent yet has nobody to go to. */
  #forget(): void {
    const served = this.#served;
    this.#answer = null;
    this.#served = null;
    if (served === null) return;
    served.listening.close();
    this.#remove(served.consumer);
  }

  /** What cannot be deleted is forgotten by the server in a while, since nobody listens. */
  #remove(consumer: string): void {
    // Behind what is still asked: a request to make it may not be answered yet.
    const before = Promise.all(this.#asking);
    const removing = before.then(() => this.#server.deleteConsumer(consumer));
    this.#ask(
      removing.catch((error: unknown) => {
        const { code, message } = toErrorData(error);
        if (code !== 'timeout') this.#tools.note(message);
      }),
    );
  }

  #ask(asking: Promise<void>): void {
    this.#asking.add(asking);
    void asking.finally(() => this.#asking.delete(asking));
  }

  #isServed(opening: Opening): boolean {
    return this.#served !== null && compareOpenings(opening, this.#served.opening) === 0;
  }

  // Deliveries.

  /** False: nothing is there, or the window has no room for it. */
  #serveNext(served: Served, nowMs: number, frames: AddressedFrame[]): boolean {
    const next = served.feed.first;
    if (next === undefined) return false;
    if (next.kind === 'flow') {
      this.#server.goOn(next.subject);
    } else {
      if (!this.#hasRoom(served, next)) return false;
      this.#handOver(served, next, nowMs, frames);
    }
    served.feed.dropFirst();
    return true;
  }

  #hasRoom({ window }: Served, { count }: Piece): boolean {
    return window.hasRoom && window.roomMessages >= count;
  }

  #handOver(served: Served, piece: Piece, nowMs: number, frames: AddressedFrame[]): void {
    const { opening, to, window } = served;
    const { deliverySeq, count, pending, bytes, runs } = piece;
    const lost = deliverySeq - 1 - window.lastDeliverySeq;
    // Numbers that never came count as sent: the credit for what follows is theirs too.
    if (lost > 0) window.send(lost, 0);
    const fresh = deliverySeq + count - 1 - window.lastDeliverySeq;
    if (fresh > 0) window.send(fresh, bytes.length);
    this.firstDeliveryMs ??= nowMs;
    this.#record(served, piece);
    this.handedOut = Math.max(this.handedOut, runs.at(-1)!.last);
    for (let copy = 0; copy < piece.copies; copy++) {
      frames.push({
        to,
        frame: { type: 'deliver', opening, deliverySeq, count, pending, bytes },
      });
    }
  }

  /** Between deliveries with numbers that follow each other, the stream has nothing. */
  #record(served: Served, { deliverySeq, count, runs }: Piece): void {
    const { ledger } = this.#tools;
    const follows = deliverySeq === served.deliverySeq + 1;
    for (const [at, run] of runs.entries()) {
      const gap = { first: served.next, last: run.first - 1 };
      if ((at > 0 || follows) && gap.last >= gap.first) ledger.passedOver(gap);
      ledger.delivered(run);
      served.next = Math.max(served.next, run.last + 1);
    }
    served.deliverySeq = Math.max(served.deliverySeq, deliverySeq + count - 1);
  }

  /**
   * The server's heartbeat, passed on. While something waits for room it says nothing of what was
   * sent behind that: the mirror would take it for lost.
   */
  #beat({ feed, to, opening, window }: Served, frames: AddressedFrame[]): void {
    const beat = feed.takeBeat();
    if (beat === null) return;
    const lastDeliverySeq = feed.first === undefined ? beat : window.lastDeliverySeq;
    frames.push({ to, frame: { type: 'heartbeat', opening, lastDeliverySeq } });
  }
}
