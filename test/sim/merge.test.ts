import { describe, expect, it } from 'vitest';
import { LockstepError } from '../../src/base/errors.js';
import { mergeShards } from '../../src/sim/merge.js';
import type { SweepAsked, SweepSummary } from '../../src/verdict/sweep.js';
import { ASKED, summaryOf } from '../verdict/sweeps.js';

const FAILED = summaryOf({ shard: '2/2' });
const HELD: SweepSummary = {
  ...FAILED,
  verdict: 'held',
  failed: [],
  seeds: 5,
  simulatedSeconds: 6,
  wallSeconds: 4,
  coverage: { 'leader:idle:kill': 1, 'leader:idle:stepDown': 4 },
  asked: { ...ASKED, shard: '1/2' },
};

function merged(files: Readonly<Record<string, unknown>>): SweepSummary {
  return mergeShards(Object.keys(files), (path) => JSON.stringify(files[path]));
}

function asked(summary: SweepSummary, change: Partial<SweepAsked>): SweepSummary {
  return { ...summary, asked: { ...summary.asked, ...change } };
}

describe('sim: merge', () => {
  it('sums up, in the order of the shards, with the verdict of the gravest', () => {
    expect(merged({ b: FAILED, a: HELD })).toEqual({
      schema: 1,
      verdict: 'violated',
      seeds: 8,
      failed: FAILED.failed,
      // Of the slowest shard: they ran side by side.
      seedsPerSecond: 2,
      simulatedSeconds: 10,
      wallSeconds: 4,
      timesRealTime: 2.5,
      coverage: { 'follower:idle:freeze': 1, 'leader:idle:kill': 4, 'leader:idle:stepDown': 4 },
      gates: [],
      ended: 'seeds',
      asked: ASKED,
      shards: [
        { shard: '1/2', verdict: 'held', seeds: 5, ended: 'seeds', wallSeconds: 4 },
        { shard: '2/2', verdict: 'violated', seeds: 3, ended: 'seeds', wallSeconds: 2 },
      ],
    });
  });

  it('failed seeds by number; one shard ended early -> so did the sweep', () => {
    const [seed] = FAILED.failed;
    const one = { ...FAILED, failed: [{ ...seed!, seed: 9 }], asked: HELD.asked };
    const other = { ...FAILED, failed: [seed!], ended: 'timeLimit' as const };
    const { failed, ended } = merged({ one, other });
    expect(failed.map((each) => each.seed)).toEqual([2, 9]);
    expect(ended).toBe('timeLimit');
  });

  it('a single shard of one is a whole', () => {
    expect(merged({ a: asked(HELD, { shard: '1/1' }) }).verdict).toBe('held');
  });

  it('gates are judged over all shards', () => {
    const met = merged({
      a: asked(HELD, { mustHit: ['follower:*:freeze'] }),
      b: { ...asked(FAILED, { mustHit: ['follower:*:freeze'] }), verdict: 'held', failed: [] },
    });
    expect([met.verdict, met.gates]).toEqual([
      'held',
      [{ mustHit: 'follower:*:freeze', times: 1, nearest: null }],
    ]);
    const missed = asked(HELD, { shard: '1/1', mustHit: ['leader:skipping:kill'] });
    expect(merged({ a: missed })).toMatchObject({
      verdict: 'uncovered',
      gates: [
        {
          mustHit: 'leader:skipping:kill',
          times: 0,
          nearest: { cell: 'leader:idle:kill', times: 1 },
        },
      ],
    });
  });

  const other = asked(FAILED, {});
  it.each<[string, Record<string, unknown>, string]>([
    ['the same shard twice', { a: HELD, b: HELD }, 'b: shard 1/2 is in a already'],
    ['a shard that is missing', { a: HELD }, 'merge: no file is given of shard 2/2'],
    [
      'several that are missing',
      { a: asked(HELD, { shard: '2/4' }) },
      'merge: no file is given of shard 1/4, 3/4, 4/4',
    ],
    [
      'other seeds',
      { a: HELD, b: asked(other, { seeds: 4 }) },
      'b: asked.seeds: 4 is not 3 as in a',
    ],
    [
      'other gates',
      { a: HELD, b: asked(other, { mustHit: ['leader:idle:kill'] }) },
      'b: asked.mustHit: ["leader:idle:kill"] is not [] as in a',
    ],
    [
      'what is no gate',
      { a: asked(HELD, { mustHit: ['leader'] }) },
      'a: asked.mustHit[0]: "leader" is not a cell such as leader:skipping:kill',
    ],
    [
      'another version',
      { a: HELD, b: asked(other, { version: '2.0.0' }) },
      'b: asked.version: "2.0.0" is not "1.2.3" as in a',
    ],
    [
      'another split',
      { a: HELD, b: asked(other, { shard: '2/3' }) },
      'b: asked.shard: "one of 3" is not "one of 2" as in a',
    ],
    [
      'a shard beyond the last',
      { a: asked(HELD, { shard: '3/2' }) },
      'a: asked.shard: "3/2" is not a shard such as 3/16',
    ],
    [
      'a whole sweep',
      { a: asked(HELD, { shard: null }) },
      'a: the summary of a whole sweep, not of one shard',
    ],
    ['another kind of file', { a: {} }, 'a: not the summary of a shard of a sweep'],
    [
      'a slip in a key',
      { a: { ...HELD, seedz: 1 } },
      'a: "seedz" is not a known key; did you mean seeds?',
    ],
    ['no number', { a: { ...HELD, seeds: -1 } }, 'a: seeds: -1 is not'],
  ])('refused: %s', (_, files, says) => {
    const attempt = (): unknown => merged(files);
    expect(attempt).toThrow(LockstepError);
    expect(attempt).toThrow(says);
  });

  it('refused: what is no JSON, or not there', () => {
    expect(() => mergeShards(['a'], () => '# no')).toThrow(/^a: .*JSON/);
    const missing = (): string => {
      throw new Error('no such file');
    };
    expect(() => mergeShards(['a'], missing)).toThrow('merge: a: cannot be read (no such file)');
  });
});
