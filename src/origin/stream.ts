/**
 * The origin's stream as it stands: a content, less what was deleted, purged or expired since. The
 * content itself never changes, so that what was handed out before can still be compared.
 */
import { IntervalSet } from '../stream/intervals.js';
import type { SeqRange, StreamState } from '../stream/types.js';
import type { OriginContent, OriginSlice } from './content.js';

export class OriginStream {
  readonly content: OriginContent;
  /** Numbers of messages, not sequences: what was never made needs no removing. */
  readonly #removed = new IntervalSet();

  constructor(content: OriginContent) {
    this.content = content;
  }

  /** Its sentinel's sequence: that one is never removed. */
  get last(): number {
    return this.content.last;
  }

  get messages(): number {
    return this.content.messages - this.#removed.count;
  }

  state(): StreamState {
    const first = this.nextSeq(1)!;
    const { last, messages } = this;
    return { first, last, messages, deleted: last - first + 1 - messages };
  }

  /** The first sequence at or above this one that has a message; undefined behind the last. */
  nextSeq(seq: number): number | undefined {
    const number = this.#removed.nextOut(this.content.numberOf(seq));
    return number < this.content.messages ? this.content.seqOf(number) : undefined;
  }

  /** How many messages have this sequence or a higher one. */
  countFrom(seq: number): number {
    const { content } = this;
    const number = content.numberOf(seq);
    const left = content.messages - number;
    if (this.#removed.count === 0) return left;
    return left - this.#removed.countWithin(number, content.messages);
  }

  /** As the content's: one view over messages that follow each other, nothing removed between. */
  slice(from: number, countMax: number, bytesMax: number): OriginSlice | null {
    const seq = this.nextSeq(from);
    if (seq === undefined) return null;
    const number = this.content.numberOf(seq);
    const end = this.#removed.nextIn(number) ?? this.content.messages;
    return this.content.slice(seq, Math.min(countMax, end - number), bytesMax);
  }

  /** The last sequence of the `count` messages at or above this one, or of as many as there are. */
  endOf(from: number, count: number): number {
    let seq = from - 1;
    for (let left = count; left > 0; left--) {
      const next = this.nextSeq(seq + 1);
      if (next === undefined) return seq;
      seq = next;
    }
    return seq;
  }

  /** Messages of the range go, the sentinel aside; returns how many there were. */
  remove({ first, last }: SeqRange): number {
    const { content } = this;
    const from = content.numberOf(first);
    const to = Math.min(content.numberOf(last + 1), content.messages - 1);
    const before = this.#removed.count;
    this.#removed.add(from, to - 1);
    return this.#removed.count - before;
  }
}
