/** Pre-vote, lease, check-quorum, orders of the conductor, flaps: beyond the paper's figure 2. */
import { describe, expect, it } from 'vitest';
import { ELECTION_TICKS_MAX, ELECTION_TICKS_MIN, HEARTBEAT_TICKS } from '../../src/base/limits.js';
import type { Raft } from '../../src/raft/raft.js';
import { Network } from './network.js';
import {
  A,
  accepted,
  append,
  B,
  C,
  flow,
  followerOf,
  heartbeat,
  heartbeatReply,
  journalOf,
  leaderOf,
  memberOf,
  NONE,
  noopAt,
  rest,
  role,
  said,
  settledLeader,
  THREE,
  ticks,
  vote,
  voteReply,
} from './stage.js';

/** A member of term 2 whose pre-vote for term 3 is out. */
function preCandidateOf(): Raft {
  const raft = memberOf({ journal: journalOf([2]) });
  ticks(raft, ELECTION_TICKS_MAX);
  rest(raft);
  return raft;
}

describe('raft: pre-vote', () => {
  it('time-out -> asks whether votes would be given; term, vote and journal stay', () => {
    const raft = memberOf({ journal: journalOf([2]) });
    ticks(raft, ELECTION_TICKS_MAX);
    const request = vote({ term: 3, pre: true, lastIndex: 1, lastTerm: 2 });
    expect(raft.ready()).toEqual({
      ...NONE,
      sendAfterPersist: [said(request, B), said(request, C)],
      events: [role('preCandidate', 2, null, 'electionTimeout')],
    });
    expect(raft.status()).toMatchObject({ term: 2, vote: null });
  });

  it('a majority would vote -> campaigns in the next term', () => {
    const raft = preCandidateOf();
    raft.step(voteReply({ term: 3, pre: true }));
    const request = vote({ term: 3, lastIndex: 1, lastTerm: 2 });
    expect(raft.ready()).toEqual({
      persist: { ticket: 1, term: 3, vote: A, entries: [] },
      sendNow: [],
      sendAfterPersist: [said(request, B), said(request, C)],
      events: [role('candidate', 3, null, 'won')],
    });
  });

  it('a majority would not -> follower in the same term, nothing written', () => {
    const raft = preCandidateOf();
    raft.step(voteReply({ term: 2, pre: true, granted: false }));
    expect(raft.hasReady()).toBe(false);
    raft.step(voteReply({ from: C, term: 2, pre: true, granted: false }));
    expect(raft.ready()).toEqual({ ...NONE, events: [role('follower', 2, null, 'lost')] });
  });

  it('a refusal from a later term -> follows in it', () => {
    const raft = preCandidateOf();
    raft.step(voteReply({ term: 5, pre: true, granted: false }));
    expect(raft.ready().events).toEqual([role('follower', 5, null, 'higherTerm')]);
  });

  it('a grant for another term, or a real vote -> not counted', () => {
    const raft = preCandidateOf();
    raft.step(voteReply({ term: 2, pre: true }));
    raft.step(voteReply({ term: 4, pre: true }));
    raft.step(voteReply({ term: 2 }));
    expect(raft.hasReady()).toBe(false);
    expect(raft.role).toBe('preCandidate');
  });

  it('a late pre-vote -> elects no candidate of the same term', () => {
    const raft = memberOf({ members: ['r1.1', 'r2.1', 'r3.1', 'r4.1', 'r5.1'] });
    ticks(raft, ELECTION_TICKS_MAX);
    for (const from of [B, C]) raft.step(voteReply({ from, pre: true }));
    rest(raft);
    for (const from of ['r4.1', 'r5.1']) raft.step(voteReply({ from, pre: true }));
    expect(raft.role).toBe('candidate');
  });

  it('hears the leader of its term -> follows it', () => {
    const raft = preCandidateOf();
    raft.step(heartbeat({ term: 2 }));
    expect(raft.ready()).toEqual({
      ...NONE,
      sendAfterPersist: [said(heartbeatReply({ term: 2 }))],
      events: [role('follower', 2, B, 'leaderHeard')],
    });
  });

  it('asked -> answers without a trace: no term, no vote, no time-out put off', () => {
    const raft = memberOf({ journal: journalOf([2]) });
    ticks(raft, ELECTION_TICKS_MIN - 1);
    const request = { pre: true, lastIndex: 1, lastTerm: 2 };
    raft.step(vote({ term: 3, ...request }));
    raft.step(vote({ from: C, term: 3, ...request }));
    raft.step(vote({ term: 2, ...request }));
    expect(raft.ready()).toEqual({
      ...NONE,
      sendAfterPersist: [
        said(voteReply({ term: 3, pre: true })),
        said(voteReply({ term: 3, pre: true }), C),
        said(heartbeatReply({ term: 2 })),
      ],
    });
    ticks(raft, ELECTION_TICKS_MAX - ELECTION_TICKS_MIN + 1);
    expect(raft.role).toBe('preCandidate');
  });

  it('one member alone -> votes for itself, leads once its vote is durable', () => {
    const raft = memberOf({ members: [A] });
    ticks(raft, ELECTION_TICKS_MAX);
    expect(raft.role).toBe('candidate');
    expect(flow(raft)).toEqual({
      persists: [
        { ticket: 1, term: 1, vote: A, entries: [] },
        { ticket: 2, term: 1, vote: A, entries: [noopAt(1, 1)] },
      ],
      sendNow: [],
      sendAfterPersist: [],
      events: [
        role('preCandidate', 0, null, 'electionTimeout'),
        role('candidate', 1, null, 'won'),
        role('leader', 1, A, 'won'),
      ],
    });
    expect(raft.commit).toBe(1);
    ticks(raft, ELECTION_TICKS_MAX * 2);
    expect(raft.isLeader).toBe(true);
  });
});

