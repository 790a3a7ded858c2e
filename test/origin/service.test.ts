import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ORIGIN_FRAME_MESSAGES_MAX,
  ORIGIN_HEARTBEAT_MS,
  ORIGIN_WINDOW_BYTES,
  ORIGIN_WINDOW_MESSAGES,
  RECORD_BYTES_MAX,
} from '../../src/base/limits.js';
import type { OriginFrame } from '../../src/mirror/types.js';
import { OriginContent } from '../../src/origin/content.js';
import {
  hasher,
  make,
  opening,
  OriginStage,
  sequencesOf as sequences,
  synthetic,
} from './stage.js';

const IDENTITY = { name: 'SYNTHETIC', created: 1_767_225_600_000_000_000n };
/** Messages 1, 2, 6, 7 and the sentinel 8. */
const GAPPED = synthetic({ messages: 4, gaps: [{ after: 2, count: 3 }] });
const FIRST = opening(1, 1);
const SECOND = opening(1, 2);

function opened(of: string, startsAfter: number, pending: number, to = 'r1.1'): object {
  return { to, of, type: 'opened', identity: IDENTITY, startsAfter, last: 8, pending };
}

function deliver(
  of: string,
  deliverySeq: number,
  pending: number,
  bytes: number[],
  to = 'r1.1',
): unknown {
  return { to, of, type: 'deliver', deliverySeq, count: bytes.length, pending, bytes };
}

function heartbeat(of: string, lastDeliverySeq: number): unknown {
  return { to: 'r1.1', of, type: 'heartbeat', lastDeliverySeq };
}

describe('service: open', () => {
  it.each([
    ['at the first', 1, 0, [1, 2, 6, 7, 8], []],
    ['zero: all', 0, 0, [1, 2, 6, 7, 8], []],
    ['inside a run', 2, 1, [2, 6, 7, 8], []],
    ['inside a gap: starts before the next message', 4, 5, [6, 7, 8], [['passedOver', 4, 5]]],
    ['at the sentinel', 8, 7, [8], []],
  ])('%s', (_title, startSeq, startsAfter, sequences, passedOver) => {
    const stage = new OriginStage(GAPPED);
    stage.open(FIRST, startSeq);
    expect(stage.drainLedger()).toEqual(passedOver);
    expect(stage.pump()).toEqual([
      opened('1.1', startsAfter, sequences.length),
      deliver('1.1', 1, 0, sequences),
    ]);
    expect(stage.pump()).toEqual([]);
    expect(stage.service.exhausted).toBe(true);
  });

  it.each([9, 20])(
    'behind the last, at %i: nothing to deliver, nothing passed over',
    (startSeq) => {
      const stage = new OriginStage(GAPPED);
      stage.open(FIRST, startSeq);
      expect(stage.pump()).toEqual([opened('1.1', startSeq - 1, 0)]);
      expect(stage.drainLedger()).toEqual([]);
      expect(stage.service.firstDeliveryMs).toBeNull();
    },
  );

  it('first sequence of the origin is high -> the set-up gap is passed over', () => {
    const stage = new OriginStage(synthetic({ messages: 1, gaps: [{ after: 0, count: 6 }] }));
    stage.open(FIRST, 0);
    expect(stage.pump()).toEqual([opened('1.1', 6, 2), deliver('1.1', 1, 0, [7, 8])]);
    expect(stage.drainLedger()).toEqual([
      ['passedOver', 1, 6],
      ['delivered', 7, 8],
    ]);
  });
});

