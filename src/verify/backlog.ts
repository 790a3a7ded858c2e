/**
 * What the origin would still deliver to its mirror. The mirror's own lag is no answer: it is 0 for
 * an origin that was made anew, a sealed mirror, a gap at the tail. So a consumer of ours is
 * made where the mirror's next one would begin, and its answer says how much is pending.
 */
import { randomUUID } from 'node:crypto';
import { apiErrorOf, API_ERROR, type JetStreamApi } from '../nats/api.js';
import { patiently } from '../nats/patience.js';
import { Selection } from './selection.js';
import type { StreamFacts } from './stream-facts.js';
import type { BacklogReport, BacklogStatus } from './result.js';

/** Two samples are at least so far apart before anything is called stopped. */
export const SAMPLES_APART_MS = 12_000;

export interface BacklogSample {
  readonly atMs: number;
  readonly originLast: number;
  readonly mirrorLast: number;
  /** Null: some, nobody knows how many. */
  readonly pending: number | null;
}

/** One sample, of facts that were read just now. Errors: timeout, originRefused. */
export async function sampleBacklog(
  api: JetStreamApi,
  origin: StreamFacts,
  mirror: StreamFacts,
): Promise<BacklogSample> {
  const after = mirror.state.last_seq;
  const { subjects } = new Selection(mirror.mirror);
  const seen = await pendingFrom(api, origin, after + 1, subjects);
  // That consumer may be on a follower which lacks what there is: its leader has the last word.
  const isDoubtful = seen === 0 && origin.state.last_seq > after;
  const pending = isDoubtful ? await pendingByRequest(api, origin.name, after + 1, subjects) : seen;
  return {
    ...{ atMs: performance.now(), pending },
    originLast: origin.state.last_seq,
    mirrorLast: after,
  };
}

async function pendingFrom(
  api: JetStreamApi,
  { name, retention }: StreamFacts,
  seq: number,
  subjects: readonly string[],
): Promise<number | null> {
  // A consumer would add an interest, and a work queue takes none that does not acknowledge.
  if (retention !== 'limits') return pendingByRequest(api, name, seq, subjects);
  try {
    return await pendingOnSubjects(api, name, seq, subjects);
  } catch (error) {
    if (apiErrorOf(error) !== API_ERROR.tooManyConsumers) throw error;
    return pendingByRequest(api, name, seq, subjects);
  }
}

/** Messages of these subjects (empty: of all) at or above a sequence. Errors: as above. */
export async function pendingOnSubjects(
  api: JetStreamApi,
  stream: string,
  seq: number,
  subjects: readonly string[],
): Promise<number> {
  const name = `lockstep-${randomUUID().slice(0, 8)}`;
  // Nobody listens there: nothing is delivered.
  const deliverSubject = `_lockstep.${name}`;
  const { pending } = await patiently(() =>
    api.createConsumer(stream, {
      ...{ name, deliverSubject, startSeq: seq, subjects },
      ...{ heartbeatMs: 1_000, inactiveMs: 5_000 },
    }),
  );
  await api.deleteConsumer(stream, name).catch(() => undefined);
  return pending;
}

async function pendingByRequest(
  api: JetStreamApi,
  stream: string,
  seq: number,
  subjects: readonly string[],
): Promise<number | null> {
  for (const subject of subjects.length === 0 ? ['>'] : subjects) {
    if ((await patiently(() => api.messageFrom(stream, seq, subject))) !== null) return null;
  }
  return 0;
}

/** Whether there is anything to wait for before a word is said of the mirror's progress. */
export function isSettled({ pending }: BacklogSample, mirror: StreamFacts): boolean {
  return pending === 0 || mirror.isSealed;
}

/** @param second  taken at least SAMPLES_APART_MS later; null: there is none */
export function backlogReport(
  first: BacklogSample,
  second: BacklogSample | null,
  mirror: StreamFacts,
): BacklogReport {
  const latest = second ?? first;
  return {
    status: statusOf(first, second, mirror),
    messages: latest.pending,
    watchedMs: second === null ? null : Math.round(second.atMs - first.atMs),
  };
}

function statusOf(
  first: BacklogSample,
  second: BacklogSample | null,
  mirror: StreamFacts,
): BacklogStatus {
  const { pending, originLast, mirrorLast } = second ?? first;
  if (pending === 0) {
    // Behind a filter nobody knows whether a gap lies there or what the mirror does not take.
    const { isAll } = new Selection(mirror.mirror);
    return isAll && originLast > mirrorLast ? 'tail gap' : 'caught up';
  }
  if (mirror.isSealed) return 'stopped: sealed';
  if (second === null) return 'pending';
  if (mirrorLast === first.mirrorLast) return 'stopped';
  return mirrorLast >= first.originLast ? 'keeps up' : 'lagging';
}
