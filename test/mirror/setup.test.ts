import { describe, expect, it } from 'vitest';
import { Arena, at, BACKOFF, closed, CREATE_WAIT, delivery, GATE, JITTER } from './stage.js';
import { opened, openedAt, openingOf, ORDERS, plainContent, proposed, range } from './stage.js';
import { receiving, requested, retry, SILENCE, Stage } from './stage.js';
import type { MirrorCause, OriginFrame } from '../../src/mirror/types.js';

const OPENING = openingOf(1);
const CLOSE = { type: 'close', opening: OPENING };
const REOPEN = GATE + JITTER;

/** A leader that has asked and not heard yet; its store ends at `last`. */
function asking(last: number, identity: Stage['store']['identity'] = ORDERS): Stage {
  const stage = new Stage();
  stage.store.identity = identity;
  for (const seq of range(1, last)) stage.store.messages.set(seq, plainContent(seq));
  stage.store.last = last;
  stage.lead();
  stage.tick(JITTER);
  stage.drain();
  return stage;
}

/** What is said when a set-up fails for the first time. */
function failed(seq: number, cause: MirrorCause) {
  return {
    originCommands: [CLOSE],
    events: [closed(OPENING, seq + 1, cause), retry(cause, REOPEN + BACKOFF, 1)],
  };
}

describe('mirror: answer: accepted', () => {
  it('identity known, starts where asked -> nothing proposed', () => {
    const stage = asking(5);
    stage.mirror.frame(opened(OPENING, { startsAfter: 5, last: 9, pending: 4 }));
    stage.advanceAll();
    expect(stage.drain()).toEqual({ originCommands: [], events: [openedAt(OPENING, 6)] });
    expect(stage.mirror.status()).toEqual({
      condition: 'running',
      lag: 4,
      error: null,
      attempts: 0,
      opening: OPENING,
      cursor: at(5, 0),
      silentTicks: 0,
    });
  });

  it('identity unknown -> logged first, a batch a step, then the messages', () => {
    const stage = asking(0, null);
    stage.mirror.frame(opened(OPENING, { startsAfter: 0, last: 2, pending: 2 }));
    stage.mirror.frame(delivery(OPENING, 1, [1, 2]));
    stage.advanceAll();
    expect(stage.drain()).toEqual({
      originCommands: [{ type: 'credit', opening: OPENING, deliverySeq: 2 }],
      events: [openedAt(OPENING, 1), proposed('identity', 0, 0), proposed('messages', 1, 2)],
    });
    stage.apply();
    expect(stage.store.identity).toEqual(ORDERS);
  });

  it('identity and reset -> one batch in each step', () => {
    const stage = asking(0, null);
    stage.mirror.frame(opened(OPENING, { startsAfter: 99, last: 100, pending: 1 }));
    const sizes = range(1, 4).map(() => [stage.mirror.advance(), stage.cluster.log.length]);
    expect(sizes).toEqual([
      [true, 0],
      [true, 1],
      [true, 2],
      [true, 2],
    ]);
    expect(stage.mirror.advance()).toBe(false);
  });

  it.each(['entries', 'range', 'direct'] as const)('%s: empty mirror -> one reset', (skip) => {
    const stage = new Stage({ skip });
    stage.store.identity = ORDERS;
    stage.lead();
    stage.tick(JITTER);
    stage.drain();
    const startsAfter = 999_999_999;
    stage.mirror.frame(opened(OPENING, { startsAfter, last: 1_000_000_999, pending: 1_000 }));
    stage.advanceAll();
    expect(stage.drain().events).toEqual([
      openedAt(OPENING, 1_000_000_000),
      proposed('reset', 1, 999_999_999),
    ]);
    expect(stage.mirror.status().cursor).toEqual(at(999_999_999, 0));
    expect(stage.mirror.skipsAccepted).toBe(0);
  });

  it('messages accepted and not applied -> skips, no reset that would be out of place', () => {
    const stage = receiving(0);
    stage.mirror.frame(delivery(OPENING, 1, [1, 2]));
    stage.mirror.frame({ type: 'heartbeat', opening: OPENING, lastDeliverySeq: 3 });
    stage.advanceAll();
    stage.tick(REOPEN);
    stage.drain();
    const second = openingOf(2);
    stage.mirror.frame(opened(second, { startsAfter: 4, last: 5, pending: 1 }));
    stage.advanceAll();
    expect(stage.drain().events).toEqual([openedAt(second, 5), proposed('skips', 1, 4)]);
    expect(stage.apply()).toEqual([
      { stored: 2, skipped: 0, seen: 0, mismatched: 0 },
      { stored: 0, skipped: 2, seen: 2, mismatched: 0 },
    ]);
  });

  it('the store moved since the request -> the cursor is its last, what it has is stale', () => {
    const stage = receiving(0);
    const arena = new Arena();
    stage.mirror.frame(delivery(OPENING, 1, [1, 2, 3], { arena }));
    stage.mirror.frame({ type: 'heartbeat', opening: OPENING, lastDeliverySeq: 9 });
    stage.advanceAll();
    stage.tick(REOPEN);
    stage.apply();
    stage.drain();
    const second = openingOf(2);
    stage.mirror.frame(opened(second, { startsAfter: 0, last: 4, pending: 4 }));
    stage.mirror.frame(delivery(second, 1, range(1, 4)));
    stage.advanceAll();
    expect(stage.drain()).toEqual({
      originCommands: [{ type: 'credit', opening: second, deliverySeq: 4 }],
      events: [openedAt(second, 1), proposed('messages', 4, 4)],
    });
  });

  it('a second answer, or a late refusal of the same request -> nothing (E2)', () => {
    const stage = receiving(5);
    const error = { code: 'timeout', message: 'late' } as const;
    stage.mirror.frame(opened(OPENING, { startsAfter: 50, last: 60 }));
    stage.mirror.frame({ type: 'refused', opening: OPENING, error });
    stage.advanceAll();
    expect(stage.drain()).toEqual({ originCommands: [], events: [] });
    expect([stage.mirror.status().error, stage.mirror.status().cursor]).toEqual([null, at(5, 0)]);
  });
});

