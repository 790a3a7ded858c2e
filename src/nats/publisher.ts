/**
 * Fills a stream of ours with the messages of a made origin, each at its own sequence: messages are
 * published without waiting and their acknowledgements are counted; gaps are fillers on a subject
 * that no mirror copies, purged once they took their sequences. What was not acknowledged is
 * settled by asking the stream how far it came with that (stored.ts): one connection is stored in
 * the order it was sent.
 */
import { createInbox, headers, type Msg, type MsgHdrs, type NatsConnection } from 'nats';
import type { OriginContent } from '../origin/content.js';
import { Pace } from '../origin/pace.js';
import { Pauses } from '../scenario/pauses.js';
import type { StoredMessage } from '../stream/types.js';

/** Messages whose acknowledgement is still to come. */
const WINDOW = 4_096;
/** Published in one go; others of this thread get their turn between. */
const BURST_MAX = 256;
/** One filler in this many asks for an acknowledgement, which says how far all of them came. */
const FILLERS_AN_ACK = 512;
const FILLER_ACKS = 16;
const LOOK_EVERY_MS = 2;
/** No acknowledgement for as long as this, with some to come: they may have been lost. */
const SILENT_MS = 2_000;
const RETRY_MS = 100;
const NO_BYTES = new Uint8Array(0);
const DECODER = new TextDecoder();

export interface PublisherOptions {
  readonly connection: NatsConnection;
  readonly content: OriginContent;
  /** Messages a second; null: as fast as the window allows. */
  readonly rate: number | null;
  /** Before every subject, so that a stream on somebody's cluster meets no other one. */
  readonly prefix: string;
  readonly filler: string;
  /** The highest sequence that the stream said before that it has; default 0. */
  readonly acknowledged?: number;
  readonly inboxPrefix: string | null;
  /**
   * The stream's last sequence, when nothing is on its way any more that was sent before. Rejects
   * while nobody can tell.
   */
  readonly lastOf: () => Promise<number>;
  readonly purgeFillers: () => Promise<void>;
  readonly now: () => number;
  readonly note: (text: string) => void;
}

/** Sequences to be taken next: by messages, or by fillers. */
interface Stretch {
  readonly first: number;
  readonly last: number;
  readonly isGap: boolean;
}

export class Publisher {
  readonly #options: PublisherOptions;
  readonly #pace: Pace;
  readonly #pauses = new Pauses();
  readonly #subjects = new Map<Uint8Array, string>();
  readonly #inbox: string;
  #headers: { readonly bytes: Uint8Array; readonly parsed: MsgHdrs } | null = null;
  /** Acknowledgements of an earlier burst say nothing of this one. */
  #burst = 0;
  #waiting = 0;
  #heardMs = 0;
  #troubled = false;
  #stopped = false;
  #acknowledged: number;

  constructor(options: PublisherOptions) {
    this.#options = options;
    this.#pace = new Pace(options.rate);
    this.#acknowledged = options.acknowledged ?? 0;
    this.#inbox = createInbox(options.inboxPrefix ?? undefined);
  }

  /** The highest sequence that the stream said it has. */
  get acknowledged(): number {
    return this.#acknowledged;
  }

  /** Nothing is sent any more; `run` resolves when what was sent has arrived, too. */
  stop(): void {
    this.#stopped = true;
    this.#pauses.wake();
  }

  /**
   * Resolves once every message is stored; or after `stop`, once each that was sent is known to be
   * stored, or nothing was heard of the others for so long that they are taken for lost.
   */
  async run(): Promise<void> {
    const { connection, content, purgeFillers } = this.#options;
    const acknowledgements = connection.subscribe(`${this.#inbox}.*.*`, {
      callback: (error, message) => {
        if (error === null) this.#acknowledge(message);
      },
    });
    try {
      let next = (await this.#settled()) + 1;
      while (next <= content.last && !this.#stopped) {
        const stretch = this.#stretchAt(next);
        next = await this.#send(stretch);
        // Those behind the next message would be seen by nobody, but are no gap.
        if (!stretch.isGap) continue;
        if (this.#stopped) await this.#leftGap();
        else if (next > stretch.last) await this.#untilDone(purgeFillers);
      }
      await this.#landed();
    } finally {
      if (!connection.isClosed()) acknowledgements.unsubscribe();
    }
  }

  #stretchAt(seq: number): Stretch {
    const { content } = this.#options;
    const [run] = content.runs({ first: seq, last: content.last });
    if (run!.first === seq) return { first: seq, last: run!.last, isGap: false };
    return { first: seq, last: run!.first - 1, isGap: true };
  }

  /** Returns the sequence that comes next: behind the stretch, or where the stream stands. */
  async #send(stretch: Stretch): Promise<number> {
    this.#burst++;
    this.#waiting = 0;
    this.#troubled = false;
    this.#heardMs = this.#options.now();
    let seq = stretch.first;
    while (!this.#isOver()) {
      if (seq <= stretch.last)
        seq = stretch.isGap ? this.#fill(seq, stretch) : this.#put(seq, stretch);
      else if (this.#waiting === 0) return stretch.last + 1;
      await this.#pause();
    }
    return this.#stopped ? seq : (await this.#settled()) + 1;
  }

  #isOver(): boolean {
    const isSilent = this.#waiting > 0 && this.#options.now() - this.#heardMs > SILENT_MS;
    return this.#stopped || this.#troubled || isSilent;
  }

