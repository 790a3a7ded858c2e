/** A verification as text for a person. */
import type { DifferenceKind, Excuse, Found } from '../verify/findings.js';
import type { ObjectFinding } from '../verify/objects.js';
import type { BacklogReport, SideReport, VerifyReport } from '../verify/result.js';
import {
  counted,
  duration,
  grouped,
  groupedRange,
  listed,
  printable,
  section,
  table,
} from './text.js';

/** What each kind means, and what it does not say. */
export const MEANING: Readonly<Record<DifferenceKind | Excuse, string>> = {
  missing: 'the origin has it, the mirror not, and nothing explains it; why cannot be told',
  changed: 'both have it, and it is not the same message',
  beyond: 'the mirror has it, and the origin ends below: not the stream that was mirrored',
  kept: 'the mirror has it, the origin no longer: deleted, purged or expired there',
  trimmed: "dropped by the mirror's own limits",
  expired: "older than the mirror's max_age",
  ttl: 'its own time to live has passed (Nats-TTL)',
  outOfScope: 'before the start in the configuration of the mirror',
  unknown: 'a limit of the mirror or an acknowledgement there may have removed it: or not',
  settled: 'not so on the leaders: it came meanwhile, or a replica differs (--replicas tells)',
  tailGap: "the origin's last sequences hold no message: the mirror follows with the next one",
};

/** Of one kind, in a text for a person. */
export const RANGES_SHOWN = 5;
const OBJECTS_SHOWN = 20;

export function renderVerify(report: VerifyReport): string {
  const { origin, mirror, coverage, differences, unknown, explained, notes, load } = report;
  const lines = [
    headline(report),
    '',
    ...table(
      [
        ['origin', ...sideCells(origin)],
        ['mirror', ...sideCells(mirror)],
      ],
      new Set(),
    ),
    `read    ${coverage.depth}: ${coverage.claim}`,
    `backlog ${backlogText(report.backlog)}${reportedText(report)}`,
    ...section('different', differences.map(differenceText)),
    ...section('unknown', unknown.map(foundText)),
    ...section('explained', explained.map(foundText)),
    ...section('objects', objectTexts(report.objects)),
    ...notes.map((note) => `note    ${printable(note)}`),
    loadText(load),
  ];
  return `${lines.join('\n')}\n`;
}

/** The result in one line: the first of the text, and all of what a monitor shows. */
export function headline({
  result,
  reason,
  origin,
  mirror,
  coverage,
  differences,
}: VerifyReport): string {
  const names = `${printable(mirror.name)}, mirror of ${printable(origin.name)}`;
  const lowest = Math.min(origin.state.first_seq, mirror.state.first_seq);
  const where = spanText(coverage, lowest);
  switch (result) {
    case 'identical':
      return `identical: ${names}, ${where}`;
    case 'no difference seen':
      return `no difference seen: ${names}, ${where}`;
    case 'explained':
      return `explained: ${names}, ${where}: every difference has its reason`;
    case 'different': {
      const what = differences.map(({ kind, count }) => `${grouped(count)} ${kind}`).join(', ');
      return `different: ${names}, ${where}: ${what}`;
    }
    case 'inconclusive':
      return `inconclusive: ${names}, ${where}: ${printable(reason ?? '')}`;
    case 'behind':
      return `behind: ${names}, ${where}: ${reason ?? ''}`;
  }
}

/** What was read of sequences that begin at `lowest`: `up to 20`, `from 5 to 20`. */
export function spanText(
  { from, to }: { readonly from: number; readonly to: number },
  lowest: number,
): string {
  if (to < from) return 'nothing compared';
  return `${from > Math.max(1, lowest) ? `from ${grouped(from)} ` : 'up '}to ${grouped(to)}`;
}

function sideCells({ name, created, state }: SideReport): string[] {
  const { first_seq, last_seq, messages, num_deleted } = state;
  return [
    printable(name),
    `${grouped(first_seq)} to ${grouped(last_seq)}`,
    counted(messages, 'message'),
    `${grouped(num_deleted)} deleted`,
    `created ${created.slice(0, 19)}Z`,
  ];
}

function loadText({ msgs, bytes, api_calls }: VerifyReport['load']): string {
  const read = `${counted(msgs, 'message')}, ${sizeText(bytes)}`;
  return `load    ${read}, ${counted(api_calls, 'request')}`;
}

function backlogText({ status, messages, watchedMs }: BacklogReport): string {
  const count =
    messages === null || messages === 0 ? '' : `, ${counted(messages, 'message')} to come`;
  const watched = watchedMs === null ? '' : `, watched for ${duration(watchedMs)}`;
  return `${status}${count}${watched}`;
}

function reportedText({ mirror }: VerifyReport): string {
  if (mirror.reported === null) return '';
  return ` (the mirror itself reports lag ${grouped(mirror.reported.lag)})`;
}

function differenceText(found: VerifyReport['differences'][number]): string {
  const parts = Object.entries(found.parts ?? {}).map(([part, count]) => `${part} of ${count}`);
  return foundText(found) + (parts.length === 0 ? '' : ` (${parts.join(', ')})`);
}

function foundText({ kind, count, first, last, ranges }: Found<DifferenceKind | Excuse>): string {
  const shown = (ranges ?? [{ first, last }]).slice(0, RANGES_SHOWN);
  const within = ranges === null && count < last - first + 1 ? 'within ' : '';
  const more = (ranges?.length ?? 0) - shown.length;
  const where = shown.map(groupedRange).join(', ');
  const rest = more > 0 ? ` and ${counted(more, 'more range')}, to ${grouped(last)}` : '';
  return `${grouped(count)} ${kind}: ${within}${where}${rest}: ${MEANING[kind]}`;
}

function objectTexts(objects: readonly ObjectFinding[]): string[] {
  const texts = objects.slice(0, OBJECTS_SHOWN).map(objectText);
  const more = objects.length - texts.length;
  return more > 0 ? [...texts, `and ${counted(more, 'more object')}`] : texts;
}

/** `"a.jpg" in PICTURES: 3 missing: its entry, chunks 2 and 3 of 8` */
function objectText(found: ObjectFinding): string {
  const { name, nuid, bucket, kind, count, entry, of } = found;
  const called = name === null ? `one that nothing names (${nuid ?? '?'})` : JSON.stringify(name);
  const parts = [...(entry ? ['its entry'] : []), ...chunkTexts(found)].join(', ');
  const whole = of !== null && count === of + 1 ? ', all of it' : '';
  return printable(`${called} in ${bucket}: ${grouped(count)} ${kind}: ${parts}${whole}`);
}

function chunkTexts({ count, entry, chunks, of }: ObjectFinding): string[] {
  const number = entry ? count - 1 : count;
  if (number <= 0) return [];
  const outOf = of === null ? '' : ` of ${grouped(of)}`;
  if (chunks.length === 0) return [`${counted(number, 'chunk')}${outOf}`];
  return [`chunk${chunks.length === 1 ? '' : 's'} ${listed(chunks.map(grouped))}${outOf}`];
}

/** In the unit that leaves at most four digits. */
export function sizeText(bytes: number): string {
  const units = ['KiB', 'MiB', 'GiB', 'TiB'];
  if (bytes < 1_024) return `${bytes} bytes`;
  let value = bytes / 1_024;
  let at = 0;
  for (; value >= 1_024 && at < units.length - 1; at++) value /= 1_024;
  return `${Math.round(value * 10) / 10} ${units[at]}`;
}
