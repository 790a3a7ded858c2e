import { describe, expect, it } from 'vitest';
import { readSafe, SKIP_BYTES, viewOf } from '../../src/stream/layout.js';
import type { ProposalRefusal } from '../../src/mirror/ports.js';
import type { MirrorCause, MirrorEvent, OriginCommand } from '../../src/mirror/types.js';
import {
  at,
  BACKOFF,
  closed,
  delivery,
  GATE,
  JITTER,
  opened,
  openedAt,
  openingOf,
  ORDERS,
  plainContent,
  proposed,
  range,
  receiving,
  refusedAs,
  retry,
  rolledBack,
  Stage,
  type StageOptions,
} from './stage.js';

const OPENING = openingOf(1);
const CLOSE: OriginCommand = { type: 'close', opening: OPENING };
const REOPEN = GATE + JITTER;

/** A leader whose store ends at 5, asked for 6 and about to hear that the origin starts later. */
function startingAfter(startsAfter: number, options: StageOptions = {}): Stage {
  const stage = new Stage(options);
  stage.store.identity = ORDERS;
  for (const seq of range(1, 5)) stage.store.messages.set(seq, plainContent(seq));
  stage.store.last = 5;
  stage.lead();
  stage.tick(JITTER);
  stage.drain();
  const last = startsAfter + 1;
  stage.mirror.frame(opened(OPENING, { startsAfter, last, pending: 1 }));
  return stage;
}

describe('mirror: gap: batches', () => {
  it.each([
    [9_999, [9_999]],
    [10_000, [10_000]],
    [10_001, [10_000, 1]],
    [20_000, [10_000, 10_000]],
    [20_001, [10_000, 10_000, 1]],
  ])('%i sequences -> %j', (count, batches) => {
    const stage = receiving(5);
    const seq = 6 + count;
    stage.mirror.frame(delivery(OPENING, 1, [seq]));
    stage.advanceAll();
    const events: MirrorEvent[] = [];
    let first = 6;
    for (const size of batches) {
      events.push(proposed('skips', first, first + size - 1));
      first += size;
    }
    expect(stage.drain()).toEqual({
      originCommands: [{ type: 'credit', opening: OPENING, deliverySeq: 1 }],
      events: [...events, proposed('messages', seq, seq)],
    });
    expect(stage.mirror.skipsAccepted).toBe(count);
    expect(new Set(stage.cluster.log.map(({ bytes }) => bytes.buffer)).size).toBe(
      batches.length + 1,
    );
    stage.apply();
    expect(stage.store.state).toEqual({ first: 1, last: seq, messages: 6, deleted: count });
  });

  it('each command expects the sequence before its own', () => {
    const stage = receiving(5, { batchCountMax: 3 });
    stage.mirror.frame(delivery(OPENING, 1, [10]));
    stage.advanceAll();
    const expected = stage.cluster.log.slice(0, 2).map(({ bytes, count }) => {
      return range(0, count - 1).map((nth) => readSafe(viewOf(bytes), nth * SKIP_BYTES + 8));
    });
    expect(expected).toEqual([[5, 6, 7], [8]]);
  });

  it.each(['range', 'direct'] as const)('%s -> one command for 25,000,000', (skip) => {
    const stage = receiving(5, { skip });
    stage.mirror.frame(delivery(OPENING, 1, [25_000_006]));
    stage.advanceAll();
    expect(stage.drain().events).toEqual([
      proposed('range', 6, 25_000_005),
      proposed('messages', 25_000_006, 25_000_006),
    ]);
    expect(stage.mirror.skipsAccepted).toBe(0);
    stage.apply();
    expect(stage.store.state).toEqual({
      first: 1,
      last: 25_000_006,
      messages: 6,
      deleted: 25_000_000,
    });
  });

  it('one sequence -> one skip; gaps between messages of one frame -> each at its place', () => {
    const stage = receiving(0);
    stage.mirror.frame(delivery(OPENING, 1, [2, 3, 5, 9]));
    stage.advanceAll();
    expect(stage.drain().events).toEqual([
      proposed('skips', 1, 1),
      proposed('messages', 2, 3),
      proposed('skips', 4, 4),
      proposed('messages', 5, 5),
      proposed('skips', 6, 8),
      proposed('messages', 9, 9),
    ]);
    expect(stage.mirror.status().cursor).toEqual(at(9, 4));
    expect(stage.mirror.skipsAccepted).toBe(5);
  });

  it('bytes of a batch bound its skips, too', () => {
    const options = { batchBytesMax: 100, recordBytesMax: 100 };
    const stage = receiving(0, options);
    stage.mirror.frame(delivery(OPENING, 1, [8]));
    stage.advanceAll();
    expect(stage.drain().events).toEqual([
      proposed('skips', 1, 6),
      proposed('skips', 7, 7),
      proposed('messages', 8, 8),
    ]);
  });

  it('a gap to 2^53-1 -> one batch a step, whatever its size', () => {
    const stage = receiving(5);
    stage.mirror.frame(delivery(OPENING, 1, [Number.MAX_SAFE_INTEGER]));
    for (let step = 0; step < 4; step++) expect(stage.mirror.advance()).toBe(true);
    expect(stage.drain().events).toEqual([
      proposed('skips', 6, 10_005),
      proposed('skips', 10_006, 20_005),
      proposed('skips', 20_006, 30_005),
    ]);
  });
});

