import { describe, expect, it } from 'vitest';
import { Conductor, type ConductorOrder, type MemberView } from '../../src/election/conductor.js';

const [A, B, C, D, E] = ['r1.1', 'r2.1', 'r3.1', 'r4.1', 'r5.1'] as const;
const THREE = [A, B, C];
const FIVE = [A, B, C, D, E];
const TIMES = { viewMaxAgeMs: 60, probeMs: 10, probeMostMs: 50, orderMs: 100, restMs: 200 };

function conductorOf(members: readonly string[] = THREE): Conductor {
  return new Conductor({ members, ...TIMES });
}

/** A follower of nobody in term 3 with the log (10, 3), linked to all of three. */
function view(member: string, fields: Partial<MemberView> = {}): MemberView {
  return {
    ...{ member, role: 'follower', term: 3, leader: null, lastIndex: 10, lastTerm: 3 },
    hears: THREE,
    ...fields,
  };
}

function leading(member: string, fields: Partial<MemberView> = {}): MemberView {
  return view(member, { role: 'leader', leader: member, ...fields });
}

function tell(conductor: Conductor, atMs: number, views: readonly MemberView[]): void {
  for (const one of views) conductor.view(one, atMs);
}

function probes(members: readonly string[]): ConductorOrder[] {
  return members.map((to) => ({ type: 'probe', to }));
}

function campaign(to: string, fields: { term?: number; deadLeader?: string | null } = {}) {
  return { type: 'campaign', to, term: 3, deadLeader: null, ...fields };
}

/** No leader at time 0 and all views at time 5: what is ordered when the answers are due. */
function orderFrom(conductor: Conductor, views: readonly MemberView[]): readonly ConductorOrder[] {
  conductor.tick(0);
  tell(conductor, 5, views);
  return conductor.tick(10);
}

/** Every order of ticks each 5 ms, with the time; the views are told anew before each tick. */
function ordersUntil(
  conductor: Conductor,
  endMs: number,
  views: readonly MemberView[],
): [number, ...ConductorOrder[]][] {
  const orders: [number, ...ConductorOrder[]][] = [];
  for (let now = 0; now <= endMs; now += 5) {
    tell(conductor, now, views);
    const given = conductor.tick(now);
    if (given.length > 0) orders.push([now, ...given]);
  }
  return orders;
}

