import { describe, expect, it } from 'vitest';
import {
  Arena,
  at,
  closed,
  delivery,
  GATE,
  JITTER,
  opened,
  openingOf,
  plainSize,
  proposed,
  range,
  receiving,
  requested,
  retry,
} from './stage.js';

const OPENING = openingOf(1);
/** Ticks of the request's gate that are left when no tick passed since. */
const REOPEN = GATE + JITTER;

function credit(deliverySeq: number) {
  return { type: 'credit', opening: OPENING, deliverySeq };
}

const CLOSE = { type: 'close', opening: OPENING };

describe('mirror: next', () => {
  it('one frame -> one batch over the same bytes, cursor and credit at its end', () => {
    const stage = receiving(5);
    const frame = delivery(OPENING, 1, range(6, 9));
    stage.mirror.frame(frame);
    stage.advanceAll();
    expect(stage.drain()).toEqual({
      originCommands: [credit(4)],
      events: [proposed('messages', 6, 9)],
    });
    expect(stage.cluster.log).toEqual([{ what: 'messages', count: 4, bytes: frame.bytes }]);
    expect(stage.cluster.log[0]!.bytes.buffer).toBe(frame.bytes.buffer);
    expect(stage.mirror.status().cursor).toEqual(at(9, 4));
  });

  it('frames side by side in memory -> one batch; a hole between them -> two', () => {
    const stage = receiving(0);
    const arena = new Arena();
    const frames = [
      delivery(OPENING, 1, range(1, 3), { arena }),
      delivery(OPENING, 4, range(4, 5), { arena }),
    ];
    arena.leap();
    frames.push(delivery(OPENING, 6, range(6, 7), { arena }));
    for (const frame of frames) stage.mirror.frame(frame);
    stage.advanceAll();
    expect(stage.drain()).toEqual({
      originCommands: [credit(7)],
      events: [proposed('messages', 1, 5), proposed('messages', 6, 7)],
    });
    stage.apply();
    expect(stage.store.state).toEqual({ first: 1, last: 7, messages: 7, deleted: 0 });
  });

  it('other memory -> another batch', () => {
    const stage = receiving(0);
    stage.mirror.frame(delivery(OPENING, 1, [1]));
    stage.mirror.frame(delivery(OPENING, 2, [2]));
    stage.advanceAll();
    expect(stage.drain().events).toEqual([proposed('messages', 1, 1), proposed('messages', 2, 2)]);
  });

  it('more than a batch may hold -> cut at the count, in the middle of a frame', () => {
    const stage = receiving(0, { batchCountMax: 4 });
    const arena = new Arena();
    stage.mirror.frame(delivery(OPENING, 1, range(1, 6), { arena }));
    stage.mirror.frame(delivery(OPENING, 7, range(7, 9), { arena }));
    stage.advanceAll();
    expect(stage.drain().events).toEqual([
      proposed('messages', 1, 4),
      proposed('messages', 5, 8),
      proposed('messages', 9, 9),
    ]);
    stage.apply();
    expect([...stage.store.messages.keys()]).toEqual(range(1, 9));
  });

  it('more bytes than a batch may hold -> cut before the bound', () => {
    const size = plainSize(1);
    const stage = receiving(0, { batchBytesMax: 3 * size - 1, recordBytesMax: size });
    stage.mirror.frame(delivery(OPENING, 1, range(1, 5)));
    stage.advanceAll();
    expect(stage.drain().events).toEqual([
      proposed('messages', 1, 2),
      proposed('messages', 3, 4),
      proposed('messages', 5, 5),
    ]);
  });

  it('each advance -> at most one batch', () => {
    const stage = receiving(0, { batchCountMax: 1 });
    stage.mirror.frame(delivery(OPENING, 1, [1, 2]));
    expect([stage.mirror.advance(), stage.cluster.log.length]).toEqual([true, 1]);
    expect([stage.mirror.advance(), stage.cluster.log.length]).toEqual([true, 2]);
    expect([stage.mirror.advance(), stage.cluster.log.length]).toEqual([false, 2]);
  });

  it('a number that jumps where no sequence does -> accepted, as upstream assigns it', () => {
    const stage = receiving(0);
    stage.mirror.frame(delivery(OPENING, 4, [1, 2]));
    stage.advanceAll();
    expect(stage.drain()).toEqual({
      originCommands: [credit(5)],
      events: [proposed('messages', 1, 2)],
    });
    expect(stage.mirror.status().cursor).toEqual(at(2, 5));
  });
});

