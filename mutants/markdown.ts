/** docs/mutants.md, as the command writes it. */
import { SWARM_MUTANTS, TESTED_MUTANTS, WAITING_MUTANTS } from './catalogue.js';
import type { Outcome } from './outcome.js';
import type { Result } from './page.js';
import { tableMarkdown } from './table.js';

export function markdownOf({ outcomes, seeds, bases }: Result, note: string | null): string {
  const isTested = ({ id }: Outcome): boolean => TESTED_MUTANTS.some((each) => each.id === id);
  const hunted = outcomes.filter((each) => !isTested(each) && each.state !== 'trouble');
  const tried = outcomes.filter(isTested);
  const waiting = WAITING_MUTANTS.map(({ id, title, source, waitsFor }) => {
    return `- ${id}: ${title} (${source}). Waits for ${waitsFor}.`;
  });
  const unplayed = [...SWARM_MUTANTS, ...TESTED_MUTANTS]
    .filter(
      ({ id }) => !outcomes.some((outcome) => outcome.id === id && outcome.state !== 'trouble'),
    )
    .map(({ id, title, source }) => `- ${id}: ${title} (${source})`);
  const sources = outcomes.map(({ id, source }) => `- ${id}: ${source}`);
  return `${[
    '# Mutants',
    '',
    'Known bugs, each put into a copy of the build by an edit of its text (`mutants/`), and',
    'what notices them. Written by two commands; the figures are what the first one measured:',
    '',
    '```',
    `npm run mutants -- --seeds ${seeds} --bases ${bases} --json > mutants.json`,
    'npm run mutants -- --write mutants.json',
    '```',
    '',
    '## Found by the swarm',
    '',
    `Drawn runs are played until a check fails, from up to ${bases} bases (*killed* says of how`,
    `many), each of up to ${seeds} seeds (more where a mutant says so). *focus*: what they lean`,
    'to; not given: each draws it. Rows with fewer bases come from shorter runs.',
    '',
    '- *seeds* and *CPU s*: to the first kill, median and 95th percentile; seeds are the same on',
    '  every machine, CPU seconds are of one.',
    '- *shrunk*: faults and fates of messages that shrinking left of the first kills, median;',
    '  *shrink s*: CPU seconds that it took, median.',
    '- *known*: the same of the shortest script that is known, a file of `mutants/scripts`.',
    '  `by hand`: thought out, and verified: it kills, and no part of it (each set that lacks one',
    '  of its events or more, from its seed and those after) does; below 0 there is nothing. What',
    '  is no event: the world (delays, disks, bounds), and a healed core that leaves a leader out.',
    '  The others are what shrinking left: the shortest known, and no claim that none is shorter.',
    '- *replays*: replay files of shrunk kills and of the known script that were played. Each gave',
    '  the same event stream twice, byte for byte, with the failure that it was written for, and',
    '  held on the build without the bug; anything else is said.',
    '- *by*: what failed first; `not` marks what is no kill; a test named behind the figures has',
    '  killed what not every hunt found in so many seeds. `replica assertion` is an error that the',
    '  replica itself threw. A fault of the simulator is never a kill.',
    '',
    ...summaryOf(hunted),
    ...(note === null ? [] : ['', note]),
    '',
    tableMarkdown(hunted),
    '',
    '## Found by a named test',
    '',
    'Bugs of the checks themselves (H), and bugs that a second line of defence hides from every',
    'run. The test named runs on the mutated build and must fail.',
    '',
    tableMarkdown(tried),
    '',
    ...(unplayed.length === 0 ? [] : notPlayed(unplayed)),
    '## Waiting',
    '',
    ...waiting,
    '',
    '## Where they were seen',
    '',
    ...sources,
  ].join('\n')}\n`;
}

/** What the table comes to as a whole. */
function summaryOf(hunted: readonly Outcome[]): string[] {
  const swept = hunted.filter(({ killed, bases }) => killed === bases && bases > 0);
  const shrinks = hunted.flatMap(({ shrunk }) => shrunk ?? []);
  const seconds = median(shrinks.map(({ cpuMs }) => cpuMs.median / 1_000));
  const took = `Shrinking a kill took ${seconds.toFixed(1)} CPU seconds`;
  return [
    `Swept from every base: ${swept.length} of ${hunted.length}.`,
    ...(shrinks.length === 0 ? [] : [`${took}, median of ${shrinks.length} mutants.`]),
    ...byHandOf(hunted),
  ];
}

/** How scripts by hand stand: against their own parts, and against what shrinking comes to. */
function byHandOf(hunted: readonly Outcome[]): string[] {
  const byHand = hunted.filter(({ known }) => known?.byHand === true);
  if (byHand.length === 0) return [];
  const sum = (of: 'played' | 'killed'): number =>
    byHand.reduce((total, { known }) => total + (known?.parts[of] ?? 0), 0);
  const compared = byHand.flatMap(({ known, shrunk }) =>
    known === null || shrunk === null ? [] : { least: known.events, median: shrunk.events.median },
  );
  const near = compared.filter((each) => each.median <= 2 * each.least);
  const [played, killed] = [sum('played'), sum('killed')];
  return [
    `Scripts by hand: ${byHand.length}; of ${played} runs of their parts ${killed} kill.`,
    `Shrunk to at most twice the script by hand: ${near.length} of ${compared.length}.`,
  ];
}

function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.ceil(values.length / 2) - 1] ?? 0;
}

function notPlayed(lines: readonly string[]): string[] {
  const why = 'Time ran out before these; nothing is known of them from this run.';
  return ['## Not played', '', why, '', ...lines, ''];
}
