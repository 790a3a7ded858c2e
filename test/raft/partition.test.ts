/** Topologies that cost other clusters their leader: cut in halves, one way only, in a chain. */
import { describe, expect, it } from 'vitest';
import { ELECTION_TICKS_MAX, HEARTBEAT_TICKS } from '../../src/base/limits.js';
import { Network } from './network.js';
import { FIVE, journalOf, THREE } from './stage.js';

const [R1, R2, R3, R4, R5] = FIVE as [string, string, string, string, string];
/** A pre-vote, an election and a commit after the longest time-out, split votes included. */
const ELECTED = ELECTION_TICKS_MAX * 4;

/** A cluster led by r1, settled, its events forgotten. */
function ledByFirst(members: readonly string[] = FIVE, seed = 1): Network {
  const network = new Network({ members, seed });
  network.elect(R1);
  network.tick(HEARTBEAT_TICKS);
  for (const member of members) network.roles(member);
  return network;
}

/** Proposes to a leader and lets it commit. */
function commits(network: Network, leader: string): boolean {
  const before = network.raft(leader).commit;
  const accepted = network.propose(leader);
  network.tick(HEARTBEAT_TICKS * 2);
  return accepted && network.raft(leader).commit > before;
}

function equalLogs(network: Network): boolean {
  const [first, ...others] = network.living.map(({ applied }) => JSON.stringify(applied));
  return others.every((log) => log === first);
}

describe('raft: partition: halves', () => {
  it('leader in the minority -> steps down, the majority elects; healed: its tail goes', () => {
    const network = ledByFirst();
    network.partition([R1, R2], [R3, R4, R5]);
    network.propose(R1, 66);
    network.until(() => network.leaders().some((leader) => leader !== R1), ELECTED);
    network.tick(ELECTION_TICKS_MAX);
    expect(network.raft(R1).role).not.toBe('leader');
    expect(network.roles(R1)[0]).toBe('follower@1 - quorumLost');
    const [leader] = network.leaders();
    expect(commits(network, leader!)).toBe(true);
    network.heal();
    network.tick(ELECTION_TICKS_MAX);
    expect(network.leaders()).toEqual([leader]);
    expect(equalLogs(network)).toBe(true);
    const bytes = network.node(R1).applied.flatMap((entry) => [...entry.bytes]);
    expect(bytes).toEqual([1]);
  });

  it('minority without a leader -> terms do not run away; healed: the leader stays', () => {
    const network = ledByFirst();
    network.partition([R1, R2, R3], [R4, R5]);
    network.tick(ELECTION_TICKS_MAX * 10);
    expect(network.living.map(({ raft }) => raft!.term)).toEqual([1, 1, 1, 1, 1]);
    network.heal();
    network.tick(ELECTION_TICKS_MAX);
    expect([network.leaders(), network.raft(R1).term]).toEqual([[R1], 1]);
    expect(network.roles(R1)).toEqual([]);
    expect(network.roles(R4).at(-1)).toBe('follower@1 r1.1 leaderHeard');
  });

  it('no side has a majority -> nobody leads and nothing commits; healed: one does', () => {
    const network = ledByFirst();
    network.partition([R1, R2], [R3, R4], [R5]);
    network.tick(ELECTION_TICKS_MAX * 3);
    expect(network.leaders()).toEqual([]);
    network.heal();
    network.until(() => network.leaders().length === 1, ELECTED);
    expect(commits(network, network.leaders()[0]!)).toBe(true);
  });
});