describe('mirror: room', () => {
  it('none for the next message -> waits without a refusal, goes on when there is some', () => {
    const stage = receiving(0);
    stage.room = plainSize(1) - 1;
    stage.mirror.frame(delivery(OPENING, 1, [1, 2]));
    stage.advanceAll();
    expect(stage.drain()).toEqual({ originCommands: [], events: [] });
    expect(stage.mirror.advance()).toBe(false);
    stage.room = plainSize(1);
    expect(stage.mirror.advance()).toBe(true);
    expect(stage.drain()).toEqual({
      originCommands: [credit(1)],
      events: [proposed('messages', 1, 1)],
    });
  });

  it('heartbeats while it waits -> only the newest is kept, and it still shows a loss', () => {
    const stage = receiving(0);
    stage.room = 0;
    stage.mirror.frame(delivery(OPENING, 1, [1]));
    for (let beat = 0; beat < 1_000; beat++) {
      stage.mirror.frame({ type: 'heartbeat', opening: OPENING, lastDeliverySeq: 1 + beat });
    }
    stage.room = 1_000;
    // The message, then one heartbeat: number 1,000.
    expect([stage.mirror.advance(), stage.mirror.advance(), stage.mirror.advance()]).toEqual([
      true,
      false,
      false,
    ]);
    expect(stage.mirror.status().error).toEqual({
      code: 'mismatch',
      message: "the origin's last delivery is 1000, expected 2",
    });
  });
});

describe('mirror: stale', () => {
  it('at or below the cursor, number next -> dropped, number moves, credit given', () => {
    const stage = receiving(5);
    stage.mirror.frame(delivery(OPENING, 1, [4, 5, 6]));
    stage.advanceAll();
    expect(stage.drain()).toEqual({
      originCommands: [credit(3)],
      events: [proposed('messages', 6, 6)],
    });
    expect(stage.mirror.status().cursor).toEqual(at(6, 3));
  });

  it('a whole frame once more -> dropped, number stays', () => {
    const stage = receiving(5);
    const frame = delivery(OPENING, 1, [6, 7]);
    stage.mirror.frame(frame);
    stage.mirror.frame(frame);
    stage.advanceAll();
    expect(stage.drain()).toEqual({
      originCommands: [credit(2)],
      events: [proposed('messages', 6, 7)],
    });
    expect(stage.mirror.status().cursor).toEqual(at(7, 2));
  });

  it('the next number is in the middle of what is dropped -> number moves to the end', () => {
    const stage = receiving(5);
    stage.mirror.frame(delivery(OPENING, 1, [3]));
    stage.mirror.frame(delivery(OPENING, 1, [3, 4, 5]));
    stage.advanceAll();
    expect(stage.mirror.status().cursor).toEqual(at(5, 3));
  });

  it('numbers ahead of the next one -> dropped, number stays, credit given', () => {
    const stage = receiving(5);
    stage.mirror.frame(delivery(OPENING, 3, [4, 5]));
    stage.advanceAll();
    expect(stage.drain()).toEqual({ originCommands: [credit(4)], events: [] });
    expect(stage.mirror.status().cursor).toEqual(at(5, 0));
  });
});