describe('service: ledger', () => {
  it('every frame is told before it leaves, run by run with the gaps between', () => {
    const stage = new OriginStage(GAPPED);
    stage.open(FIRST, 2);
    expect(stage.drainLedger()).toEqual([]);
    stage.pump();
    expect(stage.drainLedger()).toEqual([
      ['delivered', 2, 2],
      ['passedOver', 3, 5],
      ['delivered', 6, 8],
    ]);
    expect([stage.service.delivered, stage.service.handedOut]).toEqual([4, 8]);
  });

  it('a gap between two frames is told with the second', () => {
    const stage = new OriginStage({ ...GAPPED, rate: 1_000 });
    stage.open(FIRST, 1);
    expect(stage.pump(0)).toEqual([opened('1.1', 0, 5), deliver('1.1', 1, 4, [1])]);
    expect(stage.pump(1)).toEqual([deliver('1.1', 2, 3, [2])]);
    expect(stage.drainLedger()).toEqual([
      ['delivered', 1, 1],
      ['delivered', 2, 2],
    ]);
    expect(stage.pump(2)).toEqual([deliver('1.1', 3, 2, [6])]);
    expect(stage.drainLedger()).toEqual([
      ['passedOver', 3, 5],
      ['delivered', 6, 6],
    ]);
  });
});

describe('service: which opening is served', () => {
  it('a newer one closes the older; what was not answered yet is never answered', () => {
    const stage = new OriginStage(GAPPED);
    stage.open(FIRST, 1);
    stage.open(SECOND, 7);
    expect(stage.pump()).toEqual([opened('1.2', 6, 2), deliver('1.2', 1, 0, [7, 8])]);
    stage.credit(FIRST, 1);
    stage.close(FIRST);
    expect(stage.pump(ORIGIN_HEARTBEAT_MS)).toEqual([heartbeat('1.2', 2)]);
  });

  it('an older or equal one is ignored, also after the newer one was closed', () => {
    const stage = new OriginStage(GAPPED);
    stage.open(opening(2, 1, 'r2.1'), 8);
    expect(stage.pump()).toEqual([opened('2.1', 7, 1, 'r2.1'), deliver('2.1', 1, 0, [8], 'r2.1')]);
    stage.open(opening(1, 9), 1);
    stage.open(opening(2, 1, 'r3.1'), 1);
    expect(stage.pump()).toEqual([]);
    stage.close(opening(2, 1, 'r2.1'));
    stage.open(opening(1, 9), 1);
    stage.open(opening(2, 1, 'r2.1'), 1);
    expect(stage.pump()).toEqual([]);
    expect(stage.service.nextDueMs(0)).toBeNull();
  });

  it('a higher term beats a higher generation', () => {
    const stage = new OriginStage(GAPPED);
    stage.open(opening(1, 9), 1);
    stage.open(opening(2, 1, 'r2.1'), 8);
    expect(stage.pump()).toEqual([opened('2.1', 7, 1, 'r2.1'), deliver('2.1', 1, 0, [8], 'r2.1')]);
  });

  it('closed: nothing more, no heartbeat, not exhausted', () => {
    const stage = new OriginStage(GAPPED);
    stage.open(FIRST, 1);
    stage.pump();
    stage.close(FIRST);
    expect(stage.pump(10 * ORIGIN_HEARTBEAT_MS)).toEqual([]);
    expect(stage.service.nextDueMs(0)).toBeNull();
    expect(stage.service.exhausted).toBe(false);
  });
});

