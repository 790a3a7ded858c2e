import { describe, expect, it } from 'vitest';
import { createPrng } from '../../src/base/prng.js';
import { mirrorTicks, Pacing } from '../../src/mirror/pacing.js';
import type { MirrorEvent } from '../../src/mirror/types.js';
import {
  at,
  BACKOFF,
  BACKOFF_MAX,
  closed,
  delivery,
  GATE,
  JITTER,
  opened,
  openedAt,
  openingOf,
  PlainOrigin,
  play,
  proposed,
  range,
  receiving,
  requested,
  retry,
  rolledBack,
  Stage,
} from './stage.js';

const OPENING = openingOf(1);
const CLOSE = { type: 'close', opening: OPENING };
const REOPEN = GATE + JITTER;
const NOTHING = { originCommands: [], events: [] };

describe('mirror: leading', () => {
  it('first opening -> after the jitter, at store.last + 1', () => {
    const stage = new Stage();
    stage.store.last = 120;
    stage.lead();
    expect(stage.drain()).toEqual({ originCommands: [], events: [retry('leading', JITTER)] });
    stage.tick(JITTER - 1);
    expect(stage.drain()).toEqual(NOTHING);
    stage.tick();
    expect(stage.drain()).toEqual({
      originCommands: [{ type: 'open', opening: OPENING, startSeq: 121 }],
      events: [requested(OPENING, 121)],
    });
  });

  it('not configured -> nothing; configured while leading -> opens', () => {
    const stage = new Stage();
    stage.mirror.configure(false);
    stage.lead();
    stage.tick(1_000);
    expect(stage.drain()).toEqual(NOTHING);
    stage.mirror.configure(true);
    stage.tick(JITTER);
    expect(stage.drain().events).toEqual([retry('leading', JITTER), requested(OPENING, 1)]);
  });

  it('leadership lost -> closed, nothing planned, nothing taken in; twice is as once', () => {
    const stage = receiving(5);
    stage.mirror.stopLeading('notLeading');
    stage.mirror.stopLeading('notLeading');
    stage.mirror.frame(delivery(OPENING, 1, [6]));
    stage.tick(10_000);
    expect(stage.advanceAll()).toBe(0);
    expect(stage.drain()).toEqual({
      originCommands: [CLOSE],
      events: [closed(OPENING, 6, 'notLeading')],
    });
  });

  it('lost while a request is planned -> it is not sent', () => {
    const stage = new Stage();
    stage.lead();
    stage.mirror.stopLeading('notLeading');
    stage.tick(10_000);
    expect(stage.drain()).toEqual({ originCommands: [], events: [retry('leading', JITTER)] });
  });

  it('skips accepted are counted on from what lead() was given, and stay readable after', () => {
    const stage = receiving(5);
    stage.mirror.lead(2, 40);
    stage.cluster.term = 2;
    expect(stage.mirror.skipsAccepted).toBe(40);
    stage.tick(REOPEN);
    stage.mirror.frame(opened(openingOf(2, 2), { startsAfter: 7, last: 8, pending: 1 }));
    stage.advanceAll();
    stage.mirror.stopLeading('notLeading');
    expect(stage.mirror.skipsAccepted).toBe(42);
  });

  it('batches that may have vanished with the last leadership -> no say in the lag', () => {
    const stage = receiving(5, {}, 9);
    stage.mirror.frame(delivery(OPENING, 1, [6, 7], { pending: 3 }));
    stage.advanceAll();
    stage.cluster.truncate(0);
    stage.lead();
    stage.store.last = 7;
    stage.mirror.applied({ mismatched: 0 });
    expect(stage.mirror.status().lag).toBe(9);
  });
});

