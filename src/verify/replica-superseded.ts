/**
 * Messages that some replica holds no longer and `max_msgs_per_subject` may explain: so many later
 * ones are on their subject. What has so many behind it has them behind every earlier one too, so
 * few questions decide over all of a subject.
 */
import { isAskable } from './record-compare.js';
import type { Pattern } from './replica-comparison.js';

export interface Candidate {
  readonly seq: number;
  readonly pattern: Pattern;
}

/** How many messages are behind a sequence on a subject. */
export type LaterOn = (subject: string, seq: number) => Promise<number>;

/** Each costs two requests or more: beyond that nobody would wait. */
const SUBJECTS_MAX = 20_000;
/** About 100 MB of them. */
const CANDIDATES_MAX = 500_000;
const AT_ONCE = 32;

export class SupersededCandidates {
  readonly #bySubject = new Map<string, Candidate[]>();
  readonly #subjectsMax: number;
  #count = 0;

  constructor(subjectsMax = SUBJECTS_MAX) {
    this.#subjectsMax = subjectsMax;
  }

  /** In rising order. False: no room, or nobody can be asked: nothing will be known of it. */
  add(subject: string, candidate: Candidate): boolean {
    if (!isAskable(subject)) return false;
    const candidates = this.#bySubject.get(subject);
    if (candidates === undefined && this.#bySubject.size === this.#subjectsMax) return false;
    if (this.#count === CANDIDATES_MAX) return false;
    this.#count++;
    if (candidates === undefined) this.#bySubject.set(subject, [candidate]);
    else candidates.push(candidate);
    return true;
  }

  /**
   * Tells of each whether so many came later. Errors: those of `laterOn`.
   *
   * @param limit  messages of one subject that the stream keeps
   */
  async judge(
    laterOn: LaterOn,
    limit: number,
    told: (candidate: Candidate, isSuperseded: boolean) => void,
  ): Promise<void> {
    const subjects = this.#bySubject.entries();
    const ask = async (): Promise<void> => {
      for (const [subject, candidates] of subjects) {
        const hasEnough = async (at: number): Promise<boolean> =>
          (await laterOn(subject, candidates[at]!.seq)) >= limit;
        const count = await countFromFirst(candidates.length, hasEnough);
        for (const [at, candidate] of candidates.entries()) told(candidate, at < count);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, ask));
  }
}

/** How many of them hold, where none holds behind one that does not. The last is asked first. */
async function countFromFirst(
  length: number,
  holds: (at: number) => Promise<boolean>,
): Promise<number> {
  if (await holds(length - 1)) return length;
  let [low, high] = [0, length - 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (await holds(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
