/** The leader's side of appends: window, refusals and hints, replies late or twice, bounds. */
import { describe, expect, it } from 'vitest';
import { ELECTION_TICKS_MAX, HEARTBEAT_TICKS } from '../../src/base/limits.js';
import type { Raft } from '../../src/raft/raft.js';
import type { AppendRequest } from '../../src/raft/types.js';
import { Network } from './network.js';
import {
  A,
  accepted,
  append,
  B,
  batchAt,
  batchOf,
  C,
  entriesOf,
  flow,
  FIVE,
  followerOf,
  heartbeatReply,
  journalOf,
  leaderOf,
  memberOf,
  NONE,
  refused,
  rest,
  said,
  settledLeader,
  THREE,
  ticks,
} from './stage.js';

/** Proposes batches of some size; each gives one entry. */
function propose(raft: Raft, count: number, size = 1): void {
  for (let at = 0; at < count; at++) raft.propose(raft.term, batchOf(size));
}

/** Appends to r2.1 until the member rests: prevIndex and how many entries each carries. */
function appendsToB(raft: Raft): [number, number][] {
  return flow(raft)
    .sendNow.filter((message) => message.type === 'append')
    .filter(({ to }) => to === B)
    .map(({ prevIndex, entries }) => [prevIndex, entries.length]);
}

describe('raft: window', () => {
  it('appends follow one another unanswered, up to the window; an answer makes room', () => {
    const raft = settledLeader({ limits: { appendBytesMax: 1, inflightAppendsMax: 3 } });
    propose(raft, 5);
    expect(appendsToB(raft)).toEqual([
      [1, 1],
      [2, 1],
      [3, 1],
    ]);
    raft.step(accepted({ index: 3 }));
    expect(appendsToB(raft)).toEqual([
      [4, 1],
      [5, 1],
    ]);
    raft.step(accepted({ index: 6 }));
    expect(appendsToB(raft)).toEqual([]);
    expect(raft.commit).toBe(6);
  });

  it('bytes bound the window as well', () => {
    const raft = settledLeader({ limits: { appendBytesMax: 10, inflightBytesMax: 20 } });
    propose(raft, 4, 10);
    expect(appendsToB(raft)).toEqual([
      [1, 1],
      [2, 1],
    ]);
    raft.step(accepted({ index: 2 }));
    expect(appendsToB(raft)).toEqual([[3, 1]]);
  });

  it('one append takes entries up to its bytes; a larger one travels alone', () => {
    const raft = settledLeader({ limits: { appendBytesMax: 10 } });
    propose(raft, 5, 4);
    propose(raft, 1, 11);
    propose(raft, 1, 1);
    expect(appendsToB(raft)).toEqual([
      [1, 2],
      [3, 2],
      [5, 1],
      [6, 1],
      [7, 1],
    ]);
  });

  it('a slow follower -> does not hold back the other', () => {
    const raft = settledLeader({ limits: { appendBytesMax: 1, inflightAppendsMax: 1 } });
    for (let index = 2; index <= 9; index++) {
      propose(raft, 1);
      rest(raft);
      raft.step(accepted({ from: C, index }));
    }
    expect(raft.commit).toBe(9);
    rest(raft);
    raft.step(accepted({ index: 2 }));
    expect(appendsToB(raft)).toEqual([[2, 1]]);
  });

  it('proposals of one turn -> one append', () => {
    const raft = settledLeader();
    propose(raft, 5);
    expect(appendsToB(raft)).toEqual([[1, 5]]);
  });

  it('entries are handed on as they are: the very bytes that were proposed', () => {
    const raft = settledLeader();
    const batch = batchOf(64);
    raft.propose(1, batch);
    const [message] = raft.ready().sendNow as AppendRequest[];
    expect(message!.entries[0]!.bytes).toBe(batch.bytes);
  });
});

