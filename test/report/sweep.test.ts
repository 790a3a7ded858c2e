import { describe, expect, it } from 'vitest';
import { junitOf } from '../../src/report/junit.js';
import { renderSweep } from '../../src/report/sweep.js';
import type { SweepSummary } from '../../src/verdict/sweep.js';
import { summaryOf } from '../verdict/sweeps.js';

const HELD: SweepSummary = { ...summaryOf(), verdict: 'held', failed: [] };

/** Of the cells of `summaryOf`: a row for each phase of the roles that faults fell on. */
const SEEN = [
  'role      phase              faults   kinds  not yet',
  ...[
    ...['frozen', 'noopUncommitted', 'transferring', 'rolledBack', 'mirrorClosed', 'opening'],
    ...['settingUp', 'skipping', 'appendUncommitted', 'appendUnsynced'],
  ].map((phase) => `leader    ${phase.padEnd(17)}       0  0 of 1  kill`),
  'leader    idle                    3  1 of 1',
  ...['frozen', 'appendUnsynced', 'catchingUp', 'leaderless'].map(
    (phase) => `follower  ${phase.padEnd(17)}       0  0 of 1  freeze`,
  ),
  'follower  idle                    1  1 of 1',
  '',
];

describe('report: sweep: terminal', () => {
  it('failed seeds, faults by kind, cells, time, verdict', () => {
    expect(renderSweep(summaryOf()).split('\n')).toEqual([
      'seed 2  log matching: r1 <&> r2',
      '  replay: lockstep sweep --seeds 1 --seed 2',
      ...SEEN,
      'faults  freeze 1, kill 3',
      'cells   2',
      'time    2 s, 1.5 seeds/s; 4 virtual seconds, 2 x real time',
      '',
      'violated: 3 seeds, 1 failed',
      '',
    ]);
  });

  it('what else was met beside the faults, and instants not counted twice', () => {
    const coverage = {
      'excused: no quorum is left': 2,
      'cluster:idle:kill': 1,
      'candidate:@campaigning:kill': 1_000,
      'candidate:preVoting:kill': 1_000,
    };
    const gates = [
      { mustHit: '*:idle:kill', times: 1, nearest: null },
      {
        mustHit: 'leader:idle:kill',
        times: 0,
        nearest: { cell: 'cluster:idle:kill', times: 1 },
      },
    ];
    expect(
      renderSweep({ ...HELD, coverage, gates })
        .split('\n')
        .slice(-9, -3),
    ).toEqual([
      'faults    kill 1,001',
      'also      excused: no quorum is left 2',
      'cells     4',
      'must hit  *:idle:kill 1',
      'must hit  leader:idle:kill was not met; nearest is cluster:idle:kill, met once',
      'time      2 s, 1.5 seeds/s; 4 virtual seconds, 2 x real time',
    ]);
  });

  it('the whole coverage: a table for each role, as many phases side by side as fit', () => {
    const coverage = {
      'candidate:voting:kill': 12_000,
      'candidate:@campaigning:freeze': 1,
      'cluster:skipping:dropConsumer': 3,
    };
    const text = renderSweep({ ...HELD, coverage }, true);
    expect(text.split('\n').slice(0, -6)).toEqual([
      'candidate  frozen  preVoting  voting  @campaigning',
      'freeze          -          -       -             1',
      'kill            -          -  12,000             -',
      '',
      'cluster       leaderless  frozen  transferring  rolledBack  mirrorClosed  opening  settingUp',
      'dropConsumer           -       -             -           -             -        -          -',
      '',
      'cluster       skipping  appendUncommitted  appendUnsynced  idle',
      'dropConsumer         3                  -               -     -',
      '',
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
      '    <properties>',
      '      <property name="coverage follower:idle:freeze" value="1"/>',
      '      <property name="coverage leader:idle:kill" value="3"/>',
      '    </properties>',
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

  it('a case for each gate, one that was missed failed; none in a shard', () => {
    const nearest = { cell: 'leader:idle:kill', times: 3 };
    const gates = [
      { mustHit: 'leader:*:kill', times: 3, nearest: null },
      { mustHit: 'leader:skipping:kill', times: 0, nearest },
    ];
    const whole = { ...HELD, verdict: 'uncovered', gates } as const;
    const cases = (summary: SweepSummary): string[] =>
      [...junitOf(summary).matchAll(/<(?:testcase|failure|error) .*>/g)].map(([found]) => found);
    expect(cases(whole)).toEqual([
      '<testcase classname="lockstep" name="must hit leader:*:kill"/>',
      '<testcase classname="lockstep" name="must hit leader:skipping:kill">',
      '<failure message="leader:skipping:kill was not met; nearest is leader:idle:kill, ' +
        'met 3 times" type="uncovered"/>',
      '<testcase classname="lockstep" name="3 other seeds from 1 on"/>',
    ]);
    const shard = { ...whole, verdict: 'held', asked: { ...HELD.asked, shard: '1/2' } } as const;
    expect(cases(shard)).toEqual([
      '<testcase classname="lockstep" name="shard 1/2: 3 other seeds from 1 on"/>',
    ]);
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
