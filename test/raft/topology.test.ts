/** Clusters whose links are cut: who leads, what goes on, and that healed logs become equal. */
import { describe, expect, it } from 'vitest';
import { Network } from './network.js';
import { A, B, batchAt, batchOf, C, FIVE, journalOf, THREE } from './stage.js';

const D = FIVE[3]!;
const E = FIVE[4]!;

/** Cuts every link but these. */
function onlyLinks(network: Network, links: readonly (readonly [string, string])[]): void {
  const linked = new Set(links.flatMap(([one, other]) => [`${one}>${other}`, `${other}>${one}`]));
  network.heal();
  for (const from of network.nodes.keys()) {
    for (const to of network.nodes.keys()) {
      if (from !== to && !linked.has(`${from}>${to}`)) network.cut(from, to);
    }
  }
}

/** One leader by its own time-outs, with at least one entry committed. */
function untilOneLeads(network: Network): string {
  network.until(() => {
    const [leader, ...others] = network.leaders();
    return leader !== undefined && others.length === 0 && network.raft(leader).commit > 0;
  });
  return network.leaders()[0]!;
}

/** The leader's term, and whether a proposal to it is committed within a hundred ticks. */
function commits(network: Network, leader: string): boolean {
  network.propose(leader);
  const { lastIndex } = network.raft(leader);
  network.tick(100);
  return network.raft(leader).commit >= lastIndex;
}

function journalsOf(network: Network): unknown[] {
  return [...network.nodes.values()].map(({ journal }) => journal.entries);
}

function expectEqualLogs(network: Network): void {
  const [first, ...others] = journalsOf(network);
  expect(others).toEqual(others.map(() => first));
}

describe('topology: a majority that is only partly linked', () => {
  const TAILS = [
    [A, B],
    [B, C],
    [A, C],
    [B, D],
    [C, E],
  ] as const;
  const RING = [
    [A, B],
    [B, C],
    [C, D],
    [D, E],
    [E, A],
  ] as const;
  const CHAIN = [
    [A, B],
    [B, C],
  ] as const;

  it.each([
    ['1-2-3 linked, 4 only to 2, 5 only to 3', FIVE, TAILS],
    ['a ring of five, each sees another majority', FIVE, RING],
    ['a chain of three', THREE, CHAIN],
  ])('topology: %s -> the leader stays, in its term, and commits', (_, members, links) => {
    for (let seed = 1; seed <= 5; seed++) {
      const network = new Network({ members, seed });
      network.settle();
      onlyLinks(network, links);
      const leader = untilOneLeads(network);
      const { term } = network.raft(leader);
      network.tick(600);
      expect([network.leaders(), network.raft(leader).term]).toEqual([[leader], term]);
      expect(commits(network, leader)).toBe(true);
      network.heal();
      network.tick(100);
      expect([network.leaders(), network.raft(leader).term]).toEqual([[leader], term]);
      expectEqualLogs(network);
    }
  });

  it('topology: the leader keeps one link, to the only member that all reach -> that one leads', () => {
    const network = new Network({ members: FIVE });
    network.elect(B);
    onlyLinks(network, [
      [A, B],
      [A, C],
      [A, D],
      [A, E],
    ]);
    network.until(() => network.leaders().join() === A);
    expect(commits(network, A)).toBe(true);
    network.heal();
    network.tick(100);
    expect(network.leaders()).toEqual([A]);
    expectEqualLogs(network);
  });
});

describe('topology: one way only', () => {
  it.each([
    ['heard by all, hears nobody', (one: string, other: string) => [other, one]],
    ['hears all, heard by nobody', (one: string, other: string) => [one, other]],
  ])('topology: the leader is %s -> it steps down, another leads', (_, direction) => {
    const network = new Network({ members: FIVE });
    network.elect(A);
    for (const other of [B, C, D, E]) {
      const [from, to] = direction(A, other);
      network.cut(from!, to!);
    }
    network.until(() => network.leaders().length === 1 && !network.leaders().includes(A));
    const leader = network.leaders()[0]!;
    expect(commits(network, leader)).toBe(true);
    const { term } = network.raft(leader);
    network.tick(300);
    expect([network.leaders(), network.raft(leader).term]).toEqual([[leader], term]);
    network.heal();
    network.tick(100);
    expect(network.leaders()).toHaveLength(1);
    expectEqualLogs(network);
  });

  it('topology: a follower hears nobody but is heard -> the leader and its term stay', () => {
    const network = new Network({ members: THREE });
    network.elect(A);
    network.cut(A, C);
    network.cut(B, C);
    network.tick(500);
    expect([network.leaders(), network.raft(A).term]).toEqual([[A], 1]);
  });
});