describe('raft: probing', () => {
  it('the match is not known -> one append at a time, however much is proposed', () => {
    const raft = leaderOf();
    propose(raft, 3);
    expect(appendsToB(raft)).toEqual([]);
    raft.step(accepted({ index: 1 }));
    expect(appendsToB(raft)).toEqual([[1, 3]]);
  });

  it('the probe got lost -> sent again after the next heartbeat reply', () => {
    const raft = leaderOf();
    ticks(raft, HEARTBEAT_TICKS);
    rest(raft);
    raft.step(heartbeatReply({}));
    expect(appendsToB(raft)).toEqual([[0, 1]]);
    expect(appendsToB(raft)).toEqual([]);
  });

  it('refused -> from the hint on, one at a time until something matches', () => {
    const raft = leaderOf({ journal: journalOf([1, 1, 2, 2, 3]) });
    raft.step(refused({ term: 4, index: 5, hintIndex: 3, hintTerm: 1 }));
    expect(appendsToB(raft)).toEqual([[2, 4]]);
    raft.step(accepted({ term: 4, index: 6 }));
    propose(raft, 1);
    expect(appendsToB(raft)).toEqual([[6, 1]]);
  });

  it('the same refusal twice -> answered once', () => {
    const raft = leaderOf({ journal: journalOf([1, 1, 2, 2, 3]) });
    const refusal = refused({ term: 4, index: 5, hintIndex: 3, hintTerm: 1 });
    raft.step(refusal);
    rest(raft);
    raft.step(refusal);
    expect(raft.ready()).toEqual(NONE);
  });

  it('a long conflict of one term -> found in one step; of many, a step a term', () => {
    const count = 500;
    const ours = Array.from({ length: count }, () => 2);
    const theirs = Array.from({ length: count }, () => 1);
    const oneTerm = stepsToMatch([1, ...ours], [1, ...theirs]);
    expect(oneTerm).toBe(1);
    const alternating = Array.from({ length: 60 }, (_, at) => at + 2);
    const steps = stepsToMatch(
      [1, ...alternating.filter((term) => term % 2 === 0)],
      [1, ...alternating.filter((term) => term % 2 === 1)],
    );
    expect(steps).toBeLessThanOrEqual(30);
  });
});

/** Refusals that a follower gives before its log is equal to the leader's. */
function stepsToMatch(leader: number[], follower: number[]): number {
  const network = new Network({
    members: THREE,
    raft: { timers: false },
    journals: {
      [A]: journalOf(leader, { term: 99 }),
      [B]: journalOf(follower, { term: 99 }),
      [C]: journalOf(leader, { term: 99 }),
    },
  });
  network.elect(A);
  expect(network.node(B).journal.entries).toEqual(network.node(A).journal.entries);
  return network.sent.filter(
    (message) => message.type === 'appendReply' && message.from === B && !message.accepted,
  ).length;
}

describe('raft: lost appends', () => {
  it('the next append is refused -> all from the match on is sent again', () => {
    const raft = settledLeader({ limits: { appendBytesMax: 1 } });
    propose(raft, 3);
    rest(raft);
    raft.step(refused({ index: 3, hintIndex: 1, hintTerm: 1 }));
    expect(appendsToB(raft)).toEqual([[1, 1]]);
    raft.step(refused({ index: 2, hintIndex: 1, hintTerm: 1 }));
    expect(appendsToB(raft)).toEqual([]);
    raft.step(accepted({ index: 2 }));
    expect(appendsToB(raft)).toEqual([
      [2, 1],
      [3, 1],
    ]);
  });

  it('the last append got lost -> a heartbeat reply asks, a refusal brings it again', () => {
    const raft = settledLeader();
    propose(raft, 2);
    rest(raft);
    raft.step(heartbeatReply({}));
    const check = append({ prevIndex: 3, prevTerm: 1, commit: 1, released: 1 });
    expect(raft.ready()).toEqual({ ...NONE, sendNow: [said(check)] });
    expect(raft.hasReady()).toBe(false);
    raft.step(refused({ index: 3, hintIndex: 1, hintTerm: 1 }));
    expect(appendsToB(raft)).toEqual([[1, 2]]);
  });

  it('a follower that holds everything -> its heartbeat replies ask for nothing', () => {
    const raft = settledLeader();
    raft.step(heartbeatReply({}));
    expect(raft.ready()).toEqual(NONE);
  });

  it('a whole window got lost -> recovered without an election', () => {
    const network = new Network({
      members: THREE,
      raft: { limits: { appendBytesMax: 1, inflightAppendsMax: 4 } },
    });
    network.elect(A);
    network.isolate(B);
    for (let byte = 0; byte < 20; byte++) network.propose(A, byte);
    network.tick(HEARTBEAT_TICKS);
    expect(network.raft(B).lastIndex).toBe(1);
    network.heal();
    network.tick(HEARTBEAT_TICKS * 3);
    expect([network.raft(B).commit, network.raft(A).term]).toEqual([21, 1]);
  });
});

