import { expect, test } from 'vitest';
import { renderRun, type RunExtras } from '../../src/report/terminal.js';
import { duration, grouped, printable } from '../../src/report/text.js';
import type { RunTimeline } from '../../src/verdict/timeline.js';
import type { RunSummary } from '../../src/verdict/types.js';

const state = { first: 1, last: 125_001, messages: 100_001, deleted: 25_000 };

const summary: RunSummary = {
  schema: 1,
  verdict: 'held',
  driver: 'threads',
  seed: 1,
  elapsedMs: 2_812,
  origin: { ...state, sentinel: 125_001, tailGap: null },
  replicas: ['r1', 'r2', 'r3'].map((id) => ({ id, ...state, digest: '0123456789abcdef' })),
  messages: {
    ok: 100_001,
    lost: 0,
    duplicated: 0,
    reordered: 0,
    corrupt: 0,
    phantom: 0,
    unknown: 0,
  },
  skip: { encoding: 'entries', sequences: 25_000, batches: 3, largestBatch: 10_000, refused: 1 },
  leadership: { elections: 2, lastTerm: 2 },
  mirror: { openings: 2, rollbacks: 1, retries: 1 },
  faults: [
    {
      kind: 'stepDown',
      target: 'r1',
      status: 'installed',
      atMs: 210,
      newLeaderMs: 4,
      firstMessageMs: 9,
      caughtUpMs: 80,
    },
    {
      kind: 'kill',
      target: 'leader',
      status: 'uncovered',
      reason: 'waited 30 s for skipped >= 90000; last seen 25,000',
      atMs: null,
      newLeaderMs: null,
      firstMessageMs: null,
      caughtUpMs: null,
    },
  ],
  stallMs: 12.34,
  reasons: [],
  rate: { messagesPerSecond: 1_200_000.4, sequencesPerSecond: 1_500_000 },
  replay: 'lockstep replay run.json',
};

const timeline: RunTimeline = {
  leaders: [
    { slot: 'r1', term: 1, fromMs: 0, toMs: 210 },
    { slot: 'r2', term: 2, fromMs: 214, toMs: null },
  ],
  moments: [
    { atMs: 210, who: 'r1', text: 'refused skips 50001 to 60000: transferring' },
    { atMs: 1_250, who: 'r2', text: 'retry 1 in 5 ticks: silence' },
  ],
  omitted: 0,
};

const extras: RunExtras = {
  name: 'step-down in the middle of a skip',
  reasons: [],
  differences: [],
  stallFromMs: 210,
  stallAtMostMs: 2_000,
  comparedInMs: 61,
  color: false,
};

test('report: terminal: what a driver does not see -> it says so, and no zero', () => {
  const none = { sequences: null, batches: null, largestBatch: null, refused: null };
  const blind: RunSummary = {
    ...{ ...summary, driver: 'nats', skip: { encoding: 'entries', ...none } },
    mirror: { openings: 2, rollbacks: null, retries: null },
  };
  const lines = renderRun(blind, timeline, extras).split('\n');
  expect(lines.filter((line) => /^(skipped|mirror) /.test(line))).toEqual([
    'skipped    not seen on nats',
    'mirror     openings 2, rollbacks and retries not seen on nats',
  ]);
});

test('report: terminal: virtual time, one batch -> no time of comparing, and no plural', () => {
  const skip = {
    encoding: 'range',
    sequences: 9,
    batches: 1,
    largestBatch: 1,
    refused: 0,
  } as const;
  const virtual: RunSummary = { ...summary, driver: 'sim', skip };
  const lines = renderRun(virtual, timeline, extras).split('\n');
  expect(lines.filter((line) => /^(messages|skipped) /.test(line))).toEqual([
    'messages   100,001 ok, compared',
    'skipped    9 sequences in 1 batch, largest 1, 0 refused',
  ]);
});

test('report: terminal: a run that held -> everything, in this order', () => {
  expect(renderRun(summary, timeline, extras).split('\n')).toEqual([
    'step-down in the middle of a skip',
    'on threads, seed 1, 3 replicas judged, skip entries, 2.8 s',
    '',
    'leaders',
    '  r1  term 1  from 0 ms    to 210 ms',
    '  r2  term 2  from 214 ms  to the end',
    '',
    'moments',
    '  210 ms  r1  refused skips 50001 to 60000: transferring',
    '   1.3 s  r2  retry 1 in 5 ticks: silence',
    '',
    'faults',
    '                                   at  new leader  first message  caught up',
    '  stepDown  r1      installed  210 ms        4 ms           9 ms      80 ms',
    '  kill      leader  uncovered       -           -              -          -  ' +
      'waited 30 s for skipped >= 90000; last seen 25,000',
    '',
    'state',
    '          first     last  messages  deleted  digest',
    '  origin      1  125,001   100,001   25,000',
    '  r1          1  125,001   100,001   25,000  0123456789abcdef',
    '  r2          1  125,001   100,001   25,000  0123456789abcdef',
    '  r3          1  125,001   100,001   25,000  0123456789abcdef',
    '',
    'messages   100,001 ok, compared in 61 ms',
    'skipped    25,000 sequences in 3 batches, largest 10,000, 1 refused',
    'elections  2, last term 2',
    'mirror     openings 2, rollbacks 1, retries 1',
    'stall      12.3 ms, from 210 ms on; at most 2 s allowed',
    'rate       1,200,000 messages/s, 1,500,000 sequences/s',
    '',
    'held: nothing lost, no stall; 1 of 2 faults did not happen',
    'replay: lockstep replay run.json',
    '',
  ]);
});

