/** Public cases of mirrors, told with three members that share a log; titles name the case. */
import { describe, expect, it } from 'vitest';
import {
  at,
  BACKOFF,
  closed,
  Cluster,
  delivery,
  GATE,
  JITTER,
  openedAt,
  openingOf,
  ORDERS,
  plainContent,
  PlainOrigin,
  play,
  proposed,
  range,
  receiving,
  refusedAs,
  retry,
  rolledBack,
  settle,
  SILENCE,
  Stage,
  type StageOptions,
} from './stage.js';

const REOPEN = GATE + JITTER;

class Trio {
  readonly cluster = new Cluster();
  readonly origin = new PlainOrigin();
  readonly members: readonly Stage[];

  constructor(options: StageOptions = {}) {
    const { cluster } = this;
    const names = ['r1.1', 'r2.1', 'r3.1'];
    this.members = names.map((member) => new Stage({ ...options, cluster, member }));
  }

  get leader(): Stage {
    return this.members.find(({ member }) => member === this.cluster.leader)!;
  }

  /** Everybody applies the whole log; the next member wins. The old leader is not told. */
  elect(): Stage {
    const next = this.members[(this.members.indexOf(this.leader) + 1) % 3]!;
    for (const member of this.members) member.apply();
    next.lead();
    return next;
  }

  play(ticks: number): void {
    play(this.leader, this.origin, ticks, this.members);
  }

  states() {
    return this.members.map(({ store }) => store.state);
  }
}

function everywhere(first: number, last: number, messages: number, deleted: number) {
  return Array.from({ length: 3 }, () => ({ first, last, messages, deleted }));
}

/** Three members, r1 leading, with the origin's first five messages. */
function atFive(options: StageOptions = {}): Trio {
  const trio = new Trio(options);
  trio.origin.publish(5);
  trio.members[0]!.lead();
  trio.play(JITTER);
  expect(trio.states()).toEqual(everywhere(1, 5, 5, 0));
  return trio;
}

