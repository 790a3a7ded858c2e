/** Invariants of what a mirror asks for and says, on bad data. */
import { describe, expect, it } from 'vitest';
import type { OriginFrame } from '../../src/mirror/types.js';
import { AppliedLag } from '../../src/sim/invariants/applied-lag.js';
import { AsksAgain } from '../../src/sim/invariants/asks-again.js';
import { IdentityFirst } from '../../src/sim/invariants/identity-first.js';
import { OneConsumer } from '../../src/sim/invariants/one-consumer.js';
import { OwnOpening } from '../../src/sim/invariants/own-opening.js';
import { OwnNoopFirst } from '../../src/sim/invariants/own-noop-first.js';
import { RetryPacing } from '../../src/sim/invariants/retry-pacing.js';

const OPENING = { member: 'r1.1', term: 3, generation: 2 };

describe('sim: invariants: mirror: what it asks for', () => {
  it('asks again: a leader without an opening that waits for longer than gate and jitter', () => {
    const rule = new AsksAgain(0.05);
    expect(rule.stands('r1.1', 'serves', 10)).toBeNull();
    expect(rule.stands('r1.1', 'serves', 25)).toBeNull();
    expect(rule.stands('r1.1', 'serves', 26)).toBe(
      'r1.1 leads and asks for no opening since 16 ticks, 15 at most',
    );
    expect(rule.stands('r1.1', 'nothing', 27)).toBeNull();
    expect(rule.stands('r1.1', 'serves', 40)).toBeNull();
    rule.requested('r1.1');
    expect(rule.stands('r1.1', 'serves', 400)).toBeNull();
    rule.closed('r1.1', 'mismatch', 400);
    expect(rule.stands('r1.1', 'serves', 415)).toBeNull();
    expect(rule.stands('r1.1', 'serves', 416)).not.toBeNull();
    rule.condition('r1.1', false);
    expect(rule.stands('r1.1', 'serves', 500)).toBeNull();
    rule.condition('r1.1', true);
    rule.configured('r1.1', false);
    expect(rule.stands('r1.1', 'serves', 600)).toBeNull();
    rule.configured('r1.1', true);
    expect(rule.stands('r1.1', 'serves', 700)).toBeNull();
    expect(rule.stands('r1.1', 'serves', 716)).not.toBeNull();
    rule.configured('r1.1', false);
    rule.started('r1.1');
    expect(rule.stands('r1.1', 'serves', 0)).toBeNull();
    expect(rule.stands('r1.1', 'serves', 16)).not.toBeNull();
  });

  it('asks again: failed set-ups add up to a backoff, a set-up that succeeded ends it', () => {
    const rule = new AsksAgain(0.05);
    const waits = (ticks: number): boolean => {
      rule.closed('r1.1', 'createRefused', 0);
      return (
        rule.stands('r1.1', 'serves', ticks) === null &&
        rule.stands('r1.1', 'serves', ticks + 1) !== null
      );
    };
    expect(waits(65)).toBe(true);
    expect(waits(115)).toBe(true);
    expect(rule.stands('r1.1', 'handsOver', 999)).toBeNull();
    expect(waits(165)).toBe(true);
    rule.received('r1.1');
    expect(waits(65)).toBe(true);
    for (let nth = 0; nth < 20; nth++) rule.closed('r1.1', 'createRefused', 0);
    expect(waits(615)).toBe(true);
  });

  it('retry pacing: a request before the backoff of failed set-ups is over', () => {
    const rule = new RetryPacing(0.05);
    const failed = (atMs: number): void => rule.closed('r1.1', 1, 'createTimeout', atMs);
    expect(rule.asked('r1.1', 1, 0)).toBeNull();
    failed(1_000);
    expect(rule.asked('r1.1', 1, 1_480)).toBeNull();
    failed(2_000);
    expect(rule.asked('r1.1', 1, 2_970)).toBe(
      'r1.1 asked again 10 ms early after 2 failed set-ups',
    );
    rule.opened('r1.1');
    failed(4_000);
    expect(rule.asked('r1.1', 1, 4_480)).toBeNull();
    failed(5_000);
    rule.role('r1.1');
    expect(rule.asked('r1.1', 1, 5_100)).toBeNull();
    failed(6_000);
    rule.waits('r1.1');
    expect(rule.asked('r1.1', 1, 6_100)).toBeNull();
  });

  it('own no-op first: an opening before an entry of the term was applied', () => {
    const rule = new OwnNoopFirst();
    const early = 'r1.1 asked for an opening in term 3, applied up to entries of ';
    expect(rule.asked(OPENING)).toBe(`${early}0`);
    rule.applied('r1.1', 2);
    expect(rule.asked(OPENING)).toBe(`${early}2`);
    rule.applied('r1.1', 3);
    expect(rule.asked(OPENING)).toBeNull();
    rule.started('r1.1');
    expect(rule.asked(OPENING)).toBe(`${early}0`);
  });

  it('one consumer: an opening is closed and the origin is not told', () => {
    const rule = new OneConsumer();
    rule.closed(OPENING);
    expect(rule.stands('r2.1')).toBeNull();
    expect(rule.stands('r1.1')).toBe(
      "the origin was not told that r1.1's opening 2 of term 3 is closed",
    );
    rule.closeTold(OPENING);
    expect(rule.stands('r1.1')).toBeNull();
    rule.closed(OPENING);
    rule.started('r1.1');
    expect(rule.stands('r1.1')).toBeNull();
  });
});

