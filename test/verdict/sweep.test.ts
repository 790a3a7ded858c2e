import { describe, expect, it } from 'vitest';
import {
  isFinding,
  SweepTally,
  type SeedFailure,
  type SweepAsked,
  type SweepEnd,
} from '../../src/verdict/sweep.js';
import { ASKED, summaryOf } from './sweeps.js';

function tally(failures: readonly (SeedFailure['verdict'] | null)[]): SweepTally {
  const made = new SweepTally(String);
  failures.forEach((verdict, at) => {
    const failure = verdict === null ? null : { verdict, property: 'p', text: 't' };
    made.add({ seed: at + 1, failure, simulatedMs: 1, cells: {} });
  });
  return made;
}

describe('verdict: sweep: summary', () => {
  it('counts seeds, cells and time; failed seeds with their replay', () => {
    expect(summaryOf()).toEqual({
      schema: 1,
      verdict: 'violated',
      seeds: 3,
      failed: [
        {
          seed: 2,
          verdict: 'violated',
          property: 'log matching',
          text: 'r1 <&> r2',
          replay: 'lockstep sweep --seeds 1 --seed 2',
        },
      ],
      seedsPerSecond: 1.5,
      simulatedSeconds: 4,
      wallSeconds: 2,
      timesRealTime: 2,
      coverage: { 'follower:idle:freeze': 1, 'leader:idle:kill': 3 },
      gates: [],
      ended: 'seeds',
      asked: ASKED,
    });
    expect(Object.keys(summaryOf().coverage)).toEqual(['follower:idle:freeze', 'leader:idle:kill']);
  });

  it.each<[string, SweepEnd, Partial<SweepAsked>, string]>([
    ['all seeds', 'seeds', {}, 'held'],
    ['a plateau', 'plateau', { untilPlateau: 9 }, 'held'],
    ['a signal', 'signal', {}, 'inconclusive'],
    ['a limit before the seeds', 'timeLimit', { timeLimitMs: 1 }, 'inconclusive'],
    ['a limit, as many as fit', 'timeLimit', { timeLimitMs: 1, seeds: null }, 'held'],
    [
      'a limit before the plateau',
      'timeLimit',
      { timeLimitMs: 1, seeds: null, untilPlateau: 9 },
      'inconclusive',
    ],
  ])('nothing failed, ended by %s -> %4$s', (_, ended, asked, verdict) => {
    expect(tally([null, null]).summary(1, ended, { ...ASKED, ...asked }).verdict).toBe(verdict);
  });

  it('no seed was played -> inconclusive, whatever was asked', () => {
    const asked = { ...ASKED, seeds: null, timeLimitMs: 1 };
    expect(tally([]).summary(1, 'timeLimit', asked).verdict).toBe('inconclusive');
  });

  it('the gravest seed decides, and a failure outweighs an early end', () => {
    const verdict = (failures: Parameters<typeof tally>[0], ended: SweepEnd): string =>
      tally(failures).summary(1, ended, ASKED).verdict;
    expect(verdict(['stalled', 'harness', null], 'seeds')).toBe('harness');
    expect(verdict(['harness', 'violated'], 'seeds')).toBe('violated');
    expect(verdict(['uncovered'], 'seeds')).toBe('uncovered');
    expect(verdict(['uncovered'], 'signal')).toBe('inconclusive');
    expect(verdict(['stalled'], 'failure')).toBe('stalled');
  });

  it('a gate that was not met -> uncovered, unless something graver; a shard is not held to it', () => {
    const verdict = (change: Partial<SweepAsked>, failed: SeedFailure['verdict'] | null): string =>
      tally([failed]).summary(1, 'seeds', { ...ASKED, ...change }).verdict;
    const mustHit = ['leader:skipping:kill'];
    expect(verdict({ mustHit }, null)).toBe('uncovered');
    expect(verdict({ mustHit }, 'stalled')).toBe('stalled');
    expect(verdict({ mustHit, shard: '1/2' }, null)).toBe('held');
    expect(summaryOf({ mustHit: ['leader:*:kill'] }).gates).toEqual([
      { mustHit: 'leader:*:kill', times: 3, nearest: null },
    ]);
  });

  it('seeds since the last new cell', () => {
    const made = new SweepTally(String);
    const add = (cells: Record<string, number>): number => {
      made.add({ seed: 1, failure: null, simulatedMs: 0, cells });
      return made.withoutNewCell;
    };
    expect([add({ a: 1 }), add({ a: 2 }), add({}), add({ a: 1, b: 1 }), add({ b: 1 })]).toEqual([
      0, 1, 2, 0, 1,
    ]);
    expect({ seeds: made.seeds, cells: made.cells }).toEqual({ seeds: 5, cells: 2 });
  });

  it('what a sweep stops at: findings, not what showed nothing', () => {
    const finding = (verdict: SeedFailure['verdict']): boolean =>
      isFinding({ verdict, property: '', text: '' });
    expect(
      (['violated', 'stalled', 'harness', 'uncovered', 'inconclusive'] as const).map(finding),
    ).toEqual([true, true, true, false, false]);
  });
});