describe('mirror: A1: a failed skip is not taken as done', () => {
  it('(a) skip on a deposed leader -> notLeader, nothing logged; then all equal', () => {
    const trio = atFive();
    const old = trio.leader;
    const opening = openingOf(1);
    trio.elect();
    const logged = trio.cluster.log.length;
    old.mirror.frame(delivery(opening, 6, [16]));
    old.advanceAll();
    expect(trio.cluster.log.length).toBe(logged);
    expect(old.drain()).toEqual({
      originCommands: [{ type: 'close', opening }],
      events: [
        proposed('skips', 6, 15, 'notLeader'),
        rolledBack('skipRefused', at(5, 5), at(5, 5)),
        closed(opening, 6, 'skipRefused'),
        retry('skipRefused', null),
      ],
    });
    old.tick(100_000);
    expect(old.drain()).toEqual({ originCommands: [], events: [] });
    expect(old.mirror.status()).toMatchObject({
      error: refusedAs('skips', 6, 15, 'notLeader'),
      cursor: at(5, 5),
      opening: null,
    });
    trio.origin.publish(11);
    trio.origin.remove(6, 15);
    trio.play(JITTER);
    expect(trio.states()).toEqual(everywhere(1, 16, 6, 10));
  });

  it.each([
    ['never seen', 0],
    ['committed', 1],
  ])('(b) step-down after batch 1 of 3, which is %s -> end equal', (_, kept) => {
    const trio = atFive();
    const old = trio.leader;
    const logged = trio.cluster.log.length;
    trio.origin.publish(25_001);
    trio.origin.remove(6, 25_005);
    for (const frame of trio.origin.take()) old.mirror.frame(frame);
    old.mirror.advance();
    old.mirror.advance();
    trio.cluster.truncate(logged + kept);
    const next = trio.elect();
    old.advanceAll();
    expect(old.drain().events).toEqual([
      proposed('skips', 6, 10_005),
      proposed('skips', 10_006, 20_005, 'notLeader'),
      rolledBack('skipRefused', at(10_005, 5), at(5, 5)),
      closed(openingOf(1), 6, 'skipRefused'),
      retry('skipRefused', null),
    ]);
    next.tick(JITTER);
    const { originCommands } = next.mirror.ready();
    const startSeq = kept === 1 ? 10_006 : 6;
    const opening = { member: 'r2.1', term: 2, generation: 1 };
    expect(originCommands).toEqual([{ type: 'open', opening, startSeq }]);
    for (const command of originCommands) trio.origin.command(command);
    settle(next, trio.origin, trio.members);
    expect(trio.states()).toEqual(everywhere(1, 25_006, 6, 25_000));
  });

  it.each(['entries', 'range', 'direct'] as const)(
    '(c) %s: set-up skip refused -> error, retried 12.1 s after the request, end equal',
    (skip) => {
      const trio = atFive({ skip });
      const { leader, origin } = trio;
      origin.dropConsumer();
      origin.purgeTo(500);
      origin.publish(1);
      play(leader, origin, SILENCE, trio.members);
      leader.refuse = (what) => (what === 'skips' || what === 'range' ? 'overrun' : null);
      play(leader, origin, JITTER, trio.members);
      const what = skip === 'entries' ? 'skips' : 'range';
      expect(leader.mirror.status()).toMatchObject({
        error: refusedAs(what, 6, 499, 'overrun'),
        attempts: 1,
        opening: null,
        cursor: at(5, 0),
      });
      leader.refuse = () => null;
      play(leader, origin, REOPEN + BACKOFF - 1, trio.members);
      expect(leader.mirror.status().opening).toBe(null);
      play(leader, origin, 1, trio.members);
      expect(trio.states()).toEqual(everywhere(1, 500, 6, 494));
      expect(leader.mirror.status().attempts).toBe(0);
    },
  );

  it('(d) direct: cursor 4, store at 5, 5 is delivery 1 -> cursor 5, reopened at once', () => {
    const stage = receiving(4, { skip: 'direct' });
    const opening = openingOf(1);
    stage.store.messages.set(5, plainContent(5));
    stage.store.last = 5;
    stage.mirror.frame(delivery(opening, 1, [5]));
    stage.advanceAll();
    expect(stage.drain()).toEqual({
      originCommands: [{ type: 'close', opening }],
      events: [
        proposed('messages', 5, 5, 'mismatch'),
        rolledBack('mismatch', at(4, 0), at(5, 0)),
        closed(opening, 6, 'mismatch'),
        retry('mismatch', REOPEN),
      ],
    });
    expect(stage.mirror.status()).toEqual({
      condition: 'running',
      lag: 0,
      error: refusedAs('messages', 5, 5, 'mismatch'),
      attempts: 0,
      opening: null,
      cursor: at(5, 0),
      silentTicks: 0,
    });
    stage.tick(REOPEN);
    expect(stage.drain().originCommands).toEqual([
      { type: 'open', opening: openingOf(2), startSeq: 6 },
    ]);
    expect(stage.store.state).toEqual({ first: 1, last: 5, messages: 5, deleted: 0 });
  });

  it('(d) direct: a batch of which the store holds the first part -> the same', () => {
    const stage = receiving(4, { skip: 'direct' });
    stage.store.last = 5;
    stage.mirror.frame(delivery(openingOf(1), 1, [5, 6]));
    stage.advanceAll();
    expect(stage.mirror.status().cursor).toEqual(at(5, 0));
  });

  it('(d) direct: a message beyond the store -> cursor as before, reopened at once', () => {
    const stage = receiving(4, { skip: 'direct' });
    stage.store.last = 2;
    stage.mirror.frame(delivery(openingOf(1), 1, [5]));
    stage.advanceAll();
    expect(stage.drain().events).toEqual([
      proposed('messages', 5, 5, 'mismatch'),
      rolledBack('mismatch', at(4, 0), at(4, 0)),
      closed(openingOf(1), 5, 'mismatch'),
      retry('mismatch', REOPEN),
    ]);
  });

  it('(d) in a cluster: applied as a counted no-op, nothing stored twice, nothing reopened', () => {
    const stage = receiving(4);
    stage.store.messages.set(5, plainContent(5));
    stage.store.last = 5;
    stage.mirror.frame(delivery(openingOf(1), 1, [5]));
    stage.advanceAll();
    expect(stage.apply()).toEqual([{ stored: 0, skipped: 0, seen: 1, mismatched: 0 }]);
    expect(stage.mirror.status()).toMatchObject({ opening: openingOf(1), cursor: at(5, 1) });
  });

  it('(e) configuration removed with the message in hand -> no crash, end equal', () => {
    const trio = atFive();
    const { leader, origin } = trio;
    origin.publish(11);
    origin.remove(6, 15);
    for (const frame of origin.take()) leader.mirror.frame(frame);
    leader.mirror.configure(false);
    expect(leader.advanceAll()).toBe(0);
    leader.mirror.configure(true);
    trio.play(REOPEN);
    expect(trio.states()).toEqual(everywhere(1, 16, 6, 10));
  });
});