describe('raft: replies late, twice or in another order', () => {
  it('an older acknowledgement after a newer one -> the match stays, commit stays', () => {
    const raft = settledLeader();
    propose(raft, 3);
    rest(raft);
    for (const index of [4, 2, 3, 4, 1]) {
      raft.step(accepted({ index }));
      expect(raft.commit).toBe(4);
    }
    raft.step(accepted({ from: C, index: 4 }));
    rest(raft);
    propose(raft, 1);
    expect(appendsToB(raft)).toEqual([[4, 1]]);
  });

  it('a refusal at or below the match -> late, changes nothing', () => {
    const raft = settledLeader();
    propose(raft, 2);
    rest(raft);
    raft.step(accepted({ index: 3 }));
    rest(raft);
    raft.step(refused({ index: 3, hintIndex: 0, hintTerm: 0 }));
    raft.step(refused({ index: 1, hintIndex: 0, hintTerm: 0 }));
    expect(raft.ready()).toEqual(NONE);
  });

  it('an acknowledgement beyond the log -> ignored', () => {
    const raft = settledLeader();
    propose(raft, 1);
    rest(raft);
    raft.step(accepted({ index: 9 }));
    expect(raft.commit).toBe(1);
  });

  it('a single late acknowledgement while probing -> does not end the probe', () => {
    const raft = settledLeader({ limits: { appendBytesMax: 1 } });
    propose(raft, 4);
    rest(raft);
    raft.step(accepted({ index: 3 }));
    rest(raft);
    raft.step(refused({ index: 4, hintIndex: 3, hintTerm: 1 }));
    rest(raft);
    raft.step(accepted({ index: 2 }));
    expect(raft.ready()).toEqual(NONE);
  });

  // nats-server #7424, #7209 (case C4)
  it('C4: appends of a catch-up twice, the second time late -> nothing is truncated', () => {
    const raft = followerOf();
    const first = append({ entries: entriesOf(1) });
    const second = append({ prevIndex: 1, prevTerm: 1, commit: 2, entries: [entriesOf(1, 1)[1]!] });
    raft.step(first);
    raft.step(second);
    rest(raft);
    raft.step(first);
    expect(raft.ready()).toEqual({ ...NONE, sendAfterPersist: [said(accepted({ index: 2 }))] });
    expect(raft.status()).toMatchObject({ lastIndex: 2, commit: 2, durableIndex: 2 });
  });

  it('a conflict at a committed index -> an assumption is broken, nothing is replaced', () => {
    const raft = followerOf();
    raft.step(append({ commit: 2, entries: entriesOf(1, 1) }));
    rest(raft);
    const conflicting = append({ term: 2, entries: entriesOf(1, 2) });
    expect(() => raft.step(conflicting)).toThrow('committed entry 2 is never replaced');
    expect(raft.termAt(2)).toBe(1);
  });
});

