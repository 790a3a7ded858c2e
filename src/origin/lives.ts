/**
 * An origin over its lives: the stream that a mirror began to copy, and those that took its name
 * after it was deleted and made anew (cases E5, #6206). The first one is what a mirror is judged
 * by; whatever was handed out by a later one is kept to be compared with all the same.
 */
import { IntervalSet } from '../stream/intervals.js';
import type { PartDigests } from '../stream/store.js';
import type { SeqRange } from '../stream/types.js';
import type { LedgerReport } from '../verdict/types.js';
import type { OriginContent } from './content.js';
import { OriginStream } from './stream.js';

interface Life {
  readonly stream: OriginStream;
  /** Sequences that some opening was handed in this life. */
  readonly delivered: IntervalSet;
}

export class OriginLives {
  readonly #lives: Life[];

  constructor(content: OriginContent) {
    this.#lives = [{ stream: new OriginStream(content), delivered: new IntervalSet() }];
  }

  get present(): OriginStream {
    return this.#lives.at(-1)!.stream;
  }

  /** How many there were. */
  get count(): number {
    return this.#lives.length;
  }

  delivered({ first, last }: SeqRange): void {
    this.#lives.at(-1)!.delivered.add(first, last);
  }

  recreate(content: OriginContent): void {
    this.#lives.push({ stream: new OriginStream(content), delivered: new IntervalSet() });
  }

  /** What the judge asks first: the state as it stands, the digests as they were made. */
  report(): Pick<LedgerReport, 'origin' | 'sentinel' | 'tailGap' | 'blocks'> {
    const { stream } = this.#lives[0]!;
    const { content } = stream;
    return {
      origin: stream.state(),
      sentinel: content.sentinel,
      tailGap: null,
      blocks: content.blockDigests(),
    };
  }

  /** Digests of a range by sequence; one that two lives handed out is there twice. */
  records(range: SeqRange): readonly PartDigests[] {
    const [{ stream }, ...later] = this.#lives as [Life, ...Life[]];
    const records = stream.content.partDigests(range);
    for (const { stream: other, delivered } of later) {
      for (const part of delivered.ranges(range.first, range.last)) {
        records.push(...other.content.partDigests(part));
      }
    }
    return later.length === 0 ? records : records.sort((one, two) => one.seq - two.seq);
  }
}
