/** A verification for machines: JSON, one line for Nagios, metrics for Prometheus. */
import type { VerifyReport } from '../verify/result.js';
import { printable } from './text.js';
import { headline, renderVerify } from './verify.js';

export const VERIFY_FORMATS = ['text', 'json', 'nagios', 'prometheus'] as const;
export type VerifyFormat = (typeof VERIFY_FORMATS)[number];

/** Ranges of one kind that JSON shows; the count is of all. */
export const RANGES_MAX = 1_000;
const NAGIOS = ['OK', 'WARNING', 'CRITICAL', 'UNKNOWN'] as const;

export function formatVerify(report: VerifyReport, format: VerifyFormat, strict: boolean): string {
  switch (format) {
    case 'text':
      return renderVerify(report);
    case 'json':
      return `${JSON.stringify(jsonOf(report))}\n`;
    case 'nagios':
      return nagiosLine(nagiosExit(report, strict), headline(report), perfData(report));
    case 'prometheus':
      return prometheus(report);
  }
}

/** One line, for whoever has to say that there is no answer; empty where nobody would read it. */
export function unknown(format: VerifyFormat, stream: string, problem: string): string {
  if (format === 'nagios') return nagiosLine(3, `${printable(stream)}: ${printable(problem)}`);
  return format === 'prometheus' ? `lockstep_verify_failed{stream="${escaped(stream)}"} 1\n` : '';
}

/** What follows the first bar is read as figures: there is none before them. */
export function nagiosLine(code: 0 | 1 | 2 | 3, text: string, figures = ''): string {
  const bar = figures === '' ? '' : `|${figures}`;
  return `${NAGIOS[code]} ${text.replaceAll('|', '/')}${bar}\n`;
}

/** Nagios' own codes: 0 fine, 1 warning, 2 critical, 3 unknown. */
export function nagiosExit(
  { result }: Pick<VerifyReport, 'result'>,
  strict: boolean,
): 0 | 1 | 2 | 3 {
  switch (result) {
    case 'identical':
    case 'no difference seen':
      return 0;
    case 'explained':
      return strict ? 1 : 0;
    case 'behind':
      return 1;
    case 'different':
      return 2;
    case 'inconclusive':
      return 3;
  }
}

/** Each range as `{kind, first, last, count}`; of kinds that are only counted, one around all. */
export function jsonOf(report: VerifyReport): object {
  return {
    ...report,
    explained: report.explained.flatMap(rangesOf),
    unknown: report.unknown.flatMap(rangesOf),
    differences: report.differences.flatMap(rangesOf),
    counts: Object.fromEntries(
      [...report.differences, ...report.unknown, ...report.explained].map(({ kind, count }) => [
        kind,
        count,
      ]),
    ),
  };
}

function rangesOf(
  found: VerifyReport['explained'][number] | VerifyReport['differences'][number],
): object[] {
  const { kind, first, last, count, ranges } = found;
  const parts = 'parts' in found ? { parts: found.parts } : {};
  if (ranges === null) return [{ kind, first, last, count, ...parts }];
  return ranges
    .slice(0, RANGES_MAX)
    .map((range) => ({ kind, ...range, count: range.last - range.first + 1, ...parts }));
}

function perfData({
  differences,
  explained,
  unknown: untold,
  backlog,
  coverage,
}: VerifyReport): string {
  return [
    `differences=${total(differences)}`,
    `explained=${total(explained)}`,
    ...(untold.length === 0 ? [] : [`unknown=${total(untold)}`]),
    `backlog=${backlog.messages ?? 'U'}`,
    `compared=${coverage.compared}`,
  ].join(' ');
}

function prometheus(report: VerifyReport): string {
  const { origin, mirror, result, backlog, coverage, up_to } = report;
  const labels = `mirror="${escaped(mirror.name)}",origin="${escaped(origin.name)}"`;
  const { differences, unknown: untold, explained } = report;
  const found = [...differences, ...untold, ...explained].map(
    ({ kind, count }): [string, number] => [`sequences{${labels},kind="${kind}"}`, count],
  );
  const rows: [string, number][] = [
    [`result{${labels},depth="${coverage.depth}",result="${result}"}`, 1],
    [`from{${labels}}`, coverage.from],
    [`up_to{${labels}}`, up_to],
    [`compared_messages{${labels}}`, coverage.compared],
    ...(backlog.messages === null
      ? []
      : [[`backlog_messages{${labels}}`, backlog.messages] satisfies [string, number]]),
    ...found,
  ];
  return metrics('lockstep_verify_', rows);
}

export function total(found: readonly { readonly count: number }[]): number {
  return found.reduce((sum, { count }) => sum + count, 0);
}

/** Gauges; rows of one name follow each other. */
export function metrics(prefix: string, rows: readonly (readonly [string, number])[]): string {
  const lines: string[] = [];
  for (const [metric, value] of rows) {
    const name = `${prefix}${metric.slice(0, metric.indexOf('{'))}`;
    const type = `# TYPE ${name} gauge`;
    if (!lines.includes(type)) lines.push(type);
    lines.push(`${prefix}${metric} ${value}`);
  }
  return `${lines.join('\n')}\n`;
}

export function escaped(label: string): string {
  return label.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