describe('conductor: leader', () => {
  it('led: nothing is ordered, at any time', () => {
    const views = [leading(A), view(B, { leader: A }), view(C, { leader: A })];
    const conductor = conductorOf();
    expect(ordersUntil(conductor, 1_000, views)).toEqual([]);
    expect(conductor.leader(1_000)).toBe(A);
  });

  it('two claims: the higher term leads, whoever reports first', () => {
    for (const views of [
      [leading(A, { term: 3 }), leading(B, { term: 4 })],
      [leading(B, { term: 4 }), leading(A, { term: 3 })],
    ]) {
      const conductor = conductorOf();
      tell(conductor, 0, views);
      expect(conductor.leader(0)).toBe(B);
    }
  });

  it('stale: a claim counts as long as its view may be old, not longer', () => {
    const conductor = conductorOf();
    conductor.view(leading(A), 100);
    expect(conductor.leader(160)).toBe(A);
    expect(conductor.leader(160.1)).toBeNull();
    expect(conductor.tick(161)).toEqual(probes(THREE));
  });

  it('exited: leads no longer, is not probed, and what it still reports is ignored', () => {
    const conductor = conductorOf();
    conductor.view(leading(A), 0);
    conductor.exited(A);
    conductor.view(leading(A), 1);
    expect(conductor.leader(1)).toBeNull();
    expect(conductor.tick(1)).toEqual(probes([B, C]));
  });

  it('returned: what it reports from then on counts again', () => {
    const conductor = conductorOf();
    conductor.exited(A);
    conductor.returned(A);
    conductor.view(leading(A), 1);
    expect(conductor.leader(1)).toBe(A);
  });

  it.each([
    ['a majority knows a higher term', { term: 4 }, { term: 4 }, null],
    ['one knows a higher term', { term: 4 }, {}, A],
    ['a majority follows another', { leader: B }, { leader: B }, null],
    ['one follows another', { leader: B }, { leader: A }, A],
    ['a majority follows nobody and hears it not', { hears: [B, C] }, { hears: [B, C] }, null],
    ['a majority follows nobody and hears it', {}, {}, A],
    [
      'a majority hears it not and follows it',
      { leader: A, hears: [B] },
      { leader: A, hears: [C] },
      A,
    ],
    ['a majority is of an older term', { term: 2, hears: [B] }, { term: 2, hears: [C] }, A],
    ['one of each', { term: 4 }, { hears: [B, C] }, null],
  ])('disowned: %s', (_title, ofB, ofC, expected) => {
    const conductor = conductorOf();
    tell(conductor, 0, [leading(A), view(B, ofB), view(C, ofC)]);
    expect(conductor.leader(0)).toBe(expected);
  });

  it('disowned: stale views disown nobody', () => {
    const conductor = conductorOf();
    tell(conductor, 0, [view(B, { term: 4 }), view(C, { term: 4 })]);
    conductor.view(leading(A), 61);
    expect(conductor.leader(61)).toBe(A);
  });

  it('disowned: of five, two do not suffice', () => {
    const claim = leading(A, { hears: FIVE });
    const higher = [B, C, D].map((member) => view(member, { term: 4, hears: FIVE }));
    const conductor = conductorOf(FIVE);
    tell(conductor, 0, [claim, ...higher.slice(0, 2)]);
    expect(conductor.leader(0)).toBe(A);
    tell(conductor, 0, higher);
    expect(conductor.leader(0)).toBeNull();
  });
});

describe('conductor: candidates', () => {
  it('the best log is asked: last term before last index, ties by order of members', () => {
    const longest = { lastIndex: 90, lastTerm: 2 };
    expect(
      orderFrom(conductorOf(), [view(A, longest), view(B), view(C, { lastIndex: 11 })]),
    ).toEqual([campaign(C)]);
    expect(orderFrom(conductorOf(), [view(C), view(B), view(A, longest)])).toEqual([campaign(B)]);
  });

  it('linked: a member that one of the majority does not hear is passed by', () => {
    const views = [
      view(A, { hears: [A, B, C], lastIndex: 99 }),
      view(B, { hears: [B, C] }),
      view(C, { hears: [B, C] }),
    ];
    expect(orderFrom(conductorOf(), views)).toEqual([campaign(B)]);
  });

  it('linked: a member that does not hear the majority is passed by', () => {
    const views = [view(A, { hears: [A], lastIndex: 99 }), view(B), view(C)];
    expect(orderFrom(conductorOf(), views)).toEqual([campaign(B)]);
  });

  it('linked: each must hear the majority itself; a chain is none', () => {
    const five = (member: string, hears: string[]): MemberView => view(member, { hears });
    const chain = [five(A, [A, B]), five(B, [A, B, C]), five(C, [B, C, D]), five(D, [C, D])];
    expect(orderFrom(conductorOf(FIVE), chain)).toEqual([campaign(B)]);
  });

  it('majority: of all members, also of those that exited or are silent', () => {
    const conductor = conductorOf();
    conductor.exited(A);
    conductor.exited(B);
    expect(orderFrom(conductor, [view(C)])).toEqual([]);
    expect(orderFrom(conductorOf(), [view(C)])).toEqual([]);
    expect(orderFrom(conductorOf(), [view(B), view(C)])).toEqual([campaign(B)]);
  });

  it('stale: a view that is too old makes neither a candidate nor a majority', () => {
    const conductor = conductorOf();
    conductor.view(view(A, { lastIndex: 99 }), 0);
    conductor.tick(55);
    conductor.view(view(B), 60);
    expect(conductor.tick(65)).toEqual([]);
    conductor.view(view(C), 65);
    expect(conductor.tick(70)).toEqual([campaign(B)]);
  });

  it('order: carries the term and the leader that the candidate knows', () => {
    const views = [view(A, { term: 7, leader: C }), view(B)];
    expect(orderFrom(conductorOf(), views)).toEqual([campaign(A, { term: 7, deadLeader: C })]);
  });

  it('order: names the last leader that was seen when the candidate knows none', () => {
    const conductor = conductorOf();
    tell(conductor, 0, [leading(C)]);
    conductor.tick(0);
    conductor.exited(C);
    conductor.tick(5);
    tell(conductor, 10, [view(A), view(B)]);
    expect(conductor.tick(15)).toEqual([campaign(A, { deadLeader: C })]);
  });
});