describe('mirror: A3: skips do not overtake messages', () => {
  it('10 messages without the 4th', () => {
    const trio = new Trio();
    trio.origin.publish(10);
    trio.origin.remove(4, 4);
    trio.members[0]!.lead();
    trio.play(JITTER);
    expect(trio.states()).toEqual(everywhere(1, 10, 9, 1));
    for (const { store } of trio.members) expect(store.messages).toEqual(trio.origin.messages);
  });

  it('500 messages without 100 ... 109 and 300', () => {
    const trio = new Trio({ batchCountMax: 7 });
    trio.origin.publish(500);
    trio.origin.remove(100, 109);
    trio.origin.remove(300, 300);
    trio.members[0]!.lead();
    trio.play(JITTER);
    expect(trio.states()).toEqual(everywhere(1, 500, 489, 11));
    for (const { store } of trio.members) expect(store.messages).toEqual(trio.origin.messages);
  });
});

describe('mirror: A5: an origin that starts at 1,000,000,000', () => {
  it('one reset, no skip', () => {
    const trio = new Trio();
    trio.origin.purgeTo(1_000_000_000);
    trio.origin.publish(1_000);
    trio.members[0]!.lead();
    trio.play(JITTER);
    expect(trio.states()).toEqual(everywhere(1_000_000_000, 1_000_000_999, 1_000, 0));
    expect(trio.cluster.log.map(({ what }) => what)).toEqual(['identity', 'reset', 'messages']);
    expect(trio.leader.mirror.skipsAccepted).toBe(0);
  });

  it('the reset is lost with its leader -> the next one does it again', () => {
    const trio = new Trio();
    trio.origin.purgeTo(1_000_000_000);
    trio.origin.publish(3);
    const old = trio.members[0]!;
    old.lead();
    old.tick(JITTER);
    for (const command of old.drain().originCommands) trio.origin.command(command);
    for (const frame of trio.origin.take()) old.mirror.frame(frame);
    for (let step = 0; step < 3; step++) old.mirror.advance();
    expect(trio.cluster.log.map(({ what }) => what)).toEqual(['identity', 'reset']);
    trio.cluster.truncate(1);
    trio.elect();
    old.mirror.stopLeading('notLeading');
    trio.play(JITTER);
    expect(trio.states()).toEqual(everywhere(1_000_000_000, 1_000_000_002, 3, 0));
  });
});

