/**
 * The kept results of the conformance suite are of the files as they are, hold, and give the
 * reasons that the drivers give; the page shows them. `npm run conformance` plays them again.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { skipReason, stateText, type Outcome } from '../../conformance/outcome.js';
import { DRIVERS, PAGE, readCases, readResults, renderPage } from '../../conformance/results.js';

const results = readResults();
const cases = readCases();
const AGAIN = 'npm run conformance -- --write plays them again';

describe('conformance: kept results', () => {
  it('are of all files and no other, each as it is now', () => {
    const digests = Object.fromEntries(cases.map(({ name, digest }) => [name, digest]));
    const kept = Object.entries(results).map(([name, { digest }]) => [name, digest]);
    expect(Object.fromEntries(kept), AGAIN).toEqual(digests);
  });

  it('the page shows them', () => {
    expect(readFileSync(PAGE, 'utf8'), AGAIN).toBe(renderPage(results));
  });

  it.each(cases)('$name: held on sim and threads, or they say why', ({ name, plan }) => {
    for (const driver of DRIVERS.slice(0, 2)) {
      const skipped = skipReason(plan, driver);
      const outcome = results[name]?.on[driver.name];
      expect(wrongIn(outcome, skipped, stateText(plan.expect.state!)), driver.name).toBeNull();
    }
  });
});

describe('conformance: real servers', () => {
  it('what they cannot play is skipped for the reason that their driver gives', () => {
    const [driver] = DRIVERS.slice(2);
    const reasons = cases.map(({ name, plan }) => [name, skipReason(plan, driver!)]);
    const skipped = reasons.filter(([, reason]) => reason !== null);
    expect(skipped.length).toBeGreaterThan(0);
    const kept = skipped.map(([name]) => [name, results[name!]?.on.nats]);
    expect(Object.fromEntries(kept), AGAIN).toEqual(
      Object.fromEntries(skipped.map(([name, reason]) => [name, { skipped: reason }])),
    );
  });
});

/** What a kept outcome has against it; null: nothing. */
function wrongIn(outcome: Outcome | undefined, skipped: string | null, state: string) {
  if (outcome === undefined) return 'never played, and no reason is kept';
  if (skipped !== null && !('skipped' in outcome)) return `played, but ${skipped}`;
  if ('skipped' in outcome) {
    if (outcome.skipped === '') return 'skipped without a reason';
    return skipped === null || skipped === outcome.skipped ? null : `skipped for: ${skipped}`;
  }
  if (outcome.verdict !== 'held') return outcome.reason;
  return outcome.state === state ? null : `ended with ${outcome.state}`;
}