describe('conductor: phases', () => {
  it('probing: waits for all answers, then no longer than a linked majority needs', () => {
    const conductor = conductorOf();
    expect(conductor.tick(0)).toEqual(probes(THREE));
    tell(conductor, 1, [view(A), view(B)]);
    expect(conductor.tick(9)).toEqual([]);
    expect(conductor.tick(10)).toEqual([campaign(A)]);
  });

  it('probing: a majority that comes late is still waited for', () => {
    const conductor = conductorOf();
    conductor.tick(0);
    expect(conductor.tick(49)).toEqual([]);
    tell(conductor, 49, [view(B), view(C)]);
    expect(conductor.tick(50)).toEqual([campaign(B)]);
  });

  it('probing: ends without an order when a leader shows', () => {
    const conductor = conductorOf();
    conductor.tick(0);
    tell(conductor, 5, [leading(B), view(A), view(C)]);
    expect(conductor.tick(10)).toEqual([]);
    expect(conductor.tick(50)).toEqual([]);
  });

  it('ordered: one order in flight; when its time is over the next best is asked', () => {
    const views = [view(A), view(B, { lastIndex: 12 }), view(C, { lastIndex: 11 })];
    expect(ordersUntil(conductorOf(), 550, views)).toEqual([
      [0, ...probes(THREE)],
      [10, campaign(B)],
      [110, ...probes(THREE)],
      [120, campaign(C)],
      [220, ...probes(THREE)],
      [230, campaign(A)],
      [330, ...probes(THREE)],
      // At 380 everybody was asked: the members' own timers have the field for 200 ms.
    ]);
  });

  it('resting: after it everybody may be asked again', () => {
    const views = [view(A), view(B, { lastIndex: 12 })];
    expect(ordersUntil(conductorOf(), 490, views)).toEqual([
      [0, ...probes(THREE)],
      [10, campaign(B)],
      [110, ...probes(THREE)],
      [120, campaign(A)],
      [220, ...probes(THREE)],
      [470, ...probes(THREE)],
      [480, campaign(B)],
    ]);
  });

  it('resting: comes too when no majority ever answers', () => {
    expect(ordersUntil(conductorOf(), 500, [view(A)])).toEqual([
      [0, ...probes(THREE)],
      [250, ...probes(THREE)],
      [500, ...probes(THREE)],
    ]);
  });

  it('led again: who was asked before is asked again after the next loss', () => {
    const conductor = conductorOf();
    expect(orderFrom(conductor, [view(A), view(B)])).toEqual([campaign(A)]);
    tell(conductor, 20, [leading(A, { term: 4 })]);
    expect(conductor.tick(20)).toEqual([]);
    tell(conductor, 30, [view(A, { term: 5 }), view(B, { term: 5 })]);
    expect(conductor.tick(30)).toEqual(probes(THREE));
    expect(conductor.tick(40)).toEqual([campaign(A, { term: 5, deadLeader: A })]);
  });

  it('ordered: a candidate that exits is not asked again, the next one is', () => {
    const conductor = conductorOf();
    expect(orderFrom(conductor, [view(A), view(B), view(C)])).toEqual([campaign(A)]);
    conductor.exited(A);
    expect(conductor.tick(110)).toEqual(probes([B, C]));
    tell(conductor, 115, [view(B), view(C)]);
    expect(conductor.tick(120)).toEqual([campaign(B)]);
  });
});
