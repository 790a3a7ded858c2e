import { describe, expect, it } from 'vitest';
import type { StreamState } from '../../src/stream/types.js';
import { Stage, synthetic } from './stage.js';

function states(stage: Stage): StreamState[] {
  return stage.members.filter(({ alive }) => alive).map(({ host }) => host.replica.store.state());
}

function caughtUp(stage: Stage): boolean {
  const { last } = stage.origin.stream;
  return states(stage).every((state) => state.last === last);
}

function hashes(stage: Stage): Set<string> {
  return new Set(
    stage.members
      .filter(({ alive }) => alive)
      .map(({ host: { replica } }) => `${replica.applied} ${replica.runningHash}`),
  );
}

describe('replica: cluster', () => {
  it.each(['entries', 'range'] as const)('A3: messages and skips keep their order (%s)', (skip) => {
    const stage = new Stage(synthetic(9, [{ after: 3, count: 1 }]), { skip });
    stage.until(() => caughtUp(stage));
    expect(states(stage)).toEqual([
      { first: 1, last: 11, messages: 10, deleted: 1 },
      { first: 1, last: 11, messages: 10, deleted: 1 },
      { first: 1, last: 11, messages: 10, deleted: 1 },
    ]);
    expect(hashes(stage).size).toBe(1);
  });

  it('A5: an origin that starts at 1e9 costs one command', () => {
    const stage = new Stage({
      kind: 'nats-gaps',
      name: 'HIGH',
      first: 1_000_000_000,
      last: 1_000_000_999,
      messages: 1_000,
      gaps: [],
      size: 8,
      rate: null,
    });
    stage.until(() => caughtUp(stage));
    const state = { first: 1e9, last: 1_000_001_000, messages: 1_001, deleted: 0 };
    expect(states(stage)).toEqual([state, state, state]);
    const proposals = stage.members
      .flatMap(({ events }) => events)
      .filter((event) => event.kind === 'propose')
      .map(({ what, first, last, count }) => ({ what, first, last, count }));
    expect(proposals).toEqual([
      { what: 'identity', first: 0, last: 0, count: 1 },
      { what: 'reset', first: 1, last: 999_999_999, count: 1 },
      { what: 'messages', first: 1e9, last: 1_000_001_000, count: 1_001 },
    ]);
  });

  it('the mirror opens only after the own noop is applied', () => {
    const stage = new Stage(synthetic(5));
    stage.until(() => stage.members.some(({ host }) => host.replica.log.role === 'leader'));
    stage.until(() => stage.serving !== undefined);
    const { events } = stage.serving!;
    const applied = events.findIndex((event) => event.kind === 'apply');
    stage.until(() => events.some((event) => event.kind === 'opening'));
    const requested = events.findIndex((event) => event.kind === 'opening');
    expect(applied).toBeGreaterThanOrEqual(0);
    expect(requested).toBeGreaterThan(applied);
  });

  it('a leader that is cut off: its tail is truncated, the other side goes on, nothing is lost', () => {
    const stage = new Stage(synthetic(5_000, [{ after: 2_000, count: 25_000 }]));
    let cut: string | null = null;
    stage.beforeAdvance = ({ member, host }) => {
      if (cut !== null || host.replica.skipsAccepted < 10_000) return;
      cut = member;
      stage.isolate(member);
    };
    stage.until(() => cut !== null);
    stage.beforeAdvance = () => undefined;
    const others = stage.members.filter(({ member }) => member !== cut);
    const { last } = stage.origin.stream;
    stage.until(() => others.every(({ host }) => host.replica.store.lastSeq === last));
    stage.cut.clear();
    stage.until(() => caughtUp(stage));
    const state = { first: 1, last: 30_001, messages: 5_001, deleted: 25_000 };
    expect(states(stage)).toEqual([state, state, state]);
    expect(hashes(stage).size).toBe(1);
  });

  it('flap: deposed and elected again, the same member opens anew from its store', () => {
    const stage = new Stage(synthetic(100, [{ after: 50, count: 20_000 }]), { timers: false });
    const [first] = stage.members;
    stage.step();
    first!.orders.push({ type: 'campaign', term: 0, deadLeader: null });
    let flapped = false;
    stage.beforeAdvance = ({ host }) => {
      if (flapped || host.replica.skipsAccepted < 10_000) return;
      flapped = true;
      host.input({ type: 'stepDown', to: null });
      host.input({ type: 'campaign', term: host.replica.log.term, deadLeader: null });
    };
    stage.until(() => caughtUp(stage));
    const state = { first: 1, last: 20_101, messages: 101, deleted: 20_000 };
    expect(states(stage)).toEqual([state, state, state]);
    const openings = first!.events.filter(
      (event) => event.kind === 'opening' && event.state === 'requested',
    );
    expect(openings).toHaveLength(2);
    const terms = first!.events
      .filter((event) => event.kind === 'role' && event.role === 'leader')
      .map((event) => (event.kind === 'role' ? event.term : 0));
    expect(new Set(terms).size).toBe(2);
  });

  it('a leader whose write failed sends nothing any more; the others go on', () => {
    const stage = new Stage(synthetic(200));
    stage.until(() => stage.serving !== undefined);
    const leader = stage.serving!;
    leader.autoPersist = false;
    const writes = leader.writes.length;
    stage.until(() => leader.writes.length > writes);
    const { ticket } = leader.writes.at(-1)!;
    leader.host.completed(ticket, { code: 'writeFailed', message: 'disk full' });
    stage.step();
    const sent = leader.sent.length;
    const others = stage.members.filter((member) => member !== leader);
    const { last } = stage.origin.stream;
    stage.until(() => others.every(({ host }) => host.replica.store.lastSeq === last));
    expect(leader.sent).toHaveLength(sent);
    expect(leader.host.replica.serving).toBe(false);
  });
});

