/** Invariants of when members campaign, what they grant and whom they obey, on bad data. */
import { describe, expect, it } from 'vitest';
import type { Message, VoteReply, VoteRequest } from '../../src/raft/types.js';
import type { Replica } from '../../src/replica/replica.js';
import { ElectionWatch } from '../../src/sim/election-watch.js';
import { LeaseKept } from '../../src/sim/invariants/lease-kept.js';
import { NewerLogVoted } from '../../src/sim/invariants/newer-log-voted.js';
import { OrdersObeyed } from '../../src/sim/invariants/orders-obeyed.js';
import { TimeoutKept } from '../../src/sim/invariants/timeout-kept.js';
import type { Watched } from '../../src/sim/watch.js';

const ASKED: VoteRequest = {
  ...({ type: 'vote', from: 'r2.1', to: 'r1.1', term: 4, pre: true, ordered: false } as const),
  ...{ lastIndex: 5, lastTerm: 2 },
};
const GRANT: VoteReply = {
  ...({ type: 'voteReply', from: 'r1.1', to: 'r2.1', term: 4, pre: true, granted: true } as const),
};

describe('sim: invariants: elections', () => {
  it('time-out kept: a campaign sooner than the shortest one after a reason to wait', () => {
    const rule = new TimeoutKept(20, 40);
    const campaigns = (ticks: number): string | null => rule.campaigns('r1', ticks);
    const early = (waited: number): string =>
      `r1 campaigns ${waited} ticks after it had a reason to wait, its time-out is 20 at least`;
    rule.started('r1');
    expect(campaigns(20)).toBeNull();
    expect([campaigns(39), campaigns(59)]).toEqual([early(19), null]);
    rule.waitsFrom('r1', 70);
    expect([campaigns(89), campaigns(109)]).toEqual([early(19), null]);
    rule.started('r1');
    expect(campaigns(3)).toBe(early(3));
  });

  it('lease kept: a vote or a pre-vote while the voter leads or hears a leader', () => {
    const rule = new LeaseKept();
    rule.asked('r1', ASKED, 'r3.1');
    expect(rule.granted('r1', GRANT)).toBe(
      'r1 gave r2.1 its pre-vote of term 4 within the lease of r3.1',
    );
    rule.asked('r1', { ...ASKED, pre: false }, 'r1.1');
    expect(rule.granted('r1', { ...GRANT, pre: false })).toBe(
      'r1 gave r2.1 its vote of term 4 within the lease of r1.1',
    );
    // Another member, another term, another life: nothing is known against it.
    expect(rule.granted('r1', { ...GRANT, to: 'r3.1' })).toBeNull();
    expect(rule.granted('r1', { ...GRANT, term: 5 })).toBeNull();
    rule.asked('r1', { ...ASKED, term: 6, ordered: true }, 'r3.1');
    expect(rule.granted('r1', { ...GRANT, term: 6 })).toBeNull();
    rule.asked('r1', ASKED, null);
    rule.asked('r1', ASKED, 'r3.1');
    expect(rule.granted('r1', GRANT)).toBeNull();
    rule.asked('r2', ASKED, 'r3.1');
    rule.started('r2');
    expect(rule.granted('r2', GRANT)).toBeNull();
  });

  it('votes for newer logs: a pre-vote for a log older than the voter had as it read', () => {
    const rule = new NewerLogVoted();
    const granted = (term: number, end: { index: number; term: number }): string | null => {
      rule.read('r1', { ...ASKED, term }, end);
      return rule.granted('r1', { ...GRANT, term });
    };
    const older = (term: number, own: string): string =>
      `r1 gave its pre-vote of term ${term} to r2.1, ` +
      `whose log ends at 5 of term 2; its own ends at ${own}`;
    expect(granted(4, { index: 5, term: 2 })).toBeNull();
    expect(granted(5, { index: 9, term: 1 })).toBeNull();
    expect(granted(6, { index: 6, term: 2 })).toBe(older(6, '6 of term 2'));
    expect(granted(7, { index: 1, term: 3 })).toBe(older(7, '1 of term 3'));
    // The first of two requests was one to grant; its answer may leave after the second came.
    expect(granted(4, { index: 6, term: 2 })).toBeNull();
    rule.started('r1', 'r1.1', { term: 0, vote: null });
    expect(rule.granted('r1', { ...GRANT, term: 7 })).toBeNull();
  });

  it('orders obeyed: of another term, by a leader, against another leader, or given by nobody', () => {
    const rule = new OrdersObeyed();
    const well = { term: 3, leads: false, hears: null };
    const obeys = (term: number, deadLeader: string | null, standing: object): string | null => {
      rule.over('r1');
      rule.ordered('r1', { term, deadLeader }, { ...well, ...standing });
      return rule.campaigns('r1');
    };
    expect(obeys(3, null, {})).toBeNull();
    expect(rule.campaigns('r1')).toBe('r1 obeys an order twice');
    expect(obeys(3, 'r2.1', { hears: 'r2.1' })).toBeNull();
    expect(obeys(2, null, {})).toBe('r1 obeys an order of term 2 in term 3');
    expect(obeys(4, null, {})).toBe('r1 obeys an order of term 4 in term 3');
    expect(obeys(3, null, { leads: true })).toBe('r1 obeys an order while it leads');
    expect(obeys(3, null, { hears: 'r2.1' })).toBe(
      'r1 obeys an order against nobody and hears r2.1',
    );
    rule.over('r1');
    expect(rule.campaigns('r1')).toBe('r1 campaigns by an order that nobody gave');
  });
});

