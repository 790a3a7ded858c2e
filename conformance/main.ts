/**
 * Plays every scenario file on several drivers: `npm run conformance` compares what came of it with
 * what is kept, `-- --write` keeps it and writes docs/conformance.md.
 */
import { writeFileSync } from 'node:fs';
import { parseFlags } from '../bench/flags.js';
import { LockstepError, toErrorData, usageError } from '../src/base/errors.js';
import { loadHasher } from '../src/base/hasher.js';
import { lacksServer } from '../src/nats/driver.js';
import type { DriverName } from '../src/scenario/types.js';
import { nearest } from '../src/scenario/words.js';
import { playCase, skipReason, type Outcome } from './outcome.js';
import { DRIVERS, PAGE, readCases, readResults, renderPage, RESULTS } from './results.js';
import type { CaseResult, Results } from './results.js';

try {
  process.exitCode = await main();
} catch (error) {
  const { code, message } = toErrorData(error);
  console.error(`conformance: ${message}`);
  process.exitCode = code === 'usage' ? 64 : 70;
}

async function main(): Promise<number> {
  const values = parseFlags({
    on: { type: 'string', default: 'sim,threads' },
    only: { type: 'string' },
    write: { type: 'boolean', default: false },
  });
  const names = values.on.split(',');
  for (const name of names)
    known(
      '--on',
      name,
      DRIVERS.map((driver) => driver.name),
    );
  const lack = names.includes('nats') ? lacksServer(process.env) : null;
  if (lack !== null) throw new LockstepError('usage', `--on: ${lack}`);
  const all = readCases();
  if (values.only !== undefined)
    known(
      '--only',
      values.only,
      all.map(({ name }) => name),
    );
  const hasher = await loadHasher();
  const kept = readResults();
  // In the order of the files, without those that are gone.
  const results: Record<string, CaseResult> = Object.fromEntries(
    all.map(({ name, digest }) => [name, kept[name] ?? { digest, on: {} }]),
  );
  let differ = 0;
  for (const { name, plan, digest } of all) {
    const on: Partial<Record<DriverName, Outcome>> = { ...kept[name]?.on };
    for (const driver of DRIVERS) {
      const skipped = skipReason(plan, driver);
      const isAsked = names.includes(driver.name) && (values.only ?? name) === name;
      if (skipped === null && !isAsked) continue;
      const outcome = skipped === null ? await playCase(plan, driver, hasher) : { skipped };
      const isNew = JSON.stringify(outcome) !== JSON.stringify(on[driver.name]);
      if (isNew) differ++;
      console.log(`${isNew ? '!' : ' '} ${driver.name.padEnd(8)}${name}: ${told(outcome)}`);
      on[driver.name] = outcome;
    }
    results[name] = { digest, on };
    // As they come: servers take their time, and what was played is worth keeping.
    if (values.write) keep(results);
  }
  if (values.write) return 0;
  console.log(differ === 0 ? 'as kept' : `${differ} differ from what is kept: --write keeps them`);
  return differ === 0 ? 0 : 1;
}

function keep(results: Results): void {
  writeFileSync(RESULTS, `${JSON.stringify(results, null, 2)}\n`);
  writeFileSync(PAGE, renderPage(results));
}

function told(outcome: Outcome): string {
  if ('skipped' in outcome) return `skipped: ${outcome.skipped}`;
  const { verdict, faults, state, reason } = outcome;
  return `${verdict}, faults ${faults}, ${state}${reason === undefined ? '' : `: ${reason}`}`;
}

function known(flag: string, word: string, words: readonly string[]): void {
  if (words.includes(word)) return;
  throw usageError(flag, word, `one of ${words.join(', ')}${nearest(word, words)}`);
}