describe('mirror: answer: failures to set up', () => {
  const answers: readonly (readonly [string, Partial<Extract<OriginFrame, { type: 'opened' }>>])[] =
    [
      ['starts below what was asked', { startsAfter: 4, last: 9 }],
      ['starts beyond its own last', { startsAfter: 10, last: 9 }],
      ['starts after 2^53-1, its last is 9', { startsAfter: Number.MAX_SAFE_INTEGER, last: 9 }],
      ['starts after NaN', { startsAfter: Number.NaN, last: 9 }],
      ['starts after 2^53', { startsAfter: 2 ** 53, last: 2 ** 53 }],
      ['starts after a fraction', { startsAfter: 5.5, last: 9 }],
      ['last NaN', { startsAfter: 5, last: Number.NaN }],
      ['pending -1', { startsAfter: 5, last: 9, pending: -1 }],
      ['no identity', { startsAfter: 5, last: 9, identity: undefined as never }],
    ];

  it.each(answers)('malformed: %s -> error, retried with backoff', (_, answer) => {
    const stage = asking(5);
    stage.mirror.frame(opened(OPENING, answer));
    stage.advanceAll();
    expect(stage.drain()).toEqual(failed(5, 'malformedAnswer'));
    const { error, attempts } = stage.mirror.status();
    expect([error?.code, attempts]).toEqual(['badRecord', 1]);
    expect(stage.cluster.log).toEqual([]);
  });

  it('a delivery before the answer -> malformed, nothing proposed', () => {
    const stage = asking(5);
    stage.mirror.frame(delivery(OPENING, 1, [6]));
    stage.advanceAll();
    expect(stage.drain()).toEqual(failed(5, 'malformedAnswer'));
    expect(stage.cluster.log).toEqual([]);
  });

  it.each(['timeout', 'notLeader', 'transferring'] as const)(
    'refused by the origin as %s -> retried with backoff, whatever the code',
    (code) => {
      const stage = asking(5);
      const error = { code, message: 'no consumer' };
      stage.mirror.frame({ type: 'refused', opening: OPENING, error });
      stage.advanceAll();
      expect(stage.drain()).toEqual(failed(5, 'createRefused'));
      expect(stage.mirror.status().error).toEqual(error);
    },
  );

  it('no answer for 30 s, though the origin beats -> retried with backoff', () => {
    const stage = asking(5);
    for (let tick = 1; tick < CREATE_WAIT; tick++) {
      stage.mirror.frame({ type: 'heartbeat', opening: OPENING, lastDeliverySeq: 0 });
      stage.advanceAll();
      stage.tick();
    }
    expect(stage.drain()).toEqual({ originCommands: [], events: [] });
    stage.tick();
    expect(stage.drain()).toEqual({
      originCommands: [CLOSE],
      events: [closed(OPENING, 6, 'createTimeout'), retry('createTimeout', JITTER + BACKOFF, 1)],
    });
    expect(stage.mirror.status().error).toEqual({
      code: 'timeout',
      message: 'no answer to the opening',
    });
  });

  it('the set-up that succeeds -> attempts start over, the error stays to be read', () => {
    const stage = asking(5);
    const error = { code: 'timeout', message: 'no consumer' } as const;
    stage.mirror.frame({ type: 'refused', opening: OPENING, error });
    stage.advanceAll();
    stage.tick(REOPEN + BACKOFF);
    stage.drain();
    expect(stage.mirror.status().attempts).toBe(1);
    stage.mirror.frame(opened(openingOf(2), { startsAfter: 5, last: 5 }));
    stage.advanceAll();
    expect(stage.mirror.status()).toMatchObject({ attempts: 0, error });
  });
});

