/** Scenarios for tests: texts over a base that is right, files in memory, refusals as text. */
import { readFileSync } from 'node:fs';
import { LockstepError } from '../../src/base/errors.js';
import { parseScenario, planScenario, type ReadFile } from '../../src/scenario/parse.js';
import type { Plan } from '../../src/scenario/types.js';

/** The last message of this one, its sentinel, comes after two seconds. */
export const BASE = {
  version: 1,
  name: 'a test',
  origin: { synthetic: { messages: 2_000, rate: 1_000 } },
};

export const NO_FILES: ReadFile = (path) => {
  throw Object.assign(new Error(`no ${path}`), { code: 'ENOENT' });
};

/** The real streams, by their file names. */
export const FIXTURES: ReadFile = (path) =>
  readFileSync(new URL(`../fixtures/nats/${path}`, import.meta.url), 'utf8');

export function filesOf(files: Readonly<Record<string, string>>): ReadFile {
  return (path) => files[path] ?? NO_FILES(path);
}

export function planOf(scenario: object, readFile: ReadFile = NO_FILES): Plan {
  return planScenario({ ...BASE, ...scenario }, 'test', readFile);
}

/** The line that a call is refused with; anything but a usage error fails the test. */
export function refused(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    if (error instanceof LockstepError && error.code === 'usage') return error.message;
    throw error;
  }
  throw new Error('it was not refused');
}

export function refusedText(text: string): string {
  return refused(() => parseScenario(text, 'chaos.yaml', NO_FILES));
}

export function refusedPlan(scenario: object, readFile: ReadFile = NO_FILES): string {
  return refused(() => planOf(scenario, readFile));
}
