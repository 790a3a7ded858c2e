/** Runs the test that must fail on the build of one mutant. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MutatedBuild } from './build.js';
import type { Trial } from './outcome.js';
import type { TestedMutant } from './types.js';

interface TestReport {
  readonly testResults: readonly {
    readonly assertionResults: readonly {
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

/** A test that breaks before it begins, or titles that are nobody's, are no kill. */
export async function trial(mutant: TestedMutant, signal: AbortSignal): Promise<Trial> {
  using build = new MutatedBuild(mutant.edits);
  build.addTests();
  const report = join(build.root, 'report.json');
  await vitest(build.root, signal, [
    mutant.test,
    ...['-t', mutant.titled, '--reporter=json', `--outputFile=${report}`],
  ]);
  const trouble = (text: string): Trial => ({ mutant, result: 'trouble', text });
  if (signal.aborted) return trouble('out of time');
  let found: TestReport;
  try {
    found = JSON.parse(readFileSync(report, 'utf8')) as TestReport;
  } catch {
    return trouble(`${mutant.test} left no report`);
  }
  const tests = found.testResults.flatMap(({ assertionResults }) => assertionResults);
  const failed = tests.find(({ status }) => status === 'failed');
  if (failed !== undefined) {
    const text = failed.failureMessages[0]?.split('\n')[0] ?? null;
    return { mutant, result: 'killed', text };
  }
  if (!tests.some(({ status }) => status === 'passed')) {
    return trouble(`${mutant.test} has no test titled ${mutant.titled}`);
  }
  return { mutant, result: 'survived', text: null };
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
