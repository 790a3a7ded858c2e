import { describe, expect, it } from 'vitest';
import { LockstepError } from '../../src/base/errors.js';
import type { ReplicaEvent } from '../../src/replica/types.js';
import type { ClusterEvent } from '../../src/scenario/driver.js';
import { copyDigest } from '../../src/verdict/copy.js';
import { EXIT, type Verdict } from '../../src/verdict/types.js';
import {
  hasher,
  planOf,
  playOn,
  type Played,
  type Puppet,
  type Script,
  type Step,
} from './puppet.js';

const LAST = 26;
const STATE = { first: 1, last: LAST, messages: 21, deleted: 5 };
const BEGIN: Step = [0, (puppet) => puppet.firstDelivery()];
/** All replicas hold everything after 30 ms. */
const QUICK: readonly Step[] = [
  BEGIN,
  [10, (puppet) => puppet.hold(10)],
  [30, (puppet) => puppet.hold(LAST)],
];
const THERE = { last: LAST, messages: 21 };
/** All replicas hold the first ten messages after 10 ms, and that is all. */
const STUCK: readonly Step[] = QUICK.slice(0, 2);

const LED: ReplicaEvent = {
  ...{ kind: 'role', role: 'leader', term: 1, leader: 'r1.1', cause: 'won' },
};

function condition(what: 'blocked' | 'diverged' | 'running', atMs = 20): Step {
  const event = { kind: 'condition', condition: what, reason: 'as it must' } as const;
  return [atMs, (puppet) => puppet.replica('r1', event)];
}

/** The mirror stops, and then it goes on to the end. */
function passing(...steps: readonly Step[]): Script {
  return { steps: [...STUCK, condition('blocked'), ...steps, [40, (puppet) => puppet.hold(LAST)]] };
}

/** The verdict with its exit code, and every reason as text. */
function verdictOf({ summary, reasons }: Played): [Verdict, number, string[]] {
  const texts = reasons.map(({ verdict, text }) => `${verdict}: ${text}`);
  return [summary.verdict, EXIT[summary.verdict], texts];
}