describe('mirror: flap', () => {
  it('led again -> one close, a later opening in the new term, held by the same gate', () => {
    const stage = receiving(5);
    stage.lead();
    const second = openingOf(2, 2);
    stage.tick(REOPEN);
    expect(stage.drain()).toEqual({
      originCommands: [CLOSE, { type: 'open', opening: second, startSeq: 6 }],
      events: [closed(OPENING, 6, 'notLeading'), retry('leading', REOPEN), requested(second, 6)],
    });
  });

  it('late frames of the opening before -> nothing, in every stage of the new one', () => {
    const stage = receiving(5);
    const late = [
      opened(OPENING, { startsAfter: 90, last: 99 }),
      { type: 'refused', opening: OPENING, error: { code: 'timeout', message: '' } } as const,
      delivery(OPENING, 1, [6]),
      { type: 'heartbeat', opening: OPENING, lastDeliverySeq: 7 } as const,
      // Not ours in one part only.
      delivery({ ...openingOf(2, 2), term: 1 }, 1, [6]),
      delivery({ ...openingOf(2, 2), generation: 1 }, 1, [6]),
      delivery({ ...openingOf(2, 2), member: 'r2.1' }, 1, [6]),
    ];
    const hear = () => {
      for (const frame of late) stage.mirror.frame(frame);
      expect(stage.advanceAll()).toBe(0);
    };
    stage.lead();
    hear();
    stage.tick(REOPEN);
    hear();
    stage.drain();
    stage.mirror.frame(opened(openingOf(2, 2), { startsAfter: 5, last: 5 }));
    stage.advanceAll();
    hear();
    expect(stage.drain()).toEqual({
      originCommands: [],
      events: [openedAt(openingOf(2, 2), 6)],
    });
    expect(stage.mirror.status()).toMatchObject({ cursor: at(5, 0), error: null });
  });

  it('a step of the old term after the flap -> staleTerm, nothing in the log (B2)', () => {
    const stage = receiving(5);
    stage.mirror.frame(delivery(OPENING, 1, [25_006]));
    stage.mirror.advance();
    stage.mirror.advance();
    stage.cluster.term = 2;
    expect(stage.mirror.advance()).toBe(false);
    expect(stage.cluster.log.length).toBe(1);
    expect(stage.drain()).toEqual({
      originCommands: [CLOSE],
      events: [
        proposed('skips', 6, 10_005),
        proposed('skips', 10_006, 20_005, 'staleTerm'),
        rolledBack('skipRefused', at(10_005, 0), at(5, 0)),
        closed(OPENING, 6, 'skipRefused'),
        retry('skipRefused', null),
      ],
    });
  });

  it('refused as not leading -> a configuration set anew opens nothing before lead()', () => {
    const stage = receiving(5);
    stage.cluster.leader = 'r2.1';
    stage.mirror.frame(delivery(OPENING, 1, [6]));
    stage.advanceAll();
    stage.drain();
    stage.mirror.configure(false);
    stage.mirror.configure(true);
    stage.mirror.transferAbandoned();
    stage.tick(10_000);
    expect(stage.drain()).toEqual(NOTHING);
    stage.lead();
    stage.tick(JITTER);
    expect(stage.drain().originCommands).toEqual([
      { type: 'open', opening: openingOf(2, 2), startSeq: 6 },
    ]);
  });
});

describe('mirror: transfer', () => {
  it('refused as transferring -> waits; abandoned -> reopens behind the gate', () => {
    const stage = receiving(5);
    stage.cluster.transferring = true;
    stage.mirror.frame(delivery(OPENING, 1, [6]));
    stage.advanceAll();
    stage.drain();
    stage.tick(50);
    expect(stage.drain()).toEqual(NOTHING);
    stage.mirror.transferAbandoned();
    stage.mirror.transferAbandoned();
    expect(stage.drain().events).toEqual([retry('transferAbandoned', REOPEN - 50)]);
    stage.tick(REOPEN - 50);
    expect(stage.drain().events).toEqual([requested(openingOf(2), 6)]);
  });

  it('abandoned while the opening lives, or while a retry is planned -> nothing', () => {
    const stage = receiving(5);
    stage.mirror.transferAbandoned();
    expect(stage.drain()).toEqual(NOTHING);
    const error = { code: 'timeout', message: 'no' } as const;
    stage.lead();
    stage.tick(REOPEN);
    stage.mirror.frame({ type: 'refused', opening: openingOf(2, 2), error });
    stage.advanceAll();
    stage.drain();
    stage.tick(500);
    stage.mirror.transferAbandoned();
    stage.tick(REOPEN + BACKOFF - 501);
    expect(stage.drain()).toEqual(NOTHING);
    stage.tick();
    expect(stage.drain().events).toEqual([requested(openingOf(3, 2), 6)]);
  });
});

describe('mirror: applied', () => {
  it('a command beyond its place -> cursor to the store, reopened at once behind the gate', () => {
    const stage = receiving(5);
    stage.mirror.frame(delivery(OPENING, 1, [6, 7]));
    stage.advanceAll();
    stage.drain();
    stage.tick(150);
    stage.mirror.applied({ mismatched: 2 });
    expect(stage.drain()).toEqual({
      originCommands: [CLOSE],
      events: [
        rolledBack('mismatch', at(7, 2), at(5, 2)),
        closed(OPENING, 6, 'mismatch'),
        retry('mismatch', REOPEN - 150),
      ],
    });
    expect(stage.mirror.status()).toMatchObject({ attempts: 0, cursor: at(5, 2) });
  });

  it('commands at or below last -> counted by the store, nothing reopened', () => {
    const stage = receiving(5);
    stage.store.last = 7;
    stage.mirror.frame(delivery(OPENING, 1, [6, 7, 8]));
    stage.advanceAll();
    expect(stage.apply()).toEqual([{ stored: 1, skipped: 0, seen: 2, mismatched: 0 }]);
    expect(stage.mirror.status().opening).toEqual(OPENING);
  });
});