describe('mirror: gap: the job', () => {
  it('between two batches -> the cursor has not moved, the skips are counted', () => {
    const stage = receiving(5);
    stage.mirror.frame(delivery(OPENING, 1, [25_006]));
    stage.mirror.advance();
    stage.mirror.advance();
    const { mirror } = stage;
    expect([mirror.status().cursor, mirror.skipsAccepted]).toEqual([at(5, 0), 10_000]);
  });

  it('no room for the next batch -> waits without a refusal; deliveries wait behind it', () => {
    const stage = receiving(5, { batchCountMax: 10 });
    stage.mirror.frame(delivery(OPENING, 1, [26, 27]));
    stage.room = 10 * SKIP_BYTES;
    stage.mirror.advance();
    expect(stage.mirror.advance()).toBe(true);
    stage.room = 10 * SKIP_BYTES - 1;
    expect([stage.mirror.advance(), stage.mirror.advance()]).toEqual([false, false]);
    expect(stage.drain()).toEqual({ originCommands: [], events: [proposed('skips', 6, 15)] });
    stage.room = 1_000;
    stage.advanceAll();
    expect(stage.drain()).toEqual({
      originCommands: [{ type: 'credit', opening: OPENING, deliverySeq: 2 }],
      events: [proposed('skips', 16, 25), proposed('messages', 26, 27)],
    });
  });

  it('a step-down between two batches -> none is tried any more', () => {
    const stage = receiving(5);
    stage.mirror.frame(delivery(OPENING, 1, [25_006]));
    stage.mirror.advance();
    stage.mirror.advance();
    stage.mirror.stopLeading('notLeading');
    expect(stage.advanceAll()).toBe(0);
    expect(stage.drain()).toEqual({
      originCommands: [CLOSE],
      events: [proposed('skips', 6, 10_005), closed(OPENING, 6, 'notLeading')],
    });
  });
});

/** Codes, and what a mirror plans after each. `setUp`: whether the failure counts with backoff. */
const REFUSALS: readonly (readonly [ProposalRefusal, 'none' | 'reopen'])[] = [
  ['notLeader', 'none'],
  ['staleTerm', 'none'],
  ['transferring', 'none'],
  ['overrun', 'reopen'],
  ['writeFailed', 'reopen'],
  ['mismatch', 'reopen'],
];

interface Expected {
  readonly before: readonly MirrorEvent[];
  readonly what: 'skips' | 'range' | 'messages' | 'reset' | 'identity';
  readonly first: number;
  readonly last: number;
  readonly from: ReturnType<typeof at>;
  readonly cause: MirrorCause;
  readonly setUp: boolean;
}

/** Everything that is said from a refusal on, and the status after it. */
function expectRollback(
  stage: Stage,
  code: ProposalRefusal,
  expected: Expected,
  to = at(5, 0),
): void {
  const { before, what, first, last, from, setUp } = expected;
  const cause = code === 'mismatch' && !setUp ? 'mismatch' : expected.cause;
  const plans = REFUSALS.find(([refusal]) => refusal === code)![1] === 'reopen';
  const attempt = plans && setUp ? 1 : 0;
  const inTicks = plans ? REOPEN + attempt * BACKOFF : null;
  expect(stage.drain()).toEqual({
    originCommands: [CLOSE],
    events: [
      ...before,
      proposed(what, first, last, code),
      rolledBack(cause, from, to),
      closed(OPENING, to.seq + 1, cause),
      retry(cause, inTicks, attempt),
    ],
  });
  expect(stage.mirror.status()).toEqual({
    condition: 'running',
    lag: 0,
    error: refusedAs(what, first, last, code),
    attempts: attempt,
    opening: null,
    cursor: to,
    silentTicks: 0,
  });
  expect(stage.advanceAll()).toBe(0);
}

/** Refuses the kth proposal of skips, 1 the first, and nothing else. */
function refuseBatch(stage: Stage, k: number, code: ProposalRefusal): void {
  let nth = 0;
  stage.refuse = (what) => (what !== 'messages' && ++nth === k ? code : null);
}