describe('raft: lease', () => {
  for (const pre of [true, false]) {
    const asks = pre ? 'pre-vote' : 'vote';
    it(`${asks} of a follower that hears a leader -> silence while the lease lasts`, () => {
      const raft = followerOf();
      const request = vote({ from: C, term: 2, pre, lastIndex: 9, lastTerm: 1 });
      ticks(raft, ELECTION_TICKS_MIN - 1);
      raft.step(request);
      expect(raft.ready()).toEqual(NONE);
      expect(raft.term).toBe(1);
      ticks(raft, 1);
      raft.step(request);
      expect(raft.ready().sendAfterPersist).toEqual([said(voteReply({ term: 2, pre }), C)]);
    });

    it(`${asks} asked of a leader -> silence`, () => {
      const raft = settledLeader();
      raft.step(vote({ term: 9, pre, lastIndex: 9, lastTerm: 8 }));
      expect(raft.ready()).toEqual(NONE);
      expect(raft.isLeader).toBe(true);
    });
  }

  it('ordered -> no lease; the leader steps down and gives its vote', () => {
    const raft = settledLeader();
    raft.step(vote({ term: 2, ordered: true, lastIndex: 1, lastTerm: 1 }));
    expect(raft.ready()).toEqual({
      persist: { ticket: 3, term: 2, vote: B, entries: [] },
      sendNow: [],
      sendAfterPersist: [said(voteReply({ term: 2 }))],
      events: [role('follower', 2, null, 'higherTerm')],
    });
  });

  it('without check-quorum -> no lease', () => {
    const raft = followerOf({ checkQuorum: false });
    raft.step(vote({ from: C, term: 2 }));
    expect(raft.ready().sendAfterPersist).toEqual([said(voteReply({ term: 2 }), C)]);
  });
});

