/**
 * The replicas of one stream against each other: at which sequences they do not all hold the same,
 * and who holds what there. None of them is taken for the right one. It is told by a merge, whose
 * reference is the first replica; it reads nothing itself and keeps ranges alone.
 */
import type { StoredMessage } from '../stream/types.js';
import { Findings } from './findings.js';
import type { MergeSink } from './merge.js';
import type { MessagePart } from './record-compare.js';

/**
 * Who holds what at a sequence, one character a replica: letters are contents, those who hold the
 * same have the same letter; `-` holds none, `?` was not read there.
 */
export type Pattern = string;

export const NONE = '-';
export const UNREAD = '?';
const FIRST_LETTER = 'a'.charCodeAt(0);

/** What each replica holds at a sequence; null: none. */
export type Held = readonly (StoredMessage | null)[];

export interface ReplicaComparisonOptions {
  readonly replicas: number;
  /** Whether that replica's reader failed before this sequence. */
  readonly isUnread: (replica: number, seq: number) => boolean;
  /** Sequences that are compared at all; not given: every one. */
  readonly isWanted?: (seq: number) => boolean;
  /** Told of each difference; the messages are views that are good for this moment. */
  readonly onDifference?: (seq: number, pattern: Pattern, held: Held) => void;
}

export class ReplicaComparison implements MergeSink {
  readonly wantsAlike = false;
  readonly differences = new Findings<Pattern>();
  /** Parts in which contents differ, by number of sequences. */
  readonly parts: Record<MessagePart, number> = { time: 0, subject: 0, headers: 0, payload: 0 };
  /** Sequences that at least one replica holds. */
  compared = 0;
  /** The last of them; 0: none. */
  last = 0;
  readonly #options: ReplicaComparisonOptions;
  readonly #held: (StoredMessage | null)[];
  /** Whether any copy was told of at this sequence. */
  #isTold = false;

  constructor(options: ReplicaComparisonOptions) {
    this.#options = options;
    this.#held = Array.from({ length: options.replicas }, () => null);
  }

  missing(copy: number, message: StoredMessage): void {
    this.#tell(copy, message, null);
  }

  extra(copy: number, message: StoredMessage): void {
    this.#tell(copy, null, message);
  }

  unlike(copy: number, reference: StoredMessage, message: StoredMessage): void {
    this.#tell(copy, reference, message);
  }

  alike(): void {
    // Not asked for.
  }

  border(): void {
    // Comparisons of replicas begin anew.
  }

  passed(seq: number): void {
    this.compared++;
    this.last = seq;
    if (!this.#isTold) return;
    this.#isTold = false;
    if (this.#options.isWanted?.(seq) === false) return;
    const pattern = this.#pattern(seq);
    if (!isDifference(pattern)) return;
    this.differences.add(pattern, seq);
    for (const part of partsOf(this.#held)) this.parts[part]++;
    this.#options.onDifference?.(seq, pattern, this.#held);
  }

  #tell(copy: number, reference: StoredMessage | null, message: StoredMessage | null): void {
    // Whoever is not told of holds what the reference holds.
    if (!this.#isTold) this.#held.fill(reference);
    this.#isTold = true;
    this.#held[copy + 1] = message;
  }

  #pattern(seq: number): Pattern {
    const contents: StoredMessage[] = [];
    let pattern = '';
    for (const [replica, message] of this.#held.entries()) {
      if (this.#options.isUnread(replica, seq)) {
        this.#held[replica] = null;
        pattern += UNREAD;
      } else if (message === null) pattern += NONE;
      else {
        let at = contents.findIndex((content) => partsBetween(content, message).length === 0);
        if (at < 0) at = contents.push(message) - 1;
        pattern += String.fromCharCode(FIRST_LETTER + at);
      }
    }
    return pattern;
  }
}

/** Whether those who were read disagree. */
export function isDifference(pattern: Pattern): boolean {
  const seen = new Set(pattern);
  seen.delete(UNREAD);
  return seen.size > 1;
}

/** `missing`: who holds it holds the same; `changed`: there are two contents or more. */
export function kindOf(pattern: Pattern): 'missing' | 'changed' {
  return contentsOf(pattern).length > 1 ? 'changed' : 'missing';
}

/** The letters in a pattern. */
export function contentsOf(pattern: Pattern): string[] {
  return [...new Set(pattern)].filter((letter) => letter !== NONE && letter !== UNREAD);
}

/** In what two messages of one sequence differ, bit by bit: replicas have no excuse. */
export function partsBetween(one: StoredMessage, other: StoredMessage): MessagePart[] {
  if (one === other) return [];
  const parts: MessagePart[] = [];
  if (one.timestamp !== other.timestamp) parts.push('time');
  for (const part of ['subject', 'headers', 'payload'] as const) {
    if (Buffer.compare(one[part], other[part]) !== 0) parts.push(part);
  }
  return parts;
}

function partsOf(held: Held): MessagePart[] {
  const messages = held.filter((message) => message !== null);
  const parts = messages.slice(1).flatMap((message) => partsBetween(messages[0]!, message));
  return [...new Set(parts)];
}