describe('sim: invariants: elections: what a member reads', () => {
  /** A watch of r1 in term 3, and what it says: `read` as r1 stands at a tick. */
  function watching(checkQuorum: boolean): {
    told: string[];
    read: (message: Message | 'order', ticks: number, log?: object) => void;
    granted: () => void;
    role: (cause: 'electionTimeout' | 'ordered', ticks: number) => void;
  } {
    const told: string[] = [];
    const watch = new ElectionWatch({
      ...{ timeoutTicks: 40, leaseTicks: 20, checkQuorum, newerLogVoted: new NewerLogVoted() },
      say: (property, slot, text) => {
        if (text !== null) told.push(`${property}: ${slot}`);
      },
    });
    watch.started('r1');
    const nodeAt = (ticks: number): Watched =>
      ({ slot: 'r1', member: 'r1.1', ticks, quietTicks: ticks }) as Watched;
    const status = (): object => ({ lastIndex: 5, lastTerm: 2 });
    const standing = { role: 'follower', term: 3, leader: 'r3.1', status };
    return {
      told,
      read: (message, ticks, log = {}) => {
        const replica = { log: { ...standing, ...log } } as unknown as Replica;
        if (message !== 'order') return watch.reads(nodeAt(ticks), message, replica);
        watch.ordered(nodeAt(ticks), { type: 'campaign', term: 3, deadLeader: null }, replica);
      },
      granted: () => watch.granted('r1', GRANT),
      role: (cause, ticks) =>
        watch.role(nodeAt(ticks), {
          ...{ kind: 'role', role: 'preCandidate', term: 3, leader: null, cause },
        }),
    };
  }
  const BEAT: Message = {
    ...({ type: 'heartbeat', from: 'r3.1', to: 'r1.1', term: 3 } as const),
    ...{ commit: 0, released: 0 },
  };

  it.each<[string, boolean, number, object, string[]]>([
    ['the lease holds', true, 69, {}, ['lease kept: r1']],
    ['the lease is over', true, 70, {}, []],
    ['no leader is known any more', true, 51, { leader: null }, []],
    ['it leads', true, 99, { role: 'leader' }, ['lease kept: r1']],
    ['there is no lease', false, 51, {}, []],
    [
      'its log is newer',
      true,
      70,
      { status: () => ({ lastIndex: 6, lastTerm: 2 }) },
      ['votes for newer logs: r1'],
    ],
  ])('a pre-vote: %s', (_, checkQuorum, ticks, log, expected) => {
    const { told, read, granted } = watching(checkQuorum);
    read(BEAT, 50);
    read(ASKED, ticks, log);
    granted();
    expect(told).toEqual(expected);
  });

  it.each<[string, Message, object, string[]]>([
    ['a beat of its leader puts it off', BEAT, {}, ['time-out kept: r1']],
    ['one of a later term does too', { ...BEAT, term: 4 }, {}, ['time-out kept: r1']],
    ['one of an earlier term does not', { ...BEAT, term: 2 }, {}, []],
    ['a leader has none', BEAT, { role: 'leader' }, []],
  ])('a time-out: %s', (_, message, log, expected) => {
    const { told, read, role } = watching(true);
    read(message, 50, log);
    role('electionTimeout', 69);
    expect(told).toEqual(expected);
    role('electionTimeout', 89);
    expect(told).toEqual(expected);
  });

  it('an order: obeyed while another leader is heard, and when none was for long', () => {
    const { told, read, role } = watching(false);
    read(BEAT, 50);
    read('order', 70);
    role('ordered', 70);
    expect(told).toEqual([]);
    read('order', 69);
    role('ordered', 69);
    expect(told).toEqual(['orders obeyed: r1']);
  });
});