describe('replica: one alone', () => {
  it('mirrors by the direct path, gaps as one range', () => {
    const stage = new Stage(synthetic(50, [{ after: 20, count: 12_000 }]), { replicas: 1 });
    stage.until(() => caughtUp(stage));
    expect(states(stage)).toEqual([{ first: 1, last: 12_051, messages: 51, deleted: 12_000 }]);
  });

  it('opens again after a refused proposal, and loses nothing', () => {
    const stage = new Stage(synthetic(50, [{ after: 20, count: 300 }]), { replicas: 1 });
    stage.members[0]!.orders.push({ type: 'failPropose', count: 3, code: 'overrun' });
    stage.until(() => caughtUp(stage));
    expect(states(stage)).toEqual([{ first: 1, last: 351, messages: 51, deleted: 300 }]);
  });
});

describe('replica: one alone: overrun', () => {
  it('has nobody to leave it to, and goes on', () => {
    const stage = new Stage(synthetic(50, [{ after: 20, count: 300 }]), { replicas: 1 });
    stage.members[0]!.orders.push({ type: 'overrun', entries: 0 });
    stage.until(() => caughtUp(stage));
    expect(states(stage)).toEqual([{ first: 1, last: 351, messages: 51, deleted: 300 }]);
  });
});

describe('replica: limits', () => {
  // Alone, each batch of the stage is durable before the next one.
  it.each([
    [1, 0],
    [3, 512],
  ])('of %i: batches and what is uncommitted stay within them', (replicas, atLeast) => {
    const limits = {
      batchCountMax: 7,
      batchBytesMax: 512,
      recordBytesMax: 256,
      uncommittedBytesMax: 1_024,
    };
    const gaps = [{ after: 20, count: 100 }];
    const stage = new Stage(synthetic(50, gaps), { replicas, limits });
    let most = 0;
    stage.beforeAdvance = ({ host }) => {
      most = Math.max(most, host.replica.status().raft.uncommittedBytes);
    };
    stage.until(() => caughtUp(stage));
    const proposed = stage.members
      .flatMap(({ events }) => events)
      .filter((event) => event.kind === 'propose');
    expect(proposed.filter(({ refused }) => refused !== null)).toEqual([]);
    expect(Math.max(...proposed.map(({ count }) => count))).toBe(7);
    expect(most).toBeGreaterThanOrEqual(atLeast);
    expect(most).toBeLessThanOrEqual(1_024);
    expect(states(stage)[0]).toEqual({ first: 1, last: 151, messages: 51, deleted: 100 });
  });
});

describe('replica: host', () => {
  it('votes and acknowledgements wait for the write that they promise', () => {
    const stage = new Stage(synthetic(5));
    const [, second] = stage.members;
    second!.autoPersist = false;
    stage.until(() => stage.members[0]!.writes.length + stage.members[2]!.writes.length > 0);
    stage.step();
    const promises = second!.sent.filter(
      (message) =>
        (message.type === 'voteReply' && !message.pre) ||
        (message.type === 'appendReply' && message.accepted),
    );
    expect(promises).toEqual([]);
    for (const { ticket } of second!.writes) second!.host.completed(ticket);
    second!.autoPersist = true;
    stage.until(() => caughtUp(stage));
    expect(second!.sent.some((message) => message.type === 'appendReply')).toBe(true);
  });

  it('several late ticks are one, and the lateness is told once', () => {
    const stage = new Stage(synthetic(5), { timers: false });
    const [{ host } = stage.members[0]!] = stage.members;
    stage.now += 500;
    host.turn({
      order: () => undefined,
      peer: () => undefined,
      frame: () => undefined,
      peersWait: () => false,
    });
    expect(host.takeLateness()).toBe(490);
    expect(host.takeLateness()).toBe(0);
    expect(host.replica.log.role).toBe('follower');
  });
});
