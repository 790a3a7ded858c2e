/**
 * `max_msgs_per_subject` on a mirror: a message is rightly gone once so many later ones came on its
 * subject, even if those are gone too. Told in order of sequence, this keeps what still waits for
 * them, by a hash of the subject: a message that is excused is forgotten. Upstream: filestore.go,
 * enforceMsgPerSubjectLimit.
 */
import type { Hasher } from '../base/hasher.js';

/** About 200 MB of what waits; a mirror with more open subjects is not judged by this limit. */
const WAITING_MAX = 2_000_000;

/** Sequences that are gone of one subject, rising, and how many messages of it came since each. */
interface Waiting {
  readonly seqs: number[];
  readonly laters: number[];
}

export class LaterOnSubject {
  readonly #limit: number;
  readonly #hasher: Hasher;
  readonly #excused: (seq: number) => void;
  readonly #waiting = new Map<bigint, Waiting>();
  #count = 0;

  /** @param limit  zero or less: none, and everything stays unexcused */
  constructor(limit: number, hasher: Hasher, excused: (seq: number) => void) {
    this.#limit = limit;
    this.#hasher = hasher;
    this.#excused = excused;
  }

  /** The mirror has not this message of the origin. False: it cannot wait for an excuse. */
  gone(seq: number, subject: Uint8Array): boolean {
    if (this.#limit <= 0 || this.#count >= WAITING_MAX) return false;
    const hash = this.#hasher.hash64(subject);
    const waiting = this.#waiting.get(hash) ?? { seqs: [], laters: [] };
    waiting.seqs.push(seq);
    waiting.laters.push(0);
    this.#waiting.set(hash, waiting);
    this.#count++;
    return true;
  }

  /** There is, or was, a message on that subject. */
  there(subject: Uint8Array): void {
    if (this.#count === 0) return;
    const hash = this.#hasher.hash64(subject);
    const waiting = this.#waiting.get(hash);
    if (waiting === undefined) return;
    const { seqs, laters } = waiting;
    for (let at = 0; at < laters.length; at++) laters[at]!++;
    // The oldest have seen most.
    while (laters.length > 0 && laters[0]! >= this.#limit) {
      this.#excused(seqs.shift()!);
      laters.shift();
      this.#count--;
    }
    if (seqs.length === 0) this.#waiting.delete(hash);
  }

  /** Whether anything waits, so that every message of the mirror has to be told. */
  get isWaiting(): boolean {
    return this.#count > 0;
  }

  /** Takes the sequences that are left without an excuse, rising: nothing waits after that. */
  unexcused(): number[] {
    const seqs = [...this.#waiting.values()].flatMap((waiting) => waiting.seqs);
    this.#waiting.clear();
    this.#count = 0;
    return seqs.sort((one, other) => one - other);
  }
}