describe('service: window', () => {
  it('messages: full at the bound, credit opens it again frame by frame', () => {
    const stage = new OriginStage(synthetic({ messages: 100_000, size: 0 }));
    stage.open(FIRST, 1);
    const counts = (): number[] =>
      stage.service.pump(0).flatMap(({ frame }) => (frame.type === 'deliver' ? [frame.count] : []));
    const frames = ORIGIN_WINDOW_MESSAGES / ORIGIN_FRAME_MESSAGES_MAX;
    expect(counts()).toEqual(Array<number>(frames).fill(ORIGIN_FRAME_MESSAGES_MAX));
    expect(counts()).toEqual([]);
    expect(stage.service.nextDueMs(0)).toBe(ORIGIN_HEARTBEAT_MS);
    stage.credit(FIRST, 10);
    expect(counts()).toEqual([10]);
    stage.credit(FIRST, 5);
    stage.credit(FIRST, 10);
    expect(counts()).toEqual([]);
    stage.credit(FIRST, 1_000_000);
    expect(counts().reduce((sum, count) => sum + count)).toBe(
      100_001 - ORIGIN_WINDOW_MESSAGES - 10,
    );
  });

  it('credit beyond what was sent counts for what was sent', () => {
    const stage = new OriginStage(synthetic({ messages: 200_000, size: 0 }));
    stage.open(FIRST, 1);
    stage.credit(FIRST, 50_000);
    const sent = stage.service
      .pump(0)
      .map(({ frame }) => (frame.type === 'deliver' ? frame.count : 0));
    expect(sent.reduce((sum, count) => sum + count)).toBe(ORIGIN_WINDOW_MESSAGES);
  });

  it('bytes: frames are bounded, and the window always has room for what it sends', () => {
    const stage = new OriginStage(synthetic({ messages: 40, size: 1_000_000 }));
    stage.open(FIRST, 1);
    const send = (): Extract<OriginFrame, { type: 'deliver' }>[] =>
      stage.service.pump(0).flatMap(({ frame }) => (frame.type === 'deliver' ? [frame] : []));
    const frames = send();
    expect(new Set(frames.map(({ count }) => count))).toEqual(new Set([1]));
    const under = frames.reduce((sum, { bytes }) => sum + bytes.length, 0);
    expect(under).toBeLessThanOrEqual(ORIGIN_WINDOW_BYTES);
    expect(under).toBeGreaterThan(ORIGIN_WINDOW_BYTES - RECORD_BYTES_MAX);
    expect(send()).toEqual([]);
    stage.credit(FIRST, 2);
    expect(send().map(({ deliverySeq }) => deliverySeq)).toEqual([
      frames.length + 1,
      frames.length + 2,
    ]);
  });

  it('small messages share frames of at most 512 KiB', () => {
    const stage = new OriginStage(synthetic({ messages: 2_000, size: 1_000 }));
    stage.open(FIRST, 1);
    const sizes = stage.service
      .pump(0)
      .flatMap(({ frame }) => (frame.type === 'deliver' ? [frame.bytes.length] : []));
    expect(sizes.filter((size) => size > 512 * 1_024)).toEqual([]);
    expect(sizes.slice(0, -1).filter((size) => size < 511 * 1_024)).toEqual([]);
  });

  it('many small frames: settled ones are let go and the count stays right', () => {
    const stage = new OriginStage(synthetic({ messages: 5_000, size: 4, rate: 1_000 }));
    stage.open(FIRST, 1);
    let delivered = 0;
    for (let nowMs = 0; nowMs <= 5_000; nowMs++) {
      for (const { frame } of stage.service.pump(nowMs)) {
        if (frame.type !== 'deliver') continue;
        expect(frame.deliverySeq).toBe(delivered + 1);
        delivered += frame.count;
      }
      if (nowMs % 3 === 0) stage.credit(FIRST, delivered - 1);
    }
    expect(delivered).toBe(5_001);
    expect(stage.service.exhausted).toBe(true);
  });
});

describe('service: held back', () => {
  it('what is not published is not there: nothing is sent, and a gap before it does not show', () => {
    const stage = new OriginStage(GAPPED);
    stage.service.publishUpTo(2);
    stage.open(FIRST, 1);
    expect(stage.pump(0)).toEqual([opened('1.1', 0, 5), deliver('1.1', 1, 3, [1, 2])]);
    expect([stage.service.hasMore(1, 0), stage.service.hasMore(2, 0)]).toEqual([true, false]);
    expect(stage.service.nextDueMs(0)).toBe(ORIGIN_HEARTBEAT_MS);
    stage.open(SECOND, 3);
    expect(stage.pump(0)).toEqual([opened('1.2', 2, 3)]);
    expect(stage.service.remove({ first: 2, last: 8 }, 0)).toBe(1);
    expect(stage.drainLedger()).toEqual([['delivered', 1, 2]]);
    stage.service.publishUpTo(4);
    expect(stage.pump(0)).toEqual([deliver('1.2', 1, 1, [6, 7])]);
    stage.service.publishUpTo(5);
    expect(stage.pump(0)).toEqual([deliver('1.2', 3, 0, [8])]);
    expect(stage.drainLedger()).toEqual([
      ['passedOver', 3, 5],
      ['delivered', 6, 7],
      ['delivered', 8, 8],
    ]);
  });

  it('published and paced: both must allow it', () => {
    const stage = new OriginStage({ ...GAPPED, rate: 100 });
    stage.service.publishUpTo(3);
    stage.open(FIRST, 1);
    stage.pump(0);
    expect(stage.pump(40)).toEqual([deliver('1.1', 2, 2, [2, 6])]);
    stage.service.publishUpTo(4);
    expect(stage.pump(40)).toEqual([deliver('1.1', 4, 1, [7])]);
  });
});

