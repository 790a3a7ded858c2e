/** What a leader takes, refuses, sends ahead and lets go. */
import { describe, expect, it } from 'vitest';
import type { Raft, RaftLimits } from '../../src/raft/raft.js';
import type { Message } from '../../src/raft/types.js';
import {
  A,
  accepted,
  append,
  B,
  batchOf,
  C,
  entriesOf,
  flow,
  followerOf,
  heartbeat,
  heartbeatReply,
  journalOf,
  leaderOf,
  memberOf,
  NONE,
  refused,
  rest,
  said,
  settledLeader,
  ticks,
} from './stage.js';

const SMALL = { uncommittedBytesMax: 10 };

/** The appends of a drain, as [to, prevIndex, entries]. */
function appendsOf(messages: readonly Message[]): [string, number, number][] {
  return messages.flatMap((message): [string, number, number][] =>
    message.type === 'append' ? [[message.to, message.prevIndex, message.entries.length]] : [],
  );
}

/** Appends to B of each of so many proposals, drained one by one. */
function proposeEach(raft: Raft, sizes: readonly number[]): [string, number, number][] {
  return sizes.flatMap((size) => {
    raft.propose(raft.term, batchOf(size));
    return appendsOf(flow(raft).sendNow).filter(([to]) => to === B);
  });
}

function limited(limits: Partial<RaftLimits>): { limits: Partial<RaftLimits> } {
  return { limits };
}

describe('propose: refusals', () => {
  const failed = (): Raft => {
    const raft = settledLeader();
    raft.persistFailed(0);
    return raft;
  };
  const transferring = (): Raft => {
    const raft = settledLeader();
    raft.stepDown(B);
    return raft;
  };
  const full = (): Raft => {
    const raft = settledLeader(limited({ logEntriesMax: 2 }));
    raft.propose(1, batchOf());
    raft.propose(1, batchOf());
    return raft;
  };
  it.each([
    ['a follower', 'notLeader', () => followerOf(), 1],
    ['a candidate', 'notLeader', () => memberOf({ journal: journalOf([1]) }), 1],
    ['a leader, no term', 'staleTerm', () => settledLeader(), 0],
    ['a leader, a later term', 'staleTerm', () => settledLeader(), 2],
    ['a leader of term 2, term 1', 'staleTerm', () => leaderOf({ journal: journalOf([1]) }), 1],
    ['a leader that hands over', 'transferring', transferring, 1],
    ['a leader with too many bytes', 'overrun', () => settledLeader(limited(SMALL)), 1],
    ['a leader with a full log', 'overrun', full, 1],
    ['a leader whose write failed', 'writeFailed', failed, 1],
  ])('propose: to %s -> %s, the log is as before', (_, code, make, term) => {
    const raft = make();
    rest(raft);
    const { lastIndex } = raft;
    const batch = batchOf(SMALL.uncommittedBytesMax + 1);
    expect(raft.propose(term, batch)).toEqual({ accepted: false, code });
    expect([raft.lastIndex, raft.ready()]).toEqual([lastIndex, NONE]);
  });

  it('propose: bytes that are not committed -> up to the bound, room comes back by commit', () => {
    const raft = settledLeader(limited(SMALL));
    expect(raft.uncommittedRoom()).toBe(10);
    expect(raft.propose(1, batchOf(6)).accepted).toBe(true);
    expect([raft.uncommittedRoom(), raft.status().uncommittedBytes]).toEqual([4, 6]);
    expect(raft.propose(1, batchOf(5))).toEqual({ accepted: false, code: 'overrun' });
    expect(raft.propose(1, batchOf(4)).accepted).toBe(true);
    rest(raft);
    raft.step(accepted({ index: 2 }));
    expect(raft.uncommittedRoom()).toBe(6);
    raft.step(accepted({ index: 3 }));
    expect(raft.uncommittedRoom()).toBe(10);
  });

  it('propose: bytes that an earlier leader left uncommitted count as well', () => {
    const raft = leaderOf({ ...limited(SMALL), journal: journalOf([1, 1, 1]) });
    expect(raft.uncommittedRoom()).toBe(7);
    raft.step(accepted({ term: 2, index: 4 }));
    expect(raft.uncommittedRoom()).toBe(10);
  });

  it('propose: a full log -> takes again when every member holds and this one applied', () => {
    const raft = settledLeader(limited({ logEntriesMax: 2 }));
    raft.appliedTo(1);
    rest(raft);
    raft.propose(1, batchOf());
    raft.propose(1, batchOf());
    expect(raft.propose(1, batchOf())).toEqual({ accepted: false, code: 'overrun' });
    rest(raft);
    for (const from of [B, C]) raft.step(accepted({ from, index: 3 }));
    rest(raft);
    expect(raft.propose(1, batchOf()), 'not applied').toEqual({ accepted: false, code: 'overrun' });
    raft.appliedTo(3);
    expect(raft.propose(1, batchOf())).toEqual({ accepted: true, index: 4 });
  });
});

