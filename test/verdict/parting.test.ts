/** Where runs of one scenario part, and what all of them come to. */
import { describe, expect, it } from 'vitest';
import { partings, verdictOfAll } from '../../src/verdict/parting.js';
import type { RunSummary } from '../../src/verdict/types.js';
import { renderPartings } from '../../src/report/parting.js';

const STATE = { first: 1, last: 21, messages: 11, deleted: 10 };

function summaryOf(change: Partial<RunSummary>): RunSummary {
  const counts = { ok: 11, lost: 0, duplicated: 0, reordered: 0, corrupt: 0, phantom: 0 };
  return {
    ...{ schema: 1, verdict: 'held', driver: 'sim', seed: 7, elapsedMs: 20, stallMs: 4 },
    origin: { ...STATE, sentinel: 21, tailGap: null },
    replicas: [{ id: 'r1', ...STATE, digest: '00' }],
    messages: { ...counts, unknown: 0 },
    skip: { encoding: 'entries', sequences: 10, batches: 1, largestBatch: 10, refused: 0 },
    leadership: { elections: 1, lastTerm: 1 },
    mirror: { openings: 1, rollbacks: 0, retries: 0 },
    faults: [],
    reasons: [],
    rate: { messagesPerSecond: 1, sequencesPerSecond: 1 },
    replay: 'lockstep run',
    ...change,
  };
}

function fault(status: 'installed' | 'skipped'): RunSummary['faults'][number] {
  const times = { atMs: 1, newLeaderMs: null, firstMessageMs: null, caughtUpMs: null };
  return { kind: 'kill', target: 'r1', status, ...times };
}

describe('partings', () => {
  it('the same findings, whoever led and however long it took: none', () => {
    const other = { id: 'r2', ...STATE, digest: '11' };
    const runs = [
      summaryOf({}),
      summaryOf({ driver: 'nats', elapsedMs: 9_000, stallMs: 800, replicas: [other] }),
    ];
    expect(partings(runs)).toEqual([]);
    expect(verdictOfAll(runs)).toBe('held');
  });

  it('each finding that differs, in the order of what matters', () => {
    const reasons = [
      { verdict: 'uncovered', text: 'kill did not strike' },
      { verdict: 'stalled', text: 'nothing moved' },
    ] as const;
    const copy = { id: 'r1', ...STATE, last: 20, messages: 10, digest: '00' };
    const sim = summaryOf({ faults: [fault('installed'), fault('installed')] });
    const nats = summaryOf({
      ...{ driver: 'nats', verdict: 'stalled', reasons, faults: [fault('skipped')] },
      origin: { ...STATE, last: 22, sentinel: 22, tailGap: null },
      replicas: [copy, { ...copy, id: 'r2' }],
      messages: { ...sim.messages, ok: 10, lost: 1 },
    });
    expect(partings([sim, nats])).toEqual([
      { what: 'verdict', found: ['held', 'stalled: nothing moved'] },
      {
        what: 'origin',
        found: ['1 to 21, 11 messages, 10 deleted', '1 to 22, 11 messages, 10 deleted'],
      },
      {
        what: 'copies',
        found: ['1 to 21, 11 messages, 10 deleted', '1 to 20, 10 messages, 10 deleted'],
      },
      { what: 'messages', found: ['11 ok', '10 ok, 1 lost'] },
      { what: 'faults', found: ['kill installed x2', 'kill skipped'] },
    ]);
  });

  it('of all runs the gravest verdict', () => {
    const of = (...verdicts: RunSummary['verdict'][]): RunSummary['verdict'] =>
      verdictOfAll(verdicts.map((verdict) => summaryOf({ verdict })));
    expect(of('held', 'uncovered', 'inconclusive')).toBe('inconclusive');
    expect(of('stalled', 'harness', 'held')).toBe('harness');
    expect(of('harness', 'violated')).toBe('violated');
  });
});

describe('side by side', () => {
  it('a row for each driver, what they part in, how each is played again', () => {
    const reasons = [{ verdict: 'violated', text: 'lost at 5' }] as const;
    const runs = [
      summaryOf({}),
      summaryOf({ driver: 'nats', verdict: 'violated', reasons, replicas: [] }),
    ];
    const found = partings(runs);
    const compared = ['sim', 'nats'] as const;
    expect(renderPartings('a\u001b gap', runs, { found, compared, notPlayed: [] })).toBe(
      [
        'a\\x1b gap',
        'on sim, nats, seed 7',
        '',
        '      verdict   last  messages  elections  stall   took  faults',
        'sim   held        21        11          1   4 ms  20 ms  0 of 0',
        'nats  violated     -         -          1   4 ms  20 ms  0 of 0',
        '',
        'they part in: verdict',
        '  sim   held',
        '  nats  violated: lost at 5',
        '',
        'they part in: copies',
        '  sim   1 to 21, 11 messages, 10 deleted',
        '  nats  none',
        '',
        'replay on sim: lockstep run',
        'replay on nats: lockstep run',
        '',
      ].join('\n'),
    );
  });
  it('a run that was cut short is not compared, one whose turn never came says so', () => {
    const runs = [summaryOf({}), summaryOf({ driver: 'threads', verdict: 'inconclusive' })];
    const unfinished = { found: [], compared: ['sim'], notPlayed: ['nats'] } as const;
    expect(renderPartings('a gap', runs, unfinished)).toBe(
      [
        'a gap',
        'on sim, threads, seed 7',
        '',
        '         verdict       last  messages  elections  stall   took  faults',
        'sim      held            21        11          1   4 ms  20 ms  0 of 0',
        'threads  inconclusive    21        11          1   4 ms  20 ms  0 of 0',
        'nats     not played       -         -          -      -      -  -',
        '',
        'cut short, so not compared: threads',
        '',
        'replay on sim: lockstep run',
        'replay on threads: lockstep run',
        '',
      ].join('\n'),
    );
  });
});