describe('mirror: lost', () => {
  const reopened = (seq: number) => ({
    originCommands: [CLOSE],
    events: [closed(OPENING, seq + 1, 'lostDelivery'), retry('lostDelivery', REOPEN)],
  });

  it('ahead in sequence and number -> closed, reopened behind the gate at store.last + 1', () => {
    const stage = receiving(5);
    stage.mirror.frame(delivery(OPENING, 2, [7]));
    stage.advanceAll();
    expect(stage.drain()).toEqual(reopened(5));
    expect(stage.mirror.status()).toEqual({
      condition: 'running',
      lag: 0,
      error: { code: 'mismatch', message: 'delivery 2 came, expected 1' },
      attempts: 0,
      opening: null,
      cursor: at(5, 0),
      silentTicks: 0,
    });
    stage.tick(REOPEN - 1);
    expect(stage.drain()).toEqual({ originCommands: [], events: [] });
    stage.tick();
    expect(stage.drain()).toEqual({
      originCommands: [{ type: 'open', opening: openingOf(2), startSeq: 6 }],
      events: [requested(openingOf(2), 6)],
    });
  });

  it('ahead in sequence, number already used -> closed', () => {
    const stage = receiving(5);
    stage.mirror.frame(delivery(OPENING, 1, [6]));
    stage.mirror.frame(delivery(OPENING, 1, [9]));
    stage.advanceAll();
    expect(stage.drain()).toEqual({
      originCommands: [CLOSE],
      events: [proposed('messages', 6, 6), ...reopened(6).events],
    });
  });

  it('two frames in the wrong order -> closed, the late one is nothing to us', () => {
    const stage = receiving(5);
    stage.mirror.frame(delivery(OPENING, 2, [7]));
    stage.mirror.frame(delivery(OPENING, 1, [6]));
    stage.advanceAll();
    stage.mirror.frame(delivery(OPENING, 1, [6]));
    stage.advanceAll();
    expect(stage.drain()).toEqual(reopened(5));
    expect(stage.cluster.log).toEqual([]);
  });

  it('a heartbeat that counts further -> closed; one that does not -> nothing', () => {
    const stage = receiving(5);
    stage.mirror.frame({ type: 'heartbeat', opening: OPENING, lastDeliverySeq: 0 });
    stage.advanceAll();
    expect(stage.drain()).toEqual({ originCommands: [], events: [] });
    stage.mirror.frame({ type: 'heartbeat', opening: OPENING, lastDeliverySeq: 1 });
    stage.advanceAll();
    expect(stage.drain()).toEqual(reopened(5));
  });

  it('a heartbeat after deliveries -> credit once more: the first may have been lost', () => {
    const stage = receiving(5);
    stage.mirror.frame(delivery(OPENING, 1, [6, 7]));
    stage.advanceAll();
    expect(stage.drain().originCommands).toEqual([credit(2)]);
    for (let beat = 0; beat < 2; beat++) {
      stage.mirror.frame({ type: 'heartbeat', opening: OPENING, lastDeliverySeq: 2 });
      stage.advanceAll();
      expect(stage.drain()).toEqual({ originCommands: [credit(2)], events: [] });
      expect(stage.drain()).toEqual({ originCommands: [], events: [] });
    }
  });

  it('a heartbeat behind deliveries that wait -> judged after them', () => {
    const stage = receiving(5);
    stage.mirror.frame(delivery(OPENING, 1, [6, 7]));
    stage.mirror.frame({ type: 'heartbeat', opening: OPENING, lastDeliverySeq: 2 });
    stage.advanceAll();
    expect(stage.drain()).toEqual({
      originCommands: [credit(2)],
      events: [proposed('messages', 6, 7)],
    });
  });
});

describe('mirror: malformed delivery', () => {
  const frame = delivery(OPENING, 1, [6, 7]);
  const withExpected = (seq: bigint) => {
    const bytes = frame.bytes.slice();
    new DataView(bytes.buffer).setBigUint64(8, seq, true);
    return { ...frame, bytes };
  };
  const faults = [
    ['sequence 2^64-1', withExpected(2n ** 64n - 1n)],
    ['sequence 2^53', withExpected(2n ** 53n - 1n)],
    ['sequences that fall', withExpected(6n)],
    ['sequences that fall behind the first', withExpected(100n)],
    ['number 0', { ...frame, deliverySeq: 0 }],
    ['number NaN', { ...frame, deliverySeq: Number.NaN }],
    ['no messages', { ...frame, count: 0, bytes: new Uint8Array(0) }],
    ['count NaN', { ...frame, count: Number.NaN }],
    ['count 1 of 2', { ...frame, count: 1 }],
    ['count 3 of 2', { ...frame, count: 3 }],
    ['pending -1', { ...frame, pending: -1 }],
    ['bytes cut off', { ...frame, bytes: frame.bytes.subarray(0, 40) }],
  ] as const;

  it.each(faults)('%s -> reopened, badRecord in the status, nothing skipped', (_, faulty) => {
    const stage = receiving(5);
    stage.mirror.frame(faulty);
    expect(stage.advanceAll()).toBe(0);
    expect(stage.drain()).toEqual({
      originCommands: [CLOSE],
      events: [closed(OPENING, 6, 'malformedDelivery'), retry('malformedDelivery', REOPEN)],
    });
    expect(stage.mirror.status().error?.code).toBe('badRecord');
    expect(stage.cluster.log).toEqual([]);
  });

  it('behind good frames in the same memory -> those are taken first', () => {
    const stage = receiving(5);
    const arena = new Arena();
    stage.mirror.frame(delivery(OPENING, 1, [6, 7], { arena }));
    stage.mirror.frame({ ...delivery(OPENING, 3, [8, 9], { arena }), count: 1 });
    stage.advanceAll();
    expect(stage.drain()).toEqual({
      originCommands: [CLOSE],
      events: [
        proposed('messages', 6, 7),
        closed(OPENING, 8, 'malformedDelivery'),
        retry('malformedDelivery', REOPEN),
      ],
    });
  });
});