describe('mirror: B3: accepted is not logged', () => {
  it('accepted messages vanish with the leadership -> the next one asks from its store', () => {
    const trio = atFive();
    const old = trio.leader;
    const logged = trio.cluster.log.length;
    trio.origin.publish(20);
    for (const frame of trio.origin.take()) old.mirror.frame(frame);
    old.advanceAll();
    expect(old.mirror.status().cursor).toEqual(at(25, 25));
    trio.cluster.truncate(logged);
    trio.elect();
    old.mirror.stopLeading('notLeading');
    trio.play(JITTER);
    expect(trio.states()).toEqual(everywhere(1, 25, 25, 0));
  });
});

describe('mirror: E3: the origin forgets the consumer', () => {
  it('equal again within 20 s', () => {
    const trio = atFive();
    trio.origin.dropConsumer();
    trio.origin.publish(7);
    trio.play(2 * SILENCE);
    expect(trio.states()).toEqual(everywhere(1, 12, 12, 0));
    expect(trio.leader.mirror.status().lag).toBe(0);
  });
});

describe('mirror: E5: the origin is made again', () => {
  it.each([
    ['with fewer messages', 5],
    ['with more messages', 25],
  ])('%s -> diverged, nothing of the new life is mixed in', (_, count) => {
    const trio = new Trio();
    trio.origin.publish(20);
    trio.members[0]!.lead();
    trio.play(JITTER);
    const copied = new Map(trio.leader.store.messages);
    const again = new PlainOrigin();
    again.identity = { ...ORDERS, created: ORDERS.created + 1n };
    again.publish(count);
    play(trio.leader, again, 2 * SILENCE, trio.members);
    expect(trio.leader.mirror.status().condition).toBe('diverged');
    for (const { store } of trio.members) expect(store.messages).toEqual(copied);
  });
});

describe('mirror: F1: a refused message is not masked by skips behind it', () => {
  it.each(['overrun', 'writeFailed', 'transferring'] as const)('%s', (code) => {
    const trio = atFive();
    const { leader, origin } = trio;
    origin.publish(6);
    origin.remove(7, 10);
    let refusals = 1;
    leader.refuse = (what) => (what === 'messages' && refusals-- > 0 ? code : null);
    for (const frame of origin.take()) leader.mirror.frame(frame);
    leader.advanceAll();
    expect(leader.store.last).toBe(5);
    expect(leader.drain().events).toEqual([
      proposed('messages', 6, 6, code),
      rolledBack('messageRefused', at(5, 5), at(5, 5)),
      closed(openingOf(1), 6, 'messageRefused'),
      retry('messageRefused', code === 'transferring' ? null : REOPEN),
    ]);
    if (code === 'transferring') leader.mirror.transferAbandoned();
    trio.play(REOPEN);
    expect(trio.states()).toEqual(everywhere(1, 11, 7, 4));
    for (const { store } of trio.members) expect(store.messages).toEqual(origin.messages);
  });
});

describe('mirror: openings of one leadership', () => {
  it('reopened with batches in the log -> delivered again, applied once', () => {
    const stage = receiving(5);
    stage.mirror.frame(delivery(openingOf(1), 1, [6, 7]));
    stage.mirror.frame({ type: 'heartbeat', opening: openingOf(1), lastDeliverySeq: 3 });
    stage.advanceAll();
    stage.tick(REOPEN);
    stage.drain();
    const second = openingOf(2);
    const answer = { identity: ORDERS, startsAfter: 5, last: 8, pending: 3 };
    stage.mirror.frame({ type: 'opened', opening: second, ...answer });
    stage.mirror.frame(delivery(second, 1, range(6, 8)));
    stage.advanceAll();
    expect(stage.drain().events).toEqual([openedAt(second, 6), proposed('messages', 6, 8)]);
    expect(stage.apply()).toEqual([
      { stored: 2, skipped: 0, seen: 0, mismatched: 0 },
      { stored: 1, skipped: 0, seen: 2, mismatched: 0 },
    ]);
    expect(stage.mirror.status()).toMatchObject({ lag: 0, opening: second });
  });
});
