/**
 * Reads a JSON report of vitest and prints "PASSED FAILED". Skipped tests, and files that broke
 * before or beside their tests, are failures here; each of them is named on stderr.
 */
import { readFileSync } from 'node:fs';

const report = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const tests = report.testResults.flatMap((file) =>
  file.assertionResults.map(({ status, fullName }) => ({ status, title: fullName })),
);
const lost = tests.filter(({ status }) => status !== 'passed');
const broken = report.testResults.filter(
  ({ status, assertionResults }) =>
    status !== 'passed' && assertionResults.every((test) => test.status !== 'failed'),
);
for (const { status, title } of lost) console.error(`${status}: ${title}`);
for (const { name, message } of broken) console.error(`broken: ${name}: ${message}`);

// A report that saw nothing must not look like one where nothing failed.
const nothing = tests.length === 0 ? 1 : 0;
console.log(`${tests.length - lost.length} ${lost.length + broken.length + nothing}`);
