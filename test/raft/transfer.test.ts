/** Leadership transfer (dissertation, section 3.10) and plain step-down. */
import { describe, expect, it } from 'vitest';
import type { RaftOptions } from '../../src/raft/options.js';
import type { Raft } from '../../src/raft/raft.js';
import { Network } from './network.js';
import {
  A,
  accepted,
  B,
  batchAt,
  batchOf,
  C,
  followerOf,
  heartbeat,
  heartbeatReply,
  leaderOf,
  NONE,
  rest,
  role,
  said,
  settledLeader,
  THREE,
  timeoutNow,
  transfer,
  vote,
} from './stage.js';

const TEN: Partial<RaftOptions> = {
  limits: { heartbeatTicks: 20, electionTicksMin: 30, electionTicksMax: 30 },
};
const TRANSFERRING = { accepted: false, code: 'transferring' };

/** Leader of term 1 with an entry at 2 that C holds and B does not. */
function leaderWithLaggard(): Raft {
  const raft = settledLeader(TEN);
  raft.propose(1, batchOf());
  rest(raft);
  raft.step(accepted({ from: C, index: 2 }));
  rest(raft);
  return raft;
}

/** Ticks during which C, alone, answers. */
function ticksHeardByC(raft: Raft, count: number): void {
  for (let at = 0; at < count; at++) {
    raft.step(heartbeatReply({ from: C }));
    raft.tick(false);
  }
}

describe('transfer: the leader', () => {
  it('transfer: the target holds everything -> told to campaign at once', () => {
    const raft = settledLeader(TEN);
    expect(raft.stepDown(B)).toBe(true);
    expect(raft.ready()).toEqual({
      ...NONE,
      sendNow: [said(timeoutNow({}))],
      events: [transfer('started', B), transfer('sent', B)],
    });
    expect([raft.role, raft.status().transferringTo]).toEqual(['leader', B]);
  });

  it('transfer: the target lags -> told once, when it holds the last entry', () => {
    const raft = leaderWithLaggard();
    raft.stepDown(B);
    expect(raft.ready()).toEqual({ ...NONE, events: [transfer('started', B)] });
    raft.step(accepted({ from: C, index: 2 }));
    raft.step(accepted({ index: 1 }));
    expect(raft.ready()).toEqual(NONE);
    raft.step(accepted({ index: 2 }));
    raft.step(accepted({ index: 2 }));
    expect(raft.ready()).toEqual({
      ...NONE,
      sendNow: [said(timeoutNow({})), said(heartbeat({ commit: 2, released: 2 }))],
      events: [transfer('sent', B)],
    });
  });

  it('transfer: under way -> proposals refused, nothing logged', () => {
    const raft = settledLeader(TEN);
    raft.stepDown(B);
    rest(raft);
    expect([raft.propose(1, batchOf()), raft.lastIndex, raft.ready()]).toEqual([
      TRANSFERRING,
      1,
      NONE,
    ]);
    expect(raft.propose(0, batchOf()), 'the term is looked at first').toEqual({
      accepted: false,
      code: 'staleTerm',
    });
  });

  it('transfer: to a dead member -> abandoned after one election time-out, then takes proposals', () => {
    const raft = leaderWithLaggard();
    raft.stepDown(B);
    rest(raft);
    ticksHeardByC(raft, 29);
    rest(raft);
    expect(raft.propose(1, batchOf())).toEqual(TRANSFERRING);
    ticksHeardByC(raft, 1);
    expect(raft.ready().events).toEqual([transfer('abandoned', B)]);
    expect([raft.propose(1, batchOf()), raft.status().transferringTo]).toEqual([
      { accepted: true, index: 3 },
      null,
    ]);
  });

  it('transfer: told to campaign, but the target never does -> abandoned as well', () => {
    const raft = settledLeader(TEN);
    raft.stepDown(B);
    rest(raft);
    ticksHeardByC(raft, 30);
    expect(raft.ready().events).toEqual([transfer('abandoned', B)]);
  });

  it('transfer: asked again for the same target -> its time is not prolonged', () => {
    const raft = leaderWithLaggard();
    raft.stepDown(B);
    ticksHeardByC(raft, 20);
    expect(raft.stepDown(B)).toBe(true);
    ticksHeardByC(raft, 10);
    expect(raft.ready().events).toEqual([transfer('started', B), transfer('abandoned', B)]);
  });

  it('transfer: asked for another target -> the first is abandoned', () => {
    const raft = leaderWithLaggard();
    raft.stepDown(B);
    raft.stepDown(C);
    expect(raft.ready()).toEqual({
      ...NONE,
      sendNow: [said(timeoutNow({}), C)],
      events: [
        transfer('started', B),
        transfer('abandoned', B),
        transfer('started', C),
        transfer('sent', C),
      ],
    });
  });

  it('transfer: best -> the longest log among those heard', () => {
    const raft = leaderWithLaggard();
    expect([raft.stepDown('best'), raft.status().transferringTo]).toEqual([true, C]);
  });

  it('transfer: best, the longest log is not heard any more -> the next', () => {
    const raft = leaderWithLaggard();
    for (let at = 0; at < 30; at++) {
      raft.tick(false);
      raft.step(heartbeatReply({}));
    }
    expect([raft.stepDown('best'), raft.status().transferringTo]).toEqual([true, B]);
  });

  it.each(['best', null] as const)('transfer: %s, and nobody is heard -> steps down', (to) => {
    const raft = leaderOf({ ...TEN, checkQuorum: false });
    for (let at = 0; at < 30; at++) raft.tick(false);
    rest(raft);
    expect(raft.stepDown(to)).toBe(true);
    expect(raft.ready()).toEqual({ ...NONE, events: [role('follower', 1, null, 'stepDown')] });
  });

  it.each([
    ['to itself', () => settledLeader(TEN), A],
    ['to a stranger', () => settledLeader(TEN), 'r9.1'],
    ['to an earlier incarnation', () => settledLeader(TEN), 'r2.0'],
    ['of a follower', () => followerOf(TEN), C],
    ['of a follower, to nobody', () => followerOf(TEN), null],
  ])('transfer: %s -> refused, nothing changes', (_, make, to) => {
    const raft = make();
    const before = raft.status();
    expect([raft.stepDown(to), raft.ready(), raft.status()]).toEqual([false, NONE, before]);
  });

  it('transfer: the target asks for votes -> the leader gives way, and says why', () => {
    const raft = settledLeader(TEN);
    raft.stepDown(B);
    rest(raft);
    raft.step(vote({ term: 2, ordered: true, lastIndex: 1, lastTerm: 1 }));
    expect(raft.ready().events).toEqual([role('follower', 2, null, 'transferred')]);
    expect(raft.status().transferringTo).toBeNull();
  });

  it('B3: proposals taken before a step-down are not sent after it, none is taken', () => {
    const raft = settledLeader(TEN);
    for (let at = 0; at < 3; at++) raft.propose(1, batchOf());
    raft.stepDown(null);
    expect(raft.propose(1, batchOf())).toEqual({ accepted: false, code: 'notLeader' });
    expect(raft.ready()).toEqual({
      ...NONE,
      persist: {
        ticket: 3,
        term: 1,
        vote: A,
        entries: [batchAt(2, 1), batchAt(3, 1), batchAt(4, 1)],
      },
      events: [role('follower', 1, null, 'stepDown')],
    });
    raft.step(accepted({ index: 4 }));
    raft.step(accepted({ from: C, index: 4 }));
    expect([raft.commit, raft.uncommittedRoom() > 0, raft.status().uncommittedBytes]).toEqual([
      1,
      true,
      0,
    ]);
  });
});