describe('play: held', () => {
  it('every part of the result', async () => {
    const steps: Step[] = [
      [2, (puppet) => puppet.replica('r1', LED)],
      [3, (puppet) => puppet.firstDelivery()],
      [13, (puppet) => puppet.hold(10)],
      [33, (puppet) => puppet.hold(LAST, ['r1', 'r2'])],
      [43, (puppet) => puppet.hold(LAST)],
    ];
    const events: ClusterEvent[] = [];
    const { puppet, ...result } = await playOn(
      planOf({ seed: 7 }),
      { steps, leaderAtMs: 20 },
      { onEvent: (event) => events.push(event) },
    );
    const digest = copyDigest(await puppet!.copy('r1').report(), hasher);
    const atMs = 1_020;
    expect(result).toEqual({
      summary: {
        ...{ schema: 1, verdict: 'held', driver: 'threads', seed: 7, elapsedMs: 45 },
        origin: { ...STATE, sentinel: LAST, tailGap: null },
        replicas: ['r1', 'r2', 'r3'].map((id) => ({ id, ...STATE, digest })),
        messages: {
          ...{ ok: 21, lost: 0, duplicated: 0, reordered: 0, corrupt: 0, phantom: 0, unknown: 0 },
        },
        skip: { encoding: 'entries', sequences: 0, batches: 0, largestBatch: 0, refused: 0 },
        leadership: { elections: 1, lastTerm: 1 },
        mirror: { openings: 0, rollbacks: 0, retries: 0 },
        faults: [],
        stallMs: 20,
        reasons: [],
        rate: { messagesPerSecond: 488, sequencesPerSecond: 605 },
        replay: 'lockstep run',
      },
      reasons: [],
      differences: [],
      timeline: {
        leaders: [{ slot: 'r1', term: 1, fromMs: -1, toMs: null }],
        moments: [],
        omitted: 0,
      },
      stallFromMs: 10,
      ...{ comparedInMs: 0, complete: true },
      cutShort: false,
      violations: [],
    });
    expect(events).toEqual([
      { kind: 'replica', slot: 'r1', atMs: atMs + 2, event: LED },
      { kind: 'firstDelivery', atMs: atMs + 3 },
      ...['r1', 'r2', 'r3'].map((slot) => ({
        ...{ kind: 'progress', slot, atMs: atMs + 13, last: 10, messages: 10 },
      })),
      ...['r1', 'r2'].map((slot) => ({
        ...{ kind: 'progress', slot, atMs: atMs + 33, last: LAST, messages: 21 },
      })),
      ...['r1', 'r2', 'r3'].map((slot) => ({
        ...{ kind: 'progress', slot, atMs: atMs + 43, last: LAST, messages: 21 },
      })),
    ]);
    expect(puppet!.calls).toEqual(['45: halt', '45: close']);
  });

  it('what a driver does not see is null in the summary, not 0', async () => {
    const steps: Step[] = [...STUCK, [30, (puppet) => puppet.hold(LAST)]];
    const { summary } = await playOn(planOf(), { steps, unseen: ['skips', 'retries'] });
    expect({ skip: summary.skip, mirror: summary.mirror }).toEqual({
      skip: {
        ...{ encoding: 'entries', sequences: null, batches: null },
        ...{ largestBatch: null, refused: null },
      },
      mirror: { openings: 0, rollbacks: 0, retries: null },
    });
  });

  it('a member that ended is neither waited for nor judged', async () => {
    const steps: Step[] = [...STUCK, [20, (puppet) => puppet.end('r3')]];
    const played = await playOn(planOf(), {
      steps: [...steps, [30, (puppet) => puppet.hold(LAST)]],
    });
    expect(verdictOf(played)).toEqual(['held', 0, []]);
    expect(played.summary.replicas.map(({ id }) => id)).toEqual(['r1', 'r2']);
    expect(played.timeline.moments).toEqual([{ atMs: 20, who: 'r3', text: 'ended: killed' }]);
  });

  it('beyond quorum no progress is owed', async () => {
    const played = await playOn(planOf({ beyondQuorum: true }), { steps: STUCK });
    expect(verdictOf(played)).toEqual(['held', 0, []]);
    expect(played.summary.stallMs).toBe(5_005);
  });

  it('one replica: its skips are direct', async () => {
    const { summary } = await playOn(planOf({ replicas: 1 }), { steps: QUICK });
    expect([summary.verdict, summary.skip.encoding]).toEqual(['held', 'direct']);
  });

  it('the pace of the origin itself is no stall', async () => {
    const origin = { synthetic: { messages: 2, size: 8, rate: 1 } };
    const steps: Step[] = [
      BEGIN,
      [0, (puppet) => puppet.hold(1)],
      [1_010, (puppet) => puppet.hold(2)],
      [2_000, (puppet) => puppet.hold(3)],
    ];
    const plan = planOf({ origin, expect: { stallAtMost: '500ms' } });
    const played = await playOn(plan, { steps });
    expect([...verdictOf(played), played.summary.stallMs]).toEqual(['held', 0, [], 10]);
  });
});

