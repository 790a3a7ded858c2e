/** docs/known-answers.md, as the command writes it. */
import type { Answer } from './play.js';
import type { KnownCase } from './types.js';

export function markdownOf(cases: readonly KnownCase[], answers: readonly Answer[]): string {
  const versions = [...new Set(answers.map(({ version }) => version))];
  const rows = cases.map(({ id, title }) => {
    const cells = versions.map((version) => {
      const answer = answers.find((each) => each.id === id && each.version === version);
      return answer === undefined ? '' : cellOf(answer);
    });
    return `| ${[`**${id}**: ${title}`, ...cells].join(' | ')} |`;
  });
  const others = answers.filter(({ isKnown }) => isKnown === false);
  return `${[
    '# Known answers',
    '',
    'Cases with a known outcome, played on clusters of three real nats-servers (`known/`), what',
    'every replica of the mirror then holds as `{first,last,messages,deleted}`, and what',
    '`lockstep verify --depth full` says of it. Written by the command:',
    '',
    '```',
    'npm run known-answers -- --write',
    '```',
    '',
    `| case | ${versions.join(' | ')} |`,
    `| --- |${' --- |'.repeat(versions.length)}`,
    ...rows,
    '',
    ...cases.flatMap(({ id, note }) => (note === undefined ? [] : [`- ${id}: ${note}.`])),
    '',
    ...(others.length === 0
      ? ['Every answer is the one that is known.']
      : ['Other than known:', '', ...others.map(otherText)]),
  ].join('\n')}\n`;
}

function cellOf({ isKnown, states, said, why }: Answer): string {
  if (isKnown === null) return `not played: ${why ?? ''}`;
  const found = said === null || said.found.length === 0 ? '' : ` (${said.found.join(', ')})`;
  const held = states.map((state) => `\`${state}\``).join(' ');
  const text = said === null ? `${held} no answer` : `${held} ${said.result}${found}`;
  return isKnown ? text : `${text} **other than known**`;
}

function otherText({ id, version, why }: Answer): string {
  return `- ${id} on ${version}: ${why ?? ''}`;
}
