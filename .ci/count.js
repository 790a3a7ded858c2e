/**
 * Reads a JSON report of vitest and prints "PASSED FAILED". Skipped tests, and files that broke
 * before or beside their tests, are failures here; both are named on stderr.
 */
import { readFileSync } from 'node:fs';

const report = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const tests = report.testResults.flatMap((file) =>
  file.assertionResults.map(({ status, fullName }) => ({ status, title: fullName })),
);
const failed = tests.filter(({ status }) => status === 'failed');
const skipped = tests.filter(({ status }) => status !== 'passed' && status !== 'failed');
const broken = report.testResults.filter(
  ({ status, assertionResults }) =>
    status !== 'passed' && assertionResults.every((test) => test.status !== 'failed'),
);
for (const { status, title } of skipped) console.error(`${status}: ${title}`);
for (const { name, message } of broken) console.error(`broken: ${name}: ${message}`);

// A report that saw nothing must not look like one where nothing failed.
const nothing = tests.length === 0 ? 1 : 0;
const passed = tests.length - failed.length - skipped.length;
console.log(`${passed} ${failed.length + skipped.length + broken.length + nothing}`);
