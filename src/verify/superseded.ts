/**
 * `max_msgs_per_subject` on a mirror, where not all of it was read in order: a message is rightly
 * gone once so many later ones are on its subject, at the mirror or at its origin, and then those
 * before it are too. So each subject is asked about from its last missing message backwards.
 */
import type { JetStreamApi } from '../nats/api.js';
import { patiently } from '../nats/patience.js';
import type { StoredMessage } from '../stream/types.js';
import { pendingOnSubjects } from './backlog.js';
import { isAskable } from './record-compare.js';

/** About 200 MB of what is kept; of what is missing beyond that nothing is known. */
const SEQUENCES_MAX = 1_000_000;
/** Subjects asked about side by side. */
const AT_ONCE = 32;
/** Up to here later messages are asked for one by one, which costs less than a consumer. */
const SINGLY_MAX = 8;

export interface StreamAsked {
  readonly api: JetStreamApi;
  readonly stream: string;
  /** What this stream calls a subject of the origin. */
  readonly subjectOf: (subject: string) => string;
}

/** Missing messages by their subjects at the origin. */
export class Superseded {
  readonly #bySubject = new Map<string, number[]>();
  #count = 0;

  /** In rising order. False: nobody can be asked what came later on its subject. */
  missing({ seq, subject }: StoredMessage): boolean {
    const name = Buffer.from(subject).toString();
    if (this.#count === SEQUENCES_MAX || !isAskable(name)) return false;
    this.#count++;
    const seqs = this.#bySubject.get(name);
    if (seqs === undefined) this.#bySubject.set(name, [seq]);
    else seqs.push(seq);
    return true;
  }

  /**
   * Tells the sequences that are excused. Errors: timeout, originRefused.
   *
   * @param limit  messages of one subject that the mirror keeps
   * @param pause  true ends it between two subjects
   */
  async excuse(
    streams: readonly StreamAsked[],
    limit: number,
    pause: () => boolean,
    excused: (seq: number) => void,
  ): Promise<void> {
    const subjects = this.#bySubject.entries();
    const ask = async (): Promise<void> => {
      for (const [subject, seqs] of subjects) {
        if (pause()) return;
        const upTo = await excusedUpTo(streams, subject, seqs, limit);
        for (const seq of seqs.slice(0, upTo)) excused(seq);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, ask));
  }
}

/** How many of these, from the first on, have as many later ones on their subject. */
async function excusedUpTo(
  streams: readonly StreamAsked[],
  subject: string,
  seqs: readonly number[],
  limit: number,
): Promise<number> {
  // So many that are missing themselves came behind the ones before them.
  const certain = Math.max(0, seqs.length - limit);
  for (let upTo = seqs.length; upTo > certain; upTo--) {
    for (const { api, stream, subjectOf } of streams) {
      if (await isSuperseded(api, stream, subjectOf(subject), seqs[upTo - 1]!, limit)) return upTo;
    }
  }
  return certain;
}

async function isSuperseded(
  api: JetStreamApi,
  stream: string,
  subject: string,
  seq: number,
  limit: number,
): Promise<boolean> {
  if (limit > SINGLY_MAX) {
    return (await pendingOnSubjects(api, stream, seq + 1, [subject])) >= limit;
  }
  let last = seq;
  for (let later = 0; later < limit; later++) {
    const next = last + 1;
    const found = await patiently(() => api.messageFrom(stream, next, subject));
    if (found === null) return false;
    last = found.seq;
  }
  return true;
}
