/** Outcomes as a table: aligned for a terminal, or as Markdown. */
import type { Known, Outcome, Replays } from './outcome.js';

const HEAD = [
  ...[
    'mutant',
    'bug',
    'focus',
    'killed',
    'seeds',
    'CPU s',
    'shrunk',
    'known',
    'shrink s',
    'replays',
  ],
  'by',
];

function rowOf(outcome: Outcome) {
  const { id, title, state, killed, bases, seeds, cpuMs, by, other, directed } = outcome;
  const { known, shrunk } = outcome;
  const named = Object.entries(by).map(([name, times]) => [name, times] as const);
  const rate = bases === 0 ? '-' : `${killed}/${bases}`;
  const spread = (
    figures: { readonly median: number; readonly p95: number } | null,
    text: (value: number) => string,
  ): string => (figures === null ? '-' : `${text(figures.median)} / ${text(figures.p95)}`);
  return [
    id,
    title,
    outcome.focus ?? '-',
    state === 'killed' ? rate : `${rate} ${state}`,
    spread(seeds, String),
    spread(cpuMs, (ms) => (ms / 1_000).toFixed(2)),
    shrunk === null ? '-' : String(shrunk.events.median),
    known === null ? '-' : knownText(known),
    shrunk === null ? '-' : (shrunk.cpuMs.median / 1_000).toFixed(1),
    replayText(outcome),
    [
      ...[...named, ...Object.entries(other).map(([name, n]) => [`not ${name}`, n] as const)].map(
        ([name, times]) => (bases === 1 ? name : `${name} ${times}`),
      ),
      ...(directed === null ? [] : [directed]),
    ].join(', '),
  ];
}

function knownText({ events, byHand }: Known): string {
  return byHand ? `${events} by hand` : String(events);
}

/** `4`: so many, all as they should be. */
function replayText({ known, replays }: Outcome): string {
  const all = [replays, known?.replays ?? null].filter((each) => each !== null);
  if (all.length === 0) return '-';
  const sum = (of: keyof Replays): number => all.reduce((total, each) => total + each[of], 0);
  const [played, same, held] = [sum('played'), sum('same'), sum('held')];
  return same === played && held === played
    ? String(played)
    : `${played}, ${same} same, ${held} held`;
}

export function tableText(outcomes: readonly Outcome[]): string {
  const rows = [HEAD, ...outcomes.map(rowOf)];
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

export function tableMarkdown(outcomes: readonly Outcome[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const rows = outcomes
    .map(rowOf)
    .map((row) => line(row.map((cell) => cell.replaceAll('|', '\\|'))));
  return [line(HEAD), line(HEAD.map(() => '---')), ...rows].join('\n');
}