describe('replication: in flight', () => {
  it('in flight: the match is not known -> one append at a time', () => {
    const raft = leaderOf();
    expect(proposeEach(raft, [1, 1, 1])).toEqual([]);
    raft.step(heartbeatReply({}));
    expect(appendsOf(flow(raft).sendNow)).toEqual([[B, 0, 4]]);
    raft.step(accepted({ index: 4 }));
    expect(proposeEach(raft, [1])).toEqual([[B, 4, 1]]);
  });

  it('in flight: as many appends as the window has, one more for each answered', () => {
    const raft = settledLeader(limited({ inflightAppendsMax: 3 }));
    expect(proposeEach(raft, [1, 1, 1, 1, 1])).toEqual([
      [B, 1, 1],
      [B, 2, 1],
      [B, 3, 1],
    ]);
    raft.step(accepted({ index: 2 }));
    expect(appendsOf(flow(raft).sendNow)).toEqual([[B, 4, 2]]);
    raft.step(accepted({ index: 2 }));
    expect(proposeEach(raft, [1])).toEqual([]);
  });

  it('in flight: bytes up to the bound, which the append that reaches it may pass', () => {
    const raft = settledLeader(limited({ inflightBytesMax: 10 }));
    expect(proposeEach(raft, [4, 4, 4, 4])).toEqual([
      [B, 1, 1],
      [B, 2, 1],
      [B, 3, 1],
    ]);
    raft.step(accepted({ index: 2 }));
    expect(appendsOf(flow(raft).sendNow)).toEqual([[B, 4, 1]]);
  });

  it('in flight: an append holds entries up to its bytes, a larger one travels alone', () => {
    const raft = settledLeader(limited({ appendBytesMax: 10 }));
    for (const size of [4, 4, 4, 50, 1]) raft.propose(1, batchOf(size));
    const toB = appendsOf(raft.ready().sendNow).filter(([to]) => to === B);
    expect(toB).toEqual([
      [B, 1, 2],
      [B, 3, 1],
      [B, 4, 1],
      [B, 5, 1],
    ]);
  });

  it('in flight: the bytes of a batch are shared, never copied', () => {
    const raft = settledLeader();
    const batch = batchOf(100);
    raft.propose(1, batch);
    const { persist, sendNow } = raft.ready();
    const carried = sendNow.flatMap((message) =>
      message.type === 'append' ? message.entries : [],
    );
    expect(carried).toHaveLength(2);
    for (const { bytes } of [...carried, ...persist!.entries]) expect(bytes).toBe(batch.bytes);
  });
});

describe('replication: replies', () => {
  /** Leader of term 1 that sent 2 … 4 to all. */
  const leader = (): Raft => {
    const raft = settledLeader();
    for (let at = 0; at < 3; at++) {
      raft.propose(1, batchOf());
      rest(raft);
    }
    return raft;
  };

  it('replies: reordered and duplicated -> the match only grows, nothing is sent again', () => {
    const raft = leader();
    raft.step(accepted({ index: 3 }));
    rest(raft);
    raft.step(accepted({ index: 3 }));
    raft.step(accepted({ index: 2 }));
    raft.step(refused({ index: 2, hintIndex: 1, hintTerm: 1 }));
    expect([raft.ready(), raft.commit]).toEqual([NONE, 3]);
    ticks(raft, 5);
    expect(raft.ready().sendNow).toEqual([
      said(heartbeat({ commit: 3, released: 1 })),
      said(heartbeat({ commit: 1, released: 1 }), C),
    ]);
    raft.step(accepted({ index: 4 }));
    expect(raft.ready()).toEqual({
      ...NONE,
      sendNow: [said(heartbeat({ commit: 4, released: 1 }))],
    });
  });

  it('replies: an append was lost -> refused by the next, sent again from the hint', () => {
    const raft = leader();
    raft.step(refused({ index: 3, hintIndex: 2, hintTerm: 1 }));
    expect(appendsOf(raft.ready().sendNow)).toEqual([[B, 2, 2]]);
  });

  it('replies: a refusal delivered twice -> one answer', () => {
    const raft = leader();
    const refusal = refused({ index: 3, hintIndex: 1, hintTerm: 1 });
    raft.step(refusal);
    raft.step(refusal);
    expect(appendsOf(raft.ready().sendNow)).toEqual([[B, 1, 3]]);
    raft.step(refusal);
    expect(raft.ready()).toEqual(NONE);
  });

  it('replies: the last append was lost -> the answer to a heartbeat leads to a check of it', () => {
    const raft = leader();
    raft.step(heartbeatReply({}));
    const check = append({ prevIndex: 4, prevTerm: 1, commit: 1, released: 1 });
    expect(raft.ready()).toEqual({ ...NONE, sendNow: [said(check)] });
    raft.step(refused({ index: 4, hintIndex: 1, hintTerm: 1 }));
    expect(appendsOf(raft.ready().sendNow)).toEqual([[B, 1, 3]]);
  });

  it('replies: a heartbeat answered by a follower that holds all -> nothing', () => {
    const raft = settledLeader();
    raft.step(heartbeatReply({}));
    expect([raft.hasReady(), raft.ready()]).toEqual([false, NONE]);
  });

  it('replies: a heartbeat tells a follower no commit beyond what it matched', () => {
    const raft = leader();
    raft.step(accepted({ index: 2 }));
    raft.step(accepted({ from: C, index: 4 }));
    rest(raft);
    ticks(raft, 5);
    expect([raft.commit, raft.ready().sendNow]).toEqual([
      4,
      [said(heartbeat({ commit: 2, released: 2 })), said(heartbeat({ commit: 4, released: 2 }), C)],
    ]);
  });
});

