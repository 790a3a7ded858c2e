/**
 * A sweep as a JUnit report: a case for each seed that failed and one for the block of all others
 * (of a merged sweep, one block a shard), so that a report stays small however many seeds it is of.
 */
import { create } from 'xmlbuilder2';
import type { Gate } from '../verdict/coverage.js';
import type { FailedSeed, SweepSummary } from '../verdict/sweep.js';
import { missedText } from './coverage.js';
import { counted, printable } from './text.js';

/** Keys with an @ are attributes, `#` is text. */
type Case = Readonly<Record<string, string | number | Readonly<Record<string, string>>>>;

export function junitOf(summary: SweepSummary): string {
  const { asked, failed, gates, verdict, ended, wallSeconds } = summary;
  // A shard is not held to gates: they are cases of the merged sweep.
  const judged = asked.shard === null ? gates : [];
  const missed = judged.some(({ times }) => times === 0);
  const cases = [
    ...failed.map(failedCase),
    ...judged.map(gateCase),
    ...blocksOf(summary).map(caseOf),
  ];
  const isSaid = failed.some((seed) => seed.verdict === verdict);
  if (verdict !== 'held' && !isSaid && !(verdict === 'uncovered' && missed)) {
    const message = `${verdict}: the sweep did not come to its end (${ended})`;
    cases.push({ ...caseOf('to its end'), error: { '@message': message, '@type': verdict } });
  }
  const count = (outcome: string): number => cases.filter((each) => outcome in each).length;
  const suite = {
    '@name': printable(`lockstep sweep: ${asked.scenario ?? 'drawn runs'}`),
    '@tests': cases.length,
    '@failures': count('failure'),
    '@errors': count('error'),
    '@time': wallSeconds,
    ...propertiesOf(summary),
    testcase: cases,
  };
  const xml = create({ version: '1.0', encoding: 'UTF-8' }, { testsuites: { testsuite: suite } });
  return `${xml.end({ prettyPrint: true })}\n`;
}

function failedCase({ seed, verdict, property, text, replay }: FailedSeed): Case {
  const found = {
    '@message': printable(`${property}: ${text}`),
    '@type': `${verdict}: ${property}`,
    '#': printable(`replay: ${replay}`),
  };
  return { ...caseOf(`seed ${seed}`), [verdict === 'harness' ? 'error' : 'failure']: found };
}

function gateCase(gate: Gate): Case {
  const found = caseOf(`must hit ${gate.mustHit}`);
  if (gate.times > 0) return found;
  return { ...found, failure: { '@message': missedText(gate), '@type': 'uncovered' } };
}

/** The coverage, a property a cell: `coverage leader:skipping:kill`. */
function propertiesOf({ coverage }: SweepSummary) {
  const property = Object.entries(coverage).map(([cell, times]) => ({
    '@name': printable(`coverage ${cell}`),
    '@value': times,
  }));
  return property.length === 0 ? {} : { properties: { property } };
}

function caseOf(name: string): Case {
  return { '@classname': 'lockstep', '@name': name };
}

function blocksOf({ asked, seeds, failed, shards }: SweepSummary): string[] {
  const first = `from ${asked.first} on`;
  if (shards !== undefined) {
    return shards.map((each) => `shard ${each.shard}: ${counted(each.seeds, 'seed')} ${first}`);
  }
  const others = seeds - failed.length;
  const shard = asked.shard === null ? '' : `shard ${asked.shard}: `;
  return others === 0 ? [] : [`${shard}${counted(others, 'other seed')} ${first}`];
}
