import { describe, expect, it } from 'vitest';
import type { ClusterEvent, Driver } from '../../src/scenario/driver.js';
import { FaultBook } from '../../src/scenario/fault-book.js';
import { planOf } from './stage.js';

type FaultEvent = Extract<ClusterEvent, { kind: 'fault' }>;

const DRIVER = { name: 'threads', cannot: () => null } as unknown as Driver;
const UNPACED = { origin: { synthetic: { messages: 10 } } };

function book(...faults: readonly object[]): { book: FaultBook; due: (nowMs: number) => string[] } {
  const plan = planOf({ ...UNPACED, faults });
  const made = new FaultBook(plan, DRIVER);
  const due = (nowMs: number): string[] =>
    plan.faults.filter((fault) => made.isDue(fault, 0, nowMs)).map(({ id }) => id);
  return { book: made, due };
}

function fell(id: string, atMs: number, state: FaultEvent['state'] = 'installed'): FaultEvent {
  return { kind: 'fault', id, slot: 'r1', state, atMs };
}

/** Statuses with their reasons. */
function statuses(of: FaultBook): string[] {
  return of.summaries(0).map(({ status, reason }) => `${status}: ${reason ?? ''}`);
}

describe('fault book: flap', () => {
  const flap = { id: 'f', flap: 'leader', at: '1ms' };

  it('the same member elected again: installed', () => {
    const made = book(flap);
    made.book.event(fell('f', 5));
    made.book.leader('r1', 8);
    made.book.leader('r2', 20);
    expect(statuses(made.book)).toEqual(['installed: ']);
    expect(made.book.uncovered('flap')).toEqual([]);
  });

  it('another one elected: indeterminate, and not covered', () => {
    const made = book(flap);
    made.book.event(fell('f', 5));
    made.book.leader('r2', 4);
    expect(statuses(made.book)).toEqual(['installed: ']);
    made.book.leader('r3', 8);
    expect(statuses(made.book)).toEqual(['indeterminate: r3 was elected in place of r1']);
    expect(made.book.uncovered('flap').map(({ text }) => text)).toEqual([
      'flap (f) was indeterminate: r3 was elected in place of r1',
    ]);
  });
});

describe('fault book: strokes', () => {
  const again = { id: 'f', flap: 'leader', at: '10ms', every: '5ms', repeat: 3 };

  it('each one after the one before was decided, even if it was skipped', () => {
    const made = book(again);
    expect([made.due(9), made.due(10)]).toEqual([[], ['f']]);
    made.book.event(fell('f', 12, 'skipped'));
    expect([made.due(16), made.due(17)]).toEqual([[], ['f#2']]);
    made.book.event(fell('f#2', 20));
    expect([made.due(24), made.due(25)]).toEqual([[], ['f#3']]);
    expect(made.book.awaitsTime(new Set())).toBe(true);
    made.book.event(fell('f#3', 26));
    expect(made.book.awaitsTime(new Set())).toBe(false);
  });

  it('what waits for an installed fault does not come when it was skipped', () => {
    const made = book({ id: 'a', kill: 'leader', at: '1ms' }, { flap: 'leader', after: 'a' });
    made.book.event(fell('a', 2, 'skipped'));
    expect([made.due(99), made.book.awaitsTime(new Set())]).toEqual([[], false]);
    made.book.lastSeen(new Map(), 99);
    expect(statuses(made.book)[1]).toBe('uncovered: a was not installed');
  });
});

