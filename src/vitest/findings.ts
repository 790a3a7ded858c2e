/**
 * What is asked of a run in a test, one function for each question. An answer is what speaks
 * against it, line by line, with property, replica and sequence; nothing speaks against what held.
 */
import type { Slot } from '../base/member.js';
import { parsePositiveDuration } from '../base/units.js';
import { counted, duration, grouped } from '../report/text.js';
import type { PlayResult } from '../scenario/run.js';
import type { LeaderSpan } from '../verdict/timeline.js';

/** Who has to have been elected; without anything, anybody, once or more. */
export interface Elected {
  /** This one, at least once. */
  readonly leader?: Slot;
  /** So many elections, the first one counted. */
  readonly times?: number;
  readonly atLeast?: number;
}

/** The whole verdict of the run. */
export function notHeld({ summary, reasons }: PlayResult): string[] {
  const { verdict } = summary;
  if (verdict === 'held') return [];
  return reasons.map((reason) => `${reason.verdict}: ${reason.text}`);
}

/** Raft's properties, as far as the driver watches them: all on sim, elections everywhere. */
export function brokenInvariants({ violations, timeline }: PlayResult): string[] {
  const found = violations.map(({ property, slot, seq, text }) => {
    const where = [slot === null ? '' : ` on ${slot}`, seq === null ? '' : ` at ${grouped(seq)}`];
    return `${property}${where.join('')}: ${text}`;
  });
  return [...found, ...doubleLeaders(timeline.leaders)];
}

function doubleLeaders(leaders: readonly LeaderSpan[]): string[] {
  const byTerm = new Map<number, Slot>();
  return leaders.flatMap(({ slot, term }) => {
    const other = byTerm.get(term) ?? slot;
    byTerm.set(term, other);
    return other === slot ? [] : [`election safety on ${slot}: ${other} led in term ${term}, too`];
  });
}

/** Messages that a replica should hold and does not, and those that nobody compared. */
export function losses(result: PlayResult): string[] {
  const { messages } = result.summary;
  const count = (kind: 'lost' | 'unknown', text: string): string[] =>
    messages[kind] === 0 ? [] : [`${counted(messages[kind], 'message')} ${text}`];
  return [
    ...count('lost', 'lost'),
    ...differencesOf(result, ['lost']),
    ...count('unknown', 'not compared'),
    ...uncompared(result),
  ];
}

/** Everything in which a replica is not the origin: content, order, gaps, and how far it came. */
export function mirrorFaults(result: PlayResult): string[] {
  const { origin, replicas, messages } = result.summary;
  const behind = replicas
    .filter(({ last }) => last < origin.last)
    .map(({ id, last }) => `behind on ${id}: ends at ${grouped(last)} of ${grouped(origin.last)}`);
  const counts = Object.entries(messages)
    .filter(([kind, count]) => kind !== 'ok' && count > 0)
    .map(([kind, count]) => `${counted(count, 'message')} ${kind}`);
  return [...counts, ...differencesOf(result), ...behind, ...uncompared(result)];
}

/** What took longer than that: the longest stall, and each fault until all had caught up. */
export function lateRecoveries(result: PlayResult, within: string): string[] {
  const { stallMs, faults, origin, replicas } = result.summary;
  const mostMs = parsePositiveDuration('toRecoverWithin', within);
  const fallen = faults.filter(({ status }) => status === 'installed');
  if (fallen.length === 0) return ['no fault was installed: there was nothing to recover from'];
  const isComplete = replicas.every(({ last }) => last >= origin.last);
  const late = fallen.flatMap(({ kind, target, newLeaderMs, firstMessageMs, caughtUpMs }) => {
    const took = Math.max(newLeaderMs ?? 0, firstMessageMs ?? 0, caughtUpMs ?? 0);
    // Nothing was left to catch up with when it fell near the end.
    if (caughtUpMs === null && !isComplete) return [`${kind} on ${target}: never caught up`];
    return took > mostMs ? [`${kind} on ${target}: caught up after ${duration(took)}`] : [];
  });
  const stall = stallMs > mostMs ? [`nothing moved for ${duration(stallMs)}`] : [];
  return [...stall, ...late, ...uncompared(result)];
}

/** Elections other than those that were expected. */
export function electionFaults({ timeline }: PlayResult, expected: Elected = {}): string[] {
  const { leader, times, atLeast = times ?? 1 } = expected;
  const { leaders } = timeline;
  const told = leaders.map(({ slot, term }) => `${slot} in term ${term}`).join(', ') || 'nobody';
  const isMet =
    leaders.length >= atLeast &&
    (times === undefined || leaders.length === times) &&
    (leader === undefined || leaders.some(({ slot }) => slot === leader));
  return isMet ? [] : [`elected were: ${told}`];
}

function differencesOf({ differences }: PlayResult, kinds?: readonly string[]): string[] {
  return differences
    .filter(({ kind }) => kinds?.includes(kind) ?? true)
    .map(({ kind, replica, seq, text }) => `${kind} at ${grouped(seq)} on ${replica}: ${text}`);
}

/** Without a copy to compare nothing can be said to hold. */
function uncompared({ summary, comparedInMs }: PlayResult): string[] {
  return comparedInMs === null || summary.replicas.length === 0 ? ['no replica was compared'] : [];
}
