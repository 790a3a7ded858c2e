import { describe, expect, it } from 'vitest';
import { junitOf } from '../../src/report/junit.js';
import { renderSweep } from '../../src/report/sweep.js';
import type { SweepSummary } from '../../src/verdict/sweep.js';
import { summaryOf } from '../verdict/sweeps.js';

const HELD: SweepSummary = { ...summaryOf(), verdict: 'held', failed: [] };

describe('report: sweep: terminal', () => {
  it('failed seeds, faults by kind, cells, time, verdict', () => {
    expect(renderSweep(summaryOf()).split('\n')).toEqual([
      'seed 2  log matching: r1 <&> r2',
      '  replay: lockstep sweep --seeds 1 --seed 2',
      'faults  freeze 1, kill 3',
      'cells   2',
      'time    2 s, 1.5 seeds/s; 4 virtual seconds, 2 x real time',
      '',
      'violated: 3 seeds, 1 failed',
      '',
    ]);
  });

  it('moments that faults fell at, and what else was met, beside the faults', () => {
    const coverage = {
      'excused: no quorum is left': 2,
      'kill cluster any': 1,
      'kill preCandidate idle': 1_000,
      'when elected': 3,
    };
    expect(
      renderSweep({ ...HELD, coverage })
        .split('\n')
        .slice(0, 4),
    ).toEqual([
      'faults   kill 1,001',
      'moments  elected 3',
      'also     excused: no quorum is left 2',
      'cells    4',
    ]);
  });

  it('what ended it early, shards and scaling', () => {
    const shards = [
      { shard: '1/2', verdict: 'held', seeds: 2, ended: 'seeds', wallSeconds: 1 },
      { shard: '2/2', verdict: 'inconclusive', seeds: 1, ended: 'signal', wallSeconds: 1 },
    ] as const;
    const scaling = [
      { cores: 1, seedsPerSecond: 2 },
      { cores: 4, seedsPerSecond: 5 },
    ];
    const text = renderSweep({
      ...HELD,
      verdict: 'inconclusive',
      ended: 'signal',
      coverage: {},
      shards,
      scaling,
    });
    expect(text.split('\n')).toEqual([
      'faults     none',
      'cells      0',
      'time       2 s, 1.5 seeds/s; 4 virtual seconds, 2 x real time',
      'scaling    2 seeds/s on 1 core, 5 on 4: 2.5 times',
      'shard 1/2  2 seeds, held',
      'shard 2/2  1 seed, inconclusive, ended by a signal',
      '',
      'inconclusive: 3 seeds, 0 failed, ended by a signal',
      '',
    ]);
  });
});

describe('report: sweep: JUnit', () => {
  it('a case for each failed seed, one for the block of the others; text is escaped', () => {
    const text = 'r1 <&> "r2"\u0000\n]]>';
    const [seed] = summaryOf().failed;
    const failed = [
      { ...seed!, text },
      { ...seed!, seed: 3, verdict: 'harness' as const, property: 'worker' },
    ];
    expect(junitOf({ ...summaryOf(), failed }).split('\n')).toEqual([
      '<?xml version="1.0" encoding="UTF-8"?>',
      '<testsuites>',
      '  <testsuite name="lockstep sweep: drawn runs" tests="3" failures="1" errors="1" time="2">',
      '    <testcase classname="lockstep" name="seed 2">',
      '      <failure message="log matching: r1 &lt;&amp;&gt; &quot;r2&quot;\\x00\\x0a]]&gt;" ' +
        'type="violated: log matching">replay: lockstep sweep --seeds 1 --seed 2</failure>',
      '    </testcase>',
      '    <testcase classname="lockstep" name="seed 3">',
      '      <error message="worker: r1 &lt;&amp;&gt; r2" ' +
        'type="harness: worker">replay: lockstep sweep --seeds 1 --seed 2</error>',
      '    </testcase>',
      '    <testcase classname="lockstep" name="1 other seed from 1 on"/>',
      '  </testsuite>',
      '</testsuites>',
      '',
    ]);
  });

  it('ended early -> an error, so that it does not read as passed', () => {
    const early = { ...HELD, verdict: 'inconclusive', ended: 'timeLimit' } as const;
    expect(junitOf(early)).toContain(
      [
        '    <testcase classname="lockstep" name="3 other seeds from 1 on"/>',
        '    <testcase classname="lockstep" name="to its end">',
        '      <error message="inconclusive: the sweep did not come to its end (timeLimit)" ' +
          'type="inconclusive"/>',
      ].join('\n'),
    );
  });

  it('a merged sweep has a block for each shard', () => {
    const shard = { verdict: 'held', ended: 'seeds', wallSeconds: 1 } as const;
    const shards = [
      { ...shard, shard: '1/2', seeds: 2 },
      { ...shard, shard: '2/2', seeds: 1 },
    ];
    const names = [...junitOf({ ...HELD, shards }).matchAll(/<testcase.* name="([^"]*)"/g)];
    expect(names.map(([, name]) => name)).toEqual([
      'shard 1/2: 2 seeds from 1 on',
      'shard 2/2: 1 seed from 1 on',
    ]);
  });
});