describe('mirror: answer: diverged', () => {
  const other = { name: 'ORDERS', created: ORDERS.created + 1n };
  const copied = 'copied was ORDERS created 1700000000000000000';
  const reasons = {
    life: `the origin is ORDERS created 1700000000000000001, ${copied}`,
    name: `the origin is OTHER created 1700000000000000000, ${copied}`,
    last: 'the origin ends at 4, the mirror at 5',
  };
  const answers: readonly (readonly [
    string,
    Partial<Extract<OriginFrame, { type: 'opened' }>>,
    string,
  ])[] = [
    ['another life', { identity: other, startsAfter: 5, last: 9 }, reasons.life],
    [
      'another name',
      { identity: { ...ORDERS, name: 'OTHER' }, startsAfter: 5, last: 9 },
      reasons.name,
    ],
    ['a last below ours', { startsAfter: 5, last: 4 }, reasons.last],
    ['a last below ours, start clamped to it', { startsAfter: 4, last: 4 }, reasons.last],
    ['another life, start clamped', { identity: other, startsAfter: 4, last: 4 }, reasons.life],
  ];

  it.each(answers)('%s -> stopped for good', (_, answer, reason) => {
    const stage = asking(5);
    stage.mirror.frame(opened(OPENING, answer));
    stage.advanceAll();
    expect(stage.drain()).toEqual({
      originCommands: [CLOSE],
      events: [
        closed(OPENING, 6, 'diverged'),
        { kind: 'condition', condition: 'diverged', reason },
      ],
    });
    stage.tick(100_000);
    stage.mirror.transferAbandoned();
    stage.tick(100_000);
    expect(stage.drain()).toEqual({ originCommands: [], events: [] });
    expect(stage.mirror.status()).toMatchObject({
      condition: 'diverged',
      error: { code: 'mismatch', message: reason },
      opening: null,
    });
  });

  it('an origin made again before the first identity was applied -> diverged, too', () => {
    const stage = asking(0, null);
    stage.mirror.frame(opened(OPENING, { last: 2, pending: 2 }));
    stage.mirror.frame(delivery(OPENING, 2, [9]));
    stage.mirror.frame({ type: 'heartbeat', opening: OPENING, lastDeliverySeq: 8 });
    stage.advanceAll();
    stage.tick(REOPEN);
    stage.drain();
    expect(stage.store.identity).toBe(null);
    stage.mirror.frame(opened(openingOf(2), { identity: other, last: 2, pending: 2 }));
    stage.mirror.frame(delivery(openingOf(2), 1, [1, 2]));
    stage.advanceAll();
    expect(stage.mirror.status().condition).toBe('diverged');
    expect(stage.cluster.log.map(({ what }) => what)).toEqual(['identity']);
  });

  it('the same origin before the first identity was applied -> logged again, applied once', () => {
    const stage = asking(0, null);
    stage.mirror.frame(opened(OPENING, { last: 2, pending: 2 }));
    stage.mirror.frame(delivery(OPENING, 2, [9]));
    stage.advanceAll();
    stage.tick(REOPEN);
    stage.mirror.frame(opened(openingOf(2), { last: 2, pending: 2 }));
    stage.mirror.frame(delivery(openingOf(2), 1, [1, 2]));
    stage.advanceAll();
    expect(stage.apply()).toEqual([
      { stored: 0, skipped: 0, seen: 0, mismatched: 0 },
      { stored: 0, skipped: 0, seen: 1, mismatched: 0 },
      { stored: 2, skipped: 0, seen: 0, mismatched: 0 },
    ]);
    expect(stage.mirror.status().opening).toEqual(openingOf(2));
  });
});

