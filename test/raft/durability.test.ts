/** What is promised only when it is durable, and completions that come late or never. */
import { describe, expect, it } from 'vitest';
import type { Raft } from '../../src/raft/raft.js';
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
  entryAt,
  followerOf,
  journalOf,
  leaderOf,
  memberOf,
  NONE,
  refused,
  rest,
  role,
  said,
  settledLeader,
  THREE,
  vote,
  voteReply,
} from './stage.js';

function write(raft: Raft): number {
  return raft.ready().persist!.ticket;
}

describe('durability: the leader', () => {
  it('durability: the leader counts itself when its write is complete, not before', () => {
    const raft = settledLeader();
    raft.propose(1, batchOf());
    const ticket = write(raft);
    raft.step(accepted({ index: 2 }));
    expect(raft.commit).toBe(1);
    raft.persisted(ticket);
    expect(raft.commit).toBe(2);
  });

  it('durability: a majority of followers holds it -> committed without the own disk', () => {
    const raft = settledLeader();
    raft.propose(1, batchOf());
    raft.ready();
    raft.step(accepted({ index: 2 }));
    raft.step(accepted({ from: C, index: 2 }));
    expect([raft.commit, raft.durableIndex]).toEqual([2, 1]);
  });

  it('durability: a cluster of one commits what is complete', () => {
    const raft = leaderOf({ members: [A] });
    raft.propose(1, batchOf());
    const ticket = write(raft);
    expect(raft.commit).toBe(1);
    raft.persisted(ticket);
    expect(raft.commit).toBe(2);
  });

  it('durability: proposals of one turn are one write, and nothing new is none', () => {
    const raft = settledLeader();
    raft.propose(1, batchOf(1, 7));
    raft.propose(1, batchOf(1, 8));
    expect(raft.ready().persist).toEqual({
      ticket: 3,
      term: 1,
      vote: A,
      entries: [batchAt(2, 1, batchOf(1, 7)), batchAt(3, 1, batchOf(1, 8))],
    });
    expect([raft.hasReady(), raft.ready()]).toEqual([false, NONE]);
  });

  it('durability: a completion stands for all writes before it', () => {
    const raft = settledLeader();
    const tickets = [2, 3, 4].map(() => {
      raft.propose(1, batchOf());
      return write(raft);
    });
    raft.persisted(tickets[1]!);
    expect(raft.durableIndex).toBe(3);
    raft.persisted(tickets[0]!);
    expect(raft.durableIndex).toBe(3);
    raft.persisted(tickets[2]!);
    expect(raft.durableIndex).toBe(4);
  });
});

describe('durability: ABA', () => {
  it('durability: ABA: a write of an entry that was replaced proves nothing for the new one', () => {
    const raft = memberOf();
    raft.step(append({ entries: [entryAt(1, 1)] }));
    const first = write(raft);
    raft.step(append({ from: C, term: 2, entries: [entryAt(1, 2)] }));
    const second = write(raft);
    raft.persisted(first);
    expect([raft.durableIndex, raft.termAt(1)]).toEqual([0, 2]);
    raft.persisted(second);
    expect(raft.durableIndex).toBe(1);
  });

  it('durability: ABA: what of the write was not replaced still counts', () => {
    const raft = memberOf();
    raft.step(append({ entries: entriesOf(1, 1, 1) }));
    const first = write(raft);
    raft.step(append({ from: C, term: 2, prevIndex: 1, prevTerm: 1, entries: [entryAt(2, 2)] }));
    raft.persisted(first);
    expect(raft.durableIndex).toBe(1);
    raft.persisted(write(raft));
    expect(raft.durableIndex).toBe(2);
  });

  it('durability: ABA: durable entries that were replaced are durable no more', () => {
    const raft = memberOf({ journal: journalOf([1, 1, 1]) });
    expect(raft.durableIndex).toBe(3);
    raft.step(append({ term: 2, prevIndex: 1, prevTerm: 1, entries: [entryAt(2, 2)] }));
    expect(raft.durableIndex).toBe(1);
  });

  it('durability: ABA: leads again -> a write of its first leadership commits nothing', () => {
    const raft = settledLeader();
    raft.propose(1, batchOf());
    const first = write(raft);
    const replaced = entryAt(2, 2);
    raft.step(append({ term: 2, prevIndex: 1, prevTerm: 1, entries: [replaced] }));
    raft.ready();
    raft.campaign({ term: 2, deadLeader: B });
    raft.ready();
    raft.step(voteReply({ term: 3 }));
    raft.step(voteReply({ from: C, term: 3 }));
    expect([raft.role, raft.term, raft.lastIndex]).toEqual(['leader', 3, 3]);
    raft.ready();
    raft.step(accepted({ from: C, term: 3, index: 3 }));
    raft.persisted(first);
    expect([raft.durableIndex, raft.commit]).toEqual([1, 1]);
  });
});

