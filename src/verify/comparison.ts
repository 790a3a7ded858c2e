/**
 * Judges what a mirror and its origin do not share, message by message: what the mirror's
 * configuration explains, what nothing explains. It is told by a merge or by single reads, and
 * reads nothing itself.
 */
import { digestText, type Hasher } from '../base/hasher.js';
import { intersect, span, subtract } from '../verdict/ranges.js';
import { digestParts } from '../stream/store.js';
import type { SeqRange, StoredMessage } from '../stream/types.js';
import { Findings, type DifferenceKind, type Excuse } from './findings.js';
import { LaterOnSubject } from './later-on-subject.js';
import type { MergeSink } from './merge.js';
import { differingParts, headerOf, storedBytes, type MessagePart } from './record-compare.js';
import { Selection } from './selection.js';
import type { StreamFacts } from './stream-facts.js';
import { ttlMs } from './ttl.js';

export interface Example {
  readonly seq: number;
  readonly kind: DifferenceKind;
  readonly parts: readonly MessagePart[];
}

export interface ComparisonOptions {
  readonly origin: StreamFacts;
  readonly mirror: StreamFacts;
  readonly hasher: Hasher;
  /** Nanoseconds since 1970 by the servers' clock. */
  readonly now: () => bigint;
  /** Whether all of the mirror's messages are told in order: else no later one excuses anything. */
  readonly isWhole: boolean;
  /** Told of what is missing without an excuse. */
  readonly onMissing?: (message: StoredMessage) => void;
}

/** A message of the origin by what it holds. */
export interface Border {
  readonly seq: number;
  readonly digest: string;
}

const NO_SLACK = 0n;
/** Clocks differ, and servers remove what is too old a moment later or earlier. */
const SLACK_NS = 2_000_000_000n;
const NS_PER_MS = 1_000_000;
const EXAMPLES_MAX = 10;
/** Of any message. Upstream: const.go, MAX_PAYLOAD_MAX_SIZE. */
const MESSAGE_BYTES_MAX = 64 * 1024 * 1024;

export class MirrorComparison implements MergeSink {
  readonly differences = new Findings<DifferenceKind>();
  readonly explained = new Findings<Excuse>();
  readonly examples: Example[] = [];
  readonly parts: Record<MessagePart, number> = { time: 0, subject: 0, headers: 0, payload: 0 };
  readonly selection: Selection;
  /** Messages that both have, compared. */
  compared = 0;
  /** Sequences that at least one of them was found to have, since this was made. */
  told = 0;
  /** Every sequence below was compared. */
  next = 0;
  /** The last message compared, as far as it was told. */
  lastBorder: Border | null = null;
  readonly #options: ComparisonOptions;
  readonly #later: LaterOnSubject;
  /** Below the mirror's first, where a limit on bytes may have dropped it; the last one's size. */
  #dropped = { first: 0, last: 0, count: 0, size: 0 };
  /** Whether the limit on messages may have dropped some of these. */
  #isDroppedPossible = false;

