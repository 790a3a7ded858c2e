import { describe, expect, it } from 'vitest';
import type { Role } from '../../src/raft/types.js';
import type { ReplicaView } from '../../src/replica/types.js';
import { Arms, armsOf, stateText } from '../../src/scenario/arms.js';
import { FaultBudget } from '../../src/scenario/budget.js';
import type { FaultPlan, StateTrigger, Target } from '../../src/scenario/types.js';

const LEADER: Target = { kind: 'leader' };
const FOLLOWER: Target = { kind: 'follower', which: 'first' };

function slot(name: string): Target {
  return { kind: 'slot', slot: name };
}

function fault(id: string, target: Target | null, state: StateTrigger): FaultPlan {
  const trigger = { kind: 'state', state, withinMs: 1_000 } as const;
  const action =
    target === null ? ({ kind: 'dropConsumer' } as const) : ({ kind: 'kill' } as const);
  return { id, action, target, trigger, on: null };
}

function budgetOf(faults: readonly FaultPlan[]): FaultBudget {
  return new FaultBudget(new Int32Array(FaultBudget.wordsFor(faults.length)), 1);
}

function armed(faults: readonly FaultPlan[], who: string, budget = budgetOf(faults)): Arms {
  return new Arms(armsOf(faults), who, budget);
}

interface Seen {
  readonly serving?: boolean;
  readonly skipsAccepted?: number;
  readonly stored?: number;
  readonly role?: Role;
  readonly term?: number;
  /** On how many members some batch is. */
  readonly on?: number;
}

function view({ serving = false, skipsAccepted = 0, stored = 0, on, ...log }: Seen): ReplicaView {
  const appendedOn = (members: number): boolean => members === on;
  return { serving, skipsAccepted, stored, log: { role: 'follower', term: 1, ...log, appendedOn } };
}

/** A leader whose noop is applied. */
function serving(seen: Seen): ReplicaView {
  return view({ role: 'leader', serving: true, ...seen });
}

/** Ids of what is due one after the other until nothing is. */
function dueAt(arms: Arms, seen: ReplicaView): string[] {
  const ids: string[] = [];
  for (let arm = arms.due(seen); arm !== undefined; arm = arms.due(seen)) ids.push(arm.fault.id);
  return ids;
}

describe('arms: which faults', () => {
  it('those that wait for a state, with their positions in the plan', () => {
    const state = fault('a', LEADER, { kind: 'skipped', count: 1 });
    const time: FaultPlan = { ...state, id: 'b', trigger: { kind: 'time', atMs: 5 } };
    const after: FaultPlan = {
      ...state,
      id: 'c',
      trigger: { kind: 'after', fault: 'a', delayMs: 5, settled: false },
    };
    const last = fault('d', null, { kind: 'term', term: 2 });
    expect(armsOf([time, state, after, last])).toEqual([
      { at: 1, fault: state },
      { at: 3, fault: last },
    ]);
  });
});

describe('arms: states', () => {
  it.each<[StateTrigger, ReplicaView, ReplicaView]>([
    [{ kind: 'skipped', count: 10 }, serving({ skipsAccepted: 9 }), serving({ skipsAccepted: 10 })],
    [{ kind: 'skipped', count: 10 }, serving({ stored: 99 }), serving({ skipsAccepted: 11 })],
    [{ kind: 'applied', count: 3 }, serving({ stored: 2 }), serving({ stored: 3 })],
    [{ kind: 'applied', count: 3 }, serving({ skipsAccepted: 99 }), serving({ stored: 4 })],
    [{ kind: 'appended', on: 2, of: 3 }, serving({ on: 1 }), serving({ on: 2 })],
    [{ kind: 'appended', on: 1, of: 3 }, serving({ on: 3 }), serving({ on: 1 })],
    [{ kind: 'phase', phase: 'noop' }, serving({ stored: 1 }), view({ role: 'leader', stored: 1 })],
    [
      { kind: 'phase', phase: 'noop' },
      view({ role: 'leader' }),
      view({ role: 'leader', stored: 1 }),
    ],
    [{ kind: 'phase', phase: 'noop' }, view({ stored: 1 }), view({ role: 'leader', stored: 1 })],
    [{ kind: 'term', term: 4 }, serving({ term: 3 }), serving({ term: 4 })],
    [{ kind: 'term', term: 4 }, serving({ term: 1 }), serving({ term: 7 })],
  ])('leader: %o: not yet, then once', (state, before, met) => {
    const arms = armed([fault('f', LEADER, state)], 'r1');
    expect([dueAt(arms, before), dueAt(arms, met), dueAt(arms, met)]).toEqual([[], ['f'], []]);
  });

  it.each<[StateTrigger, Role, boolean]>([
    [{ kind: 'role', role: 'leader' }, 'leader', true],
    [{ kind: 'role', role: 'leader' }, 'candidate', false],
    [{ kind: 'role', role: 'candidate' }, 'candidate', true],
    [{ kind: 'role', role: 'candidate' }, 'preCandidate', true],
    [{ kind: 'role', role: 'candidate' }, 'leader', false],
    [{ kind: 'role', role: 'follower' }, 'follower', true],
    [{ kind: 'role', role: 'follower' }, 'preCandidate', false],
  ])('slot: %o in role %s: %s', (state, role, isMet) => {
    const arms = armed([fault('f', slot('r1'), state)], 'r1');
    expect(dueAt(arms, view({ role }))).toEqual(isMet ? ['f'] : []);
  });
});

