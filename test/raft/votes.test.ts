/** Votes are given once a term, durable before they are told, and counted once. */
import { describe, expect, it } from 'vitest';
import type { RaftOptions } from '../../src/raft/options.js';
import type { Raft } from '../../src/raft/raft.js';
import { Network } from './network.js';
import {
  A,
  append,
  B,
  batchOf,
  C,
  FIVE,
  followerOf,
  heartbeat,
  heartbeatReply,
  journalOf,
  leaderOf,
  memberOf,
  NONE,
  rest,
  role,
  said,
  THREE,
  ticks,
  vote,
  voteReply,
} from './stage.js';

/** A time-out of exactly ten ticks, so that a test can say when it expires. */
const TEN: Partial<RaftOptions> = {
  limits: { heartbeatTicks: 2, electionTicksMin: 10, electionTicksMax: 10 },
};

/** Campaigning in term 1 by order; its own vote is durable. */
function candidate(options: Partial<RaftOptions> = {}): Raft {
  const raft = memberOf({ ...TEN, ...options });
  raft.campaign({ term: 0, deadLeader: null });
  rest(raft);
  return raft;
}

describe('votes: the count', () => {
  it('votes: count: one grant delivered three times -> counted once', () => {
    const raft = candidate({ members: FIVE });
    for (let times = 0; times < 3; times++) raft.step(voteReply({}));
    expect([raft.role, raft.ready()]).toEqual(['candidate', NONE]);
    raft.step(voteReply({ from: C }));
    expect(raft.role).toBe('leader');
  });

  it('votes: count: the first answer of a member stands, whatever comes after it', () => {
    const raft = candidate();
    raft.step(voteReply({ granted: false }));
    raft.step(voteReply({}));
    expect([raft.role, raft.ready()]).toEqual(['candidate', NONE]);
    raft.step(voteReply({ from: C }));
    expect(raft.role).toBe('leader');
  });

  it('votes: count: grants of an earlier term, after the next campaign -> ignored', () => {
    const raft = candidate({ preVote: false });
    ticks(raft, 10);
    rest(raft);
    raft.step(voteReply({ term: 1 }));
    raft.step(voteReply({ from: C, term: 1 }));
    expect([raft.role, raft.term, raft.ready()]).toEqual(['candidate', 2, NONE]);
  });

  it('votes: count: the own one when it is durable, others before', () => {
    const raft = memberOf({ ...TEN, members: FIVE });
    raft.campaign({ term: 0, deadLeader: null });
    const { persist } = raft.ready();
    raft.step(voteReply({}));
    raft.step(voteReply({ from: C }));
    expect(raft.role).toBe('candidate');
    raft.persisted(persist!.ticket);
    expect(raft.role).toBe('leader');
  });

  it('votes: count: the own one of an earlier campaign, durable late -> nothing', () => {
    const raft = memberOf({ ...TEN, members: FIVE });
    raft.campaign({ term: 0, deadLeader: null });
    const first = raft.ready().persist!;
    raft.campaign({ term: 1, deadLeader: null });
    const second = raft.ready().persist!;
    for (const from of [B, C]) raft.step(voteReply({ from, term: 2 }));
    raft.persisted(first.ticket);
    expect(raft.role).toBe('candidate');
    raft.persisted(second.ticket);
    expect([raft.role, raft.term]).toEqual(['leader', 2]);
  });
});

describe('votes: pre-votes', () => {
  it('votes: pre-vote: for no new term, as of a probe -> answered by our term, not refused', () => {
    const raft = memberOf({ ...TEN, journal: journalOf([2]) });
    raft.step(vote({ term: 2, pre: true, ordered: true }));
    raft.step(vote({ from: C, term: 1, pre: true }));
    expect(raft.ready()).toEqual({
      ...NONE,
      sendAfterPersist: [said(heartbeatReply({ term: 2 })), said(heartbeatReply({ term: 2 }), C)],
    });
  });

  it('votes: pre-vote: begun while answers to a probe are under way -> they do not end it', () => {
    const network = new Network({ members: THREE, raft: TEN });
    network.settle();
    network.raft(A).probe();
    network.drain(network.node(A));
    for (const { to } of [...network.wire]) {
      network.raft(to).step(network.wire.shift()!);
      network.drain(network.node(to));
    }
    ticks(network.raft(A), 10);
    network.settle();
    expect(network.roles(A)).toEqual([
      'follower@0 - start',
      'preCandidate@0 - electionTimeout',
      'candidate@1 - won',
      'leader@1 r1.1 won',
    ]);
  });
});

