/**
 * What the reply subject of a delivery says. Two forms (upstream: consumer.go ackReplyInfo):
 *
 *     $JS.ACK.<stream>.<consumer>.<delivered>.<seq>.<delivery>.<time>.<pending>
 *     $JS.ACK.<domain or _>.<account>.<stream>.<consumer>. … the same five, and what may follow
 *
 * Nine tokens, or eleven and more; ten are neither. Numbers are decimal digits and nothing else: a
 * wrong one is an error, never a guess, since a sequence read wrong would become a gap.
 */

const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const PREFIX = new TextEncoder().encode('$JS.ACK.');
const TOKENS_MAX = 16;
const TOKENS_SHORT = 9;
const TOKENS_LONG = 11;
/** Of 2^53-1 and of 2^63-1. */
const SAFE_DIGITS_MAX = 16;
const TIME_DIGITS_MAX = 19;
const TIME_MAX = 9_223_372_036_854_775_807n;
/** A time is read in two halves, each of them exact as a number. */
const LOW_DIGITS = 9;
const LOW = 1_000_000_000n;

export function isDeliveryReply(reply: Uint8Array): boolean {
  return PREFIX.every((byte, at) => reply[at] === byte);
}

/** Reads one reply after the other into its own fields; nothing is allocated but the time. */
export class ReplySubject {
  /** Of the message in its stream: 1 … 2^53-1. */
  seq = 0;
  /** Of the delivery within its consumer: 1 … 2^53-1. */
  deliverySeq = 0;
  /** Nanoseconds since 1970. */
  timestamp = 0n;
  /** Messages that wait behind this one. */
  pending = 0;
  readonly #starts = new Int32Array(TOKENS_MAX + 1);
  #reply: Uint8Array = new Uint8Array(0);

  /** Null: the fields are those of this reply. Else what is wrong with it; they are then void. */
  read(reply: Uint8Array): string | null {
    this.#reply = reply;
    if (!isDeliveryReply(reply)) return 'it does not begin with $JS.ACK';
    const tokens = this.#split();
    if (tokens !== TOKENS_SHORT && tokens < TOKENS_LONG) return `it has ${tokens} tokens`;
    const consumer = tokens === TOKENS_SHORT ? 3 : 5;
    if (!(this.#number(consumer + 1) >= 1)) return 'its delivery count is no number from 1';
    this.seq = this.#number(consumer + 2);
    if (!(this.seq >= 1)) return 'its stream sequence is no number from 1 to 2^53-1';
    this.deliverySeq = this.#number(consumer + 3);
    if (!(this.deliverySeq >= 1)) return 'its delivery sequence is no number from 1 to 2^53-1';
    if (!this.#time(consumer + 4)) return 'its time is no 64-bit number of nanoseconds';
    this.pending = this.#number(consumer + 5);
    return this.pending >= 0 ? null : 'its pending count is no number from 0 to 2^53-1';
  }

  /** How many tokens there are; where each of the first begins. */
  #split(): number {
    const reply = this.#reply;
    let tokens = 1;
    this.#starts[0] = 0;
    for (let at = 0; at < reply.length; at++) {
      if (reply[at] !== DOT) continue;
      if (tokens <= TOKENS_MAX) this.#starts[tokens] = at + 1;
      tokens++;
    }
    if (tokens <= TOKENS_MAX) this.#starts[tokens] = reply.length + 1;
    return tokens;
  }

  /** NaN for what is no decimal number of at most 2^53-1. */
  #number(token: number): number {
    const from = this.#starts[token]!;
    const to = this.#starts[token + 1]! - 1;
    if (to - from > SAFE_DIGITS_MAX) return Number.NaN;
    const value = this.#digits(from, to);
    return value <= Number.MAX_SAFE_INTEGER ? value : Number.NaN;
  }

  #time(token: number): boolean {
    const from = this.#starts[token]!;
    const to = this.#starts[token + 1]! - 1;
    if (to - from > TIME_DIGITS_MAX) return false;
    const middle = Math.max(from, to - LOW_DIGITS);
    const high = middle === from ? 0 : this.#digits(from, middle);
    const low = this.#digits(middle, to);
    if (Number.isNaN(high) || Number.isNaN(low)) return false;
    this.timestamp = BigInt(high) * LOW + BigInt(low);
    return this.timestamp <= TIME_MAX;
  }

  /** NaN for what is empty or holds anything else. */
  #digits(from: number, to: number): number {
    if (to <= from) return Number.NaN;
    let value = 0;
    for (let at = from; at < to; at++) {
      const digit = this.#reply[at]!;
      if (digit < ZERO || digit > NINE) return Number.NaN;
      value = value * 10 + (digit - ZERO);
    }
    return value;
  }
}