describe('fault book: what follows one that lasts', () => {
  const FREEZE = { freeze: 'leader' };
  const follower = (delay: string) => ({ id: 'b', kill: 'leader', after: 'a', delay });
  const following = (delay: string, kind: object = FREEZE) => {
    const made = book({ id: 'a', ...kind, at: '1ms', for: '20ms' }, follower(delay));
    made.book.event(fell('a', 100));
    return made;
  };

  it('in the middle of it: as long after it began', () => {
    const made = following('19ms');
    expect([made.due(118), made.due(119)]).toEqual([[], ['b']]);
  });

  it.each([
    ['a freeze', FREEZE],
    ['a partition', { partition: 'isolate:leader' }],
  ])('behind %s: as long after its end as after the planned one', (_, kind) => {
    const made = following('30ms', kind);
    expect([made.due(999), made.book.awaitsTime(new Set())]).toEqual([[], true]);
    made.book.event(fell('a', 150, 'healed'));
    expect([made.due(159), made.due(160)]).toEqual([[], ['b']]);
  });

  it('behind one that ends early, or on time: as long after it began', () => {
    const made = following('30ms');
    made.book.event(fell('a', 110, 'healed'));
    expect([made.due(129), made.due(130)]).toEqual([[], ['b']]);
  });

  it('behind one whose member ends, or of which nobody knows: its end is not waited for', () => {
    const ended = following('30ms');
    ended.book.gone('r1');
    expect([ended.due(129), ended.due(130)]).toEqual([[], ['b']]);
    const unknown = following('30ms');
    unknown.book.event(fell('a', 140, 'indeterminate'));
    expect(unknown.due(130)).toEqual(['b']);
  });
});

describe('fault book: a run that ends first', () => {
  it('what was still to follow an installed fault was too late; behind none, it could not', () => {
    const made = book(
      { id: 'a', freeze: 'leader', at: '1ms' },
      { id: 'b', kill: 'follower', at: '9s' },
      { stepDown: 'leader', after: 'a', delay: '30ms' },
      { stepDown: 'leader', after: 'b' },
    );
    made.book.event(fell('a', 100));
    made.book.lastSeen(new Map(), 110);
    expect(statuses(made.book)).toEqual([
      'installed: ',
      'uncovered: the run was over before its time',
      'uncovered: the run was over before its time',
      'uncovered: b was not installed',
    ]);
  });
});

describe('fault book: a leader that stays at its work', () => {
  it.each([
    ['failPropose', { failPropose: 'leader' }],
    ['clockRate', { clockRate: 'leader', factor: 2 }],
    ['slow', { slow: 'leader', by: '1ms' }],
  ])('%s: the first message and the last one to catch up are its own', (_, kind) => {
    const made = book({ id: 'a', ...kind, at: '1ms' });
    made.book.leader('r1', 1);
    made.book.event(fell('a', 5));
    for (const slot of ['r1', 'r2', 'r3'] as const) made.book.progress(slot, 8, 3);
    expect(made.book.summary('a', 0)).toMatchObject({
      ...{ newLeaderMs: null, firstMessageMs: 3, caughtUpMs: 3 },
    });
  });
});

describe('fault book: states reached elsewhere', () => {
  const kill = { id: 'k', kill: 'any', when: { skipped: 5 }, within: '1s' };

  it('due once told, and no longer given up', () => {
    const made = book(kill);
    expect([made.due(500), made.book.expired(0, 1_001)]).toEqual([[], [0]]);
    made.book.due('k');
    expect([made.due(500), made.book.expired(0, 1_001)]).toEqual([['k'], []]);
    expect(made.book.awaitsTime(new Set())).toBe(true);
    expect(made.book.awaitsTime(new Set([0]))).toBe(false);
  });

  it('given up: it says what was last seen', () => {
    const made = book(kill);
    made.book.lastSeen(new Map([['k', 4]]), 1_001, 0);
    expect(statuses(made.book)).toEqual(['uncovered: waited 1 s for skipped >= 5; last seen 4']);
  });
});