describe('play: verdicts', () => {
  const kill = { kill: 'leader', at: '10ms' };
  const skips = { id: 'sd', stepDown: 'leader', when: { skipped: 10 } };

  const cases: [string, Record<string, unknown>, Script, Verdict, string[]][] = [
    [
      'nothing moves any more',
      {},
      { steps: STUCK },
      'stalled',
      ['stalled: nothing moved for 5005 ms, allowed are 2000 ms'],
    ],
    [
      'nothing ever moves',
      { expect: { stallAtMost: '1s' } },
      {},
      'stalled',
      ['stalled: nothing moved for 4005 ms, allowed are 1000 ms'],
    ],
    [
      'it moves on, too late',
      { expect: { stallAtMost: '19ms' } },
      { steps: QUICK },
      'stalled',
      ['stalled: nothing moved for 20 ms, allowed are 19 ms'],
    ],
    ['as late as allowed', { expect: { stallAtMost: '20ms' } }, { steps: QUICK }, 'held', []],
    [
      'no leader',
      {},
      { leaderAtMs: null },
      'stalled',
      ['stalled: no leader within 15000 ms of the start'],
    ],
    [
      'a stall while a host was late',
      {},
      {
        steps: [
          ...STUCK,
          [20, (puppet) => puppet.emit({ kind: 'late', who: 'r3', atMs: 1_900, byMs: 150 })],
          [30, (puppet) => puppet.emit({ kind: 'late', who: 'r2', atMs: 2_900, byMs: 1_320 })],
        ],
      },
      'inconclusive',
      ['inconclusive: machine too busy: r2 late by 1.3 s'],
    ],
    [
      'a host that was late before the stall',
      {},
      {
        steps: [
          ...STUCK,
          [20, (puppet) => puppet.emit({ kind: 'late', who: 'r3', atMs: 900, byMs: 150 })],
        ],
      },
      'stalled',
      ['stalled: nothing moved for 5005 ms, allowed are 2000 ms'],
    ],
    [
      'one replica stays behind',
      {},
      { steps: [BEGIN, [5, (puppet) => puppet.hold(LAST, ['r1', 'r2'])]] },
      'stalled',
      ['stalled: r3 ended at 0; the origin ends at 26'],
    ],
    [
      'one replica stays behind while the origin was late',
      {},
      {
        steps: [
          BEGIN,
          [5, (puppet) => puppet.hold(LAST, ['r1', 'r2'])],
          [30, (puppet) => puppet.emit({ kind: 'late', who: 'origin', atMs: 1_900, byMs: 800 })],
        ],
      },
      'inconclusive',
      ['inconclusive: machine too busy: origin late by 0.8 s'],
    ],
    [
      'no leader while main was late',
      {},
      {
        leaderAtMs: null,
        starts: (tell) => {
          tell({ kind: 'late', who: 'main', atMs: 1_950, byMs: 900 });
        },
      },
      'inconclusive',
      ['inconclusive: machine too busy: main late by 0.9 s'],
    ],
    [
      'no replica is left',
      { beyondQuorum: true },
      {
        steps: [
          BEGIN,
          [
            5,
            (puppet) => {
              for (const slot of puppet.living()) puppet.end(slot);
            },
          ],
        ],
      },
      'inconclusive',
      ['inconclusive: no replica was left to be compared'],
    ],
    [
      'one replica is held back by a fault for longer than a stall may last',
      { faults: [{ partition: 'isolate:r3', at: '0ms', for: '20s' }] },
      {
        steps: [
          BEGIN,
          [50, (puppet) => puppet.hold(LAST, ['r1', 'r2'])],
          [21_000, (puppet) => puppet.hold(LAST)],
        ],
      },
      'held',
      [],
    ],
    [
      'late without a stall',
      {},
      {
        steps: [
          ...QUICK,
          [20, (puppet) => puppet.emit({ kind: 'late', who: 'r3', atMs: 0, byMs: 150 })],
        ],
      },
      'held',
      [],
    ],
    [
      'the time limit',
      { timeLimit: '50ms' },
      { steps: STUCK },
      'inconclusive',
      ['inconclusive: the time limit of 50 ms was hit'],
    ],
    [
      'the time limit before there is a leader',
      { timeLimit: '50ms' },
      { leaderAtMs: null },
      'inconclusive',
      ['inconclusive: the time limit of 50 ms was hit'],
    ],
    [
      'a replica lost a message',
      {},
      {
        steps: [
          BEGIN,
          [5, (puppet) => puppet.hold(LAST, ['r1', 'r3'])],
          [6, (puppet) => puppet.hold(LAST, ['r2'], [7])],
        ],
      },
      'violated',
      ['violated: lost at 7 on r2: the origin has a message here; it is a gap'],
    ],
    [
      'a property that the driver checks',
      {},
      {
        steps: [
          ...QUICK,
          [
            20,
            (puppet) => {
              const where = { property: 'log matching', slot: 'r1', seq: null } as const;
              puppet.emit({ kind: 'violation', ...where, text: 'at 7 differs', atMs: 0 });
            },
          ],
        ],
      },
      'violated',
      ['violated: log matching: at 7 differs'],
    ],
    [
      'commands that were applied out of place',
      {},
      {
        steps: [
          ...QUICK,
          [
            20,
            (puppet) => {
              const outcome = { stored: 0, skipped: 0, seen: 0, mismatched: 3, last: 10 };
              const at = { index: 4, term: 1, count: 3, hash: 0n };
              puppet.replica('r2', { kind: 'apply', ...at, ...outcome });
            },
          ],
        ],
      },
      'violated',
      ['violated: 3 committed commands did not follow the last sequence'],
    ],
    [
      'lockstep itself fails in the middle',
      {},
      {
        steps: [
          ...STUCK,
          [20, (puppet) => puppet.emit({ kind: 'harness', atMs: 0, reason: 'broken assumption' })],
        ],
      },
      'harness',
      ['harness: broken assumption'],
    ],
    [
      'lockstep fails and a message is lost',
      {},
      {
        steps: [
          BEGIN,
          [5, (puppet) => puppet.hold(10, ['r1', 'r2', 'r3'], [3])],
          [20, (puppet) => puppet.emit({ kind: 'harness', atMs: 0, reason: 'broken assumption' })],
        ],
      },
      'violated',
      [
        'harness: broken assumption',
        ...['r1', 'r2', 'r3'].map(
          (slot) => `violated: lost at 3 on ${slot}: the origin has a message here; it is a gap`,
        ),
      ],
    ],
    [
      'the cluster does not start',
      {},
      { fails: { start: new LockstepError('timeout', 'no answer from r1') } },
      'harness',
      ['harness: no answer from r1'],
    ],
    [
      'no time passes',
      {},
      { fails: { pause: new Error('the clock is broken') } },
      'harness',
      ['harness: the clock is broken'],
    ],
    [
      'the ledger does not answer',
      {},
      { steps: QUICK, fails: { report: new Error('no answer') } },
      'harness',
      ['harness: no answer'],
    ],
    [
      'the cluster does not close',
      {},
      { steps: QUICK, fails: { close: new Error('a worker is left') } },
      'harness',
      ['harness: a worker is left'],
    ],
    [
      'a fault cannot be asked for',
      { faults: [kill] },
      { steps: STUCK, fails: { inject: new Error('no answer from r1') } },
      'harness',
      ['harness: no answer from r1'],
    ],
    [
      'the mirror diverged',
      {},
      { steps: [...STUCK, condition('diverged')] },
      'stalled',
      [
        'stalled: the mirror is diverged, expected running: as it must; ' +
          'if it is meant: expect: { mirror: diverged }',
      ],
    ],
    [
      'the mirror diverged as expected',
      { expect: { mirror: 'diverged' } },
      { steps: [...STUCK, condition('diverged')] },
      'held',
      [],
    ],
    [
      'the mirror is blocked as expected',
      { expect: { mirror: 'blocked' } },
      { steps: [...STUCK, condition('blocked')] },
      'held',
      [],
    ],
    ['the mirror was blocked and led anew', {}, passing(condition('running', 20)), 'held', []],
    [
      'the mirror of the leader before was blocked',
      {},
      passing([20, (puppet) => puppet.replica('r2', LED)]),
      'held',
      [],
    ],
    [
      'the leader whose mirror was blocked is gone',
      {},
      passing([20, (puppet) => puppet.end('r1')]),
      'held',
      [],
    ],
    ['the state that is expected', { expect: { state: STATE } }, { steps: QUICK }, 'held', []],
    [
      'another state than is expected',
      { expect: { state: { ...STATE, messages: 22, deleted: 4 } } },
      { steps: [...QUICK, [20, (puppet) => puppet.end('r2')]] },
      'violated',
      ['r1', 'r3'].map(
        (slot) =>
          `violated: ${slot} holds 1 to 26, 21 messages, 5 deleted; ` +
          'expected 1 to 26, 22 messages, 4 deleted',
      ),
    ],
    [
      'less than is expected in a run that held',
      { expect: { mirror: 'blocked', state: STATE } },
      { steps: [...STUCK, condition('blocked')] },
      'violated',
      ['r1', 'r2', 'r3'].map(
        (slot) =>
          `violated: ${slot} holds 1 to 10, 10 messages, 0 deleted; ` +
          'expected 1 to 26, 21 messages, 5 deleted',
      ),
    ],
    [
      'less than is expected in a run that stalled',
      { expect: { state: STATE } },
      { steps: STUCK },
      'stalled',
      ['stalled: nothing moved for 5005 ms, allowed are 2000 ms'],
    ],
    [
      'less than is expected where no progress is owed',
      { beyondQuorum: true, expect: { state: STATE } },
      { steps: STUCK },
      'held',
      [],
    ],
    [
      'more than is expected in a run that stalled',
      { expect: { state: { first: 1, last: 9, messages: 9, deleted: 0 } } },
      { steps: STUCK },
      'violated',
      [
        'stalled: nothing moved for 5005 ms, allowed are 2000 ms',
        ...['r1', 'r2', 'r3'].map(
          (slot) =>
            `violated: ${slot} holds 1 to 10, 10 messages, 0 deleted; ` +
            'expected 1 to 9, 9 messages, 0 deleted',
        ),
      ],
    ],
    [
      'the mirror runs where it must diverge',
      { expect: { mirror: 'diverged' } },
      { steps: QUICK },
      'violated',
      ['violated: the mirror is running, expected diverged'],
    ],
    [
      'the mirror stands still where it must diverge',
      { expect: { mirror: 'diverged' } },
      { steps: STUCK },
      'violated',
      ['violated: the mirror is running, expected diverged'],
    ],
    [
      'the mirror stands still where it must diverge, while main was late',
      { expect: { mirror: 'diverged' } },
      {
        steps: [
          ...STUCK,
          [30, (puppet) => puppet.emit({ kind: 'late', who: 'main', atMs: 1_900, byMs: 800 })],
        ],
      },
      'inconclusive',
      ['inconclusive: machine too busy: main late by 0.8 s'],
    ],
    [
      'the mirror that must diverge has no leader',
      { expect: { mirror: 'diverged' } },
      { leaderAtMs: null },
      'stalled',
      ['stalled: no leader within 15000 ms of the start'],
    ],
    [
      'the mirror that must diverge runs as something of ours breaks',
      { expect: { mirror: 'diverged' } },
      {
        steps: [
          ...STUCK,
          [20, (puppet) => puppet.emit({ kind: 'harness', atMs: 0, reason: 'broken' })],
        ],
      },
      'harness',
      ['harness: broken'],
    ],
    [
      'late in the rest of a stall behind a silence of the origin',
      { faults: [{ stallOrigin: true, at: '0ms', for: '10s' }] },
      {
        steps: [
          ...STUCK,
          [13_000, (puppet) => puppet.emit({ kind: 'late', who: 'r2', atMs: 13_900, byMs: 900 })],
        ],
      },
      'inconclusive',
      ['inconclusive: machine too busy: r2 late by 0.9 s'],
    ],
    [
      'a flap that nobody is elected after',
      { faults: [{ flap: 'leader', at: '40ms' }], expect: { covered: ['flap'] } },
      { steps: QUICK },
      'uncovered',
      ['uncovered: flap (faults[0]) was indeterminate: nobody was elected after r1 was deposed'],
    ],
    [
      'a copy holds less than it had',
      {},
      {
        steps: [
          BEGIN,
          [5, (puppet) => puppet.hold(LAST, ['r1', 'r2'])],
          [5, (puppet) => puppet.hold(24, ['r3'])],
          [9, (puppet) => puppet.emit({ kind: 'progress', slot: 'r3', ...THERE, atMs: 1_009 })],
        ],
      },
      'violated',
      [
        'violated: state at 25 on r3: ends at 24; the mirror had to reach 26',
        'violated: lost at 25 on r3: was never stored',
        'violated: lost at 26 on r3: was never stored',
      ],
    ],
    [
      'the mirror runs where it must block',
      { expect: { mirror: 'blocked' } },
      { steps: QUICK },
      'stalled',
      ['stalled: the mirror is running, expected blocked'],
    ],
    [
      'a demanded fault is not there',
      { expect: { covered: ['kill'] } },
      { steps: QUICK },
      'uncovered',
      ['uncovered: kill is demanded, and no fault of the scenario is one on threads'],
    ],
    [
      'a demanded fault exists on another driver only',
      { faults: [{ ...kill, on: ['sim'] }], expect: { covered: ['kill'] } },
      { steps: QUICK },
      'uncovered',
      ['uncovered: kill is demanded, and no fault of the scenario is one on threads'],
    ],
    [
      'a demanded fault was skipped',
      { faults: [kill], expect: { covered: ['kill'] } },
      {
        steps: QUICK,
        inject: (puppet) => {
          puppet.fault('faults[0]', 'skipped', 'one is frozen already');
          return true;
        },
      },
      'uncovered',
      ['uncovered: kill (faults[0]) was skipped: one is frozen already'],
    ],
    [
      'whether a demanded fault struck is not known',
      { faults: [kill], expect: { covered: ['kill'] } },
      {
        steps: QUICK,
        inject: (puppet) => {
          puppet.fault('faults[0]', 'indeterminate', 'no answer');
          return true;
        },
      },
      'uncovered',
      ['uncovered: kill (faults[0]) was indeterminate: no answer'],
    ],
    [
      'one of two demanded ones struck',
      {
        faults: [{ ...kill, when: { term: 9 }, at: undefined }, kill],
        beyondQuorum: true,
        expect: { covered: ['kill'] },
      },
      { steps: QUICK },
      'held',
      [],
    ],
    [
      'the driver cannot inject it',
      { faults: [skips], expect: { covered: ['stepDown'] } },
      { steps: QUICK, cannot: ({ kind }) => (kind === 'stepDown' ? 'no raft here' : null) },
      'uncovered',
      ['uncovered: stepDown (sd) was skipped: no raft here'],
    ],
    [
      'the state did not come until the end',
      { faults: [skips], expect: { covered: ['stepDown'] } },
      { steps: QUICK, lastSeen: new Map([['sd', 8_412]]) },
      'uncovered',
      ['uncovered: stepDown (sd) was uncovered: waited for skipped >= 10; last seen 8,412'],
    ],
    [
      'the state did not come within its time',
      { faults: [{ ...skips, within: '20ms' }], expect: { covered: ['stepDown'] } },
      { steps: QUICK },
      'uncovered',
      ['uncovered: stepDown (sd) was uncovered: waited 0.02 s for skipped >= 10; last seen 0'],
    ],
    [
      'what it is relative to was not installed',
      { faults: [skips, { kill: 'r1', after: 'sd' }], expect: { covered: ['kill'] } },
      { steps: QUICK },
      'uncovered',
      ['uncovered: kill (faults[1]) was uncovered: sd was not installed'],
    ],
    [
      'the run was over before its time',
      { faults: [{ ...kill, at: '1s' }], expect: { covered: ['kill'] }, timeLimit: '50ms' },
      { steps: STUCK },
      'inconclusive',
      [
        'inconclusive: the time limit of 50 ms was hit',
        'uncovered: kill (faults[0]) was uncovered: the run was over before its time',
      ],
    ],
    [
      'stalled and uncovered',
      { expect: { covered: ['kill'] } },
      { steps: STUCK },
      'stalled',
      [
        'stalled: nothing moved for 5005 ms, allowed are 2000 ms',
        'uncovered: kill is demanded, and no fault of the scenario is one on threads',
      ],
    ],
  ];

  it.each(cases)('%s', async (_title, fields, script, verdict, reasons) => {
    const played = await playOn(planOf(fields), script);
    expect(verdictOf(played)).toEqual([verdict, EXIT[verdict], reasons]);
    if (played.puppet !== null) expect(played.puppet.calls.at(-1)).toMatch(/: close$/);
  });

  it('exit codes are those of the documentation', () => {
    expect(EXIT).toEqual({
      ...{ held: 0, violated: 1, inconclusive: 2, stalled: 3, uncovered: 4, harness: 70 },
    });
  });

  it('of what was not reached nothing is said to be lost', async () => {
    const { summary, differences } = await playOn(planOf(), { steps: STUCK });
    expect([summary.messages.ok, summary.messages.lost, differences]).toEqual([10, 0, []]);
  });

  it('nothing was compared: all is unknown', async () => {
    const played = await playOn(planOf(), {
      steps: QUICK,
      fails: { report: new Error('no answer') },
    });
    expect(played.comparedInMs).toBeNull();
    expect(played.summary).toMatchObject({
      ...{ replicas: [], messages: { ok: 0, lost: 0, unknown: 21 } },
      origin: { first: 0, last: 0, messages: 0, deleted: 0, sentinel: null, tailGap: null },
    });
  });
});

