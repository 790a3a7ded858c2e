/** Invariants of what a mirror asks for and says, on bad data. */
import { describe, expect, it } from 'vitest';
import { AppliedLag } from '../../src/sim/invariants/applied-lag.js';
import { AsksAgain } from '../../src/sim/invariants/asks-again.js';
import { IdentityFirst } from '../../src/sim/invariants/identity-first.js';
import { OneConsumer } from '../../src/sim/invariants/one-consumer.js';
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
    rule.started('r1.1');
    expect(rule.stands('r1.1', 'serves', 0)).toBeNull();
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
