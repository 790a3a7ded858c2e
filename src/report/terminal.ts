/**
 * A run told to a person: who led when, what was refused, rolled back and retried, how long nothing
 * moved, what each replica ended with beside the origin, and the verdict. Plain text; colour only
 * when the caller, who knows the terminal, asks for it.
 */
import type { Difference, FaultSummary, Reason, RunSummary, Verdict } from '../verdict/types.js';
import type { RunTimeline } from '../verdict/timeline.js';
import { counted, duration, grouped, listed, printable, table } from './text.js';

const MOMENTS_SHOWN = 12;

export interface RunExtras {
  /** The scenario's name. */
  readonly name: string;
  readonly reasons: readonly Reason[];
  readonly differences: readonly Difference[];
  /** When the longest stall began, milliseconds since the first delivery; null: there was none. */
  readonly stallFromMs: number | null;
  readonly stallAtMostMs: number;
  /** What the comparison took; it is not part of the rate. Null: nothing was compared. */
  readonly comparedInMs: number | null;
  readonly color: boolean;
}

/** Lines end with a newline. Text of the user or of a stream is escaped. */
export function renderRun(summary: RunSummary, timeline: RunTimeline, extras: RunExtras): string {
  const lines = [
    ...heading(summary, extras),
    ...section('leaders', leaderLines(timeline)),
    ...section('moments', momentLines(timeline)),
    ...section('faults', faultLines(summary.faults)),
    ...section('state', stateLines(summary)),
    '',
    ...countLines(summary, extras),
    ...section('differences', differenceLines(extras.differences)),
    '',
    ...verdictLines(summary, extras),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function heading(summary: RunSummary, extras: RunExtras): string[] {
  const { driver, seed, replicas, skip, elapsedMs } = summary;
  const size = replicas.length === 1 ? '1 replica' : `${replicas.length} replicas`;
  return [
    printable(extras.name),
    `on ${driver}, seed ${seed}, ${size} judged, skip ${skip.encoding}, ${duration(elapsedMs)}`,
  ];
}

/** Nothing at all when there is nothing to tell. */
function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)];
}

function leaderLines({ leaders }: RunTimeline): string[] {
  const rows = leaders.map(({ slot, term, fromMs, toMs }) => [
    slot,
    `term ${term}`,
    `from ${duration(fromMs)}`,
    toMs === null ? 'to the end' : `to ${duration(toMs)}`,
  ]);
  return table(rows, new Set());
}

function momentLines({ moments, omitted }: RunTimeline): string[] {
  const shown = moments.slice(0, MOMENTS_SHOWN);
  const rows = shown.map(({ atMs, who, text }) => [duration(atMs), who, printable(text)]);
  const more = moments.length - shown.length + omitted;
  return [...table(rows, new Set([0])), ...(more > 0 ? [`and ${grouped(more)} more`] : [])];
}

function faultLines(faults: readonly FaultSummary[]): string[] {
  if (faults.length === 0) return [];
  const rows = faults.map((fault) => [
    fault.kind,
    printable(fault.target),
    fault.status,
    timeCell(fault.atMs),
    timeCell(fault.newLeaderMs),
    timeCell(fault.firstMessageMs),
    timeCell(fault.caughtUpMs),
    printable(fault.reason ?? ''),
  ]);
  const head = ['', '', '', 'at', 'new leader', 'first message', 'caught up', ''];
  return table([head, ...rows], new Set([3, 4, 5, 6]));
}

function timeCell(ms: number | null): string {
  return ms === null ? '-' : duration(ms);
}

function stateLines({ origin, replicas }: RunSummary): string[] {
  const rows = [{ id: 'origin', digest: '', ...origin }, ...replicas].map((side) => [
    side.id,
    grouped(side.first),
    grouped(side.last),
    grouped(side.messages),
    grouped(side.deleted),
    side.digest,
  ]);
  const head = ['', 'first', 'last', 'messages', 'deleted', 'digest'];
  return table([head, ...rows], new Set([1, 2, 3, 4]));
}