  constructor(options: ComparisonOptions) {
    const { mirror, hasher, isWhole } = options;
    this.#options = options;
    this.selection = new Selection(mirror.mirror);
    this.#later = new LaterOnSubject(isWhole ? mirror.maxPerSubject : 0, hasher, (seq) => {
      this.explained.tally('trimmed', seq);
    });
  }

  get wantsAlike(): boolean {
    return this.#later.isWaiting;
  }

  passed(seq: number): void {
    this.told++;
    this.next = seq + 1;
  }

  border(message: StoredMessage): void {
    this.lastBorder = borderOf(message, this.#options.hasher);
  }

  alike(_copy: number, message: StoredMessage | null): void {
    this.compared++;
    if (message !== null) this.#later.there(message.subject);
  }

  missing(_copy: number, message: StoredMessage): void {
    const { seq } = message;
    const subject = this.selection.rewrittenBytes(message.subject) ?? message.subject;
    // Whatever became of it: what came before it on its subject had to give way to it.
    this.#later.there(subject);
    const excuse = this.#excuse(message);
    // A limit on bytes may explain for sure what one on messages only may.
    if (excuse === 'unknown' && this.#wasDropped(message)) this.#isDroppedPossible = true;
    else if (excuse !== null) this.explained.add(excuse, seq);
    else if (this.#wasDropped(message)) return;
    else if (this.#later.gone(seq, subject)) return;
    else {
      this.#differs('missing', seq, []);
      this.#options.onMissing?.(message);
    }
  }

  /** The mirror has it and the origin not: deleted, purged and expired look alike. */
  extra(_copy: number, message: StoredMessage): void {
    const { origin } = this.#options;
    this.#later.there(message.subject);
    if (message.seq > origin.state.last_seq) this.#differs('beyond', message.seq, []);
    else this.explained.add(this.#isOverdue(message, NO_SLACK) ? 'ttl' : 'kept', message.seq);
  }

  unlike(_copy: number, reference: StoredMessage, message: StoredMessage): void {
    this.compared++;
    this.#later.there(message.subject);
    const parts = differingParts(
      reference,
      message,
      this.selection.rewrittenBytes(reference.subject),
    );
    if (parts.length === 0) return;
    for (const part of parts) this.parts[part]++;
    this.#differs('changed', message.seq, parts);
  }

  /** Decides what had to wait for the end. A second call decides nothing. */
  settle(): void {
    for (const seq of this.#later.unexcused()) this.#differs('missing', seq, []);
    const { first, last, count, size } = this.#dropped;
    if (count === 0) return;
    this.#dropped = { first: 0, last: 0, count: 0, size: 0 };
    const { state, maxBytes } = this.#options.mirror;
    // It was full when it dropped the last of them, or nearly so.
    if (state.bytes + size >= maxBytes) {
      this.explained.tally('trimmed', first, last, count);
    } else if (this.#isDroppedPossible || this.#wasFullPossible) {
      this.explained.tally('unknown', first, last, count);
    } else this.differences.tally('missing', first, last, count);
  }

  /** Whether all that its origin ever had can have filled the mirror up to its limit on bytes. */
  get #wasFullPossible(): boolean {
    const { origin, mirror } = this.#options;
    const { bytes, num_deleted } = origin.state;
    return bytes + num_deleted * MESSAGE_BYTES_MAX >= mirror.maxBytes;
  }

  /** The mirror goes on where its origin has ended. */
  beyond({ first, last }: SeqRange): void {
    this.differences.add('beyond', first, last);
  }

  /**
   * This one with the differences of another one, which read them again, in place of its own.
   *
   * @param reread  what was explained, and read again nevertheless
   */
  confirmedBy(again: MirrorComparison, reread: readonly SeqRange[] = []): MirrorComparison {
    const confirmed = new MirrorComparison(this.#options);
    confirmed.compared = this.compared;
    confirmed.next = this.next;
    confirmed.lastBorder = this.lastBorder;
    confirmed.explained.addAll(this.explained);
    for (const { first, last } of reread) confirmed.explained.remove('kept', first, last);
    confirmed.explained.addAll(again.explained);
    confirmed.differences.addAll(again.differences);
    const upToEnd = span(1, again.#options.origin.state.last_seq);
    const beyond = this.differences.ranges('beyond');
    for (const { first, last } of subtract(beyond, upToEnd)) {
      confirmed.differences.add('beyond', first, last);
    }
    // It must not vanish: a replica that lacks messages looks just so, read beside a sound leader.
    const seen = [
      ...this.differences.all().filter(({ kind }) => kind !== 'beyond'),
      ...[...intersect(beyond, upToEnd), ...reread].map((range) => ({
        ...range,
        count: range.last - range.first + 1,
      })),
    ];
    const count = seen.reduce((sum, found) => sum + found.count, 0);
    const settled = count - again.differences.total - again.explained.total;
    if (settled > 0) {
      const firsts = seen.map(({ first }) => first);
      const lasts = seen.map(({ last }) => last);
      confirmed.explained.tally('settled', Math.min(...firsts), Math.max(...lasts), settled);
    }
    Object.assign(confirmed.parts, again.parts);
    confirmed.examples.push(...again.examples);
    return confirmed;
  }

  /** Takes a missing message for excused after all. */
  excuse(seq: number, excuse: Excuse): void {
    this.differences.remove('missing', seq);
    this.explained.tally(excuse, seq);
    const at = this.examples.findIndex((example) => example.seq === seq);
    if (at >= 0) this.examples.splice(at, 1);
  }

  #differs(kind: DifferenceKind, seq: number, parts: readonly MessagePart[]): void {
    this.differences.add(kind, seq);
    if (this.examples.length < EXAMPLES_MAX) this.examples.push({ seq, kind, parts });
  }

  #excuse(message: StoredMessage): Excuse | null {
    const { mirror } = this.#options;
    const { seq, timestamp } = message;
    const { startSeq = 0, startTime = null } = mirror.mirror ?? {};
    if (seq < startSeq || (startTime !== null && timestamp < startTime)) return 'outOfScope';
    if (mirror.maxAgeMs > 0 && this.#isPast(timestamp, mirror.maxAgeMs, SLACK_NS)) return 'expired';
    if (mirror.allowsTtl && this.#isOverdue(message, SLACK_NS)) return 'ttl';
    const isLimited = this.#isHead(seq) && mirror.maxMessages > 0;
    const excuse = isLimited ? this.#excuseOfMaxMessages(seq) : null;
    return excuse ?? (this.#isUntold ? 'unknown' : null);
  }

  /** Acknowledged there, or one too many on a subject that nobody can tell: it leaves no trace. */
  get #isUntold(): boolean {
    const { retention, maxPerSubject } = this.#options.mirror;
    return retention !== 'limits' || (maxPerSubject > 0 && !this.selection.isUnderstood);
  }

  /** Whether a limit may have dropped it: one that discards what is new drops nothing. */
  #isHead(seq: number): boolean {
    const { discardsNew, state } = this.#options.mirror;
    return !discardsNew && seq < state.first_seq;
  }

  /**
   * So many messages have to have come behind it. They may be gone since: that the mirror holds
   * less now says nothing. What the origin has no more may have come too.
   */
  #excuseOfMaxMessages(seq: number): Excuse | null {
    const { origin, mirror } = this.#options;
    const { first_seq, last_seq, messages } = origin.state;
    const upTo = mirror.state.last_seq;
    const ofOrigin = messages - (seq - first_seq + 1) - Math.max(0, last_seq - upTo);
    const known = Math.max(mirror.state.messages, this.selection.isAll ? ofOrigin : 0);
    if (known >= mirror.maxMessages) return 'trimmed';
    return upTo - seq >= mirror.maxMessages ? 'unknown' : null;
  }

  /** Whether the message's own time to live has passed. */
  #isOverdue({ timestamp, headers }: StoredMessage, slack: bigint): boolean {
    if (headers.length === 0) return false;
    const ttl = ttlMs(headerOf(headers, 'Nats-TTL'));
    return ttl !== null && this.#isPast(timestamp, ttl, slack);
  }

  #isPast(timestamp: bigint, ms: number, slack: bigint): boolean {
    return timestamp + BigInt(Math.round(ms * NS_PER_MS)) <= this.#options.now() + slack;
  }

  #wasDropped(message: StoredMessage): boolean {
    const { seq } = message;
    if (this.#options.mirror.maxBytes <= 0 || !this.#isHead(seq)) return false;
    const { first, count } = this.#dropped;
    const size = storedBytes(message);
    this.#dropped = { first: count === 0 ? seq : first, last: seq, count: count + 1, size };
    return true;
  }
}

export function borderOf(message: StoredMessage, hasher: Hasher): Border {
  const { seq, timestamp, subject, headers, payload } = digestParts(message, hasher);
  const text = [timestamp, subject, headers, payload].map(String).join(' ');
  return { seq, digest: digestText(hasher.hash64(Buffer.from(text))) };
}