describe('transfer: the target', () => {
  it('transfer: told by its leader -> campaigns at once, without pre-vote, past the lease', () => {
    const raft = followerOf(TEN);
    raft.step(timeoutNow({}));
    const request = vote({ term: 2, ordered: true });
    expect(raft.ready()).toEqual({
      ...NONE,
      persist: { ticket: 2, term: 2, vote: A, entries: [] },
      sendAfterPersist: [said(request), said(request, C)],
      events: [role('candidate', 2, null, 'transferOrdered')],
    });
  });

  it('transfer: told twice -> one campaign', () => {
    const raft = followerOf(TEN);
    raft.step(timeoutNow({}));
    rest(raft);
    raft.step(timeoutNow({}));
    expect([raft.ready(), raft.term]).toEqual([NONE, 2]);
  });

  it('transfer: played out -> the target leads the next term, every log is whole', () => {
    const network = new Network({ members: THREE });
    network.elect(A);
    network.propose(A, 7);
    network.raft(A).stepDown(C);
    network.settle();
    network.tick(10);
    expect(network.leaders()).toEqual([C]);
    expect(network.roles(A).slice(-5)).toEqual([
      'leader@1 r1.1 won',
      'transfer started r3.1',
      'transfer sent r3.1',
      'follower@2 - transferred',
      'follower@2 r3.1 leaderHeard',
    ]);
    const logs = THREE.map((member) => network.node(member).applied.map(({ term }) => term));
    expect(logs).toEqual([
      [1, 1, 2],
      [1, 1, 2],
      [1, 1, 2],
    ]);
  });
});