describe('topology: minority and majority', () => {
  it('topology: the leader with a minority -> steps down; what only it had is replaced', () => {
    const network = new Network({ members: FIVE });
    network.elect(A);
    network.propose(A, 10);
    network.settle();
    network.partition([A, B], [C, D, E]);
    network.propose(A, 66);
    network.settle();
    network.until(() => network.leaders().length === 1 && network.raft(A).role !== 'leader');
    const leader = network.leaders()[0]!;
    network.propose(leader, 20);
    network.settle();
    expect([network.raft(A).commit, network.raft(B).commit]).toEqual([2, 2]);
    network.heal();
    network.tick(100);
    expectEqualLogs(network);
    const { term } = network.raft(leader);
    expect(network.node(A).applied.filter(({ kind }) => kind === 'batch')).toEqual([
      batchAt(2, 1, batchOf(1, 10)),
      batchAt(4, term, batchOf(1, 20)),
    ]);
  });

  it('topology: no majority anywhere -> nobody leads, no term runs away, healed it goes on', () => {
    const network = new Network({ members: FIVE });
    network.elect(A);
    network.partition([A, B], [C, D], [E]);
    network.tick(1_000);
    expect(network.leaders()).toEqual([]);
    expect(FIVE.map((member) => network.raft(member).term)).toEqual([1, 1, 1, 1, 1]);
    network.heal();
    const leader = untilOneLeads(network);
    expect(commits(network, leader)).toBe(true);
  });
});

describe('topology: an even number', () => {
  it.each([2, 4])('topology: %i members, half of them linked -> nobody leads', (size) => {
    const members = FIVE.slice(0, size);
    const network = new Network({ members });
    network.elect(A);
    network.partition(members.slice(0, size / 2), members.slice(size / 2));
    network.propose(A);
    network.tick(200);
    const commits = members.map((member) => network.raft(member).commit);
    expect([network.leaders(), commits]).toEqual([[], members.map(() => 1)]);
  });
});

describe('topology: back after an absence', () => {
  it('topology: alone for long -> back in its old term, the leader stays', () => {
    const network = new Network({ members: THREE });
    network.elect(A);
    network.isolate(C);
    network.tick(1_000);
    network.propose(A);
    network.heal();
    network.tick(100);
    expect([network.leaders(), THREE.map((member) => network.raft(member).term)]).toEqual([
      [A],
      [1, 1, 1],
    ]);
    expectEqualLogs(network);
  });

  it('topology: a term that ran away -> one leader above it, what was committed stays', () => {
    const network = new Network({ members: THREE });
    network.elect(A);
    network.isolate(C);
    for (let at = 0; at < 20; at++) network.elect(C);
    network.propose(A, 42);
    network.settle();
    expect([network.raft(C).term, network.raft(A).commit]).toEqual([21, 2]);
    network.heal();
    network.until(() => {
      const [leader] = network.leaders();
      return leader !== undefined && network.raft(leader).term > 21;
    });
    network.tick(50);
    expect(network.leaders()).toHaveLength(1);
    expectEqualLogs(network);
    expect(network.node(C).applied[1]).toEqual(batchAt(2, 1, batchOf(1, 42)));
  });
});

describe('topology: logs that conflict', () => {
  it.each([
    ['sixty entries of one other term', Array<number>(60).fill(2), Array<number>(60).fill(3), 2],
    [
      'sixty entries, each of another term',
      Array.from({ length: 60 }, (_, at) => 2 * at + 2),
      Array.from({ length: 60 }, (_, at) => 2 * at + 3),
      60,
    ],
    ['longer than the leader by two hundred', Array<number>(260).fill(2), [3], 2],
  ])('topology: %s -> replaced, in few refusals', (_, theirs, ours, most) => {
    const term = Math.max(...theirs, ...ours);
    const network = new Network({
      members: THREE,
      journals: {
        [A]: journalOf([1, ...ours], { term }),
        [B]: journalOf([1, ...ours], { term }),
        [C]: journalOf([1, ...theirs], { term }),
      },
    });
    network.elect(A);
    network.tick(10);
    expectEqualLogs(network);
    expect(network.node(C).applied).toHaveLength(ours.length + 2);
    const refusals = network.sent.filter(
      (message) => message.type === 'appendReply' && !message.accepted,
    );
    expect(refusals.length).toBeGreaterThan(0);
    expect(refusals.length).toBeLessThanOrEqual(most);
  });

  it('C1: an entry on the leader alone, which dies -> replaced when it comes back', () => {
    const network = new Network({ members: THREE });
    network.elect(A);
    network.propose(A, 1);
    const node = network.node(A);
    network.drain(node);
    network.complete(node);
    network.wire.length = 0;
    network.crash(A);
    network.elect(B);
    network.propose(B, 2);
    network.settle();
    network.start(A);
    network.tick(10);
    expectEqualLogs(network);
    const expected = [batchAt(3, 2, batchOf(1, 2))];
    for (const { applied } of network.living) {
      expect(applied.filter(({ kind }) => kind === 'batch')).toEqual(expected);
    }
  });

  it('C2: caught up by a leader of term 3 -> refuses one whose last entry is of term 2', () => {
    const hundred = Array<number>(100).fill(1);
    const network = new Network({
      members: THREE,
      journals: {
        [A]: journalOf(hundred, { term: 2 }),
        [B]: journalOf([...hundred.slice(0, 50), 2], { term: 2 }),
        [C]: journalOf(hundred.slice(0, 50), { term: 2 }),
      },
    });
    network.crash(B);
    network.elect(A);
    expect([network.raft(A).commit, network.raft(C).commit]).toEqual([101, 101]);
    network.crash(A);
    network.start(B);
    network.elect(B);
    network.elect(B);
    expect(network.leaders()).toEqual([]);
    network.elect(C);
    network.start(A);
    network.tick(10);
    expect(network.leaders()).toEqual([C]);
    expectEqualLogs(network);
    expect(
      network
        .node(B)
        .journal.entries.map(({ term }) => term)
        .slice(99),
    ).toEqual([1, 3, network.raft(C).term]);
  });
});