describe('play: signal', () => {
  it('ends the run, judges what there is, and is inconclusive', async () => {
    const abort = new AbortController();
    const steps: Step[] = [...STUCK, [20, () => abort.abort()]];
    const played = await playOn(planOf(), { steps }, { signal: abort.signal });
    const reason = 'inconclusive: ended by a signal before the run was over';
    expect(verdictOf(played)).toEqual(['inconclusive', 2, [reason]]);
    expect(played.summary).toMatchObject({ elapsedMs: 20, messages: { ok: 10, lost: 0 } });
    expect(played.puppet!.calls).toEqual(['20: halt', '20: close']);
  });

  it('ends the wait for a leader', async () => {
    const abort = new AbortController();
    const script = { leaderAtMs: null, starts: (): void => abort.abort() };
    const played = await playOn(planOf(), script, { signal: abort.signal });
    const reason = 'inconclusive: ended by a signal before the run was over';
    expect(verdictOf(played)).toEqual(['inconclusive', 2, [reason]]);
    expect(played.puppet!.calls).toEqual(['before: halt', 'before: close']);
  });

  it('before it began: nothing is started, nothing is claimed', async () => {
    const played = await playOn(planOf(), { steps: QUICK }, { signal: AbortSignal.abort() });
    const reason = 'inconclusive: ended by a signal before the run began';
    expect(verdictOf(played)).toEqual(['inconclusive', 2, [reason]]);
    expect([played.puppet, played.cutShort]).toEqual([null, true]);
    expect(played.summary).toMatchObject({ replicas: [], messages: { ok: 0, lost: 0 } });
  });

  it.each(['harness', 'usage'] as const)(
    'while it starts, which then fails (%s): inconclusive',
    async (code) => {
      const abort = new AbortController();
      const start = new LockstepError(code, 'no room');
      const script = { starts: (): void => abort.abort(), fails: { start } };
      const played = await playOn(planOf(), script, { signal: abort.signal });
      const reason = 'inconclusive: ended by a signal before the run began';
      expect(verdictOf(played)).toEqual(['inconclusive', 2, [reason]]);
    },
  );

  it.each([
    { mirror: 'diverged' },
    { mirror: 'blocked' },
    { state: { first: 1, last: 10, messages: 9, deleted: 1 } },
  ])('what had not happened by then is held against nobody: %j', async (fields) => {
    const abort = new AbortController();
    const steps: Step[] = [...STUCK, [20, () => abort.abort()]];
    const plan = planOf({ expect: fields });
    const played = await playOn(plan, { steps }, { signal: abort.signal });
    const reason = 'inconclusive: ended by a signal before the run was over';
    expect(verdictOf(played)).toEqual(['inconclusive', 2, [reason]]);
  });

  it('the rate is of what was mirrored, not of what would have been', async () => {
    const abort = new AbortController();
    const steps: Step[] = [...STUCK, [20, () => abort.abort()]];
    const { summary } = await playOn(planOf(), { steps }, { signal: abort.signal });
    expect(summary.rate).toEqual({ messagesPerSecond: 500, sequencesPerSecond: 500 });
  });

  it('the rate of a run that stalled is of what was mirrored, too', async () => {
    const { summary } = await playOn(planOf(), { steps: STUCK });
    expect([summary.verdict, summary.rate.messagesPerSecond]).toEqual(['stalled', 2]);
  });

  it('the rate is of the time until all was mirrored: what a fault waits is no part', async () => {
    const { summary } = await playOn(planOf({ faults: [{ stepDown: 'leader', at: '3s' }] }), {
      steps: QUICK,
    });
    const rate = { messagesPerSecond: 700, sequencesPerSecond: 867 };
    expect([summary.elapsedMs, summary.rate]).toEqual([3_005, rate]);
  });

  it('ends the wait for a target', async () => {
    const abort = new AbortController();
    const steps: Step[] = [...STUCK, [60, () => abort.abort()]];
    const script = { steps, inject: (): boolean => false };
    const plan = planOf({ faults: [{ kill: 'leader', at: '50ms' }] });
    const { puppet } = await playOn(plan, script, { signal: abort.signal });
    expect(puppet!.calls).toEqual([...['50: inject 0', '55: inject 0', '60: halt', '60: close']]);
  });
});

