/**
 * What is asked of a run in a test, one function for each question. An answer is what speaks
 * against it, line by line, with property, replica and sequence, and what keeps it from being
 * answered: what was not checked did neither hold nor break.
 */
import type { Slot } from '../base/member.js';
import { parsePositiveDuration } from '../base/units.js';
import { counted, duration, grouped } from '../report/text.js';
import type { PlayResult } from '../scenario/run.js';
import { checkKeys } from '../scenario/words.js';
import type { LeaderSpan } from '../verdict/timeline.js';
import type { Reason } from '../verdict/types.js';

/** Who has to have been elected; without anything, anybody, once or more. */
export interface Elected {
  /** This one, at least once. */
  readonly leader?: Slot;
  /** So many elections, the first one counted. */
  readonly times?: number;
  readonly atLeast?: number;
}

export interface Answer {
  readonly against: readonly string[];
  /** What was not checked, and why. */
  readonly unknown: readonly string[];
}

/** The whole verdict of the run. */
export function notHeld({ summary, reasons }: PlayResult): Answer {
  const lines = summary.verdict === 'held' ? [] : reasons.map(textOf);
  const isKnown = summary.verdict !== 'harness' && summary.verdict !== 'inconclusive';
  return isKnown ? { against: lines, unknown: [] } : { against: [], unknown: lines };
}

/** Raft's properties, as far as the driver watches them: all on sim, elections everywhere. */
export function brokenInvariants(result: PlayResult): Answer {
  const { violations, timeline } = result;
  const found = violations.map(({ property, slot, seq, text }) => {
    const where = [slot === null ? '' : ` on ${slot}`, seq === null ? '' : ` at ${grouped(seq)}`];
    return `${property}${where.join('')}: ${text}`;
  });
  const against = [...found, ...doubleLeaders(timeline.leaders)];
  return { against, unknown: unfinished(result) };
}

function doubleLeaders(leaders: readonly LeaderSpan[]): string[] {
  const byTerm = new Map<number, Slot>();
  return leaders.flatMap(({ slot, term }) => {
    const other = byTerm.get(term) ?? slot;
    byTerm.set(term, other);
    return other === slot ? [] : [`election safety on ${slot}: ${other} led in term ${term}, too`];
  });
}

/** Messages that a replica should hold and does not. */
export function losses(result: PlayResult): Answer {
  const { messages, verdict } = result.summary;
  const lost = messages.lost === 0 ? [] : [`${counted(messages.lost, 'message')} lost`];
  // Whoever may end behind the origin has nothing that he should hold and does not.
  const behind = verdict === 'held' ? [] : behindLines(result);
  return {
    against: [...lost, ...differencesOf(result, ['lost'])],
    unknown: [...uncompared(result), ...behind],
  };
}

/** Everything in which a replica is not the origin: content, order, gaps, and how far it came. */
export function mirrorFaults(result: PlayResult): Answer {
  const { messages } = result.summary;
  const counts = Object.entries(messages)
    .filter(([kind, count]) => kind !== 'ok' && kind !== 'unknown' && count > 0)
    .map(([kind, count]) => `${counted(count, 'message')} ${kind}`);
  const unknown = uncompared(result);
  // Of a run that was ended early nobody knows how far they would have come.
  const behind = result.cutShort ? [] : behindLines(result);
  return { against: [...counts, ...differencesOf(result), ...behind], unknown };
}

