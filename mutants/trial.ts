/** Runs the test that must fail on the build of one mutant. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MutatedBuild } from './build.js';
import type { Trial } from './outcome.js';
import type { Edit, TestedMutant } from './types.js';

interface TestReport {
  readonly testResults: readonly {
    readonly assertionResults: readonly {
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

/** What the test says of the build as it is, by test and titles: it is asked once. */
const controls = new Map<string, Promise<Said>>();

interface Said {
  readonly result: 'passed' | 'failed' | 'nothing';
  readonly text: string;
}

/** Only what passes on the build as it is and fails on the mutated one is a kill. */
export async function trial(mutant: TestedMutant, signal: AbortSignal): Promise<Trial> {
  const key = `${mutant.test} ${mutant.titled}`;
  const control = controls.get(key) ?? ask(mutant, [], signal);
  controls.set(key, control);
  const before = await control;
  if (before.result !== 'passed') {
    const text = `${mutant.test} as it is: ${before.result}: ${before.text}`;
    return { mutant, result: 'trouble', text };
  }
  const { result, text } = await ask(mutant, mutant.edits, signal);
  if (result === 'failed') return { mutant, result: 'killed', text };
  return result === 'passed'
    ? { mutant, result: 'survived', text: null }
    : { mutant, result: 'trouble', text };
}

/** A test that breaks before it begins, or titles that are nobody's, say nothing. */
async function ask(
  { test, titled }: TestedMutant,
  edits: readonly Edit[],
  signal: AbortSignal,
): Promise<Said> {
  using build = new MutatedBuild(edits);
  build.addTests();
  const report = join(build.root, 'report.json');
  const reporter = ['--reporter=json', `--outputFile=${report}`];
  await vitest(build.root, signal, [test, '-t', titled, ...reporter]);
  if (signal.aborted) return { result: 'nothing', text: 'out of time' };
  let found: TestReport;
  try {
    found = JSON.parse(readFileSync(report, 'utf8')) as TestReport;
  } catch {
    return { result: 'nothing', text: `${test} left no report` };
  }
  const tests = found.testResults.flatMap(({ assertionResults }) => assertionResults);
  const failed = tests.find(({ status }) => status === 'failed');
  if (failed !== undefined) {
    return { result: 'failed', text: failed.failureMessages[0]?.split('\n')[0] ?? '' };
  }
  const some = tests.some(({ status }) => status === 'passed');
  return some
    ? { result: 'passed', text: '' }
    : { result: 'nothing', text: `${test} has no test titled ${titled}` };
}

function vitest(root: string, signal: AbortSignal, args: readonly string[]): Promise<void> {
  const bin = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const child = spawn(process.execPath, [bin, 'run', '--root', root, ...args], {
    cwd: root,
    stdio: 'ignore',
    signal,
  });
  return new Promise((resolve) => {
    child.once('error', () => undefined);
    child.once('close', () => resolve());
  });
}