describe('raft: propose', () => {
  it('refusals by code, in their order; nothing is logged', () => {
    const follower = followerOf();
    expect(follower.propose(1, batchOf())).toEqual({ accepted: false, code: 'notLeader' });
    const raft = settledLeader({ limits: { uncommittedBytesMax: 10, appendBytesMax: 10 } });
    for (const term of [0, 2]) {
      expect(raft.propose(term, batchOf())).toEqual({ accepted: false, code: 'staleTerm' });
    }
    expect(raft.propose(1, batchOf(11))).toEqual({ accepted: false, code: 'overrun' });
    raft.stepDown('best');
    rest(raft);
    expect(raft.propose(0, batchOf())).toEqual({ accepted: false, code: 'staleTerm' });
    expect(raft.propose(1, batchOf(11))).toEqual({ accepted: false, code: 'transferring' });
    expect(raft.hasReady()).toBe(false);
    raft.persistFailed(1);
    expect(raft.propose(1, batchOf())).toEqual({ accepted: false, code: 'writeFailed' });
    expect(raft.lastIndex).toBe(1);
  });

  it('uncommitted bytes are bounded; what commits makes room', () => {
    const raft = settledLeader({ limits: { uncommittedBytesMax: 10, appendBytesMax: 10 } });
    expect(raft.propose(1, batchOf(6))).toEqual({ accepted: true, index: 2 });
    expect([raft.uncommittedRoom(), raft.status().uncommittedBytes]).toEqual([4, 6]);
    expect(raft.propose(1, batchOf(5))).toEqual({ accepted: false, code: 'overrun' });
    expect(raft.propose(1, batchOf(4))).toEqual({ accepted: true, index: 3 });
    expect(raft.uncommittedRoom()).toBe(0);
    rest(raft);
    raft.step(accepted({ index: 2 }));
    expect(raft.uncommittedRoom()).toBe(6);
    raft.step(accepted({ index: 3 }));
    expect(raft.uncommittedRoom()).toBe(10);
  });

  it('a new leader counts what its log brings uncommitted', () => {
    const raft = leaderOf({ journal: journalOf([1, 1, 1]), limits: { uncommittedBytesMax: 4 } });
    expect(raft.uncommittedRoom()).toBe(1);
    raft.step(accepted({ term: 2, index: 4 }));
    expect(raft.uncommittedRoom()).toBe(4);
    raft.stepDown(null);
    expect(raft.status().uncommittedBytes).toBe(0);
  });

  it('the log is bounded in entries, whatever they hold', () => {
    const raft = settledLeader({ limits: { logEntriesMax: 3 } });
    propose(raft, 2);
    expect(raft.propose(1, batchOf())).toEqual({ accepted: false, code: 'overrun' });
    rest(raft);
    for (const from of [B, C]) raft.step(accepted({ from, index: 3 }));
    rest(raft);
    raft.appliedTo(3);
    expect(raft.propose(1, batchOf())).toEqual({ accepted: true, index: 4 });
    expect(raft.entry(4)).toEqual(batchAt(4, 1));
  });
});

describe('raft: idle', () => {
  it('settled -> nothing but heartbeats and their answers', () => {
    const network = new Network({ members: THREE });
    network.elect(A);
    network.tick(HEARTBEAT_TICKS);
    const before = network.sent.length;
    network.tick(HEARTBEAT_TICKS * 10);
    const kinds = network.sent.slice(before).map(({ type }) => type);
    expect(kinds.filter((kind) => kind === 'heartbeat')).toHaveLength(20);
    expect(kinds.filter((kind) => kind === 'heartbeatReply')).toHaveLength(20);
    expect(kinds).toHaveLength(40);
  });

  it('one proposal at rest -> each follower gets it once, and the commit once', () => {
    const network = new Network({ members: THREE });
    network.elect(A);
    network.tick(HEARTBEAT_TICKS);
    const before = network.sent.length;
    network.propose(A);
    network.settle();
    const toB = network.sent.slice(before).filter(({ to }) => to === B);
    expect(toB.map(({ type }) => type)).toEqual(['append', 'heartbeat']);
    expect(network.raft(B).commit).toBe(2);
  });

  it('same inputs -> the same outputs, byte for byte', () => {
    const outputs = (): unknown[] => {
      const network = new Network({ members: THREE, seed: 9 });
      network.tick(ELECTION_TICKS_MAX * 2);
      for (const leader of network.leaders()) network.propose(leader);
      network.tick(HEARTBEAT_TICKS);
      return network.sent;
    };
    expect(outputs()).toEqual(outputs());
  });

  it('a fresh member has nothing to do', () => {
    expect(memberOf().hasReady()).toBe(false);
  });
});

describe('replication: on how many members a batch is', () => {
  const on = (raft: Raft): number[] => [1, 2, 3, 4, 5].filter((count) => raft.appendedOn(count));

  it('exactly so many; the no-op is none', () => {
    const raft = leaderOf({ members: FIVE });
    expect(on(raft)).toEqual([]);
    raft.propose(1, batchOf());
    expect(on(raft)).toEqual([]);
    rest(raft);
    expect(on(raft)).toEqual([1]);
    for (const from of FIVE.slice(1, 3)) raft.step(accepted({ from, index: 2 }));
    expect(on(raft)).toEqual([3]);
    raft.propose(1, batchOf());
    rest(raft);
    expect(on(raft)).toEqual([1, 3]);
  });

  it('who does not lead knows of none', () => {
    expect(on(followerOf({ journal: journalOf([1, 1]) }))).toEqual([]);
  });
});