describe('raft: check-quorum', () => {
  it('nobody answers -> steps down after the longest election time-out', () => {
    const raft = leaderOf();
    ticks(raft, ELECTION_TICKS_MAX - 1);
    rest(raft);
    expect(raft.isLeader).toBe(true);
    ticks(raft, 1);
    expect(raft.ready()).toEqual({ ...NONE, events: [role('follower', 1, null, 'quorumLost')] });
    expect(raft.propose(1, { count: 1, bytes: new Uint8Array(1) })).toEqual({
      accepted: false,
      code: 'notLeader',
    });
  });

  it('one of two followers answers now and then -> keeps leading', () => {
    const raft = leaderOf();
    for (let round = 0; round < 5; round++) {
      ticks(raft, ELECTION_TICKS_MAX - 1);
      raft.step(heartbeatReply({}));
    }
    expect(raft.isLeader).toBe(true);
    ticks(raft, ELECTION_TICKS_MAX);
    expect(raft.role).toBe('follower');
  });

  it('one of four followers answers -> no majority', () => {
    const raft = leaderOf({ members: ['r1.1', 'r2.1', 'r3.1', 'r4.1', 'r5.1'] });
    for (let tick = 0; tick < ELECTION_TICKS_MAX; tick++) {
      raft.tick(false);
      raft.step(accepted({ index: 1 }));
    }
    expect(raft.role).toBe('follower');
  });

  it('peers that only ask for votes do not hear us -> they are no majority', () => {
    const raft = leaderOf();
    for (let tick = 0; tick < ELECTION_TICKS_MAX; tick++) {
      raft.tick(false);
      for (const from of [B, C]) raft.step(vote({ from, term: 2, pre: true }));
    }
    expect(raft.role).toBe('follower');
  });

  it('switched off -> leads on', () => {
    const raft = leaderOf({ checkQuorum: false });
    ticks(raft, ELECTION_TICKS_MAX * 3);
    expect(raft.isLeader).toBe(true);
  });

  it('also without own election time-outs', () => {
    const raft = leaderOf({ timers: false });
    ticks(raft, ELECTION_TICKS_MAX);
    expect(raft.role).toBe('follower');
    ticks(raft, ELECTION_TICKS_MAX * 3);
    expect(raft.role).toBe('follower');
  });
});

describe('raft: time-outs', () => {
  it('unread messages of peers -> due, but does not expire before they are read', () => {
    const raft = followerOf();
    for (let tick = 0; tick < ELECTION_TICKS_MAX * 3; tick++) raft.tick(true);
    expect(raft.role).toBe('follower');
    raft.tick(false);
    expect(raft.role).toBe('preCandidate');
  });

  it('the heartbeat was among the unread -> no election', () => {
    const raft = followerOf();
    for (let tick = 0; tick < ELECTION_TICKS_MAX * 3; tick++) raft.tick(true);
    raft.step(heartbeat({}));
    raft.tick(false);
    expect(raft.role).toBe('follower');
  });

  it('unread messages -> due heartbeats of a leader go out all the same', () => {
    const raft = settledLeader();
    for (let tick = 0; tick < HEARTBEAT_TICKS; tick++) raft.tick(true);
    expect(raft.ready().sendNow.map(({ type }) => type)).toEqual(['heartbeat', 'heartbeat']);
  });
});

describe('raft: orders', () => {
  it('no leader, same term -> campaigns at once, past pre-vote and lease', () => {
    const raft = memberOf({ journal: journalOf([2]), timers: false });
    expect(raft.campaign({ term: 2, deadLeader: null })).toBe(true);
    const request = vote({ term: 3, ordered: true, lastIndex: 1, lastTerm: 2 });
    expect(raft.ready()).toEqual({
      persist: { ticket: 1, term: 3, vote: A, entries: [] },
      sendNow: [],
      sendAfterPersist: [said(request, B), said(request, C)],
      events: [role('candidate', 3, null, 'ordered')],
    });
  });

  it('another term was observed -> ignored', () => {
    const raft = memberOf({ journal: journalOf([2]) });
    expect(raft.campaign({ term: 1, deadLeader: null })).toBe(false);
    expect(raft.campaign({ term: 3, deadLeader: null })).toBe(false);
    expect(raft.ready()).toEqual(NONE);
  });

  it('hears a leader -> ignored, unless that one is reported dead', () => {
    const raft = followerOf();
    expect(raft.campaign({ term: 1, deadLeader: null })).toBe(false);
    expect(raft.campaign({ term: 1, deadLeader: C })).toBe(false);
    expect(raft.ready()).toEqual(NONE);
    expect(raft.campaign({ term: 1, deadLeader: B })).toBe(true);
    expect(raft.ready().events).toEqual([role('candidate', 2, null, 'ordered')]);
  });

  it('has not heard its leader for the lease -> obeyed', () => {
    const raft = followerOf();
    ticks(raft, ELECTION_TICKS_MIN);
    expect(raft.campaign({ term: 1, deadLeader: null })).toBe(true);
  });

  it('leads -> ignored', () => {
    const raft = settledLeader();
    expect(raft.campaign({ term: 1, deadLeader: A })).toBe(false);
    expect(raft.ready()).toEqual(NONE);
  });

  it('a candidate whose votes got lost -> the next term', () => {
    const raft = memberOf({ timers: false });
    expect(raft.campaign({ term: 0, deadLeader: null })).toBe(true);
    expect(raft.campaign({ term: 0, deadLeader: null })).toBe(false);
    expect(raft.campaign({ term: 1, deadLeader: null })).toBe(true);
    expect(raft.term).toBe(2);
  });

  it('timers off, nothing ordered -> waits for ever', () => {
    const raft = memberOf({ timers: false });
    ticks(raft, ELECTION_TICKS_MAX * 10);
    expect(raft.ready()).toEqual(NONE);
  });
});