describe('votes: given once', () => {
  it('votes: a candidate that follows in its term keeps the vote for itself', () => {
    const raft = candidate();
    raft.step(heartbeat({}));
    rest(raft);
    raft.step(vote({ from: C, ordered: true, lastIndex: 9, lastTerm: 1 }));
    expect(raft.ready()).toEqual({
      ...NONE,
      sendAfterPersist: [said(voteReply({ granted: false }), C)],
    });
    expect(raft.status().vote).toBe(A);
  });

  it('votes: a leader that steps down in its term keeps the vote for itself', () => {
    const raft = leaderOf(TEN);
    raft.stepDown(null);
    rest(raft);
    raft.step(vote({ from: C, ordered: true, lastIndex: 9, lastTerm: 1 }));
    expect(raft.ready().sendAfterPersist).toEqual([said(voteReply({ granted: false }), C)]);
  });

  it.each([
    ['not durable at the crash -> free to vote for another', false, C],
    ['durable at the crash -> bound by it', true, B],
  ])('votes: %s', (_, durable, expected) => {
    const network = new Network({ members: THREE, raft: TEN });
    const node = network.node(A);
    network.settle();
    network.raft(A).step(vote({ term: 1 }));
    network.drain(node);
    expect(network.wire, 'told before it is durable').toEqual([]);
    if (durable) {
      network.complete(node);
      expect(network.wire.splice(0)).toEqual([said(voteReply({ term: 1 }))]);
    }
    network.crash(A);
    network.start(A);
    network.raft(A).step(vote({ from: C, term: 1 }));
    network.drain(node);
    while (node.writes.length > 0) network.complete(node);
    expect(network.wire).toEqual([said(voteReply({ term: 1, granted: !durable }), C)]);
    expect(node.journal.vote).toBe(expected);
  });

  it('votes: an ordered request does not skip the check of the log', () => {
    const raft = memberOf({ ...TEN, journal: journalOf([2]) });
    raft.step(vote({ term: 3, ordered: true, lastIndex: 5, lastTerm: 1 }));
    expect(raft.ready()).toEqual({
      ...NONE,
      persist: { ticket: 1, term: 3, vote: null, entries: [] },
      sendAfterPersist: [said(voteReply({ term: 3, granted: false }))],
      events: [role('follower', 3, null, 'higherTerm')],
    });
  });
});

describe('votes: the time-out', () => {
  it('votes: a refused request for a later term does not put it off', () => {
    const raft = memberOf({ ...TEN, journal: journalOf([2]) });
    ticks(raft, 7);
    raft.step(vote({ term: 3 }));
    rest(raft);
    ticks(raft, 2);
    expect(raft.ready()).toEqual(NONE);
    raft.tick(false);
    expect(raft.role).toBe('preCandidate');
  });

  it('votes: a granted one puts it off', () => {
    const raft = memberOf(TEN);
    ticks(raft, 7);
    raft.step(vote({ term: 1 }));
    rest(raft);
    ticks(raft, 9);
    expect(raft.role).toBe('follower');
    raft.tick(false);
    expect(raft.role).toBe('preCandidate');
  });
});

describe('B7: a member whose journal failed', () => {
  it('B7: neither grants nor requests votes, answers nothing, takes nothing', () => {
    const raft = followerOf(TEN);
    raft.step(vote({ from: C, term: 2, ordered: true }));
    const { persist } = raft.ready();
    raft.persistFailed(persist!.ticket);
    expect(raft.ready()).toEqual({ ...NONE, events: [role('follower', 2, null, 'writeFailed')] });
    raft.step(vote({ from: C, term: 3, ordered: true }));
    raft.step(append({ term: 3 }));
    raft.probe();
    raft.persisted(persist!.ticket);
    ticks(raft, 250);
    expect([
      raft.campaign({ term: 2, deadLeader: null }),
      raft.stepDown(null),
      raft.propose(2, batchOf()),
      raft.hasReady(),
      raft.ready(),
      raft.term,
    ]).toEqual([false, false, { accepted: false, code: 'writeFailed' }, false, NONE, 2]);
  });

  it('B7: the leader dies and one of the other two cannot vote -> no leader', () => {
    const network = new Network({ members: THREE, raft: TEN });
    network.elect(A);
    network.raft(B).persistFailed(0);
    network.crash(A);
    network.tick(100);
    network.elect(C);
    expect([network.leaders(), network.node(B).journal.vote]).toEqual([[], A]);
    network.crash(B);
    network.start(B);
    network.elect(C);
    expect(network.leaders(), 'restarted from its journal it votes').toEqual([C]);
  });
});
