/** Writes docs/mutants.md from what `npm run mutants -- --json` printed. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { toErrorData, usageError } from '../src/base/errors.js';
import { SWARM_MUTANTS, TESTED_MUTANTS } from './catalogue.js';
import { markdownOf } from './markdown.js';
import { mergeOutcomes, type Outcome } from './outcome.js';

/** What `--json` prints. */
export interface Result {
  readonly schema: 1;
  /** Seeds of one base, and bases. */
  readonly seeds: number;
  readonly bases: number;
  readonly outcomes: readonly Outcome[];
}

/** Compiled, this file lies in dist/mutants. */
const PAGE = fileURLToPath(new URL('../../docs/mutants.md', import.meta.url));

/**
 * Several results add up: hunts from many bases, shrinks of a few, mutants that were changed since.
 *
 * @param note  on the page beside the figures; null: none
 * Errors: usage, with the file that is no result.
 */
export function writePage(files: readonly string[], note: string | null): number {
  writeFileSync(PAGE, markdownOf(mergeResults(files.map(resultOf)), note));
  return 0;
}

export function mergeResults(results: readonly Result[]): Result {
  const outcomes = new Map<string, Outcome>();
  for (const result of results) {
    for (const outcome of result.outcomes) {
      const before = outcomes.get(outcome.id);
      outcomes.set(outcome.id, before === undefined ? outcome : mergeOutcomes(before, outcome));
    }
  }
  const order = [...SWARM_MUTANTS, ...TESTED_MUTANTS].map(({ id }) => id);
  const [{ schema, seeds, bases }] = results as [Result];
  return { schema, seeds, bases, outcomes: order.flatMap((id) => outcomes.get(id) ?? []) };
}

function resultOf(path: string): Result {
  try {
    const found = JSON.parse(readFileSync(path, 'utf8')) as Partial<Result>;
    if (found.schema === 1 && Array.isArray(found.outcomes)) return found as Result;
  } catch (error) {
    throw usageError('--write', path, `what --json printed (${toErrorData(error).message})`);
  }
  throw usageError('--write', path, 'what --json printed');
}
