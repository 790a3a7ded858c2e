/** What origin and conductor are made to say or to hear that is wrong or late. */
import { describe, expect, it } from 'vitest';
import type { MemberView } from '../../src/election/conductor.js';
import { answerFault } from '../../src/mirror/answer.js';
import type { OriginFrame } from '../../src/mirror/types.js';
import { ConductorFaults, type Falsehood } from '../../src/sim/conductor-faults.js';
import { FrameFaults, type AnswerFault, type DeliveryFault } from '../../src/sim/frame-faults.js';

const opening = { member: 'r1.1', term: 1, generation: 1 };
const identity = { name: 'ORDERS', created: 1n };
const ANSWER = {
  ...({ type: 'opened', opening, identity } as const),
  ...{ startsAfter: 5, last: 9, pending: 4 },
};
const BYTES = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8);
const DELIVERY = {
  ...({ type: 'deliver', opening, bytes: BYTES } as const),
  ...{ deliverySeq: 3, count: 1, pending: 0 },
};

describe('sim: frame faults', () => {
  it.each<[AnswerFault, string]>([
    ['noIdentity', 'the answer names no stream'],
    ['noStart', 'the answer has no sequence to start after'],
    ['noLast', 'the answer has no last sequence'],
    ['noPending', 'the answer has no number of pending messages'],
    ['beforeAsked', 'the origin starts after 0, asked for 6'],
    ['beyondLast', 'the origin starts after 10, its last is 9'],
    ['tooLarge', 'the answer has no sequence to start after'],
  ])('an answer with %s is malformed to a mirror, so many times', (how, text) => {
    const frames = new FrameFaults();
    const context = { startSeq: 6, storeLast: 5, identity };
    frames.spoilAnswers(how, 2);
    for (let nth = 0; nth < 2; nth++) {
      const { frame, lateByUs } = frames.leaving(ANSWER);
      expect(lateByUs).toBe(0);
      expect(answerFault(frame as typeof ANSWER, context)).toEqual({ kind: 'malformed', text });
    }
    expect(frames.leaving(ANSWER)).toEqual({ frame: ANSWER, lateByUs: 0 });
  });

  it('an answer to who asks for the first sequence cannot start before it: the next one does', () => {
    const frames = new FrameFaults();
    const first = { ...ANSWER, startsAfter: 0 };
    frames.spoilAnswers('beforeAsked', 1);
    const left = [first, ANSWER, ANSWER].map((answer) => frames.leaving(answer).frame);
    expect(left).toEqual([first, first, ANSWER]);
  });

  it.each<[DeliveryFault, object]>([
    ['cut', { bytes: BYTES.subarray(0, 7) }],
    ['count', { count: 2 }],
    ['noNumber', { deliverySeq: undefined }],
    ['noPending', { pending: undefined }],
  ])('a delivery with %s', (how, change) => {
    const frames = new FrameFaults();
    frames.spoilDeliveries(how, 1);
    expect(frames.leaving(ANSWER).frame).toEqual(ANSWER);
    expect(frames.leaving(DELIVERY).frame).toEqual({ ...DELIVERY, ...change });
    expect(frames.leaving(DELIVERY).frame).toEqual(DELIVERY);
  });

  it('late: answers and refusals, not what follows them; cleared, nothing is armed', () => {
    const frames = new FrameFaults();
    const refused: OriginFrame = {
      ...{ type: 'refused', opening },
      error: { code: 'overrun', message: 'no room' },
    };
    frames.delayAnswers(700, 2);
    const left = [ANSWER, DELIVERY, refused, ANSWER].map((frame) => frames.leaving(frame).lateByUs);
    expect(left).toEqual([700, 0, 700, 0]);
    frames.delayAnswers(700, 1);
    frames.spoilAnswers('noLast', 1);
    frames.spoilDeliveries('cut', 1);
    frames.clear();
    expect(frames.leaving(ANSWER)).toEqual({ frame: ANSWER, lateByUs: 0 });
    expect(frames.leaving(DELIVERY)).toEqual({ frame: DELIVERY, lateByUs: 0 });
  });
});

describe('sim: conductor faults', () => {
  const VIEW: MemberView = {
    ...({ member: 'r1.1', role: 'follower', term: 4, leader: 'r3.1' } as const),
    ...{ lastIndex: 20, lastTerm: 3, hears: ['r1.1', 'r3.1'] },
  };

  it.each<[Falsehood, Partial<MemberView>]>([
    ['leader', { role: 'follower', leader: 'r2.1' }],
    ['leads', { role: 'leader', leader: 'r1.1' }],
    ['termAhead', { term: 7 }],
    ['termBehind', { term: 3 }],
    ['hearsAll', { hears: ['r1.1', 'r2.1', 'r3.1'] }],
    ['hearsNone', { hears: ['r1.1'] }],
    ['log', { lastIndex: 1_020, lastTerm: 6 }],
    ['stale', {}],
  ])('%s, of that member alone and until its time', (how, change) => {
    const faults = new ConductorFaults(['r1.1', 'r2.1', 'r3.1']);
    faults.falsify('r1.1', how, 100);
    expect(faults.told(VIEW, 99)).toEqual({ ...VIEW, ...change });
    const other = { ...VIEW, member: 'r2.1' };
    expect(faults.told(other, 99)).toBe(other);
    expect(faults.told(VIEW, 100)).toBe(VIEW);
    faults.falsify('r1.1', how, 200);
    faults.clear();
    expect(faults.told(VIEW, 150)).toBe(VIEW);
  });

  it('stale: ever again what it said first', () => {
    const faults = new ConductorFaults(['r1.1']);
    faults.falsify('r1.1', 'stale', 100);
    expect(faults.told(VIEW, 1)).toBe(VIEW);
    expect(faults.told({ ...VIEW, term: 9 }, 2)).toBe(VIEW);
  });
});