describe('mirror: pacing', () => {
  it('upstream: gate 2 s, jitter 100-200 ms, backoff 10-120 s, silence 10 s, answer 30 s', () => {
    expect(mirrorTicks(1)).toEqual({
      gate: 200,
      jitterMin: 10,
      jitterMax: 20,
      backoff: 1_000,
      backoffMax: 12_000,
      silence: 1_000,
      createWait: 3_000,
    });
  });

  it('scaled by 0.05, and by next to nothing -> rounded, never less than a tick', () => {
    const least = { jitterMin: 1, jitterMax: 1 };
    expect(mirrorTicks(0.05)).toEqual({
      ...least,
      gate: 10,
      backoff: 50,
      backoffMax: 600,
      silence: 50,
      createWait: 150,
    });
    const one = { gate: 1, backoff: 1, backoffMax: 1, silence: 1, createWait: 1 };
    expect(mirrorTicks(1e-9)).toEqual({ ...least, ...one });
    expect(mirrorTicks(1, 50).gate).toBe(40);
  });

  it('jitter: drawn from the whole range, and from nothing beyond', () => {
    const pacing = new Pacing(mirrorTicks(1), createPrng(7));
    const drawn = new Set(range(1, 500).map(() => pacing.plan()));
    expect([...drawn].sort((a, b) => a - b)).toEqual(range(10, 20));
  });

  it('k failures in a row -> 10 s times k, 120 s from the twelfth on (E1)', () => {
    const stage = new Stage();
    stage.lead();
    const error = { code: 'timeout', message: 'no consumer' } as const;
    const waits: (number | null)[] = [];
    for (let k = 1; k <= 14; k++) {
      while (stage.mirror.status().opening === null) stage.tick();
      stage.drain();
      const opening = stage.mirror.status().opening!;
      stage.mirror.frame({ type: 'refused', opening, error });
      stage.advanceAll();
      for (const event of stage.drain().events) {
        if (event.kind === 'retry') waits.push(event.inTicks);
      }
    }
    const backoff = range(1, 14).map((k) => REOPEN + Math.min(k * BACKOFF, BACKOFF_MAX));
    expect(waits).toEqual(backoff);
  });

  it('a loss every time -> one request in 2 s and jitter, no more and not much less', () => {
    const stage = receiving(5);
    const requests: number[] = [];
    for (let tick = 0; tick < 20 * REOPEN; tick++) {
      const { opening } = stage.mirror.status();
      if (opening !== null) {
        stage.mirror.frame(opened(opening, { startsAfter: 5, last: 9, pending: 4 }));
        stage.mirror.frame(delivery(opening, 2, [9]));
        stage.advanceAll();
      }
      stage.tick();
      const asked = stage.drain().originCommands.some(({ type }) => type === 'open');
      if (asked) requests.push(tick);
    }
    const apart = requests.slice(1).map((tick, nth) => tick - requests[nth]!);
    expect(apart).toEqual(Array.from({ length: 19 }, () => REOPEN));
  });

  it('whatever is turned on and off within 2 s -> still one request in 2 s (E1)', () => {
    const stage = receiving(5);
    for (let tick = 0; tick < GATE - 1; tick++) {
      stage.mirror.configure(false);
      stage.mirror.configure(true);
      stage.mirror.transferAbandoned();
      stage.mirror.lead(1, 0);
      stage.tick();
    }
    const opens = stage.drain().originCommands.filter(({ type }) => type === 'open');
    expect(opens).toEqual([]);
  });
});