describe('C2: what counts as held by a majority', () => {
  it('C2: entries sent to catch a follower up commit nothing before one of the own term', () => {
    const raft = leaderOf({ journal: journalOf(Array<number>(100).fill(1), { term: 2 }) });
    raft.step(refused({ term: 3, index: 100, hintIndex: 50, hintTerm: 1 }));
    rest(raft);
    raft.step(accepted({ term: 3, index: 100 }));
    expect(raft.commit).toBe(0);
    raft.step(accepted({ term: 3, index: 101 }));
    expect(raft.commit).toBe(101);
  });

  it('C4: an append of what was acknowledged comes again -> nothing goes back', () => {
    const raft = followerOf();
    raft.step(append({ entries: entriesOf(1, 1), commit: 2 }));
    rest(raft);
    raft.step(append({ entries: entriesOf(1) }));
    expect(raft.ready()).toEqual({
      ...NONE,
      sendAfterPersist: [said(accepted({ index: 2 }))],
    });
    expect([raft.lastIndex, raft.commit, raft.durableIndex]).toEqual([2, 2, 2]);
  });
});

describe('release: what every member holds', () => {
  it('release: held by all, committed and applied here -> gone, its term is still known', () => {
    const raft = settledLeader();
    expect(raft.entry(1)).toBeDefined();
    raft.appliedTo(1);
    expect([raft.entry(1), raft.termAt(1), raft.termAt(0), raft.lastIndex]).toEqual([
      undefined,
      1,
      undefined,
      1,
    ]);
    expect(raft.propose(1, batchOf())).toEqual({ accepted: true, index: 2 });
    expect(raft.ready().sendNow[0]).toMatchObject({ prevIndex: 1, prevTerm: 1, released: 1 });
  });

  it('release: one follower lags -> all that it lacks stays', () => {
    const raft = settledLeader();
    raft.propose(1, batchOf());
    rest(raft);
    raft.step(accepted({ index: 2 }));
    raft.appliedTo(2);
    rest(raft);
    expect([raft.commit, raft.entry(1), raft.entry(2)?.index]).toEqual([2, undefined, 2]);
    raft.step(accepted({ from: C, index: 2 }));
    rest(raft);
    expect(raft.entry(2)).toBeUndefined();
  });

  it('release: not durable here -> nobody is told to let it go', () => {
    const raft = settledLeader();
    raft.propose(1, batchOf());
    const { persist } = raft.ready();
    for (const from of [B, C]) raft.step(accepted({ from, index: 2 }));
    const told = (released: number): Message[] => [
      said(heartbeat({ commit: 2, released })),
      said(heartbeat({ commit: 2, released }), C),
    ];
    expect([raft.commit, raft.ready().sendNow]).toEqual([2, told(1)]);
    raft.persisted(persist!.ticket);
    ticks(raft, 5);
    expect(raft.ready().sendNow).toEqual(told(2));
  });

  it('release: a follower lets go what the leader says, once applied and durable here', () => {
    const raft = followerOf();
    raft.step(append({ entries: entriesOf(1, 1), commit: 2, released: 2 }));
    raft.appliedTo(1);
    expect(raft.entry(1), 'not durable').toBeDefined();
    rest(raft);
    raft.appliedTo(1);
    expect([raft.entry(1), raft.entry(2)?.index]).toEqual([undefined, 2]);
    raft.appliedTo(2);
    expect([raft.entry(2), raft.termAt(2), raft.lastIndex]).toEqual([undefined, 1, 2]);
  });

  it('release: an append below what was let go -> acknowledged up to the commit', () => {
    const raft = followerOf();
    raft.step(append({ entries: entriesOf(1, 1), commit: 2, released: 2 }));
    rest(raft);
    raft.appliedTo(2);
    raft.step(append({ entries: entriesOf(1, 1, 1), commit: 2 }));
    expect(raft.ready().sendAfterPersist).toEqual([said(accepted({ index: 3 }))]);
    expect([raft.entry(1), raft.entry(3)?.index, raft.status().vote === A]).toEqual([
      undefined,
      3,
      false,
    ]);
  });

  it('release: ten thousand entries, one by one -> the log stays short and in its place', () => {
    const raft = leaderOf({ members: [A] });
    for (let index = 2; index <= 10_000; index++) {
      raft.propose(1, batchOf());
      rest(raft);
      raft.appliedTo(raft.commit - 1);
      rest(raft);
    }
    expect([raft.commit, raft.entry(9_999), raft.entry(10_000)?.index]).toEqual([
      10_000,
      undefined,
      10_000,
    ]);
  });
});
