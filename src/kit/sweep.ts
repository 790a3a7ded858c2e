/**
 * One sweep from its first seed to its summary: what was asked for, played over the cores, ended by
 * what comes first (the seeds, a plateau, a time limit, a failure, a signal).
 */
import { loaded } from '../scenario/own-origin.js';
import type { CorePool } from '../sim/seed-pool.js';
import type { SweepSubject } from '../sim/seeds.js';
import { seedsOf, sweep } from '../sim/sweep.js';
import {
  isFinding,
  type SeedReport,
  type SweepAsked,
  type SweepEnd,
  type SweepSummary,
  type SweepTally,
} from '../verdict/sweep.js';

export interface SweepRequest {
  readonly asked: SweepAsked;
  readonly subject: SweepSubject;
  readonly cores: number;
  /** Not given: it has them to itself. */
  readonly shared?: CorePool | undefined;
  readonly shard: Shard | null;
}

/** The `index`-th of `of`, from 1. */
export interface Shard {
  readonly index: number;
  readonly of: number;
}

export interface SweepEnding {
  /** Seeds that fail do not end it. */
  readonly keepGoing?: boolean;
  readonly signal?: AbortSignal;
}

/**
 * Errors: usage, about an origin of the user's own; harness, when the worker is not built.
 *
 * @param tally  a fresh one: it is added to as seeds end, so that progress can be shown
 */
export async function playSweep(
  request: SweepRequest,
  tally: SweepTally,
  { keepGoing = false, signal }: SweepEnding = {},
): Promise<SweepSummary> {
  const { asked, subject, cores, shared, shard } = request;
  const { first, seeds, timeLimitMs, untilPlateau } = asked;
  // Each seed opens it anew; what is wrong with it is no seed's fault.
  if (subject.kind === 'scenario') await loaded(subject.plan);
  const abort = new AbortController();
  let ended: SweepEnd = 'seeds';
  const end = (by: SweepEnd): void => {
    if (!abort.signal.aborted) ended = by;
    abort.abort();
  };
  const enoughBy = ({ failure }: SeedReport, { withoutNewCell }: SweepTally): SweepEnd | null => {
    if (failure !== null && isFinding(failure) && !keepGoing) return 'failure';
    return untilPlateau !== null && withoutNewCell >= untilPlateau ? 'plateau' : null;
  };
  const interrupt = (): void => end('signal');
  signal?.addEventListener('abort', interrupt);
  if (signal?.aborted === true) interrupt();
  const limit = timeLimitMs === null ? null : setTimeout(() => end('timeLimit'), timeLimitMs);
  const startedAt = performance.now();
  try {
    await sweep({
      ...{ subject, cores, shared },
      seeds: seedsOf(first, seeds, shard),
      checkDeterminism: asked.checkDeterminism,
      signal: abort.signal,
      onReport: (report) => {
        tally.add(report);
        const enough = enoughBy(report, tally);
        if (enough !== null) end(enough);
        return enough === null;
      },
    });
  } finally {
    if (limit !== null) clearTimeout(limit);
    signal?.removeEventListener('abort', interrupt);
  }
  return tally.summary(performance.now() - startedAt, ended, asked);
}