describe('raft: partition: one way', () => {
  it('leader sends but does not hear -> steps down, so that others can be elected', () => {
    const network = ledByFirst();
    for (const member of FIVE.slice(1)) network.cut(member, R1);
    network.tick(ELECTION_TICKS_MAX);
    expect(network.roles(R1)[0]).toBe('follower@1 - quorumLost');
    network.until(() => network.leaders().length === 1 && network.leaders()[0] !== R1, ELECTED);
    expect(commits(network, network.leaders()[0]!)).toBe(true);
  });

  it('leader hears but does not send -> the others elect, it follows the new one', () => {
    const network = ledByFirst();
    for (const member of FIVE.slice(1)) network.cut(R1, member);
    network.until(() => network.leaders().some((leader) => leader !== R1), ELECTED);
    network.tick(HEARTBEAT_TICKS);
    const [leader] = network.leaders();
    expect(network.leaders()).toEqual([leader]);
    expect(network.raft(R1).leader).toBe(leader);
    expect(commits(network, leader!)).toBe(true);
  });

  it('follower sends but does not hear -> deposes nobody, its term stays', () => {
    const network = ledByFirst();
    for (const member of FIVE) network.cut(member, R5);
    network.tick(ELECTION_TICKS_MAX * 5);
    expect([network.leaders(), network.raft(R5).term]).toEqual([[R1], 1]);
    expect(network.raft(R5).role).toBe('preCandidate');
    expect(network.roles(R1)).toEqual([]);
  });

  it('nobody hears the leader -> it does not lead on what it hears', () => {
    const network = ledByFirst(THREE);
    network.cut(R1, R2);
    network.cut(R1, R3);
    network.cutBoth(R2, R3);
    network.tick(ELECTION_TICKS_MAX * 3);
    expect(network.leaders()).toEqual([]);
  });
});

describe('raft: partition: partly connected', () => {
  it('1-2-3 linked, 4 only to 2, 5 only to 3 -> a leader, and it stays', () => {
    const network = ledByFirst();
    for (const member of [R1, R3, R5]) network.cutBoth(R4, member);
    for (const member of [R1, R2]) network.cutBoth(R5, member);
    network.tick(ELECTED);
    for (const member of FIVE) network.roles(member);
    const before = network.leaders();
    expect(before).toHaveLength(1);
    expect(commits(network, before[0]!)).toBe(true);
    network.tick(ELECTION_TICKS_MAX * 20);
    expect(network.leaders()).toEqual(before);
    expect(network.roles(before[0]!)).toEqual([]);
  });

  it('quorum loss: all are linked to r3 only -> r3 comes to lead', () => {
    const network = ledByFirst();
    for (const one of [R1, R2, R4, R5]) {
      for (const other of [R1, R2, R4, R5]) if (one < other) network.cutBoth(one, other);
    }
    network.until(() => network.leaders().includes(R3), ELECTION_TICKS_MAX * 20);
    network.tick(ELECTION_TICKS_MAX);
    expect(network.leaders()).toEqual([R3]);
    expect(commits(network, R3)).toBe(true);
  });

  it('chain r1 - r2 - r3, r1 leads -> r3 cannot depose it through r2', () => {
    const network = ledByFirst(THREE);
    network.cutBoth(R1, R3);
    network.tick(ELECTION_TICKS_MAX * 10);
    expect([network.leaders(), network.raft(R2).term]).toEqual([[R1], 1]);
    expect(commits(network, R1)).toBe(true);
  });
});

describe('raft: partition: terms that ran away', () => {
  it('no pre-vote, a member comes back terms ahead -> the leader campaigns above it', () => {
    const network = new Network({ members: THREE, raft: { preVote: false } });
    network.elect(R1);
    network.isolate(R3);
    network.tick(ELECTION_TICKS_MAX * 5);
    const { term } = network.raft(R3);
    expect(term).toBeGreaterThan(4);
    expect(commits(network, R1)).toBe(true);
    network.heal();
    // Its log lacks what was committed: it cannot win, and must not keep others from it.
    network.until(
      () => network.leaders().some((member) => network.raft(member).term > term),
      ELECTED,
    );
    network.tick(HEARTBEAT_TICKS);
    const [leader, ...others] = network.leaders();
    expect([leader === R3, others]).toEqual([false, []]);
    expect(commits(network, leader!)).toBe(true);
    expect(equalLogs(network)).toBe(true);
  });

  it('pre-vote, a journal of a later term -> nobody stays stuck', () => {
    const network = new Network({
      members: THREE,
      journals: { [R3]: journalOf([], { term: 9 }) },
    });
    network.crash(R3);
    network.elect(R1);
    expect(commits(network, R1)).toBe(true);
    network.start(R3);
    network.until(() => network.raft(R3).commit >= 2, ELECTED);
    const [leader] = network.leaders();
    expect(network.raft(leader!).term).toBeGreaterThan(9);
    expect(commits(network, leader!)).toBe(true);
    expect(equalLogs(network)).toBe(true);
  });
});

