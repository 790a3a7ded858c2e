/** Entries go once they are durable on every member, committed and applied here; not before. */
import { describe, expect, it } from 'vitest';
import { HEARTBEAT_TICKS } from '../../src/base/limits.js';
import type { Raft } from '../../src/raft/raft.js';
import { Network } from './network.js';
import {
  A,
  accepted,
  append,
  B,
  batchOf,
  C,
  entriesOf,
  entryAt,
  FIVE,
  flow,
  followerOf,
  heartbeat,
  leaderOf,
  NONE,
  refused,
  rest,
  said,
  settledLeader,
  THREE,
} from './stage.js';

/** Indices that are still there. */
function held(raft: Raft): number[] {
  return Array.from({ length: raft.lastIndex }, (_, at) => at + 1).filter(
    (index) => raft.entry(index) !== undefined,
  );
}

/** A follower with three entries, durable. */
function followerOfThree(): Raft {
  const raft = followerOf();
  raft.step(append({ entries: entriesOf(1, 1, 1) }));
  rest(raft);
  return raft;
}

describe('raft: release: the leader', () => {
  it('ships the least that all hold durably, at most what is committed', () => {
    const raft = settledLeader({ members: FIVE });
    for (let at = 0; at < 3; at++) raft.propose(1, batchOf());
    rest(raft);
    const released = [
      ['r2.1', 4],
      ['r3.1', 3],
      ['r4.1', 2],
      ['r5.1', 4],
    ].map(([from, index]) => {
      raft.step(accepted({ from: from as string, index: index as number }));
      for (let tick = 0; tick < HEARTBEAT_TICKS; tick++) raft.tick(false);
      const beat = flow(raft).sendNow.findLast(({ type }) => type === 'heartbeat');
      return beat?.type === 'heartbeat' ? beat.released : null;
    });
    expect(released).toEqual([1, 1, 1, 2]);
  });

  it('its own disk counts: what is not durable here is not released', () => {
    const raft = settledLeader();
    raft.propose(1, batchOf());
    const { persist } = raft.ready();
    for (const from of [B, C]) raft.step(accepted({ from, index: 2 }));
    expect(raft.commit).toBe(2);
    const beat = { commit: 2, released: 1 };
    expect(raft.ready().sendNow).toEqual([said(heartbeat(beat)), said(heartbeat(beat), C)]);
    raft.appliedTo(2);
    expect(held(raft)).toEqual([2]);
    raft.persisted(persist!.ticket);
    rest(raft);
    raft.appliedTo(2);
    raft.propose(1, batchOf());
    rest(raft);
    expect(held(raft)).toEqual([3]);
  });

  it('one follower is away -> everything it lacks is kept, and brings it back', () => {
    const network = new Network({ members: THREE });
    network.elect(A);
    network.tick(HEARTBEAT_TICKS);
    network.isolate(C);
    for (let at = 0; at < 30; at++) {
      network.propose(A, at);
      network.tick();
    }
    const lacking = Array.from({ length: 30 }, (_, at) => at + 2);
    expect(held(network.raft(A))).toEqual(lacking);
    expect(held(network.raft(B))).toEqual(lacking);
    network.heal();
    network.tick(HEARTBEAT_TICKS * 4);
    for (const member of THREE) {
      expect(held(network.raft(member))).toEqual([]);
      expect(network.node(member).applied).toEqual(network.node(member).journal.entries);
      expect(network.raft(member).commit).toBe(31);
    }
  });
});