describe('durability: the follower', () => {
  it('durability: an acknowledgement leaves when its entries are durable', () => {
    const network = new Network({ members: THREE });
    network.settle();
    network.raft(A).step(append({ entries: [entryAt(1, 1)] }));
    network.drain(network.node(A));
    expect(network.wire).toEqual([]);
    network.complete(network.node(A));
    expect(network.wire).toEqual([said(accepted({ index: 1 }))]);
  });

  it('durability: what needs no write of its own still waits for those under way', () => {
    const network = new Network({ members: THREE });
    network.settle();
    network.raft(A).step(append({ entries: entriesOf(1, 1) }));
    network.drain(network.node(A));
    network.raft(A).step(append({ entries: entriesOf(1, 1) }));
    network.drain(network.node(A));
    expect(network.wire).toEqual([]);
    network.complete(network.node(A));
    expect(network.wire).toEqual([said(accepted({ index: 2 })), said(accepted({ index: 2 }))]);
  });

  it('durability: acknowledgements of one turn are one; a refusal does not overtake them', () => {
    const raft = followerOf();
    raft.step(append({ entries: [entryAt(1, 1)] }));
    raft.step(append({ prevIndex: 1, prevTerm: 1, entries: [entryAt(2, 1)] }));
    raft.step(append({ entries: [entryAt(1, 1)] }));
    raft.step(append({ prevIndex: 7, prevTerm: 1 }));
    expect(raft.ready().sendAfterPersist).toEqual([
      said(accepted({ index: 2 })),
      said(refused({ index: 7, hintIndex: 2, hintTerm: 1 })),
    ]);
  });

  it('durability: an acknowledgement for a leader that was left in the same turn -> not sent', () => {
    const raft = followerOf();
    raft.step(append({ entries: entriesOf(1, 1) }));
    raft.step(append({ from: C, term: 2, entries: [entryAt(1, 2)] }));
    expect(raft.ready()).toEqual({
      ...NONE,
      persist: { ticket: 2, term: 2, vote: null, entries: [entryAt(1, 2)] },
      sendAfterPersist: [said(accepted({ term: 2, index: 1 }), C)],
      events: [role('follower', 2, C, 'higherTerm')],
    });
  });
});

describe('durability: failure and restart', () => {
  it('durability: a failed write of the leader -> it follows, and what it had to say is gone', () => {
    const raft = settledLeader();
    raft.propose(1, batchOf());
    const ticket = write(raft);
    raft.propose(1, batchOf());
    raft.persistFailed(ticket);
    expect(raft.ready()).toEqual({ ...NONE, events: [role('follower', 1, null, 'writeFailed')] });
    raft.step(accepted({ index: 2 }));
    raft.step(accepted({ from: C, index: 2 }));
    raft.persistFailed(ticket);
    expect([raft.commit, raft.hasReady(), raft.propose(1, batchOf())]).toEqual([
      1,
      false,
      { accepted: false, code: 'writeFailed' },
    ]);
  });

  it('durability: a failed write of a follower -> the acknowledgement is never sent', () => {
    const raft = followerOf();
    raft.step(append({ entries: [entryAt(1, 1)] }));
    raft.persistFailed(1);
    expect(raft.ready()).toEqual({ ...NONE, events: [role('follower', 1, null, 'writeFailed')] });
  });

  it('durability: a failed write before what was to be said was drained -> it is not said', () => {
    const raft = followerOf();
    raft.step(vote({ from: C, term: 2, pre: true, ordered: true }));
    raft.persistFailed(1);
    expect(raft.ready()).toEqual({ ...NONE, events: [role('follower', 1, null, 'writeFailed')] });
  });

  it('durability: restart -> term, vote and log come back, commit begins at nothing', () => {
    const raft = memberOf({ journal: journalOf([1, 2, 2], { term: 4, vote: C }) });
    expect(raft.status()).toMatchObject({
      role: 'follower',
      term: 4,
      vote: C,
      leader: null,
      commit: 0,
      lastIndex: 3,
      lastTerm: 2,
      durableIndex: 3,
    });
    raft.step(vote({ term: 4, lastIndex: 9, lastTerm: 3 }));
    expect(raft.ready()).toEqual({
      ...NONE,
      sendAfterPersist: [said(voteReply({ term: 4, granted: false }))],
    });
  });

  it('durability: restart with a write lost -> the entries are sent again', () => {
    const network = new Network({ members: THREE });
    network.elect(A);
    network.propose(A, 1);
    network.drain(network.node(A));
    network.raft(B).step(network.wire.find(({ to }) => to === B)!);
    network.drain(network.node(B));
    expect(network.node(B).writes).toHaveLength(1);
    network.crash(B);
    network.start(B);
    network.settle();
    network.tick(10);
    expect(network.node(B).journal.entries).toEqual(network.node(A).journal.entries);
    expect(network.node(B).applied.map(({ index }) => index)).toEqual([1, 2]);
  });

  it('durability: a journal that cannot be is refused', () => {
    const [first, , third] = entriesOf(1, 1, 1);
    const holed = { ...journalOf([1]), entries: [first!, third!] };
    expect(() => memberOf({ journal: holed })).toThrow('journal entry 3 is in its place');
    expect(() => memberOf({ journal: journalOf([3], { term: 2 }) })).toThrow('later term');
  });

  it('durability: nothing waits -> rest is reached', () => {
    const raft = leaderOf();
    rest(raft);
    expect(raft.hasReady()).toBe(false);
  });
});
