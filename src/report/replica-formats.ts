/** A verification with `--replicas`, for a person and for machines. */
import type { ReplicasReport } from '../verify/replica-report.js';
import type { ReplicasOutcome } from '../verify/verify-replicas.js';
import { renderReplicas, replicasHeadline } from './replicas.js';
import { headline, renderVerify } from './verify.js';
import {
  escaped,
  formatVerify,
  jsonOf,
  metrics,
  nagiosExit,
  nagiosLine,
  RANGES_MAX,
  total,
  type VerifyFormat,
} from './verify-formats.js';

export function formatReplicas(
  outcome: ReplicasOutcome,
  format: VerifyFormat,
  strict: boolean,
): string {
  const { mirror, replicas } = outcome;
  switch (format) {
    case 'text':
      return textsOf(outcome, renderVerify, renderReplicas).join('\n');
    case 'json':
      return `${JSON.stringify(outcomeJson(outcome))}\n`;
    case 'nagios': {
      const texts = textsOf(outcome, headline, replicasHeadline).join('; ');
      const figures = replicas === null ? '' : perfData(replicas);
      return nagiosLine(nagiosExit(outcome, strict), texts, figures);
    }
    case 'prometheus':
      return [
        ...(mirror === null ? [] : [formatVerify(mirror, 'prometheus', strict)]),
        ...(replicas === null ? [] : [prometheus(replicas)]),
      ].join('');
  }
}

function textsOf(
  { mirror, replicas }: ReplicasOutcome,
  ofMirror: (report: NonNullable<ReplicasOutcome['mirror']>) => string,
  ofReplicas: (report: ReplicasReport) => string,
): string[] {
  return [
    ...(mirror === null ? [] : [ofMirror(mirror)]),
    ...(replicas === null ? [] : [ofReplicas(replicas)]),
  ];
}

/** Of a mirror the fields of its comparison, with what its replicas say of each other beside. */
function outcomeJson({ result, mirror, replicas }: ReplicasOutcome): object {
  const agreement = replicas === null ? null : agreementJson(replicas);
  if (mirror === null) return agreement ?? {};
  const reasons = [mirror.reason, replicas?.reason ?? null].filter((reason) => reason !== null);
  const reason = reasons.length === 0 ? null : reasons.join('; ');
  return { ...jsonOf(mirror), result, reason, agreement };
}

function agreementJson(report: ReplicasReport): object {
  const bounded = (found: ReplicasReport['differences']): object[] =>
    found.map(({ ranges, ...each }) => ({ ...each, ranges: ranges.slice(0, RANGES_MAX) }));
  return {
    ...report,
    differences: bounded(report.differences),
    behind: bounded(report.behind),
    explained: report.explained.map(({ kind, first, last, count }) => ({
      ...{ kind, first, last, count },
    })),
    unconfirmed: report.unconfirmed.slice(0, RANGES_MAX),
  };
}

function perfData({ differences, explained, behind, coverage }: ReplicasReport): string {
  return [
    `differences=${total(differences)}`,
    `explained=${total(explained)}`,
    `behind=${total(behind)}`,
    `compared=${coverage.compared}`,
  ].join(' ');
}

function prometheus(report: ReplicasReport): string {
  const { stream, result, coverage, up_to, replicas, differences, behind, explained } = report;
  const labels = `stream="${escaped(stream.name)}"`;
  return metrics('lockstep_verify_replicas_', [
    [`result{${labels},result="${result}"}`, 1],
    [`from{${labels}}`, coverage.from],
    [`up_to{${labels}}`, up_to],
    [`compared_sequences{${labels}}`, coverage.compared],
    ...Object.entries(replicas).map(([server, { messages }]): [string, number] => [
      `messages{${labels},server="${escaped(server)}"}`,
      messages,
    ]),
    [`sequences{${labels},kind="different"}`, total(differences)],
    [`sequences{${labels},kind="behind"}`, total(behind)],
    [`sequences{${labels},kind="explained"}`, total(explained)],
  ]);
}
