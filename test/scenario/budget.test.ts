import { describe, expect, it } from 'vitest';
import { FaultBudget } from '../../src/scenario/budget.js';

function wordsFor(faults: number): Int32Array {
  return new Int32Array(new SharedArrayBuffer(4 * FaultBudget.wordsFor(faults)));
}

describe('budget: tolerated', () => {
  it.each([
    [1, 0],
    [3, 1],
    [5, 2],
    [7, 3],
  ])('of %i replicas %i, beyond quorum all', (replicas, tolerated) => {
    expect(FaultBudget.tolerated(replicas, false)).toBe(tolerated);
    expect(FaultBudget.tolerated(replicas, true)).toBe(replicas);
  });
});

describe('budget: claims', () => {
  it('each fault is claimed once, by whoever is first, in all that share the words', () => {
    const words = wordsFor(3);
    const [one, other] = [new FaultBudget(words, 1), new FaultBudget(words, 1)];
    expect([0, 1, 2].map((fault) => one.claimed(fault))).toEqual([false, false, false]);
    expect([one.claim(1), one.claim(1), other.claim(1)]).toEqual([true, false, false]);
    expect([0, 1, 2].map((fault) => other.claimed(fault))).toEqual([false, true, false]);
    expect([other.claim(0), one.claim(0), one.claim(2)]).toEqual([true, false, true]);
  });

  it('claims break nothing and breaks claim nothing', () => {
    const budget = new FaultBudget(wordsFor(2), 1);
    budget.claim(0);
    expect([budget.broken, budget.break([0]), budget.claimed(1)]).toEqual([0, true, false]);
  });
});

describe('budget: breaks', () => {
  it('up to the tolerated number; a refused one changes nothing', () => {
    const words = wordsFor(0);
    const [one, other] = [new FaultBudget(words, 2), new FaultBudget(words, 2)];
    expect([one.break([0]), other.break([4]), one.break([2])]).toEqual([true, true, false]);
    expect([one.broken, other.broken]).toEqual([2, 2]);
    expect([0, 1, 2, 3, 4].map((slot) => one.isBroken(slot))).toEqual([
      ...[true, false, false, false, true],
    ]);
  });

  it('a slot that is broken already counts once', () => {
    const budget = new FaultBudget(wordsFor(0), 1);
    expect([budget.break([6]), budget.break([6]), budget.broken]).toEqual([true, true, 1]);
  });

  it('mended it may break again, or another one may', () => {
    const budget = new FaultBudget(wordsFor(0), 1);
    budget.break([1]);
    budget.mend([1]);
    expect(() => {
      budget.mend([0]);
    }).toThrow('what is mended was broken');
    expect([budget.broken, budget.break([0]), budget.break([1])]).toEqual([0, true, false]);
  });

  it('several at once: all of them or none', () => {
    const budget = new FaultBudget(wordsFor(0), 2);
    expect([budget.break([0, 1, 2]), budget.broken]).toEqual([false, 0]);
    expect([budget.break([4, 6]), budget.break([4]), budget.break([5])]).toEqual([
      ...[true, true, false],
    ]);
    budget.mend([4, 6]);
    expect([budget.isBroken(4), budget.isBroken(6), budget.broken]).toEqual([true, false, 1]);
  });

  it('fifteen faults may hold one slot down at a time', () => {
    const budget = new FaultBudget(wordsFor(0), 1);
    const held = Array.from({ length: 16 }, () => budget.break([6]));
    expect(held).toEqual([...Array.from({ length: 15 }, () => true), false]);
    for (let fault = 0; fault < 15; fault++) budget.mend([6]);
    expect(budget.broken).toBe(0);
  });

  it('mending one leaves the others broken', () => {
    const budget = new FaultBudget(wordsFor(0), 2);
    budget.break([1]);
    budget.break([3]);
    budget.mend([1]);
    expect([budget.isBroken(1), budget.isBroken(3), budget.broken]).toEqual([false, true, 1]);
  });

  it('a cluster of one tolerates nothing', () => {
    const budget = new FaultBudget(wordsFor(0), FaultBudget.tolerated(1, false));
    expect([budget.break([0]), budget.broken]).toEqual([false, 0]);
  });
});