function countLines(summary: RunSummary, extras: RunExtras): string[] {
  const { messages, leadership, stallMs, rate, origin, driver } = summary;
  const wrong = Object.entries(messages)
    .filter(([kind, count]) => kind !== 'ok' && count > 0)
    .map(([kind, count]) => `${grouped(count)} ${kind}`);
  const { comparedInMs } = extras;
  // In virtual time the comparison takes none.
  const took = comparedInMs === null || driver === 'sim' ? '' : ` in ${duration(comparedInMs)}`;
  const compared = comparedInMs === null ? 'not compared' : `compared${took}`;
  const since = extras.stallFromMs === null ? '' : `, from ${duration(extras.stallFromMs)} on`;
  const rows = [
    ['messages', [`${grouped(messages.ok)} ok`, ...wrong, compared].join(', ')],
    ['skipped', skipText(summary)],
    ['elections', `${leadership.elections}, last term ${leadership.lastTerm}`],
    ['mirror', mirrorText(summary)],
    ['stall', `${duration(stallMs)}${since}; at most ${duration(extras.stallAtMostMs)} allowed`],
    ['rate', rateText(rate)],
  ];
  const { tailGap } = origin;
  if (tailGap !== null) {
    rows.push(['tail gap', `${tailGap.first} to ${tailGap.last} cannot be reached`]);
  }
  return table(rows, new Set());
}

function skipText({ skip, driver }: RunSummary): string {
  const { sequences, batches, largestBatch, refused } = skip;
  if (sequences === null || batches === null || largestBatch === null || refused === null) {
    return `not seen on ${driver}`;
  }
  const inBatches = `${grouped(batches)} ${batches === 1 ? 'batch' : 'batches'}`;
  return (
    `${counted(sequences, 'sequence')} in ${inBatches}, ` +
    `largest ${grouped(largestBatch)}, ${grouped(refused)} refused`
  );
}

function mirrorText({ mirror, driver }: RunSummary): string {
  const counts = Object.entries<number | null>(mirror);
  const seen = counts.flatMap(([what, count]) => (count === null ? [] : [`${what} ${count}`]));
  const unseen = counts.flatMap(([what, count]) => (count === null ? [what] : []));
  const rest = unseen.length === 0 ? [] : [`${listed(unseen)} not seen on ${driver}`];
  return [...seen, ...rest].join(', ');
}

function rateText({ messagesPerSecond, sequencesPerSecond }: RunSummary['rate']): string {
  const messages = grouped(Math.round(messagesPerSecond));
  return `${messages} messages/s, ${grouped(Math.round(sequencesPerSecond))} sequences/s`;
}

function differenceLines(differences: readonly Difference[]): string[] {
  const rows = differences.map(({ replica, kind, seq, text }) => [
    replica,
    kind,
    `at ${grouped(seq)}`,
    printable(text),
  ]);
  return table(rows, new Set());
}

const COLORS: Readonly<Record<Verdict, string>> = {
  held: '32',
  violated: '31',
  harness: '31',
  stalled: '31',
  inconclusive: '33',
  uncovered: '33',
};

const MEANINGS: Readonly<Record<Verdict, string>> = {
  held: 'nothing lost, no stall',
  violated: 'safety was broken',
  harness: 'lockstep failed; nothing is said about the cluster',
  stalled: 'the mirror stood still longer than allowed',
  inconclusive: 'the run does not tell',
  uncovered: 'what the scenario demands never happened',
};

/** Faults that were not demanded may stay away; a run that held says that it held without them. */
function meaningOf({ verdict, faults }: RunSummary): string {
  const absent = faults.filter(({ status }) => status === 'skipped' || status === 'uncovered');
  if (verdict !== 'held' || absent.length === 0) return MEANINGS[verdict];
  const those = `${absent.length} of ${counted(faults.length, 'fault')}`;
  return `${MEANINGS.held}; ${those} did not happen`;
}

function verdictLines(summary: RunSummary, extras: RunExtras): string[] {
  const { verdict, replay } = summary;
  const word = extras.color ? `\x1b[1;${COLORS[verdict]}m${verdict}\x1b[0m` : verdict;
  const [only, ...others] = extras.reasons;
  const explained = only !== undefined && others.length === 0;
  return [
    `${word}: ${explained ? printable(only.text) : meaningOf(summary)}`,
    ...(explained ? [] : extras.reasons).map(
      (reason) => `  ${reason.verdict}: ${printable(reason.text)}`,
    ),
    `replay: ${printable(replay)}`,
  ];
}