describe('raft: partition: public cases', () => {
  it('C1: an entry without quorum -> replaced, the logs become equal', () => {
    const network = ledByFirst(THREE);
    network.isolate(R1);
    network.propose(R1, 11);
    network.tick();
    network.crash(R1);
    network.until(() => network.leaders().length === 1, ELECTED);
    const [leader] = network.leaders();
    network.propose(leader!, 22);
    network.tick(HEARTBEAT_TICKS);
    network.heal();
    network.start(R1);
    network.tick(HEARTBEAT_TICKS * 2);
    expect(equalLogs(network)).toBe(true);
    const journals = THREE.map((member) => network.node(member).journal.entries);
    expect(journals[0]).toEqual(journals[1]);
    expect(journals[0]!.flatMap((entry) => [...entry.bytes])).toEqual([22]);
  });

  it('C2: entries of term 1 that term 3 caught up -> not committed without its own', () => {
    const hundred = Array.from({ length: 100 }, () => 1);
    const network = new Network({
      members: THREE,
      raft: { timers: false, limits: { appendBytesMax: 20, inflightAppendsMax: 1 } },
      journals: {
        [R1]: journalOf(hundred, { term: 2 }),
        [R2]: journalOf([...hundred.slice(0, 50), 2], { term: 2 }),
        [R3]: journalOf(hundred.slice(0, 50), { term: 2 }),
      },
    });
    network.cutBoth(R1, R2);
    const leader = network.raft(R1);
    leader.campaign({ term: 2, deadLeader: null });
    const acknowledged: [number, number][] = [];
    for (let moved = true; moved;) {
      for (const node of network.living) {
        network.drain(node);
        while (node.writes.length > 0) network.complete(node);
        network.drain(node);
      }
      const message = network.wire.shift();
      moved = message !== undefined;
      if (message === undefined || !network.reaches(message)) continue;
      network.raft(message.to).step(message);
      if (message.type !== 'appendReply' || !message.accepted) continue;
      acknowledged.push([message.index, leader.commit]);
    }
    // What was caught up is on two of three and commits nothing; the noop at 101 commits all.
    expect(acknowledged).toEqual([
      [70, 0],
      [90, 0],
      [101, 101],
    ]);
    // r3 holds an entry of term 3 now: r2, whose last is of term 2, gets no vote of it.
    network.crash(R1);
    network.heal();
    network.elect(R2);
    network.elect(R2);
    expect(network.leaders()).toEqual([]);
    network.elect(R3);
    expect(network.leaders()).toEqual([R3]);
    expect(network.raft(R3).commit).toBe(102);
  });

  it('B7: a member with a broken journal neither votes nor asks for votes', () => {
    const network = ledByFirst(THREE);
    const broken = network.raft(R2);
    broken.persistFailed(1);
    network.crash(R1);
    network.tick(1);
    const before = network.sent.length;
    network.tick(ELECTION_TICKS_MAX * 5);
    const sent = network.sent.slice(before);
    expect(sent.filter(({ from }) => from === R2)).toEqual([]);
    expect(sent.every(({ from, type }) => from === R3 && type === 'vote')).toBe(true);
    expect(network.leaders()).toEqual([]);
    expect(network.roles(R2)).toEqual(['follower@1 - writeFailed']);
  });
});