describe('service: rate', () => {
  it('message k is there k / rate after the first delivery, the sentinel last', () => {
    const stage = new OriginStage({ ...GAPPED, rate: 100 });
    stage.open(FIRST, 1, 50);
    expect(stage.pump(50)).toEqual([opened('1.1', 0, 5), deliver('1.1', 1, 4, [1])]);
    expect(stage.service.nextDueMs(50)).toBe(60);
    expect(stage.pump(59)).toEqual([]);
    expect(stage.pump(60)).toEqual([deliver('1.1', 2, 3, [2])]);
    expect(stage.pump(89)).toEqual([deliver('1.1', 3, 1, [6, 7])]);
    expect(stage.pump(90)).toEqual([deliver('1.1', 5, 0, [8])]);
    expect(stage.service.firstDeliveryMs).toBe(50);
  });

  it('a later opening does not start the clock again: what was there is there', () => {
    const stage = new OriginStage({ ...GAPPED, rate: 100 });
    stage.open(FIRST, 1);
    stage.pump(0);
    stage.open(SECOND, 1, 20);
    expect(stage.pump(20)).toEqual([opened('1.2', 0, 5), deliver('1.2', 1, 2, [1, 2, 6])]);
  });

  it('the first opening starts high -> paced from there, not from the first message', () => {
    const stage = new OriginStage({ ...GAPPED, rate: 100 });
    stage.open(FIRST, 6);
    expect(stage.pump(0)).toEqual([opened('1.1', 5, 3), deliver('1.1', 1, 2, [6])]);
    expect(stage.pump(10)).toEqual([deliver('1.1', 2, 1, [7])]);
  });

  it('due no sooner than in a millisecond, and no later than the heartbeat', () => {
    const fast = new OriginStage(synthetic({ messages: 100, rate: 50_000 }));
    fast.open(FIRST, 1);
    fast.pump(0);
    expect(fast.service.nextDueMs(0)).toBe(1);
    const slow = new OriginStage({ ...GAPPED, rate: 1 }, { timeScale: 0.05 });
    slow.open(FIRST, 1);
    slow.pump(0);
    expect(slow.service.nextDueMs(0)).toBe(50);
  });

  it('there is more only for a store behind what exists by now', () => {
    const stage = new OriginStage({ ...GAPPED, rate: 100 });
    expect([stage.service.hasMore(0, 0), stage.service.hasMore(8, 0)]).toEqual([true, false]);
    stage.open(FIRST, 1);
    stage.pump(0);
    expect(stage.service.hasMore(1, 9)).toBe(false);
    expect(stage.service.hasMore(1, 10)).toBe(true);
    expect(stage.service.hasMore(2, 19)).toBe(false);
    expect(stage.service.hasMore(2, 20)).toBe(true);
    const unpaced = new OriginStage(GAPPED);
    expect([0, 7, 8].map((last) => unpaced.service.hasMore(last, 0))).toEqual([true, true, false]);
  });
});

