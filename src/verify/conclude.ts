/** Everything that was found -> one result and the report of it. */
import { grouped } from '../report/text.js';
import type { MirrorComparison } from './comparison.js';
import { claimOf, type Reading } from './claims.js';
import { partsSeen } from './record-compare.js';
import type { ObjectFinding } from './objects.js';
import { isOlderThanOrigin, remarks } from './remarks.js';
import type { BacklogReport, SideReport, VerifyReport, VerifyResultKind } from './result.js';
import type { Facts } from './sides.js';
import type { StreamFacts } from './stream-facts.js';

export interface Conclusion {
  readonly start: Facts;
  readonly end: Facts;
  readonly comparison: MirrorComparison;
  readonly reading: Reading;
  readonly backlog: BacklogReport;
  readonly objects: readonly ObjectFinding[];
  readonly ended: string | null;
  readonly notes: readonly string[];
  readonly load: VerifyReport['load'];
}

export function reportOf(conclusion: Conclusion): VerifyReport {
  const { start, end, comparison, reading, backlog, notes, load } = conclusion;
  const { origin, mirror } = start;
  tellScope(conclusion);
  const { result, reason } = resultOf(conclusion);
  const explained = comparison.explained.all();
  return {
    schema: 1,
    ...{ result, reason },
    origin: sideReport(origin),
    mirror: { ...sideReport(mirror), reported: mirror.reported },
    up_to: reading.reached,
    coverage: {
      ...{ depth: reading.depth, from: reading.from, to: reading.reached },
      ...{ compared: comparison.compared, claim: claimOf(reading) },
    },
    backlog,
    explained: explained.filter(({ kind }) => kind !== 'unknown'),
    unknown: explained.filter(({ kind }) => kind === 'unknown'),
    differences: comparison.differences
      .all()
      .map((found) =>
        found.kind === 'changed' ? { ...found, parts: partsSeen(comparison.parts) } : found,
      ),
    examples: [...comparison.examples],
    objects: conclusion.objects,
    notes: [...remarks(end), ...notes],
    replicas: { origin: origin.servers, mirror: mirror.servers },
    load,
  };
}

/** What no message tells: below a start that was asked for, behind a gap at the tail. */
function tellScope({ start, reading, comparison, backlog }: Conclusion): void {
  const { origin, mirror } = start;
  const below = Math.min((mirror.mirror?.startSeq ?? 0) - 1, reading.from - 1);
  if (below >= origin.state.first_seq && reading.depth !== 'full') {
    comparison.explained.tally('outOfScope', Math.max(1, origin.state.first_seq), below);
  }
  if (backlog.status === 'tail gap' && origin.state.last_seq > mirror.state.last_seq) {
    comparison.explained.tally('tailGap', mirror.state.last_seq + 1, origin.state.last_seq);
  }
}

function resultOf(conclusion: Conclusion): { result: VerifyResultKind; reason: string | null } {
  const { comparison, reading, backlog, ended, end } = conclusion;
  const { differences, explained, compared } = comparison;
  if (ended !== null) return { result: 'inconclusive', reason: ended };
  if (differences.total > 0) return { result: 'different', reason: null };
  if (isVoid(conclusion)) return { result: 'inconclusive', reason: 'there was nothing to compare' };
  if (compared === 0 && isOlderThanOrigin(end)) {
    const reason = 'no message is in both, and the origin is the younger: it may be another one';
    return { result: 'inconclusive', reason };
  }
  switch (backlog.status) {
    case 'lagging':
    case 'stopped':
    case 'stopped: sealed':
    case 'pending':
      return { result: 'behind', reason: behindReason(backlog) };
    case 'unknown':
    case 'caught up':
    case 'tail gap':
    case 'keeps up':
      if (explained.count('unknown') > 0) {
        const many = grouped(explained.count('unknown'));
        const reason = `the mirror's own rules may have removed ${many} that it lacks: or not`;
        return { result: 'inconclusive', reason };
      }
      if (explained.total > 0) return { result: 'explained', reason: null };
      // Subjects that nobody can tell are not identical.
      return {
        result:
          reading.depth === 'full' && comparison.selection.isUnderstood
            ? 'identical'
            : 'no difference seen',
        reason: null,
      };
  }
}

/** Nothing lay within what was to be read, and not because there is nothing. */
function isVoid({ start, reading, backlog }: Conclusion): boolean {
  const { from, to } = reading;
  return to < from && (to < start.mirror.state.last_seq || backlog.watchedMs !== null);
}

function behindReason({ status, messages }: BacklogReport): string {
  return `${status}, ${messages === null ? 'messages are' : `${messages} messages`} to come`;
}

function sideReport({ name, createdText, state }: StreamFacts): SideReport {
  return { name, created: createdText, state };
}