test('report: terminal: a violation in few words -> differences and reasons, escaped', () => {
  const [first] = summary.replicas;
  const shown = renderRun(
    {
      ...summary,
      verdict: 'violated',
      origin: { ...summary.origin, tailGap: { first: 7, last: 9 } },
      replicas: [first!],
      messages: { ...summary.messages, ok: 5, lost: 1_234, unknown: 2 },
      faults: [],
      stallMs: 0,
    },
    { leaders: [], moments: [], omitted: 0 },
    {
      ...extras,
      name: 'tabs\tand \x1b[31mred',
      stallFromMs: null,
      comparedInMs: null,
      differences: [
        { kind: 'lost', replica: 'r1', seq: 1_700, text: 'orders.\u0007 is gone' },
        { kind: 'corrupt', replica: 'r1', seq: 9, text: 'differs in payload' },
      ],
      reasons: [
        { verdict: 'violated', text: '1,234 messages lost' },
        { verdict: 'stalled', text: 'blocked at 7' },
      ],
    },
  );
  expect(shown.split('\n')).toEqual([
    'tabs\\x09and \\x1b[31mred',
    'on threads, seed 1, 1 replica judged, skip entries, 2.8 s',
    '',
    'state',
    '          first     last  messages  deleted  digest',
    '  origin      1  125,001   100,001   25,000',
    '  r1          1  125,001   100,001   25,000  0123456789abcdef',
    '',
    'messages   5 ok, 1,234 lost, 2 unknown, not compared',
    'skipped    25,000 sequences in 3 batches, largest 10,000, 1 refused',
    'elections  2, last term 2',
    'mirror     openings 2, rollbacks 1, retries 1',
    'stall      0 ms; at most 2 s allowed',
    'rate       1,200,000 messages/s, 1,500,000 sequences/s',
    'tail gap   7 to 9 cannot be reached',
    '',
    'differences',
    '  r1  lost     at 1,700  orders.\\x07 is gone',
    '  r1  corrupt  at 9      differs in payload',
    '',
    'violated: safety was broken',
    '  violated: 1,234 messages lost',
    '  stalled: blocked at 7',
    'replay: lockstep replay run.json',
    '',
  ]);
});

test('report: terminal: more moments than fit -> the first twelve, the rest counted', () => {
  const moments = Array.from({ length: 15 }, (_, at) => ({ atMs: at, who: 'r1', text: `m${at}` }));
  const shown = renderRun(summary, { leaders: [], moments, omitted: 4 }, extras).split('\n');
  const from = shown.indexOf('moments');
  expect(shown.slice(from + 1, shown.indexOf('faults') - 1)).toEqual([
    ...moments.slice(0, 12).map(({ atMs, text }) => `  ${`${atMs} ms`.padStart(5)}  r1  ${text}`),
    '  and 7 more',
  ]);
});

test.each([
  ['held', '\x1b[1;32mheld\x1b[0m: nothing lost, no stall; 1 of 2 faults did not happen'],
  ['violated', '\x1b[1;31mviolated\x1b[0m: safety was broken'],
  ['inconclusive', '\x1b[1;33minconclusive\x1b[0m: the run does not tell'],
] as const)(
  'report: terminal: colour asked for, %s -> only the verdict has it',
  (verdict, line) => {
    const plain = renderRun({ ...summary, verdict }, timeline, extras).split('\n');
    const colored = renderRun({ ...summary, verdict }, timeline, { ...extras, color: true });
    expect(colored.split('\n')).toEqual([...plain.slice(0, -3), line, ...plain.slice(-2)]);
  },
);

test('report: terminal: one reason -> told on the line of the verdict', () => {
  const reasons = [
    { verdict: 'inconclusive', text: 'machine too busy: r2 late by 1.3 s' },
  ] as const;
  const shown = renderRun({ ...summary, verdict: 'inconclusive' }, timeline, {
    ...extras,
    reasons,
  });
  expect(shown.split('\n').slice(-3)).toEqual([
    'inconclusive: machine too busy: r2 late by 1.3 s',
    'replay: lockstep replay run.json',
    '',
  ]);
});

test.each([
  [0, '0 ms'],
  [-250.04, '-250 ms'],
  [-40_396, '-40.4 s'],
  [0.04, '0 ms'],
  [999.94, '999.9 ms'],
  [1_000, '1 s'],
  [59_940, '59.9 s'],
  [59_960, '1 min 0 s'],
  [125_000, '2 min 5 s'],
])('report: text: duration %d -> %s', (ms, text) => {
  expect(duration(ms)).toBe(text);
});

test('report: text: grouped and printable', () => {
  expect([0, 999, 1_000, 1_234_567].map(grouped)).toEqual(['0', '999', '1,000', '1,234,567']);
  expect(printable('é \u202eok\u2028')).toBe('é \\u{202e}ok\\u{2028}');
});
