import { describe, expect, it } from 'vitest';
import { RecoveryWatch } from '../../src/verdict/recovery.js';

describe('verdict: recovery', () => {
  it('of a leader: the next one, its first progress, the last replica to pass', () => {
    const watch = new RecoveryWatch(['r1', 'r2', 'r3']);
    watch.leader('r1', 0);
    watch.progress('r1', 5, 100);
    watch.progress('r2', 5, 90);
    const recovery = watch.fault(10, ['r1']);
    watch.gone('r1');
    // What the old leader had under way.
    watch.progress('r2', 12, 101);
    watch.leader('r2', 30);
    watch.progress('r2', 35, 102);
    watch.progress('r3', 36, 50);
    watch.progress('r3', 40, 102);
    expect(recovery).toEqual({ newLeaderMs: 20, firstMessageMs: 25, caughtUpMs: 30 });
  });

  it('of a follower: nobody has to follow it, progress counts at once', () => {
    const watch = new RecoveryWatch(['r1', 'r2']);
    watch.leader('r1', 0);
    watch.progress('r1', 1, 10);
    watch.progress('r2', 1, 10);
    const recovery = watch.fault(2, ['r2']);
    watch.leader('r3', 50);
    watch.progress('r1', 4, 11);
    watch.progress('r2', 9, 11);
    expect(recovery).toEqual({ newLeaderMs: null, firstMessageMs: 2, caughtUpMs: 7 });
  });

  it('of the origin: nobody is hit', () => {
    const watch = new RecoveryWatch(['r1']);
    watch.leader('r1', 0);
    const recovery = watch.fault(2, []);
    watch.progress('r1', 2, 1);
    watch.progress('r1', 3, 1);
    expect(recovery).toEqual({ newLeaderMs: null, firstMessageMs: 1, caughtUpMs: 1 });
  });

  it('of a leader that nobody replaced: once it is over, progress counts again', () => {
    const watch = new RecoveryWatch(['r1']);
    watch.leader('r1', 0);
    watch.progress('r1', 1, 10);
    const recovery = watch.fault(2, ['r2', 'r1']);
    watch.progress('r1', 3, 11);
    expect(recovery.firstMessageMs).toBeNull();
    watch.healed(watch.fault(2, ['r1']));
    watch.progress('r1', 4, 12);
    expect(recovery.firstMessageMs).toBeNull();
    watch.healed(recovery);
    watch.progress('r1', 9, 13);
    expect(recovery).toEqual({ newLeaderMs: null, firstMessageMs: 7, caughtUpMs: 7 });
  });

  it('one that was not heard of, or came back, has not caught up', () => {
    const watch = new RecoveryWatch(['r1', 'r2', 'r3']);
    watch.leader('r1', 0);
    watch.progress('r1', 1, 10);
    const early = watch.fault(2, []);
    watch.progress('r1', 3, 11);
    watch.progress('r2', 4, 11);
    expect(early).toEqual({ newLeaderMs: null, firstMessageMs: 1, caughtUpMs: null });
    watch.progress('r3', 5, 11);
    const late = watch.fault(6, ['r3']);
    watch.gone('r3');
    watch.returned('r3');
    watch.progress('r1', 8, 12);
    watch.progress('r2', 8, 12);
    watch.progress('r3', 9, 11);
    expect([early.caughtUpMs, late]).toEqual([
      3,
      { newLeaderMs: null, firstMessageMs: 2, caughtUpMs: null },
    ]);
    watch.progress('r3', 10, 12);
    expect(late.caughtUpMs).toBe(4);
  });

  it('of a leader that stays at its work: progress counts, until somebody follows it', () => {
    const watch = new RecoveryWatch(['r1', 'r2']);
    watch.leader('r1', 0);
    const recovery = watch.fault(2, ['r1'], true);
    watch.progress('r1', 3, 1);
    expect(recovery).toEqual({ newLeaderMs: null, firstMessageMs: 1, caughtUpMs: null });
    watch.leader('r2', 5);
    expect(recovery).toEqual({ newLeaderMs: 3, firstMessageMs: null, caughtUpMs: null });
    watch.progress('r1', 7, 2);
    watch.progress('r2', 8, 2);
    expect(recovery).toEqual({ newLeaderMs: 3, firstMessageMs: 5, caughtUpMs: 6 });
  });

  it('of a leader that went on until all had caught up: who leads later did not follow it', () => {
    const watch = new RecoveryWatch(['r1']);
    watch.leader('r1', 0);
    const recovery = watch.fault(2, ['r1']);
    watch.healed(recovery);
    watch.progress('r1', 4, 1);
    watch.leader('r2', 5_000);
    expect(recovery).toEqual({ newLeaderMs: null, firstMessageMs: 2, caughtUpMs: 2 });
  });
});