/** What took longer than that: the longest stall, and each fault until all had caught up. */
export function lateRecoveries(result: PlayResult, within: string): Answer {
  const { stallMs, faults, origin, replicas } = result.summary;
  const mostMs = parsePositiveDuration('toRecoverWithin', within);
  const most = `, allowed are ${duration(mostMs)}`;
  const fallen = faults.filter(({ status }) => status === 'installed');
  const isComplete = replicas.every(({ last }) => last >= origin.last);
  const late = fallen.flatMap(({ kind, target, newLeaderMs, firstMessageMs, caughtUpMs }) => {
    const took = Math.max(newLeaderMs ?? 0, firstMessageMs ?? 0, caughtUpMs ?? 0);
    // Nothing was left to catch up with when it fell near the end.
    if (caughtUpMs === null && !isComplete) return [`${kind} on ${target}: never caught up`];
    return took > mostMs ? [`${kind} on ${target}: caught up after ${duration(took)}${most}`] : [];
  });
  const stall = stallMs > mostMs ? [`nothing moved for ${duration(stallMs)}${most}`] : [];
  // A machine that was too busy, or a run that was ended, is what took long.
  const excuses = [...reasonsOf(result, 'harness'), ...reasonsOf(result, 'inconclusive')];
  if (excuses.length > 0) return { against: [], unknown: [...excuses, ...stall, ...late] };
  if (fallen.length === 0) return { against: [NOTHING_FELL], unknown: [] };
  return { against: [...stall, ...late], unknown: uncompared(result) };
}

/** Elections other than those that were expected. */
export function electionFaults(result: PlayResult, expected: Elected = {}): Answer {
  checkKeys('toHaveElected', expected, ['leader', 'times', 'atLeast']);
  const { leader, times, atLeast = times ?? 1 } = expected;
  const { leaders } = result.timeline;
  const told = leaders.map(({ slot, term }) => `${slot} in term ${term}`).join(', ') || 'nobody';
  const lines = [`elected were: ${told}; expected: ${expectationOf(expected)}`];
  const isTooOften = times !== undefined && leaders.length > times;
  const isMet =
    leaders.length >= atLeast &&
    !isTooOften &&
    (leader === undefined || leaders.some(({ slot }) => slot === leader));
  const open = unfinished(result);
  // What was seen stays true, however the run went on.
  if (isMet) return { against: [], unknown: times === undefined ? [] : open };
  return open.length === 0 || isTooOften
    ? { against: lines, unknown: [] }
    : { against: [], unknown: [...open, ...lines] };
}

function expectationOf({ leader, times, atLeast }: Elected): string {
  const often =
    times !== undefined
      ? [counted(times, 'election')]
      : atLeast !== undefined
        ? [`at least ${counted(atLeast, 'election')}`]
        : [];
  return [...(leader === undefined ? [] : [leader]), ...often].join(', ') || 'anybody';
}

const NOTHING_FELL = 'no fault was installed: there was nothing to recover from';

function differencesOf({ differences }: PlayResult, kinds?: readonly string[]): string[] {
  return differences
    .filter(({ kind }) => kinds?.includes(kind) ?? true)
    .map(({ kind, replica, seq, text }) => `${kind} at ${grouped(seq)} on ${replica}: ${text}`);
}

function behindLines({ summary: { origin, replicas } }: PlayResult): string[] {
  return replicas
    .filter(({ last }) => last < origin.last)
    .map(({ id, last }) => `behind on ${id}: ends at ${grouped(last)} of ${grouped(origin.last)}`);
}

/** Why nobody knows what the run would have come to; nothing when it came to its end. */
function unfinished(result: PlayResult): string[] {
  const { cutShort, comparedInMs } = result;
  const harness = reasonsOf(result, 'harness');
  const isOpen = cutShort || comparedInMs === null;
  return isOpen ? [...harness, ...reasonsOf(result, 'inconclusive')] : harness;
}

/** Without a copy to compare nothing can be said to hold. */
function uncompared(result: PlayResult): string[] {
  const { summary, comparedInMs, complete } = result;
  const { unknown } = summary.messages;
  const isNothing = comparedInMs === null || summary.replicas.length === 0;
  return [
    ...unfinished(result),
    ...(isNothing ? ['no replica was compared'] : []),
    ...(unknown > 0 ? [`${counted(unknown, 'message')} not compared`] : []),
    ...(complete || isNothing ? [] : ['the comparison was not finished']),
  ];
}

function reasonsOf({ reasons }: PlayResult, verdict: Reason['verdict']): string[] {
  return reasons.filter((reason) => reason.verdict === verdict).map(textOf);
}

function textOf({ verdict, text }: Reason): string {
  return `${verdict}: ${text}`;
}
