/** Plays a replay file, wholly or up to one of its events, and keeps what was said. */
import { usageError } from '../base/errors.js';
import type { Hasher } from '../base/hasher.js';
import type { ClusterEvent } from '../scenario/driver.js';
import type { Verdict } from '../verdict/types.js';
import type { SeedFailure } from '../verdict/sweep.js';
import { failsAlike } from './explicit.js';
import type { ReplayFile } from './replay-file.js';
import { eventsOf } from './shrink.js';
import { runSwarm } from './swarm-run.js';
import { Transcript, type TranscriptLine } from './transcript.js';

/** What `--json` prints. */
export interface ReplaySummary {
  readonly schema: 1;
  readonly verdict: Verdict;
  readonly seed: number;
  /** Null: nothing failed, or not before the end that was asked for. */
  readonly failure: SeedFailure | null;
  readonly expected: ReplayFile['expect'];
  /** Whether it came to what the file says: the same verdict of the same property. */
  readonly asExpected: boolean;
  /** Faults and fates of the file. */
  readonly scripted: number;
  /** Events that were played, of the event stream. */
  readonly events: number;
  readonly simulatedMs: number;
  /** The event that it ended before; null: it was played to its end. */
  readonly until: string | null;
}

export interface Replayed {
  readonly summary: ReplaySummary;
  readonly lines: readonly TranscriptLine[];
  readonly events: readonly ClusterEvent[];
}

/**
 * @param until  the id of a fault, of a fate, or the number of an event from 1; it ends before that
 *
 * Errors: usage, when no such event happens in the run.
 */
export async function playReplay(
  { plan, expect, failure: expected }: ReplayFile,
  hasher: Hasher,
  until: string | null = null,
): Promise<Replayed> {
  const transcript = new Transcript(plan);
  const events: ClusterEvent[] = [];
  const onEvent = (event: ClusterEvent): void => {
    transcript.onEvent(event);
    events.push(event);
  };
  const report = await runSwarm(plan, hasher, onEvent, transcript.taps);
  const about = { schema: 1, seed: plan.seed, expected: expect, scripted: eventsOf(plan) } as const;
  if (until === null) {
    const { failure, simulatedMs } = report;
    const asExpected = expect === 'held' ? failure === null : failsAlike(failure, expected);
    const verdict = failure?.verdict ?? 'held';
    const ended = { failure, asExpected, events: events.length, simulatedMs, until };
    return { summary: { ...about, verdict, ...ended }, lines: transcript.lines, events };
  }
  const end = endOf(transcript.lines, events, until);
  const played = events.slice(0, end.events);
  const failure = violationIn(played);
  return {
    summary: {
      ...about,
      verdict: failure?.verdict ?? 'inconclusive',
      failure,
      asExpected: failsAlike(failure, expected),
      events: played.length,
      simulatedMs: end.atMs,
      until,
    },
    lines: transcript.lines.slice(0, end.lines),
    events: played,
  };
}

/** How many lines and events come before an event. */
function endOf(
  lines: readonly TranscriptLine[],
  events: readonly ClusterEvent[],
  until: string,
): { readonly lines: number; readonly events: number; readonly atMs: number } {
  const named = lines.findIndex(({ id }) => id === until);
  if (named !== -1) {
    const { event, atMs } = lines[named]!;
    return { lines: named, events: event, atMs };
  }
  const number = /^[1-9]\d*$/.test(until) ? Number(until) - 1 : Number.NaN;
  const event = events[number];
  if (event === undefined) {
    const ids = [...new Set(lines.flatMap(({ id }) => (id === null ? [] : [id])))];
    const some = ids.length > 5 ? [...ids.slice(0, 5), '…'] : ids;
    const named = some.length === 0 ? '' : `, or one of ${some.join(', ')}`;
    throw usageError('--until', until, `an event of this run: 1 to ${events.length}${named}`);
  }
  const after = lines.findIndex((line) => line.event >= number);
  return { lines: after === -1 ? lines.length : after, events: number, atMs: event.atMs };
}

function violationIn(events: readonly ClusterEvent[]): SeedFailure | null {
  for (const event of events) {
    if (event.kind !== 'violation') continue;
    return { verdict: 'violated', property: event.property, text: event.text };
  }
  return null;
}