describe('mirror: window', () => {
  it('an origin that sends three times its window unasked -> a broken assumption', () => {
    const stage = receiving(0);
    const bytes = new Uint8Array(16 * 1024 * 1024);
    const frame = { ...delivery(OPENING, 1, [1]), bytes };
    for (let nth = 0; nth < 3; nth++) stage.mirror.frame(frame);
    expect(() => {
      stage.mirror.frame(frame);
    }).toThrow('an origin keeps to the window of its opening');
  });

  it('what was taken in makes way for as much again, for ever', () => {
    const stage = receiving(0);
    const content = 'x'.repeat(1_000_000);
    for (let seq = 1; seq <= 60; seq++) {
      const bytes = new Arena(1_000_064).place([seq], () => content);
      const rest = { opening: OPENING, deliverySeq: seq, count: 1, pending: 0 };
      stage.mirror.frame({ type: 'deliver', ...rest, bytes });
      stage.advanceAll();
    }
    expect(stage.mirror.status().cursor).toEqual(at(60, 60));
  });
});

describe('mirror: lag', () => {
  it('set when set up, moved by applying alone', () => {
    const stage = receiving(5, {}, 4);
    expect(stage.mirror.status().lag).toBe(4);
    stage.mirror.frame(delivery(OPENING, 1, [6, 7], { pending: 2 }));
    stage.mirror.frame(delivery(OPENING, 3, [8], { pending: 1 }));
    stage.advanceAll();
    expect([stage.mirror.status().cursor, stage.mirror.status().lag]).toEqual([at(8, 3), 4]);
    stage.apply(1);
    expect(stage.mirror.status().lag).toBe(2);
    stage.apply(1);
    expect(stage.mirror.status().lag).toBe(1);
  });

  it('a batch that ends inside a frame -> the rest of the frame waits behind it', () => {
    const stage = receiving(0, { batchCountMax: 2 }, 5);
    stage.mirror.frame(delivery(OPENING, 1, range(1, 5), { pending: 7 }));
    stage.mirror.advance();
    stage.apply();
    expect(stage.mirror.status().lag).toBe(3 + 7);
  });

  it('a later answer -> newer than what batches of the opening before knew', () => {
    const stage = receiving(5, {}, 2);
    stage.mirror.frame(delivery(OPENING, 1, [6], { pending: 0 }));
    stage.mirror.frame({ type: 'heartbeat', opening: OPENING, lastDeliverySeq: 2 });
    stage.advanceAll();
    stage.tick(REOPEN);
    stage.mirror.frame(opened(openingOf(2), { startsAfter: 5, last: 105, pending: 100 }));
    stage.advanceAll();
    stage.apply();
    expect([stage.store.last, stage.mirror.status().lag]).toEqual([6, 100]);
  });

  it('a refusal -> as it was before the delivery', () => {
    const stage = receiving(5, {}, 4);
    stage.refuse = () => 'overrun';
    stage.mirror.frame(delivery(OPENING, 1, [6, 7], { pending: 2 }));
    stage.advanceAll();
    stage.apply();
    expect(stage.mirror.status().lag).toBe(4);
  });
});