describe.each(REFUSALS)('mirror: gap: refused as %s', (code) => {
  const batches = [
    [1, 6, 10_005],
    [2, 10_006, 20_005],
    [3, 20_006, 25_005],
  ] as const;

  it.each(batches)(
    'entries, batch %i of 3 -> cursor restored, none tried after',
    (k, first, last) => {
      const stage = receiving(5);
      refuseBatch(stage, k, code);
      stage.mirror.frame(delivery(OPENING, 1, [25_006]));
      stage.advanceAll();
      const before = batches.slice(0, k - 1).map(([, from, to]) => proposed('skips', from, to));
      const from = at(first - 1, 0);
      const cause = 'skipRefused';
      expectRollback(stage, code, {
        before,
        what: 'skips',
        first,
        last,
        from,
        cause,
        setUp: false,
      });
      expect(stage.mirror.skipsAccepted).toBe(first - 6);
    },
  );

  it.each(['range', 'direct'] as const)('%s -> cursor restored', (skip) => {
    const stage = receiving(5, { skip });
    refuseBatch(stage, 1, code);
    stage.mirror.frame(delivery(OPENING, 1, [25_006]));
    stage.advanceAll();
    const what = { before: [], what: 'range', first: 6, last: 25_005, from: at(5, 0) } as const;
    expectRollback(stage, code, { ...what, cause: 'skipRefused', setUp: false });
    expect(stage.cluster.log).toEqual([]);
  });

  it('the message behind a skip -> cursor restored to before the gap', () => {
    const stage = receiving(5);
    stage.refuse = (what) => (what === 'messages' ? code : null);
    stage.mirror.frame(delivery(OPENING, 1, [9, 10]));
    stage.advanceAll();
    const before = [proposed('skips', 6, 8)];
    const what = { what: 'messages', first: 9, last: 10, from: at(8, 0) } as const;
    expectRollback(stage, code, { before, ...what, cause: 'messageRefused', setUp: false });
  });

  it('the second batch of one frame -> the first stays accepted', () => {
    const stage = receiving(5, { batchCountMax: 2 });
    stage.refuse = (_, first) => (first === 8 ? code : null);
    stage.mirror.frame(delivery(OPENING, 1, range(6, 9)));
    stage.advanceAll();
    const before = [proposed('messages', 6, 7)];
    const what = { what: 'messages', first: 8, last: 9, from: at(7, 2) } as const;
    const expected = { before, ...what, cause: 'messageRefused', setUp: false } as const;
    expectRollback(stage, code, expected, at(7, 2));
  });

  it.each(batches)('set-up, entries, batch %i of 3 -> aborted', (k, first, last) => {
    const stage = startingAfter(25_005);
    refuseBatch(stage, k, code);
    stage.advanceAll();
    const accepted = batches.slice(0, k - 1).map(([, from, to]) => proposed('skips', from, to));
    const before = [openedAt(OPENING, 25_006), ...accepted];
    const what = { what: 'skips', first, last, from: at(first - 1, 0) } as const;
    expectRollback(stage, code, { before, ...what, cause: 'setupSkipRefused', setUp: true });
  });

  it.each(['range', 'direct'] as const)('set-up, %s -> aborted', (skip) => {
    const stage = startingAfter(25_005, { skip });
    refuseBatch(stage, 1, code);
    stage.advanceAll();
    const before = [openedAt(OPENING, 25_006)];
    const what = { what: 'range', first: 6, last: 25_005, from: at(5, 0) } as const;
    expectRollback(stage, code, { before, ...what, cause: 'setupSkipRefused', setUp: true });
  });

  it('set-up, reset of an empty mirror -> aborted', () => {
    const stage = new Stage();
    stage.store.identity = ORDERS;
    stage.lead();
    stage.tick(JITTER);
    stage.drain();
    stage.refuse = () => code;
    stage.mirror.frame(opened(OPENING, { startsAfter: 99, last: 100, pending: 1 }));
    stage.advanceAll();
    const before = [openedAt(OPENING, 100)];
    const what = { what: 'reset', first: 1, last: 99, from: at(0, 0) } as const;
    const expected = { before, ...what, cause: 'setupSkipRefused', setUp: true } as const;
    expectRollback(stage, code, expected, at(0, 0));
  });

  it('set-up, identity -> aborted', () => {
    const stage = new Stage();
    stage.lead();
    stage.tick(JITTER);
    stage.drain();
    stage.refuse = () => code;
    stage.mirror.frame(opened(OPENING, { last: 3, pending: 3 }));
    stage.advanceAll();
    const before = [openedAt(OPENING, 1)];
    const what = { what: 'identity', first: 0, last: 0, from: at(0, 0) } as const;
    const expected = { before, ...what, cause: 'identityRefused', setUp: true } as const;
    expectRollback(stage, code, expected, at(0, 0));
  });
});