  /** As many messages as there is room for and as exist by now. */
  #put(from: number, { last }: Stretch): number {
    const { connection, content, prefix, now } = this.#options;
    const number = content.numberOf(from);
    this.#pace.begin(now(), number);
    const room = Math.min(BURST_MAX, WINDOW - this.#waiting, this.#pace.available(number, now()));
    const end = Math.min(last, from + room - 1);
    for (let seq = from; seq <= end; seq++) {
      const message = content.message(seq);
      connection.publish(`${prefix}${this.#subjectOf(message)}`, message.payload, {
        reply: this.#replyFor(seq),
        ...this.#headersOf(message),
      });
      this.#waiting++;
    }
    return Math.max(from, end + 1);
  }

  #fill(from: number, { last }: Stretch): number {
    const { connection, filler } = this.#options;
    let seq = from;
    for (; seq <= last && this.#waiting < FILLER_ACKS; seq++) {
      if (seq < last && (seq - from + 1) % FILLERS_AN_ACK !== 0) {
        connection.publish(filler, NO_BYTES);
        continue;
      }
      connection.publish(filler, NO_BYTES, { reply: this.#replyFor(seq) });
      this.#waiting++;
    }
    return seq;
  }

  #acknowledge(message: Msg): void {
    const [burst = '', expected = ''] = message.subject.slice(this.#inbox.length + 1).split('.');
    if (Number(burst) !== this.#burst) return;
    this.#waiting--;
    this.#heardMs = this.#options.now();
    const seq = seqOf(message);
    if (seq === null) this.#troubled = true;
    else this.#acknowledged = Math.max(this.#acknowledged, seq);
    // It did not follow the message before: that one is missing.
    if (seq !== null && seq !== Number(expected)) this.#troubled = true;
    this.#pauses.wake();
  }

  /** What is on its way would else be stored while whoever stopped us reads the stream. */
  async #landed(): Promise<void> {
    const { connection, now } = this.#options;
    while (this.#waiting > 0 && !connection.isClosed()) {
      if (now() - this.#heardMs > SILENT_MS) return;
      await this.#pause();
    }
  }

  /** Fillers are no messages of the origin: what there is of them is not counted as such. */
  async #leftGap(): Promise<void> {
    await this.#landed();
    // Nobody waits for somebody who cannot be asked now.
    await this.#options.purgeFillers().catch(() => undefined);
  }

  /** The stream's last sequence, asked for until somebody answers or all is over. */
  async #settled(): Promise<number> {
    let last = this.#acknowledged;
    await this.#untilDone(async () => {
      last = await this.#options.lastOf();
    });
    if (last < this.#acknowledged) {
      const lost = `${last + 1} to ${this.#acknowledged}`;
      this.#options.note(`the origin lost ${lost}, which it had acknowledged`);
    }
    this.#acknowledged = last;
    return last;
  }

  async #untilDone(ask: () => Promise<void>): Promise<void> {
    while (!this.#stopped) {
      try {
        await ask();
        return;
      } catch {
        await this.#pause(RETRY_MS);
      }
    }
  }

  #pause(ms = LOOK_EVERY_MS): Promise<void> {
    return this.#pauses.pause(ms);
  }

  #replyFor(seq: number): string {
    return `${this.#inbox}.${this.#burst}.${seq}`;
  }

  /** Subjects of a content are a few shared arrays. */
  #subjectOf({ subject }: StoredMessage): string {
    let text = this.#subjects.get(subject);
    if (text === undefined) {
      text = DECODER.decode(subject);
      this.#subjects.set(subject, text);
    }
    return text;
  }

  #headersOf({ headers: bytes }: StoredMessage): { readonly headers?: MsgHdrs } {
    if (bytes.length === 0) return {};
    if (this.#headers?.bytes !== bytes) this.#headers = { bytes, parsed: parsed(bytes) };
    return { headers: this.#headers.parsed };
  }
}

/** The client writes headers in its own words: `NATS/1.0`, then `Name: value`, line by line. */
function parsed(bytes: Uint8Array): MsgHdrs {
  const all = headers();
  const [, ...lines] = DECODER.decode(bytes).split('\r\n');
  for (const line of lines) {
    const colon = line.indexOf(':');
    if (colon > 0) all.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  return all;
}

/** Null: the server refused the message. */
function seqOf(message: Msg): number | null {
  try {
    const { seq, error } = message.json<{ readonly seq?: unknown; readonly error?: unknown }>();
    return error === undefined && typeof seq === 'number' ? seq : null;
  } catch {
    // Nobody listens: the stream has no leader at this moment.
    return null;
  }
}