describe('service: heartbeats', () => {
  it('only when nothing was sent for the scaled interval', () => {
    const stage = new OriginStage({ ...GAPPED, rate: 10 }, { timeScale: 0.05 });
    stage.open(FIRST, 1);
    expect(stage.pump(0)).toEqual([opened('1.1', 0, 5), deliver('1.1', 1, 4, [1])]);
    expect(stage.pump(49)).toEqual([]);
    expect(stage.pump(50)).toEqual([heartbeat('1.1', 1)]);
    expect(stage.pump(99)).toEqual([]);
    expect(stage.pump(100)).toEqual([deliver('1.1', 2, 3, [2])]);
    expect(stage.pump(149)).toEqual([]);
    expect(stage.pump(150)).toEqual([heartbeat('1.1', 2)]);
  });

  it('an opening with nothing to deliver hears of delivery number 0', () => {
    const stage = new OriginStage(GAPPED);
    stage.open(FIRST, 9);
    stage.pump(0);
    expect(stage.service.nextDueMs(0)).toBe(ORIGIN_HEARTBEAT_MS);
    expect(stage.pump(ORIGIN_HEARTBEAT_MS)).toEqual([heartbeat('1.1', 0)]);
  });
});

describe('service: faults', () => {
  it('dropConsumer: the opening is forgotten silently; the next one is served', () => {
    const stage = new OriginStage(GAPPED);
    expect(stage.service.dropConsumer()).toBe(false);
    stage.open(FIRST, 1);
    stage.pump(0);
    expect(stage.service.dropConsumer()).toBe(true);
    expect(stage.service.dropConsumer()).toBe(false);
    expect(stage.pump(10 * ORIGIN_HEARTBEAT_MS)).toEqual([]);
    stage.open(SECOND, 8);
    expect(stage.pump()).toEqual([opened('1.2', 7, 1), deliver('1.2', 1, 0, [8])]);
  });

  it('refuseNext: so many requests are refused, and close what was served', () => {
    const stage = new OriginStage({ ...GAPPED, rate: 10 });
    const error = { code: 'timeout', message: 'no such stream' } as const;
    stage.open(FIRST, 1);
    stage.pump(0);
    stage.service.refuseNext(2, error);
    stage.open(opening(1, 2), 2);
    expect(stage.service.nextDueMs(5)).toBe(5);
    expect(stage.service.dropConsumer()).toBe(false);
    expect(stage.pump(1_000)).toEqual([{ to: 'r1.1', of: '1.2', type: 'refused', error }]);
    expect(stage.pump(2_000)).toEqual([]);
    stage.open(opening(1, 3), 2);
    expect(stage.pump(2_000)).toEqual([{ to: 'r1.1', of: '1.3', type: 'refused', error }]);
    stage.open(opening(1, 4), 8, 2_000);
    expect(stage.pump(2_000)).toEqual([opened('1.4', 7, 1), deliver('1.4', 1, 0, [8])]);
  });

  it('by chance: each delivery alone, until its time is over', () => {
    const stage = new OriginStage(synthetic({ messages: 2_000 }));
    stage.service.loseByChance(100_000, 1_000, 0);
    stage.service.repeatByChance(50_000, 1_000, 0);
    stage.open(FIRST, 1);
    let numbers: number[] = [];
    let lastSeq = 0;
    while (lastSeq < 2_001) {
      const frames = stage.service.pump(5);
      for (const { frame } of frames) {
        if (frame.type !== 'deliver') continue;
        for (let at = 0; at < frame.count; at++) numbers.push(frame.deliverySeq + at);
        lastSeq = sequences(frame.bytes).at(-1)!;
      }
      stage.credit(FIRST, numbers.at(-1) ?? 0, 5);
      if (frames.length === 0) break;
    }
    const distinct = new Set(numbers);
    expect(numbers.length - distinct.size).toBeGreaterThan(50);
    expect(numbers.length - distinct.size).toBeLessThan(150);
    expect(2_001 - distinct.size).toBeGreaterThan(140);
    expect(2_001 - distinct.size).toBeLessThan(260);
    numbers = [];
    stage.open(SECOND, 1, 1_001);
    const frames = stage.service.pump(1_001);
    for (const { frame } of frames) if (frame.type === 'deliver') numbers.push(frame.count);
    expect(numbers.reduce((sum, count) => sum + count, 0)).toBe(2_001);
  });

  it('remove: what was not delivered yet is passed over, and the ledger is told', () => {
    const stage = new OriginStage(synthetic({ messages: 4, rate: 10 }));
    stage.open(FIRST, 1);
    expect(stage.pump(0)).toEqual([{ ...opened('1.1', 0, 5), last: 5 }, deliver('1.1', 1, 4, [1])]);
    // Only what exists by now can go: 2 and 3, at 10 a second.
    expect(stage.service.remove({ first: 1, last: 5 }, 200)).toBe(3);
    expect(stage.service.remove({ first: 1, last: 5 }, 200)).toBe(0);
    expect(stage.pump(300)).toEqual([deliver('1.1', 2, 1, [4])]);
    expect(stage.drainLedger()).toEqual([
      ['delivered', 1, 1],
      ['passedOver', 2, 3],
      ['delivered', 4, 4],
    ]);
    stage.open(SECOND, 2, 300);
    expect(stage.pump(300)).toEqual([
      { ...opened('1.2', 3, 2), last: 5 },
      deliver('1.2', 1, 1, [4]),
    ]);
    expect(stage.drainLedger()).toEqual([
      ['passedOver', 2, 3],
      ['delivered', 4, 4],
    ]);
    expect(stage.service.report().origin).toEqual({ first: 4, last: 5, messages: 2, deleted: 0 });
    expect(stage.service.records({ first: 1, last: 9 }).map(({ seq }) => seq)).toEqual([
      1, 2, 3, 4, 5,
    ]);
  });

  it('recreate: another identity under the name, digests of both lives are kept', () => {
    const again = synthetic({ messages: 1 });
    const remake = (life: number) =>
      new OriginContent(again, { seed: 1, hasher, allocate: (size) => new Uint8Array(size), life });
    const stage = new OriginStage(synthetic({ messages: 2, rate: 10 }));
    stage.open(FIRST, 1);
    expect(stage.service.recreate(remake)).toBe(false);
    const [answer] = stage.service.pump(0);
    expect(stage.service.recreate(remake)).toBe(true);
    expect(stage.pump(9_000)).toEqual([]);
    stage.open(SECOND, 2, 9_000);
    const [other, ...frames] = stage.service.pump(9_000);
    const identities = [answer, other].map((sent) =>
      sent?.frame.type === 'opened' ? sent.frame.identity : null,
    );
    expect(identities.map((identity) => identity?.name)).toEqual(['SYNTHETIC', 'SYNTHETIC']);
    expect(identities[1]!.created).toBeGreaterThan(identities[0]!.created);
    expect(frames.map(({ frame }) => frame.type)).toEqual(['deliver']);
    expect(stage.service.report().origin.last).toBe(3);
    const records = stage.service.records({ first: 1, last: 3 });
    expect(records.map(({ seq }) => seq)).toEqual([1, 2, 2, 3]);
    expect(records[1]!.payload).not.toBe(records[2]!.payload);
  });

  it('loseDeliveries: numbers are used up, the ledger hears nothing, the heartbeat tells', () => {
    const stage = new OriginStage(GAPPED);
    stage.service.loseDeliveries(3);
    stage.open(FIRST, 1);
    expect(stage.pump(0)).toEqual([opened('1.1', 0, 5), deliver('1.1', 4, 0, [7, 8])]);
    expect(stage.drainLedger()).toEqual([['delivered', 7, 8]]);
    expect(stage.service.delivered).toBe(2);
    const all = new OriginStage(GAPPED);
    all.service.loseDeliveries(5);
    all.open(FIRST, 1);
    expect(all.pump(0)).toEqual([opened('1.1', 0, 5)]);
    expect(all.pump(ORIGIN_HEARTBEAT_MS)).toEqual([heartbeat('1.1', 5)]);
    expect([all.drainLedger(), all.service.handedOut]).toEqual([[], 0]);
  });

  it('repeatDeliveries: sent twice under the same numbers, the window counts them once', () => {
    const stage = new OriginStage(GAPPED);
    stage.service.repeatDeliveries(2);
    stage.open(FIRST, 1);
    expect(stage.pump(0)).toEqual([
      opened('1.1', 0, 5),
      deliver('1.1', 1, 3, [1, 2]),
      deliver('1.1', 1, 3, [1, 2]),
      deliver('1.1', 3, 0, [6, 7, 8]),
    ]);
    expect(stage.service.delivered).toBe(5);
  });

  it('lost before repeated when both are armed', () => {
    const stage = new OriginStage(GAPPED);
    stage.service.repeatDeliveries(1);
    stage.service.loseDeliveries(1);
    stage.open(FIRST, 1);
    expect(stage.pump(0)).toEqual([
      opened('1.1', 0, 5),
      deliver('1.1', 2, 3, [2]),
      deliver('1.1', 2, 3, [2]),
      deliver('1.1', 3, 0, [6, 7, 8]),
    ]);
  });

  it('stall: neither answers nor deliveries nor heartbeats until it is over', () => {
    const stage = new OriginStage(GAPPED);
    stage.service.stall(3_000, 100);
    stage.service.stall(100, 200);
    stage.open(FIRST, 1, 100);
    expect(stage.pump(3_099)).toEqual([]);
    expect(stage.service.nextDueMs(150)).toBe(3_100);
    expect(stage.pump(3_100)).toEqual([opened('1.1', 0, 5), deliver('1.1', 1, 0, [1, 2, 6, 7, 8])]);
  });
});

