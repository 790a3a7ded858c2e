import { describe, expect, it } from 'vitest';
import { silentMs, StallClock } from '../../src/verdict/stall.js';

function clockOf(...marks: [string, number, number][]): StallClock {
  const clock = new StallClock();
  clock.start(0);
  for (const [who, at, last] of marks) clock.progress(who, at, last);
  return clock;
}

describe('verdict: stall clock', () => {
  it('nothing was served: no stall', () => {
    expect(new StallClock().longest(1_000, 10, 0)).toEqual({ ms: 0, fromMs: null, toMs: null });
    expect(new StallClock().lastProgressMs()).toBeNull();
  });

  it('from the start to the first progress counts', () => {
    expect(clockOf(['r1', 40, 10]).longest(50, 10, 0)).toEqual({ ms: 40, fromMs: 0, toMs: 40 });
  });

  it('the longest gap of the highest last, whoever raised it', () => {
    const clock = clockOf(['r1', 10, 1], ['r2', 30, 2], ['r1', 90, 2], ['r3', 100, 3]);
    expect(clock.longest(100, 3, 0)).toEqual({ ms: 70, fromMs: 30, toMs: 100 });
    expect(clock.lastProgressMs()).toBe(100);
  });

  it('marks of several replicas are merged by time, not by arrival', () => {
    const clock = clockOf(['r1', 10, 1], ['r1', 100, 9], ['r2', 50, 5]);
    expect(clock.longest(100, 9, 0)).toEqual({ ms: 50, fromMs: 50, toMs: 100 });
  });

  it('a follower that catches up is no progress', () => {
    const clock = clockOf(['r1', 10, 5], ['r2', 50, 4], ['r1', 90, 6]);
    expect(clock.longest(90, 6, 0)).toEqual({ ms: 80, fromMs: 10, toMs: 90 });
  });

  it('the end counts while more is owed, and not once the target was reached', () => {
    const clock = clockOf(['r1', 10, 5]);
    expect(clock.longest(500, 6, 0)).toEqual({ ms: 490, fromMs: 10, toMs: 500 });
    expect(clock.longest(500, 5, 0)).toEqual({ ms: 10, fromMs: 0, toMs: 10 });
  });

  it("the origin's own pace is nobody's stall", () => {
    expect(clockOf(['r1', 100, 1], ['r1', 300, 2]).longest(300, 2, 150)).toEqual({
      ms: 50,
      fromMs: 100,
      toMs: 300,
    });
  });
});

describe('stall: silences of the origin', () => {
  it("are nobody's stall; what overlaps counts once", () => {
    const silences = [
      { fromMs: 50, toMs: 200 },
      { fromMs: 100, toMs: 300 },
      { fromMs: 900, toMs: 2_000 },
    ];
    expect(silentMs(0, 40, silences)).toBe(0);
    expect(silentMs(0, 1_000, silences)).toBe(350);
    expect(silentMs(120, 150, silences)).toBe(30);
  });

  it('only what lies within the stall is taken off', () => {
    const clock = new StallClock();
    clock.start(0);
    clock.progress('r1', 100, 5);
    clock.progress('r1', 1_100, 9);
    const silences = [{ fromMs: 50, toMs: 400 }];
    expect(clock.longest(1_200, 9, 0, silences)).toEqual({ ms: 700, fromMs: 100, toMs: 1_100 });
    expect(clock.longest(1_200, 9, 0)).toEqual({ ms: 1_000, fromMs: 100, toMs: 1_100 });
  });
});