describe('mirror: blocked', () => {
  const blocked = (seq: number) => {
    const reason = `blocked at ${seq}: takes 48 bytes, a mirror stores 40`;
    return [
      { kind: 'condition', condition: 'blocked', reason } as const,
      { code: 'tooLarge', message: reason },
    ] as const;
  };
  const options = { recordBytesMax: 40 };
  /** Contents of 8 bytes make records of 40; one of 9 is too large. */
  const content = (large: number) => (seq: number) => (seq === large ? 'too large' : 'fits now');
  const frameOf = (opening: typeof OPENING, seqs: readonly number[], large: number) => {
    const bytes = new Arena().place(seqs, content(large));
    return { ...delivery(opening, 1, seqs), bytes };
  };

  it('a message that no store takes -> not proposed, what is before it is, stopped', () => {
    const stage = receiving(5, options);
    const [condition, error] = blocked(8);
    stage.mirror.frame(frameOf(OPENING, [6, 7, 8, 9], 8));
    stage.advanceAll();
    expect(stage.drain()).toEqual({
      originCommands: [CLOSE],
      events: [proposed('messages', 6, 7), closed(OPENING, 8, 'blocked'), condition],
    });
    expect(stage.mirror.status()).toMatchObject({ condition: 'blocked', error });
    stage.tick(100_000);
    expect([stage.advanceAll(), stage.drain()]).toEqual([0, { originCommands: [], events: [] }]);
  });

  it('behind a gap -> the gap is skipped, the cursor stays before it', () => {
    const stage = receiving(5, options);
    const [condition] = blocked(9);
    stage.mirror.frame(frameOf(OPENING, [9], 9));
    stage.advanceAll();
    expect(stage.drain()).toEqual({
      originCommands: [CLOSE],
      events: [proposed('skips', 6, 8), closed(OPENING, 6, 'blocked'), condition],
    });
  });

  it('configured anew or led anew -> tries once, is blocked again', () => {
    const stage = receiving(5, options);
    const [condition] = blocked(6);
    const running = { kind: 'condition', condition: 'running', reason: 'led or configured anew' };
    stage.mirror.frame(frameOf(OPENING, [6], 6));
    stage.advanceAll();
    stage.drain();
    stage.mirror.configure(false);
    stage.mirror.configure(true);
    expect(stage.drain().events).toEqual([running, retry('leading', REOPEN)]);
    stage.tick(REOPEN);
    const second = openingOf(2);
    expect(stage.drain().events).toEqual([requested(second, 6)]);
    stage.mirror.frame(opened(second, { startsAfter: 5, last: 6, pending: 1 }));
    stage.mirror.frame(frameOf(second, [6], 6));
    stage.advanceAll();
    expect(stage.drain().events).toEqual([
      openedAt(second, 6),
      closed(second, 6, 'blocked'),
      condition,
    ]);
    stage.lead();
    expect(stage.drain().events).toEqual([running, retry('leading', REOPEN)]);
  });
});

describe('mirror: silence', () => {
  it('no frame for 10 s -> reopened at once, since the gate is long open', () => {
    const stage = receiving(5);
    stage.tick(SILENCE - 1);
    expect(stage.drain()).toEqual({ originCommands: [], events: [] });
    expect(stage.mirror.status().silentTicks).toBe(SILENCE - 1);
    stage.tick();
    expect(stage.drain()).toEqual({
      originCommands: [CLOSE],
      events: [closed(OPENING, 6, 'silence'), retry('silence', JITTER)],
    });
    expect(stage.mirror.status().error).toEqual({
      code: 'timeout',
      message: 'no frame of the opening',
    });
  });

  it('any frame of the opening puts it off; one of another opening does not', () => {
    const stage = receiving(5);
    stage.tick(SILENCE - 1);
    stage.mirror.frame({ type: 'heartbeat', opening: OPENING, lastDeliverySeq: 0 });
    stage.advanceAll();
    stage.tick(SILENCE - 1);
    stage.mirror.frame({ type: 'heartbeat', opening: openingOf(2), lastDeliverySeq: 0 });
    stage.tick();
    expect(stage.drain().events).toEqual([closed(OPENING, 6, 'silence'), retry('silence', JITTER)]);
  });
});