describe('raft: probe', () => {
  it('asks all peers in the present term, for nothing that could elect', () => {
    const raft = followerOf();
    raft.probe();
    const request = vote({ pre: true, ordered: true });
    expect(raft.ready()).toEqual({
      ...NONE,
      sendAfterPersist: [said(request, B), said(request, C)],
    });
  });

  it('both ends hear each other, nobody changes', () => {
    const network = new Network({ members: THREE, raft: { timers: false } });
    network.elect(A);
    for (const member of THREE) network.roles(member);
    network.crash(A);
    network.tick(ELECTION_TICKS_MAX);
    expect(network.raft(B).status().hears).toEqual([B]);
    network.raft(B).probe();
    network.settle();
    expect(network.raft(B).status().hears).toEqual([B, C]);
    expect(network.raft(C).status().hears).toEqual([C, B]);
    expect([network.roles(B), network.roles(C)]).toEqual([[], []]);
  });

  it('by a candidate -> asks again for the open ballot, past no lease', () => {
    const raft = preCandidateOf();
    raft.probe();
    const request = vote({ term: 3, pre: true, lastIndex: 1, lastTerm: 2 });
    expect(raft.ready().sendAfterPersist).toEqual([said(request, B), said(request, C)]);
  });

  it('an answer that comes after a pre-vote began -> does not count for it', () => {
    const raft = memberOf({ journal: journalOf([2]) });
    raft.probe();
    rest(raft);
    ticks(raft, ELECTION_TICKS_MAX);
    raft.step(voteReply({ term: 2, pre: true }));
    expect(raft.role).toBe('preCandidate');
  });
});

describe('raft: flap', () => {
  it('lost and won again between two drains -> both leaderships are seen, each in its term', () => {
    const raft = settledLeader();
    raft.stepDown(null);
    raft.campaign({ term: 1, deadLeader: null });
    raft.step(voteReply({ term: 2 }));
    raft.step(voteReply({ from: C, term: 2 }));
    expect(raft.ready().events).toEqual([
      role('follower', 1, null, 'stepDown'),
      role('candidate', 2, null, 'ordered'),
      role('leader', 2, A, 'won'),
    ]);
  });

  it('progress of the earlier leadership counts nothing in the later one', () => {
    const raft = settledLeader();
    raft.propose(1, { count: 1, bytes: new Uint8Array(1) });
    rest(raft);
    raft.step(accepted({ index: 2 }));
    expect(raft.commit).toBe(2);
    raft.stepDown(null);
    raft.campaign({ term: 1, deadLeader: null });
    rest(raft);
    raft.step(voteReply({ term: 2 }));
    rest(raft);
    expect(raft.status()).toMatchObject({ lastIndex: 3, commit: 2 });
    raft.step(accepted({ term: 1, index: 3 }));
    expect(raft.commit).toBe(2);
    raft.step(accepted({ term: 2, index: 3 }));
    expect(raft.commit).toBe(3);
  });
});

describe('raft: who is heard', () => {
  it('messages of strangers, of other incarnations or for them -> dropped', () => {
    const raft = followerOf();
    raft.step(heartbeat({ from: 'r9.1', term: 9 }));
    raft.step(heartbeat({ from: 'r2.2', term: 9 }));
    raft.step(heartbeat({ to: 'r1.2', term: 9 }));
    raft.step(heartbeat({ from: A, term: 9 }));
    expect(raft.ready()).toEqual(NONE);
    expect(raft.term).toBe(1);
    expect(raft.status().hears).toEqual([A, B]);
  });

  it('an append to the leader in its own term -> ignored', () => {
    const raft = settledLeader();
    raft.step(append({ entries: [noopAt(2, 1)] }));
    raft.step(heartbeat({ commit: 9 }));
    expect(raft.ready()).toEqual(NONE);
    expect(raft.lastIndex).toBe(1);
  });

  it('a voter set without the member itself -> refused', () => {
    expect(() => memberOf({ members: [B, C] })).toThrow('r1.1 is one of its voters');
  });
});