describe('play: faults by time', () => {
  const injections = (puppet: Puppet | null): string[] => {
    return puppet!.calls.filter((call) => call.includes('inject'));
  };

  it('count from the first delivery, not from the opening; after from the other one', async () => {
    const steps: Step[] = [
      [100, (puppet) => puppet.firstDelivery()],
      [110, (puppet) => puppet.hold(LAST)],
    ];
    const faults = [
      { id: 'k', freeze: 'r1', at: '50ms' },
      { stepDown: 'leader', after: 'k', delay: '30ms' },
      { dropConsumer: true, at: '0ms' },
    ];
    const { puppet, summary } = await playOn(planOf({ faults }), { steps });
    expect(injections(puppet)).toEqual(['100: inject 2', '150: inject 0', '180: inject 1']);
    expect(summary.faults).toEqual([
      {
        ...{ kind: 'freeze', target: 'r1', status: 'installed', atMs: 50 },
        ...{ newLeaderMs: null, firstMessageMs: null, caughtUpMs: null },
      },
      {
        ...{ kind: 'stepDown', target: 'r1', status: 'installed', atMs: 80 },
        ...{ newLeaderMs: null, firstMessageMs: null, caughtUpMs: null },
      },
      {
        ...{ kind: 'dropConsumer', target: 'r1', status: 'installed', atMs: 0 },
        ...{ newLeaderMs: null, firstMessageMs: 10, caughtUpMs: 10 },
      },
    ]);
  });

  it('a target that does not exist is tried again until it does', async () => {
    const inject = (puppet: Puppet): boolean => {
      if (puppet.calls.length < 4) return false;
      puppet.fault('faults[0]', 'installed');
      return true;
    };
    const faults = [{ kill: 'leader', at: '20ms' }];
    const { puppet, summary } = await playOn(planOf({ faults }), { steps: QUICK, inject });
    expect(injections(puppet)).toHaveLength(4);
    expect(summary.faults).toMatchObject([{ status: 'installed', target: 'r1' }]);
  });

  it('a target is not waited for long when nothing is left to be mirrored', async () => {
    const faults = [{ kill: 'follower', at: '20ms' }];
    const script = { steps: QUICK, inject: (): boolean => false };
    const { summary } = await playOn(planOf({ faults, timeLimit: '1m' }), script);
    expect(summary.elapsedMs).toBeGreaterThan(500);
    expect(summary.elapsedMs).toBeLessThan(600);
    expect(summary.faults).toEqual([
      {
        ...{ kind: 'kill', target: 'follower', status: 'uncovered', atMs: null },
        reason: 'its target did not exist when its time came',
        ...{ newLeaderMs: null, firstMessageMs: null, caughtUpMs: null },
      },
    ]);
  });

  it('the time limit ends the wait for a target', async () => {
    const faults = [{ kill: 'follower', at: '20ms' }];
    const script = { steps: QUICK, inject: (): boolean => false };
    const { summary } = await playOn(planOf({ faults, timeLimit: '100ms' }), script);
    expect([summary.verdict, summary.elapsedMs]).toEqual(['inconclusive', 100]);
  });

  it('what belongs to an absent fault is absent too', async () => {
    const faults = [
      { id: 'a', freeze: 'r1', at: '5ms', on: ['nats'] },
      { id: 'b', stepDown: 'leader', after: 'a' },
      { id: 'c', kill: 'leader', after: 'b' },
      { id: 'd', dropConsumer: true, at: '5ms' },
    ];
    const { puppet, summary } = await playOn(planOf({ faults }), { steps: QUICK });
    expect(puppet!.plan.faults.map(({ id }) => id)).toEqual(['d']);
    expect(summary.faults.map(({ kind }) => kind)).toEqual(['dropConsumer']);
  });
});