describe('fault book: armed', () => {
  const faults = [
    { id: 'p', failPropose: 'leader', code: 'writeFailed', at: '1ms' },
    { id: 'o', refuseOpening: true, at: '1ms' },
    { id: 'l', loseDeliveries: true, at: '1ms' },
    { id: 'r', repeatDeliveries: true, at: '1ms' },
    { id: 'k', kill: 'leader', at: '1ms' },
  ];
  const installed = (): FaultBook => {
    const { book: made } = book(...faults);
    for (const { id } of faults) made.event(fell(id, 5));
    return made;
  };
  const unmet = 'uncovered: armed, and nothing came that it could have struck';

  it('what met nothing by the end did not happen', () => {
    const made = installed();
    made.refused('r2', 6, 'writeFailed');
    made.refused('r1', 6, 'overrun');
    made.refused('r1', 4, 'writeFailed');
    made.ended({ refused: 0, lost: 0, repeated: 0 }, 99);
    expect(statuses(made)).toEqual([unmet, unmet, unmet, unmet, 'installed: ']);
  });

  it('what met something did', () => {
    const made = installed();
    made.refused('r1', 6, 'writeFailed');
    made.ended({ refused: 1, lost: 2, repeated: 3 }, 99);
    expect(statuses(made)).toEqual(faults.map(() => 'installed: '));
  });

  it('two of a kind add up: what the first one did not use up is not shown of the second', () => {
    const two = (kind: object) => [
      { id: 'b', ...kind, times: 5, at: '2ms' },
      { id: 'a', ...kind, times: 2, at: '1ms' },
    ];
    const met = (refused: number): string[] => {
      const { book: made } = book(...two({ failPropose: 'leader' }).slice(0, 1), {
        ...{ id: 'p', failPropose: 'leader', times: 2, at: '1ms' },
      });
      made.event(fell('p', 5));
      made.event(fell('b', 6));
      for (let at = 0; at < refused; at++) made.refused('r1', 7, 'overrun');
      made.ended(undefined, 99);
      const { book: origin } = book(...two({ refuseOpening: true }));
      origin.event(fell('a', 5));
      origin.event(fell('b', 6));
      origin.ended({ refused, lost: 0, repeated: 0 }, 99);
      return [...statuses(made), ...statuses(origin)];
    };
    const did = 'installed: ';
    expect([met(0), met(2), met(3)]).toEqual([
      [unmet, unmet, unmet, unmet],
      [unmet, did, unmet, did],
      [did, did, did, did],
    ]);
  });

  it('one by chance may have struck beside another', () => {
    const { book: made } = book(
      { id: 'c', failPropose: 'leader', rate: 0.5, for: '9s', at: '1ms' },
      { id: 'p', failPropose: 'leader', at: '1ms' },
    );
    made.event(fell('c', 5));
    made.event(fell('p', 5));
    made.refused('r1', 7, 'overrun');
    made.ended(undefined, 99);
    expect(statuses(made)).toEqual(['installed: ', 'installed: ']);
  });

  it('what was armed in a life that ended strikes nothing in the next one', () => {
    const fails = { failPropose: 'r1', at: '1ms' };
    const { book: made } = book({ id: 'p', ...fails, times: 2 }, { id: 'q', ...fails });
    made.event(fell('p', 5));
    made.gone('r1');
    made.event(fell('q', 6));
    made.refused('r1', 7, 'overrun');
    made.ended(undefined, 99);
    expect(statuses(made)).toEqual([unmet, 'installed: ']);
  });

  it('what did not happen has nothing to recover from', () => {
    const { book: made } = book({ id: 'p', failPropose: 'leader', at: '1ms' });
    made.event(fell('p', 5));
    for (const slot of ['r1', 'r2', 'r3'] as const) made.progress(slot, 8, 3);
    made.ended(undefined, 99);
    expect(made.summary('p', 0)).toMatchObject({ firstMessageMs: null, caughtUpMs: null });
  });

  it('an origin that does not count is believed', () => {
    const made = installed();
    made.ended(undefined, 99);
    expect(statuses(made).slice(1)).toEqual(faults.slice(1).map(() => 'installed: '));
  });
});

describe('fault book: links', () => {
  it('whom they part, and the next leader when the one that led is left without a majority', () => {
    const made = book(
      { partition: 'minority:with-leader', at: '1ms' },
      { partition: 'isolate:r2', at: '1ms' },
    );
    made.book.leader('r1', 0);
    const links = { text: 'r1 | r2 r3', outvoted: ['r1'] };
    made.book.event({ ...fell('faults[0]', 5), slot: null, links });
    made.book.leader('r2', 30);
    expect(made.book.summaries(0).map(({ target, newLeaderMs }) => [target, newLeaderMs])).toEqual([
      ['r1 | r2 r3', 25],
      ['isolate:r2', null],
    ]);
  });
});