describe('raft: release: each member', () => {
  /** Released by the leader, committed, applied -> what is still held. */
  const CASES: [number, number, number, number[]][] = [
    [0, 3, 3, [1, 2, 3]],
    [2, 3, 3, [3]],
    [3, 3, 3, []],
    [3, 2, 2, [3]],
    [3, 3, 1, [2, 3]],
    [3, 0, 0, [1, 2, 3]],
  ];
  for (const [released, commit, applied, expected] of CASES) {
    it(`released ${released}, commit ${commit}, applied ${applied} -> [${expected.join()}]`, () => {
      const raft = followerOfThree();
      raft.step(heartbeat({ commit, released }));
      raft.appliedTo(applied);
      expect(held(raft)).toEqual(expected);
      expect([raft.lastIndex, raft.status().lastTerm]).toEqual([3, 1]);
      expect(raft.termAt(3)).toBe(1);
    });
  }

  it('a lower release comes late -> nothing comes back, nothing breaks', () => {
    const raft = followerOfThree();
    raft.step(heartbeat({ commit: 3, released: 3 }));
    raft.appliedTo(3);
    raft.step(heartbeat({ commit: 1, released: 1 }));
    expect([held(raft), raft.commit]).toEqual([[], 3]);
  });

  it('applied beyond commit -> an assumption is broken', () => {
    const raft = followerOfThree();
    expect(() => raft.appliedTo(1)).toThrow('applied entry 1 is committed');
  });

  it('the check at the base still knows its term; below it nothing needs a check', () => {
    const raft = followerOfThree();
    raft.step(heartbeat({ commit: 3, released: 3 }));
    raft.appliedTo(3);
    rest(raft);
    expect([raft.termAt(3), raft.termAt(2), raft.termAt(4)]).toEqual([1, undefined, undefined]);
    raft.step(append({ prevIndex: 3, prevTerm: 1, commit: 3, entries: [entryAt(4, 1)] }));
    expect(raft.ready()).toEqual({
      ...NONE,
      persist: { ticket: 3, term: 1, vote: null, entries: [entryAt(4, 1)] },
      sendAfterPersist: [said(accepted({ index: 4 }))],
    });
    raft.step(append({ commit: 3, entries: entriesOf(1, 1, 1, 1) }));
    expect(raft.ready()).toEqual({ ...NONE, sendAfterPersist: [said(accepted({ index: 4 }))] });
    expect(raft.lastIndex).toBe(4);
  });

  it('released in blocks: thousands of entries go, the rest stays in place', () => {
    const raft = followerOf();
    const terms = Array.from({ length: 3_000 }, () => 1);
    raft.step(append({ commit: 3_000, entries: entriesOf(...terms) }));
    rest(raft);
    for (const released of [1_000, 1_023, 1_024, 1_500, 2_999]) {
      raft.step(heartbeat({ commit: 3_000, released }));
      raft.appliedTo(3_000);
      const rest = 3_000 - released;
      expect(held(raft)).toEqual(Array.from({ length: rest }, (_, at) => released + 1 + at));
      expect(raft.entry(3_000)).toEqual(entryAt(3_000, 1));
    }
  });
});

describe('raft: release: a compacted journal', () => {
  const COMPACTED = { term: 4, vote: null, baseIndex: 5, baseTerm: 3, entries: [entryAt(6, 4)] };

  it('restart -> commit begins at the base, the log behind it', () => {
    const raft = followerOf({ journal: COMPACTED }, 4);
    expect(raft.status()).toMatchObject({ commit: 5, lastIndex: 6, lastTerm: 4, durableIndex: 6 });
    expect([raft.termAt(4), raft.termAt(5), raft.termAt(6)]).toEqual([undefined, 3, 4]);
  });

  it('leads -> probes from its log, and goes back to the base but not below', () => {
    const raft = leaderOf({ journal: COMPACTED });
    raft.step(refused({ term: 5, index: 6, hintIndex: 5, hintTerm: 3 }));
    const { sendNow } = flow(raft);
    expect(sendNow).toEqual([
      said(
        append({
          term: 5,
          prevIndex: 5,
          prevTerm: 3,
          commit: 5,
          entries: [raft.entry(6)!, raft.entry(7)!],
        }),
      ),
    ]);
    raft.step(accepted({ term: 5, index: 7 }));
    expect(raft.commit).toBe(7);
  });

  it('entries that do not follow the base -> refused', () => {
    const journal = { ...COMPACTED, entries: [entryAt(7, 4)] };
    expect(() => followerOf({ journal }, 4)).toThrow('journal entry 7 is in its place');
  });
});