describe('sim: invariants: mirror: what it says', () => {
  it('applied lag: it moves while nothing is applied, or is no number', () => {
    const rule = new AppliedLag();
    expect(rule.stands('r1.1', 7, true)).toBeNull();
    expect(rule.stands('r1.1', 3, false)).toBeNull();
    expect(rule.stands('r1.1', 6, true)).toBe(
      'the lag of r1.1 went from 7 to 6, nothing was applied',
    );
    rule.mayMove('r1.1');
    expect(rule.stands('r1.1', 2, true)).toBeNull();
    expect(rule.stands('r1.1', Number.NaN, true)).toBe('the lag of r1.1 is NaN');
    expect(rule.stands('r2.1', -1, true)).toBe('the lag of r2.1 is -1');
  });

  it('identity first: a store that moved and knows of no stream', () => {
    const rule = new IdentityFirst();
    expect(rule.stands('r1.1', 0, false)).toBeNull();
    expect(rule.stands('r1.1', 5, true)).toBeNull();
    expect(rule.stands('r1.1', 5, false)).toBe(
      'r1.1 is at 5 and knows of no stream that it copies',
    );
  });
});

describe('sim: invariants: mirror: own opening', () => {
  const OLDER = { ...OPENING, generation: 1 };
  const ANSWER: OriginFrame = {
    ...{ type: 'opened', opening: OPENING, identity: { name: 'ORDERS', created: 1n } },
    ...{ startsAfter: 9, last: 30, pending: 21 },
  };
  /** Messages at these sequences, no more of each than its place. */
  function deliveryOf(deliverySeq: number, ...seqs: number[]): OriginFrame {
    const bytes = new Uint8Array(seqs.length * 16);
    const view = new DataView(bytes.buffer);
    seqs.forEach((seq, nth) => {
      view.setUint32(nth * 16, 16, true);
      view.setUint32(nth * 16 + 8, seq - 1, true);
    });
    const { length: count } = seqs;
    return { type: 'deliver', opening: OPENING, deliverySeq, count, pending: 0, bytes };
  }
  function live(...frames: OriginFrame[]): OwnOpening {
    const rule = new OwnOpening();
    rule.requested(OPENING, 10);
    for (const frame of frames) rule.takesIn('r1.1', frame);
    return rule;
  }
  const text = "r1.1's opening 2 of term 3";

  it('an answer to an older one is taken, or one that starts before what was asked for', () => {
    expect(live().opened(OPENING, 10)).toBe(`${text} was not answered, and is open`);
    const older = live({ ...ANSWER, opening: OLDER });
    expect(older.opened(OPENING, 10)).toBe(`${text} was not answered, and is open`);
    expect(live(ANSWER).opened(OPENING, 10)).toBeNull();
    expect(live(ANSWER).opened(OPENING, 9)).toBe(`${text} asked for 10 and starts at 9`);
  });

  it('messages, skips, identity: not delivered in it, or beyond what was', () => {
    const rule = live(ANSWER, deliveryOf(1, 12, 13));
    const proposed = (
      what: 'messages' | 'skips' | 'range' | 'reset' | 'identity',
      first: number,
      last: number,
      of = rule,
    ): string | null => of.proposed('r1.1', { what, first, last });
    expect(proposed('messages', 12, 13)).toBeNull();
    expect(proposed('messages', 11, 13)).toBe(`${text} did not bring messages 11..13`);
    expect(proposed('messages', 12, 14)).toBe(`${text} did not bring messages 12..14`);
    expect(proposed('skips', 10, 12)).toBeNull();
    expect(proposed('skips', 10, 13)).toBe(`${text} did not bring skips 10..13`);
    expect(proposed('range', 1, 9, live(ANSWER))).toBeNull();
    expect(proposed('range', 1, 10, live(ANSWER))).toBe(`${text} did not bring range 1..10`);
    expect(proposed('reset', 1, 1, live())).toBe(`${text} did not bring reset 1..1`);
    expect(proposed('identity', 0, 0, live(ANSWER))).toBeNull();
    expect(proposed('identity', 0, 0, live())).toBe(`${text} did not bring identity 0..0`);
    const older = live(ANSWER, { ...deliveryOf(1, 12), opening: OLDER });
    expect(proposed('messages', 12, 12, older)).toBe(`${text} did not bring messages 12..12`);
  });

  it('credit: for a delivery that it has not', () => {
    const rule = live(ANSWER, deliveryOf(4, 12, 13));
    expect(rule.credited(OPENING, 5)).toBeNull();
    expect(rule.credited(OPENING, 6)).toBe(`${text} has no delivery 6, for which credit is given`);
    expect(rule.credited(OLDER, 6)).toBeNull();
  });

  it.each([
    ['createRefused', 'refused'],
    ['malformedAnswer', 'opened and no deliver'],
    ['malformedDelivery', 'deliver'],
    ['lostDelivery', 'deliver and no heartbeat'],
    ['blocked', 'deliver'],
    ['diverged', 'opened'],
  ] as const)('it ends as %s and brought no %s', (cause, missing) => {
    const refused: OriginFrame = {
      ...{ type: 'refused', opening: OPENING },
      error: { code: 'overrun', message: 'no room' },
    };
    expect(live().closed(OPENING, cause)).toBe(
      `${text} ended as ${cause} and brought no ${missing}`,
    );
    expect(live(ANSWER, refused, deliveryOf(1, 12)).closed(OPENING, cause)).toBeNull();
    const over = live();
    over.closed(OPENING, 'silence');
    expect(over.closed(OPENING, cause)).toBeNull();
    const anew = live();
    anew.started('r1.1');
    expect(anew.closed(OPENING, cause)).toBeNull();
  });
});