describe('mirror: configuration', () => {
  it('removed with a delivery in hand -> closed, no crash; set -> opens at the store', () => {
    const stage = receiving(5);
    stage.mirror.frame(delivery(OPENING, 1, [6]));
    stage.mirror.configure(false);
    stage.mirror.configure(false);
    expect(stage.advanceAll()).toBe(0);
    expect(stage.drain()).toEqual({
      originCommands: [CLOSE],
      events: [closed(OPENING, 6, 'unconfigured')],
    });
    stage.tick(10_000);
    expect(stage.drain()).toEqual(NOTHING);
    stage.mirror.configure(true);
    stage.mirror.configure(true);
    stage.tick(JITTER);
    expect(stage.drain().events).toEqual([retry('leading', JITTER), requested(openingOf(2), 6)]);
  });

  it('removed in the middle of a skip, set again -> the new opening skips what is left', () => {
    const stage = receiving(5, { batchCountMax: 10 });
    stage.mirror.frame(delivery(OPENING, 1, [36]));
    stage.mirror.advance();
    stage.mirror.advance();
    stage.mirror.configure(false);
    stage.mirror.configure(true);
    stage.apply();
    stage.tick(REOPEN);
    stage.drain();
    const second = openingOf(2);
    stage.mirror.frame(opened(second, { startsAfter: 35, last: 36, pending: 1 }));
    stage.mirror.frame(delivery(second, 1, [36]));
    stage.advanceAll();
    expect(stage.drain().events).toEqual([
      openedAt(second, 36),
      proposed('skips', 16, 25),
      proposed('skips', 26, 35),
      proposed('messages', 36, 36),
    ]);
  });

  it('removed while the answer is under way -> the late answer is nothing to us', () => {
    const stage = new Stage();
    stage.lead();
    stage.tick(JITTER);
    stage.mirror.configure(false);
    stage.mirror.frame(opened(OPENING, { last: 5 }));
    expect(stage.advanceAll()).toBe(0);
    stage.mirror.configure(true);
    stage.mirror.frame(opened(OPENING, { last: 5 }));
    expect(stage.advanceAll()).toBe(0);
    expect(stage.mirror.status().opening).toBe(null);
  });

  it('100,000 interleavings -> no crash, never two live openings, equal at the end', () => {
    const prng = createPrng(8152);
    const stage = new Stage({ batchCountMax: 7, prng, timeScale: 0.01 });
    const origin = new PlainOrigin();
    const events = new Map<string, number>();
    const drain = () => {
      const ready = stage.drain();
      for (const command of ready.originCommands) origin.command(command);
      for (const event of ready.events)
        events.set(nameOf(event), (events.get(nameOf(event)) ?? 0) + 1);
    };
    stage.lead();
    for (let nth = 0; nth < 100_000; nth++) {
      switch (prng.below('what', 12)) {
        case 0:
          stage.mirror.configure(prng.chance('configured', 3, 4));
          break;
        case 1:
          if (prng.chance('publish', 1, 40)) publishWithGap(origin, prng.below('gap', 20));
          break;
        case 2:
          if (prng.chance('flap', 1, 10)) stage.lead();
          break;
        case 3:
          stage.apply(1);
          break;
        case 4:
          drain();
          break;
        case 5:
        case 6:
          for (const frame of origin.take(3)) stage.mirror.frame(frame);
          break;
        case 7:
          for (const frame of origin.heartbeat()) stage.mirror.frame(frame);
          break;
        case 8:
        case 9:
          stage.tick();
          break;
        default:
          stage.mirror.advance();
      }
    }
    origin.publish(1);
    stage.mirror.configure(true);
    drain();
    play(stage, origin, 500);
    expect(stage.store.messages).toEqual(origin.messages);
    expect(stage.store.last).toBe(origin.last);
    expect(stage.open.size).toBe(1);
    const seen = ['closed unconfigured', 'closed notLeading', 'skips', 'messages', 'opened'];
    for (const name of seen) expect(events.get(name), name).toBeGreaterThan(50);
  });
});

function publishWithGap(origin: PlainOrigin, size: number): void {
  origin.publish(size + 3);
  origin.remove(origin.last - size, origin.last - 1);
}

function nameOf(event: MirrorEvent): string {
  if (event.kind === 'opening') return event.cause ? `${event.state} ${event.cause}` : event.state;
  return event.kind === 'propose' ? event.what : event.kind;
}

describe('mirror: determinism', () => {
  it('same inputs -> same outputs, jitter included', () => {
    const run = () => {
      const stage = new Stage({ prng: createPrng(3) });
      const origin = new PlainOrigin();
      origin.publish(20);
      origin.remove(7, 11);
      stage.lead();
      const said: unknown[] = [];
      for (let tick = 0; tick < 400; tick++) {
        stage.tick();
        const ready = stage.drain();
        said.push(ready);
        for (const command of ready.originCommands) origin.command(command);
        for (const frame of origin.take(4)) stage.mirror.frame(frame);
        stage.advanceAll();
        stage.apply();
        if (tick === 200) stage.lead();
      }
      return said;
    };
    expect(run()).toEqual(run());
  });
});
