/**
 * What every scenario file came to on every driver: kept as JSON, shown side by side as a page. A
 * file's digest tells whether it is still the one that was played.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import type { Driver } from '../src/scenario/driver.js';
import { parseScenario } from '../src/scenario/parse.js';
import type { DriverName, Plan } from '../src/scenario/types.js';
import { simDriver } from '../src/sim/driver.js';
import { natsDriver } from '../src/nats/driver.js';
import { threadsDriver } from '../src/threads/driver.js';
import type { Outcome } from './outcome.js';

export const RESULTS = 'test/conformance/results.json';
export const PAGE = 'docs/conformance.md';

/** In the order of their columns. */
export const DRIVERS: readonly Driver[] = [simDriver, threadsDriver, natsDriver];

export interface Case {
  /** The file without its ending. */
  readonly name: string;
  readonly plan: Plan;
  /** The first sixteen digits of the SHA-256 of the file. */
  readonly digest: string;
}

export interface CaseResult {
  readonly digest: string;
  readonly on: Partial<Readonly<Record<DriverName, Outcome>>>;
}

export type Results = Readonly<Record<string, CaseResult>>;

export function readCases(): Case[] {
  const read = (path: string): string => readFileSync(path, 'utf8');
  const files = readdirSync('scenarios').filter((file) => file.endsWith('.yaml'));
  return files.sort().map((file) => {
    const text = read(`scenarios/${file}`);
    const digest = createHash('sha256').update(text).digest('hex').slice(0, 16);
    return { name: file.slice(0, -'.yaml'.length), plan: parseScenario(text, file, read), digest };
  });
}

export function readResults(): Results {
  return JSON.parse(readFileSync(RESULTS, 'utf8')) as Results;
}

export function renderPage(results: Results): string {
  const names = DRIVERS.map(({ name }) => name);
  const cells = Object.entries(results).map(([name, { on }]) => [
    `[${name}](../scenarios/${name}.yaml)`,
    ...names.map((driver) => cellOf(on[driver])),
    stateOf(on),
  ]);
  const counts = names.map((driver) => {
    const outcomes = Object.values(results).map(({ on }) => on[driver]);
    const played = outcomes.filter((each) => each !== undefined && !('skipped' in each));
    return `${driver} ${played.length} played, ${outcomes.length - played.length} skipped`;
  });
  const line = (row: readonly string[]): string => `| ${row.join(' | ')} |`;
  return [
    '# Conformance',
    '',
    'Every scenario file on every driver, side by side. `held, 3 of 3` is the verdict and how',
    'many faults fell of those that the file has for that driver. On sim and threads every living',
    'replica then holds what the last column says, which is what the file expects. A skip says',
    'why. Real servers keep their own time, and a file says apart what may stand still there; what',
    'did not come out as the file expects is told.',
    '',
    'Written by `npm run conformance -- --write`; `--on sim,threads,nats` says who plays (without',
    'it the first two), `--only NAME` which file. Without `--write` it compares, and exits with 1',
    'if anything differs. A test keeps this page, the files and the reasons in step.',
    '',
    `${Object.keys(results).length} files: ${counts.join('; ')}.`,
    '',
    line(['file', ...names, 'every living replica']),
    line(['---', ...names.map(() => '---'), '---']),
    ...cells.map(line),
    '',
  ].join('\n');
}

function cellOf(outcome: Outcome | undefined): string {
  if (outcome === undefined) return `skipped: ${NOT_PLAYED}`;
  if ('skipped' in outcome) return `skipped: ${outcome.skipped}`;
  const { verdict, faults, reason } = outcome;
  return `${verdict}, ${faults}${reason === undefined ? '' : `: ${reason}`}`;
}

/** Of servers, whose column is written as they come to be there. */
const NOT_PLAYED = 'not played on servers yet';

function stateOf(on: CaseResult['on']): string {
  const states = Object.values(on).flatMap((each) => ('skipped' in each ? [] : [each.state]));
  return [...new Set(states)].join('; ');
}