describe('arms: targets', () => {
  const state = { kind: 'applied', count: 1 } as const;
  const meeting = { stored: 5 };

  it('leader: one that serves, not one whose noop is not applied yet', () => {
    const arms = armed([fault('f', LEADER, state)], 'r1');
    expect(dueAt(arms, view(meeting))).toEqual([]);
    expect(dueAt(arms, view({ ...meeting, role: 'leader' }))).toEqual([]);
    expect(dueAt(arms, serving(meeting))).toEqual(['f']);
  });

  it('follower: no candidate and no leader', () => {
    const arms = armed([fault('f', FOLLOWER, state)], 'r1');
    expect(dueAt(arms, serving(meeting))).toEqual([]);
    expect(dueAt(arms, view({ ...meeting, role: 'candidate' }))).toEqual([]);
    expect(dueAt(arms, view(meeting))).toEqual(['f']);
  });

  it('who holds a batch, and the phases of a leader: seen by it, whoever is meant', () => {
    const other = fault('a', slot('r2'), { kind: 'appended', on: 1, of: 3 });
    const noop = fault('p', slot('r2'), { kind: 'phase', phase: 'noop' });
    expect(dueAt(armed([other], 'r1'), view({ role: 'leader', on: 1 }))).toEqual([]);
    expect(dueAt(armed([other], 'r1'), serving({ on: 1 }))).toEqual(['a']);
    expect(dueAt(armed([noop], 'r1'), view({ role: 'leader', stored: 1 }))).toEqual(['p']);
  });

  it('slot: that one alone, in any role', () => {
    const faults = [fault('f', slot('r2'), state)];
    expect(dueAt(armed(faults, 'r1'), serving(meeting))).toEqual([]);
    expect(dueAt(armed(faults, 'r2'), serving(meeting))).toEqual(['f']);
    expect(dueAt(armed(faults, 'r2'), view(meeting))).toEqual(['f']);
  });

  it('the origin: set off by whoever serves', () => {
    const faults = [fault('f', null, state)];
    expect(dueAt(armed(faults, 'r1'), view(meeting))).toEqual([]);
    expect(dueAt(armed(faults, 'r3'), serving(meeting))).toEqual(['f']);
  });
});

describe('arms: claims', () => {
  const applied = { kind: 'applied', count: 1 } as const;
  const met = view({ stored: 5 });

  it('a fault armed in several members fires in the first of them', () => {
    const faults = [fault('f', FOLLOWER, applied)];
    const budget = budgetOf(faults);
    const [one, other] = [armed(faults, 'r1', budget), armed(faults, 'r2', budget)];
    expect([dueAt(one, met), dueAt(other, met)]).toEqual([['f'], []]);
    expect(budget.claimed(0)).toBe(true);
  });

  it('what somebody claimed does not keep back what comes after it', () => {
    const faults = ['a', 'b', 'c'].map((id) => fault(id, FOLLOWER, applied));
    const budget = budgetOf(faults);
    budget.claim(1);
    expect(dueAt(armed(faults, 'r1', budget), met)).toEqual(['a', 'c']);
    expect([0, 1, 2].map((at) => budget.claimed(at))).toEqual([true, true, true]);
  });

  it('claims are by position in the plan, not among the arms', () => {
    const time: FaultPlan = {
      ...fault('t', FOLLOWER, applied),
      trigger: { kind: 'time', atMs: 5 },
    };
    const faults = [time, fault('f', FOLLOWER, applied)];
    const budget = budgetOf(faults);
    expect(dueAt(armed(faults, 'r1', budget), met)).toEqual(['f']);
    expect([budget.claimed(0), budget.claimed(1)]).toEqual([false, true]);
  });

  it('several that are due come in the order of the plan', () => {
    const faults = [
      fault('a', FOLLOWER, { kind: 'applied', count: 5 }),
      fault('b', FOLLOWER, { kind: 'applied', count: 6 }),
      fault('c', slot('r1'), { kind: 'term', term: 1 }),
    ];
    const arms = armed(faults, 'r1');
    expect([dueAt(arms, met), dueAt(arms, view({ stored: 6 }))]).toEqual([['a', 'c'], ['b']]);
  });
});

describe('arms: last seen', () => {
  it('the furthest that came, while the member was the target', () => {
    const faults = [
      fault('skips', LEADER, { kind: 'skipped', count: 100 }),
      fault('role', slot('r1'), { kind: 'role', role: 'candidate' }),
      fault('other', slot('r2'), { kind: 'applied', count: 9 }),
      fault('unmet', FOLLOWER, { kind: 'applied', count: 9 }),
    ];
    const arms = armed(faults, 'r1');
    expect([...arms.lastSeen()]).toEqual([]);
    dueAt(arms, serving({ skipsAccepted: 40 }));
    dueAt(arms, serving({ skipsAccepted: 7 }));
    dueAt(arms, view({ role: 'candidate', skipsAccepted: 90, stored: 8 }));
    expect([...arms.lastSeen()]).toEqual([
      ['skips', 40],
      ['role', 1],
    ]);
  });

  it('reads in a message as the scenario has it', () => {
    const states: StateTrigger[] = [
      { kind: 'skipped', count: 10_000 },
      { kind: 'applied', count: 1 },
      { kind: 'term', term: 3 },
      { kind: 'role', role: 'candidate' },
      { kind: 'appended', on: 2, of: 5 },
      { kind: 'phase', phase: 'noop' },
    ];
    expect(states.map(stateText)).toEqual([
      ...['skipped >= 10000', 'applied >= 1', 'term >= 3', 'role = candidate'],
      ...['appended on 2 of 5', 'phase = noop'],
    ]);
  });
});