describe('play: faults by state', () => {
  const faults = [
    { id: 'sd', stepDown: 'leader', when: { skipped: 10 }, within: '20ms' },
    { id: 'k', kill: 'leader', when: { term: 9 }, within: '1m' },
  ];

  it('are disarmed when their time is over, and not before', async () => {
    const { puppet, summary } = await playOn(planOf({ faults }), {
      steps: QUICK,
      lastSeen: new Map([['sd', 4]]),
    });
    expect(puppet!.calls).toEqual(['25: disarm 0', '30: halt', '30: close']);
    expect(summary.faults.map(({ reason }) => reason)).toEqual([
      'waited 0.02 s for skipped >= 10; last seen 4',
      'waited for term >= 9; last seen 0',
    ]);
  });

  it('one that fired while it was given up counts as what it became', async () => {
    const steps: Step[] = [...QUICK, [27, (puppet) => puppet.fault('sd', 'installed')]];
    const { summary } = await playOn(planOf({ faults }), { steps, fired: [0] });
    expect(summary.faults[0]).toMatchObject({ status: 'installed', atMs: 27 });
  });

  it('one that was claimed before it was given up is still waited for', async () => {
    const { summary } = await playOn(planOf({ faults }), { steps: QUICK, fired: [0] });
    expect(summary.faults[0]).toMatchObject({
      ...{ status: 'uncovered', reason: 'waited for skipped >= 10; last seen 0' },
    });
  });

  it('what the driver cannot inject is disarmed before anything starts', async () => {
    const cannot = ({ kind }: { kind: string }): string | null => (kind === 'kill' ? 'no' : null);
    const { puppet, summary } = await playOn(planOf({ faults }), { steps: QUICK, cannot });
    expect(puppet!.calls[0]).toBe('before: disarm 1');
    expect(summary.faults[1]).toMatchObject({ status: 'skipped', reason: 'no' });
  });
});
