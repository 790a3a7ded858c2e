/** docs/mutants.md, as the command writes it. */
import { SWARM_MUTANTS, TESTED_MUTANTS, WAITING_MUTANTS } from './catalogue.js';
import type { Outcome } from './outcome.js';
import { tableMarkdown } from './table.js';

interface Played {
  readonly seeds: number;
  readonly bases: number;
  readonly timeLimit?: string | undefined;
}

export function markdownOf(
  outcomes: readonly Outcome[],
  { seeds, bases, timeLimit }: Played,
): string {
  const limit = timeLimit === undefined ? '' : ` --time-limit ${timeLimit}`;
  const hunted = outcomes.filter(({ script, state }) => script !== null && state !== 'trouble');
  const tried = outcomes.filter(({ script }) => script === null);
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
    'what notices them. Written by the command; the figures are what it measured:',
    '',
    '```',
    `npm run mutants -- --seeds ${seeds} --bases ${bases}${limit} --markdown > docs/mutants.md`,
    '```',
    '',
    '## Found by the swarm',
    '',
    `Drawn runs are played until a check fails, bases: ${bases}, each of up to ${seeds}`,
    'seeds (more where a mutant says so). *seeds* and *CPU s*: to the first kill, median and',
    '95th percentile; seeds are the same on every machine, CPU seconds are of one. *script*:',
    'faults and fates of messages in the shortest script known by hand. *by*: what failed first;',
    '`not` marks what is no kill; a test named behind the figures has killed on the mutated build',
    'what not every hunt found in so many seeds. `replica assertion` is an error that the replica',
    'itself threw: the mutant ran into one of its own checks. A fault of the simulator is never',
    'a kill.',
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

function notPlayed(lines: readonly string[]): string[] {
  const why = 'Time ran out before these; nothing is known of them from this run.';
  return ['## Not played', '', why, '', ...lines, ''];
}
