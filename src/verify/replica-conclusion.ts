/** From what was read, and read again, to a result and a claim that goes no further. */
import type { SeqRange } from '../stream/types.js';
import { countOf, type Ranges } from '../verdict/ranges.js';
import { grouped, listed } from '../report/text.js';
import { partsSeen } from './record-compare.js';
import type { ReplicaReader } from './replica-access.js';
import type { ReplicaComparison } from './replica-comparison.js';
import type { ReplicatedStream } from './replica-facts.js';
import type { Rechecked } from './replica-recheck.js';
import {
  disagreements,
  type AgainstOrigin,
  type Disagreement,
  type ReplicaReport,
  type ReplicasReport,
  type ReplicasResult,
} from './replica-report.js';

export interface ReplicasRead extends Rechecked {
  readonly before: ReplicatedStream;
  readonly after: ReplicatedStream;
  /** Servers that were to be read, and their readers. */
  readonly servers: readonly string[];
  readonly sources: readonly ReplicaReader[];
  readonly from: number;
  readonly to: number;
  readonly comparison: ReplicaComparison;
  /** False: it was interrupted. */
  readonly isWhole: boolean;
  readonly againstOrigin: readonly AgainstOrigin[];
  readonly calls: number;
}

type Replicas = Readonly<Record<string, ReplicaReport>>;

export function concludeReplicas(read: ReplicasRead): ReplicasReport {
  const { servers, from, comparison, isWhole, unconfirmed, explained } = read;
  const { name, created, createdText, state } = read.before.facts;
  const replicas = replicaReports(read);
  const differences = disagreements(read.differences, servers);
  const behind = disagreements(read.behind, servers);
  const isAnew = created !== read.after.facts.created;
  const reasons = [
    ...(isAnew ? [`${name} was made anew while it was read`] : []),
    ...(isWhole ? [] : ['it was interrupted']),
    ...unnamed(read.before),
    ...doubts(replicas, behind, unconfirmed),
  ];
  // What was compared was not one stream.
  const isDifferent = differences.length > 0 && !isAnew;
  const result = resultOf(isDifferent, reasons.length > 0, explained.total > 0);
  const to = comparedTo(read);
  const loads = read.sources.map(({ load }) => load);
  return {
    schema: 1,
    result,
    reason: reasons.length === 0 ? null : reasons.join('; '),
    stream: { name, created: createdText, state },
    up_to: to,
    coverage: {
      ...{ depth: 'full', from, to, compared: comparison.compared },
      claim: claimed(read, result, replicas, { first: from, last: to }),
    },
    ...{ replicas, differences, against_origin: read.againstOrigin },
    parts: partsSeen(read.parts),
    ...{ explained: explained.all(), behind, unconfirmed: [...unconfirmed] },
    load: {
      msgs: loads.reduce((sum, { messages }) => sum + messages, 0),
      bytes: loads.reduce((sum, { bytes }) => sum + bytes, 0),
      api_calls: read.calls,
    },
  };
}

/** Up to where two replicas or more were read; below `from`: nothing was. */
function comparedTo({ sources, from, to, comparison, isWhole }: ReplicasRead): number {
  const [, second = 0] = sources.map(({ readTo }) => readTo).sort((one, other) => other - one);
  return Math.max(from - 1, Math.min(to, second, isWhole ? to : comparison.last));
}

function resultOf(isDifferent: boolean, isDoubted: boolean, isExplained: boolean): ReplicasResult {
  if (isDifferent) return 'different';
  if (isDoubted) return 'inconclusive';
  return isExplained ? 'explained' : 'identical';
}

function replicaReports({ before, after, servers, sources, isWhole }: ReplicasRead): Replicas {
  const reports: Record<string, ReplicaReport> = {};
  for (const { server, isOffline } of before.replicas) {
    const source = sources[servers.indexOf(server)];
    const now = after.replicas.find((each) => each.server === server);
    const { messages = 0, bytes = 0 } = source?.load ?? {};
    const reason = isOffline ? 'offline' : (source?.failure ?? null);
    const isRead = source !== undefined && reason === null && isWhole;
    const unread = messages === 0 ? 'none' : 'part';
    reports[server] = {
      leader: now?.isLeader ?? false,
      current: now?.isCurrent ?? false,
      read: isRead ? 'whole' : unread,
      ...{ messages, bytes, reason },
    };
  }
  return reports;
}

/** A replica that the leader does not name was not read. */
function unnamed({ replicas, configured }: ReplicatedStream): string[] {
  const { length } = replicas;
  return length >= configured ? [] : [`the leader names ${length} of ${configured} replicas`];
}

/** Why nothing can be concluded; empty: it can. */
function doubts(
  replicas: Replicas,
  behind: readonly Disagreement[],
  unconfirmed: Ranges,
): string[] {
  const unread = Object.entries(replicas).flatMap(([server, { read, reason }]) => {
    return reason === null ? [] : [`${server} was ${READ[read]} (${reason})`];
  });
  const late = [...new Set(behind.flatMap(({ lacking }) => lacking))];
  const count = countOf(unconfirmed);
  return [
    ...unread,
    ...late.map((server) => `${server} is not current, and what it lacks may still come`),
    ...(count === 0 ? [] : [`what differed at ${grouped(count)} could not be judged again`]),
  ];
}

const READ = { none: 'not read', part: 'read in part', whole: 'read' };

function claimed(
  read: ReplicasRead,
  result: ReplicasResult,
  replicas: Replicas,
  range: SeqRange,
): string {
  if (read.to < read.from) return 'there is nothing to compare';
  return read.isWhole
    ? claimOf(result, replicas, range)
    : interruptedClaim(read, result, replicas, range);
}

/** Going on leaves out what was compared: it is only told where nothing is open up to there. */
function interruptedClaim(
  { before, behind, unconfirmed }: ReplicasRead,
  result: ReplicasResult,
  replicas: Replicas,
  { first, last }: SeqRange,
): string {
  const names = Object.keys(replicas).filter((server) => replicas[server]!.reason === null);
  if (last < first) return 'nothing: it was interrupted before anything was compared';
  if (names.length < 2) return 'nothing: fewer than two replicas were read';
  const isAll = names.length === before.replicas.length && unnamed(before).length === 0;
  const isOpen = behind.total > 0 || unconfirmed.length > 0;
  const goOn = isAll && !isOpen ? `; go on with --from ${last + 1}` : '';
  const seen = result === 'different' ? 'they differ' : 'no difference that stands was seen';
  return `${listed(names)} compared from ${grouped(first)} to ${grouped(last)}, ${seen}${goOn}`;
}

/** What may be said, and of whom. */
function claimOf(result: ReplicasResult, replicas: Replicas, { first, last }: SeqRange): string {
  const whole = Object.keys(replicas).filter((server) => replicas[server]!.read === 'whole');
  const where = `from ${grouped(first)} to ${grouped(last)}`;
  if (whole.length < 2) return 'nothing: fewer than two replicas were read to the end';
  const names = listed(whole);
  switch (result) {
    case 'identical':
      return `${names} hold the same, bit by bit, ${where}`;
    case 'explained':
      return `${names} hold the same ${where}, but for what is explained`;
    case 'different':
      return `${names} were read ${where}, and do not hold the same`;
    case 'inconclusive':
      return `no difference that stands was seen ${where} among ${names}`;
  }
}
