import { expect, test } from 'vitest';
import type { ReplicaEvent } from '../../src/replica/types.js';
import { Timeline } from '../../src/verdict/timeline.js';

function role(state: 'leader' | 'follower', term: number): ReplicaEvent {
  const cause = state === 'leader' ? 'won' : 'stepDown';
  return { kind: 'role', role: state, term, leader: null, cause };
}

const cursor = { seq: 5, deliverySeq: 5 };

test('timeline: leaders -> one span for each leadership, also of one slot twice', () => {
  const timeline = new Timeline();
  timeline.add('r1', 100, role('leader', 1));
  timeline.add('r1', 110, role('follower', 1));
  timeline.add('r1', 130, role('leader', 3));
  timeline.add('r2', 120, role('leader', 2));
  timeline.add('r2', 130, role('follower', 3));
  timeline.exit('r1', 150, 'kill');
  timeline.add('r3', 160, role('leader', 4));
  expect(timeline.report(100)).toEqual({
    leaders: [
      { slot: 'r1', term: 1, fromMs: 0, toMs: 10 },
      { slot: 'r2', term: 2, fromMs: 20, toMs: 30 },
      { slot: 'r1', term: 3, fromMs: 30, toMs: 50 },
      { slot: 'r3', term: 4, fromMs: 60, toMs: null },
    ],
    moments: [{ atMs: 50, who: 'r1', text: 'ended: kill' }],
    omitted: 0,
  });
});

test('timeline: moments -> in words, by time; what went well is none', () => {
  const timeline = new Timeline();
  const span = { what: 'skips', term: 1, first: 6, last: 9, count: 4 } as const;
  const refused = { code: 'overrun', message: 'full' } as const;
  timeline.add('r2', 30, { kind: 'condition', condition: 'blocked', reason: 'at 7' });
  timeline.add('r2', 31, { kind: 'condition', condition: 'running', reason: '' });
  timeline.add('r1', 10, { kind: 'propose', ...span, refused });
  timeline.add('r1', 11, { kind: 'propose', ...span, refused: null });
  timeline.add('r1', 12, {
    kind: 'rollback',
    cause: 'skipRefused',
    from: { seq: 9, deliverySeq: 6 },
    to: cursor,
    lag: 4,
  });
  timeline.add('r1', 13, { kind: 'retry', cause: 'skipRefused', attempt: 1, inTicks: 10 });
  timeline.add('r1', 14, { kind: 'retry', cause: 'notLeading', attempt: 1, inTicks: null });
  timeline.add('r1', 15, { kind: 'retry', cause: 'leading', attempt: 0, inTicks: 1 });
  timeline.add('r1', 16, { kind: 'transfer', state: 'abandoned', to: 'r2.1' });
  timeline.add('r1', 17, { kind: 'commit', index: 1, term: 1 });
  expect(timeline.report(0)).toEqual({
    leaders: [],
    moments: [
      { atMs: 10, who: 'r1', text: 'refused skips 6 to 9: overrun' },
      { atMs: 12, who: 'r1', text: 'rolled back from 9 to 5: skipRefused' },
      { atMs: 13, who: 'r1', text: 'retry 1 in 10 ticks: skipRefused' },
      { atMs: 16, who: 'r1', text: 'transfer to r2.1 abandoned' },
      { atMs: 30, who: 'r2', text: 'blocked: at 7' },
    ],
    omitted: 0,
  });
});

test('timeline: more than 200 moments -> the others are counted', () => {
  const timeline = new Timeline();
  for (let at = 0; at < 203; at++) timeline.note(at, 'main', `m${at}`);
  const { moments, omitted } = timeline.report(0);
  expect([moments.length, moments.at(-1)?.text, omitted]).toEqual([200, 'm199', 3]);
});