describe('service: any conversation', () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('open' as const), startSeq: fc.integer({ min: 0, max: 90 }) }),
    fc.record({ kind: fc.constant('pump' as const), afterMs: fc.integer({ min: 0, max: 40 }) }),
    fc.record({ kind: fc.constant('lose' as const), count: fc.integer({ min: 1, max: 4 }) }),
    fc.record({ kind: fc.constant('drop' as const) }),
    fc.record({ kind: fc.constant('close' as const) }),
  );
  const plan = synthetic({
    messages: 50,
    rate: 1_000,
    gaps: [
      { after: 9, count: 7 },
      { after: 30, count: 20 },
    ],
  });
  const { content } = make(plan);

  it('model: frames of an opening are numbered on, rise, leave out only what does not exist', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const stage = new OriginStage(plan, { timeScale: 0.01 });
        const { stream } = stage.service;
        let nowMs = 0;
        let generation = 0;
        let lost = 0;
        /** Of the live opening: last sequence and number that were seen, lost ones counted. */
        let seen: { seq: number; number: number } | null = null;
        for (const taken of steps) {
          switch (taken.kind) {
            case 'open':
              stage.open(opening(1, ++generation), taken.startSeq, nowMs);
              seen = { seq: Math.max(1, taken.startSeq) - 1, number: 0 };
              break;
            case 'lose':
              stage.service.loseDeliveries(taken.count);
              lost += taken.count;
              break;
            case 'drop':
              expect(stage.service.dropConsumer()).toBe(seen !== null);
              seen = null;
              break;
            case 'close':
              stage.close(opening(1, generation), nowMs);
              seen = null;
              break;
            case 'pump':
              nowMs += taken.afterMs;
              for (const { frame } of stage.service.pump(nowMs)) {
                expect(frame.opening.generation).toBe(generation);
                if (frame.type !== 'deliver') continue;
                const missed: number = frame.deliverySeq - 1 - seen!.number;
                lost -= missed;
                const first = stream.nextSeq(seen!.seq + 1)!;
                const start = content.numberOf(first) + missed;
                const slice = content.slice(1, 200, 1e6)!;
                const whole = sequences(slice.bytes);
                expect(sequences(frame.bytes)).toEqual(whole.slice(start, start + frame.count));
                seen = {
                  seq: sequences(frame.bytes).at(-1)!,
                  number: frame.deliverySeq + frame.count - 1,
                };
                expect(frame.pending).toBe(stream.countFrom(seen.seq + 1));
              }
          }
          expect(lost).toBeGreaterThanOrEqual(0);
        }
      }),
      { numRuns: 300, seed: 1 },
    );
  });
});
