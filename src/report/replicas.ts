/** A comparison of a stream's replicas as text for a person, and for machines. */
import type { AgainstOrigin, Disagreement, ReplicasReport } from '../verify/replica-report.js';
import type { ReplicaExcuse } from '../verify/replica-facts.js';
import { counted, grouped, groupedRange, listed, printable, section, table } from './text.js';
import { RANGES_SHOWN, sizeText, spanText } from './verify.js';

const MEANING: Readonly<Record<ReplicaExcuse, string>> = {
  settled: 'they agreed when they were read again',
  expired: 'older than max_age, and not yet or no longer there',
  ttl: 'their own time to live has passed (Nats-TTL)',
  'per subject': 'as many later messages on the subject as max_msgs_per_subject allows',
  head: "below the stream's first: max_msgs or max_bytes leaves no room for it",
};

export function renderReplicas(report: ReplicasReport): string {
  const { replicas, coverage, differences, behind, explained, unconfirmed, load } = report;
  const rows = Object.entries(replicas).map(([server, { leader, current, read, ...rest }]) => [
    `replica ${printable(server)}`,
    leader ? 'leader' : current ? 'current' : 'not current',
    read === 'none' ? 'not read' : counted(rest.messages, 'message'),
    ...(rest.reason === null ? [] : [printable(rest.reason)]),
  ]);
  const explanations = explained.map(({ kind, count, first, last }) => {
    return `${grouped(count)} ${kind}: ${groupedRange({ first, last })}: ${MEANING[kind]}`;
  });
  const seenOnce = unconfirmed.map((range) => `${groupedRange(range)}: could not be judged again`);
  const lines = [
    replicasHeadline(report),
    '',
    ...table(rows, new Set([2])),
    `read      ${coverage.depth}: ${coverage.claim}`,
    ...section('different', differences.map(disagreementText)),
    ...section('origin', report.against_origin.map(againstText)),
    ...section('behind', behind.map(disagreementText)),
    ...section('seen once', seenOnce.slice(0, RANGES_SHOWN)),
    ...section('explained', explanations),
    `load      ${counted(load.msgs, 'message')}, ${sizeText(load.bytes)}, ` +
      counted(load.api_calls, 'request'),
  ];
  return `${lines.join('\n')}\n`;
}

/** The result in one line: the first of the text, and all of what a monitor shows. */
export function replicasHeadline(report: ReplicasReport): string {
  const { result, reason, stream, replicas, coverage, differences } = report;
  const read = Object.keys(replicas).filter((server) => replicas[server]!.read !== 'none');
  const whole = `${printable(stream.name)} on ${printable(listed(read))}`;
  const text = `${result}: ${whole}, ${spanText(coverage, 1)}`;
  const why = reason === null ? '' : `: ${printable(reason)}`;
  switch (result) {
    case 'identical':
      return text;
    case 'explained':
      return `${text}: every difference has its reason`;
    case 'different': {
      const count = differences.reduce((sum, difference) => sum + difference.count, 0);
      return `${text}: they disagree at ${counted(count, 'sequence')}${why}`;
    }
    case 'inconclusive':
      return text + why;
  }
}

/** `1 missing: 51: n1 and n2 hold the same, n3 has none` */
function disagreementText(difference: Disagreement): string {
  const { kind, count, ranges, holding, lacking, unread } = difference;
  const shown = ranges.slice(0, RANGES_SHOWN).map(groupedRange).join(', ');
  const more = ranges.length - RANGES_SHOWN;
  const rest = more > 0 ? ` and ${counted(more, 'more range')}` : '';
  const parties = [
    ...holding.map((servers, at) => `${named(servers)} ${heldText(servers, at)}`),
    ...(lacking.length === 0 ? [] : [`${named(lacking)} ${have(lacking)} none`]),
    ...(unread.length === 0 ? [] : [`${named(unread)} ${be(unread)} not read there`]),
  ];
  return `${grouped(count)} ${kind}: ${shown}${rest}: ${parties.join(', ')}`;
}

/** `51: the origin holds what n1 and n2 hold, and n3 not` */
function againstText({ seq, held_by_origin, like_origin, unlike_origin }: AgainstOrigin): string {
  const text = `${grouped(seq)}: the origin holds`;
  if (!held_by_origin) return `${text} none that the mirror takes`;
  if (like_origin.length === 0) return `${text} another one than each of them`;
  const unlike = unlike_origin.length === 0 ? '' : `, and ${named(unlike_origin)} not`;
  return `${text} what ${named(like_origin)} ${hold(like_origin)}${unlike}`;
}

function hold(servers: readonly string[]): string {
  return servers.length === 1 ? 'holds' : 'hold';
}

function heldText(servers: readonly string[], at: number): string {
  if (at > 0) return `${have(servers)} another one`;
  return servers.length > 1 ? 'hold the same' : 'has one';
}

function named(servers: readonly string[]): string {
  return printable(listed(servers));
}

function have(servers: readonly string[]): string {
  return servers.length === 1 ? 'has' : 'have';
}

function be(servers: readonly string[]): string {
  return servers.length === 1 ? 'was' : 'were';
}
