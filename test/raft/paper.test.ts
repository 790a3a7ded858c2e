/** One test a rule of the raft paper, its section in the title; the rules of etcd's raft_paper_test. */
import { describe, expect, it } from 'vitest';
import { createPrng } from '../../src/base/prng.js';
import type { RaftLimits, RaftOptions } from '../../src/raft/options.js';
import type { Raft } from '../../src/raft/raft.js';
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
  heartbeat,
  heartbeatReply,
  journalOf,
  memberOf,
  NONE,
  noopAt,
  refused,
  rest,
  role,
  said,
  ticks,
  timeoutNow,
  vote,
  voteReply,
} from './stage.js';

interface Given extends Partial<Omit<RaftOptions, 'limits' | 'members'>> {
  readonly size?: number;
  readonly limits?: Partial<RaftLimits>;
}

function membersOf(size: number): string[] {
  return Array.from({ length: size }, (_, at) => `r${at + 1}.1`);
}

/** A member whose election time-out is exactly ten ticks. */
function raftOf({
  size = 3,
  limits,
  seed = 1,
  ...given
}: Given & { readonly seed?: number } = {}): Raft {
  return memberOf({
    members: membersOf(size),
    prng: createPrng(seed),
    ...given,
    limits: { heartbeatTicks: 2, electionTicksMin: 10, electionTicksMax: 10, ...limits },
  });
}

/** A candidate one term above the last of its log; its own vote is durable. */
function candidateOf(terms: readonly number[] = [], given: Given = {}): Raft {
  const raft = raftOf({ journal: journalOf(terms), ...given });
  raft.campaign({ term: raft.term, deadLeader: null });
  rest(raft);
  return raft;
}

/** A leader by as many votes as it needs; nothing is drained since the last of them. */
function winnerOf(terms: readonly number[] = [], given: Given = {}): Raft {
  const raft = candidateOf(terms, given);
  for (const from of membersOf(given.size ?? 3)) {
    if (from !== A && !raft.isLeader) raft.step(voteReply({ from, term: raft.term }));
  }
  return raft;
}

function termsOf(raft: Raft): number[] {
  return Array.from({ length: raft.lastIndex }, (_, at) => raft.termAt(at + 1)!);
}

describe('5.1: terms', () => {
  it.each([
    ['follower', () => raftOf({ journal: journalOf([], { term: 1 }) })],
    ['candidate', () => candidateOf([])],
    [
      'leader',
      () => {
        const raft = winnerOf([]);
        rest(raft);
        return raft;
      },
    ],
  ])('5.1: a %s meets a leader of a higher term -> follows it in that term', (_, make) => {
    const raft = make();
    const { lastIndex } = raft;
    rest(raft);
    raft.step(append({ term: 2 }));
    const { persist, ...ready } = raft.ready();
    expect(ready).toEqual({
      sendNow: [],
      sendAfterPersist: [said(accepted({ term: 2, index: 0 }))],
      events: [role('follower', 2, B, 'higherTerm')],
    });
    expect(persist).toMatchObject({ term: 2, vote: null, entries: [] });
    expect([raft.role, raft.term, raft.leader, raft.lastIndex]).toEqual([
      'follower',
      2,
      B,
      lastIndex,
    ]);
  });

  it.each([
    ['an append', refused({ term: 4, index: 0 })],
    ['a heartbeat', heartbeatReply({ term: 4 })],
    ['a request for votes', voteReply({ term: 4, granted: false })],
  ])('5.1: a leader or candidate learns a later term from the reply to %s', (_, reply) => {
    for (const raft of [candidateOf(), winnerOf()]) {
      rest(raft);
      raft.step(reply);
      const { persist, ...ready } = raft.ready();
      expect(ready).toEqual({
        sendNow: [],
        sendAfterPersist: [],
        events: [role('follower', 4, null, 'higherTerm')],
      });
      expect(persist).toMatchObject({ term: 4, vote: null, entries: [] });
    }
  });

  it('5.1: a message of an earlier term -> changes nothing, a leader or candidate learns ours', () => {
    const raft = raftOf({ journal: journalOf([1, 2], { term: 2 }) });
    raft.step(append({ entries: entriesOf(1, 1, 1), commit: 3 }));
    raft.step(heartbeat({ commit: 2 }));
    raft.step(vote({ lastIndex: 9, lastTerm: 1 }));
    expect(raft.ready()).toEqual({
      ...NONE,
      sendAfterPersist: [
        said(heartbeatReply({ term: 2 })),
        said(heartbeatReply({ term: 2 })),
        said(voteReply({ term: 2, granted: false })),
      ],
    });
    raft.step(accepted({ index: 2 }));
    raft.step(heartbeatReply({}));
    raft.step(voteReply({}));
    raft.step(timeoutNow({}));
    expect(raft.ready()).toEqual(NONE);
    expect([raft.term, raft.leader, raft.commit, termsOf(raft)]).toEqual([2, null, 0, [1, 2]]);
  });
});

describe('5.2: leader election', () => {
  it('5.2: a member starts as a follower that knows no leader', () => {
    const raft = raftOf();
    expect(raft.status()).toEqual({
      member: A,
      role: 'follower',
      term: 0,
      vote: null,
      leader: null,
      commit: 0,
      lastIndex: 0,
      lastTerm: 0,
      durableIndex: 0,
      uncommittedBytes: 0,
      transferringTo: null,
      hears: [A],
    });
  });

  it('5.2: a leader sends heartbeats to all followers at each interval, never in between', () => {
    const raft = winnerOf();
    rest(raft);
    const beats = Array.from({ length: 6 }, () => {
      raft.tick(false);
      return raft.ready();
    });
    const due = { ...NONE, sendNow: [said(heartbeat({})), said(heartbeat({}), C)] };
    expect(beats).toEqual([NONE, due, NONE, due, NONE, due]);
  });

  it('5.2: a follower that hears nobody -> next term, votes for itself, asks all', () => {
    const raft = raftOf({ journal: journalOf([1], { term: 1 }), preVote: false });
    ticks(raft, 9);
    expect(raft.ready()).toEqual(NONE);
    raft.tick(false);
    expect(raft.ready()).toEqual({
      ...NONE,
      persist: { ticket: 1, term: 2, vote: A, entries: [] },
      sendAfterPersist: [
        said(vote({ term: 2, lastIndex: 1, lastTerm: 1 })),
        said(vote({ term: 2, lastIndex: 1, lastTerm: 1 }), C),
      ],
      events: [role('candidate', 2, null, 'electionTimeout')],
    });
  });

  it('5.2: a candidate whose election ends without a winner -> the next term, again', () => {
    const raft = raftOf({ preVote: false });
    ticks(raft, 10);
    rest(raft);
    ticks(raft, 9);
    expect(raft.ready()).toEqual(NONE);
    raft.tick(false);
    expect(raft.ready()).toEqual({
      ...NONE,
      persist: { ticket: 2, term: 2, vote: A, entries: [] },
      sendAfterPersist: [said(vote({ term: 2 })), said(vote({ term: 2 }), C)],
      events: [role('candidate', 2, null, 'electionTimeout')],
    });
  });

  it.each([
    [1, [], 'leader'],
    [3, [true], 'leader'],
    [3, [], 'candidate'],
    [3, [false], 'candidate'],
    [3, [false, false], 'follower'],
    [3, [false, true], 'leader'],
    [4, [true], 'candidate'],
    [4, [true, true], 'leader'],
    [4, [false, false], 'follower'],
    [5, [true, true], 'leader'],
    [5, [true], 'candidate'],
    [5, [true, false, false], 'candidate'],
    [5, [false, false, false], 'follower'],
    [5, [true, false, false, true], 'leader'],
  ] as const)('5.2: %i members, answers %j -> %s', (size, answers, outcome) => {
    const raft = candidateOf([], { size });
    answers.forEach((granted, at) => raft.step(voteReply({ from: `r${at + 2}.1`, granted })));
    expect([raft.role, raft.term]).toEqual([outcome, 1]);
  });

  it('5.2: a new leader tells so and sends to all, an entry of its term at once', () => {
    const raft = winnerOf([1, 1]);
    const noop = noopAt(3, 2);
    expect(raft.ready()).toEqual({
      ...NONE,
      persist: { ticket: 2, term: 2, vote: A, entries: [noop] },
      sendNow: [
        said(append({ term: 2, prevIndex: 2, prevTerm: 1, entries: [noop] })),
        said(append({ term: 2, prevIndex: 2, prevTerm: 1, entries: [noop] }), C),
      ],
      events: [role('leader', 2, A, 'won')],
    });
  });

  it.each([
    [null, B, true],
    [null, C, true],
    [B, B, true],
    [C, C, true],
    [B, C, false],
    [C, B, false],
    [A, B, false],
  ])('5.2: one vote a term, first come: voted for %s, asked by %s -> %s', (before, by, granted) => {
    const raft = raftOf({ journal: journalOf([], { term: 1, vote: before }) });
    raft.step(vote({ from: by }));
    const isNew = granted && before === null;
    expect(raft.ready()).toEqual({
      ...NONE,
      persist: isNew ? { ticket: 1, term: 1, vote: by, entries: [] } : null,
      sendAfterPersist: [said(voteReply({ granted }), by)],
    });
  });

  it.each([
    [1, 'leaderHeard'],
    [2, 'higherTerm'],
  ] as const)('5.2: a candidate of term 1 hears a leader of term %i -> follows', (term, cause) => {
    const raft = candidateOf();
    raft.step(append({ term }));
    expect(raft.ready()).toEqual({
      ...NONE,
      persist: term === 1 ? null : { ticket: 2, term, vote: null, entries: [] },
      sendAfterPersist: [said(accepted({ term, index: 0 }))],
      events: [role('follower', term, B, cause)],
    });
  });

  const LENGTHS = { electionTicksMin: 10, electionTicksMax: 20 };
  const ticksUntilCandidate = (seed: number, again: boolean): number => {
    const raft = raftOf({ seed, preVote: false, limits: LENGTHS });
    if (again) {
      while (raft.role === 'follower') raft.tick(false);
      rest(raft);
    }
    const { term } = raft;
    let ticks = 0;
    for (; raft.term === term; ticks++) raft.tick(false);
    return ticks;
  };

  it.each([
    ['follower', false],
    ['candidate', true],
  ])('5.2: the time-out of a %s is drawn from the whole range', (_, again) => {
    const seen = new Set<number>();
    for (let seed = 0; seed < 300; seed++) seen.add(ticksUntilCandidate(seed, again));
    expect([...seen].sort((a, b) => a - b)).toEqual([10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]);
  });

  it.each([
    ['followers', false],
    ['candidates', true],
  ])('5.2: in most elections one of five %s is alone with the first time-out', (_, again) => {
    let conflicts = 0;
    for (let round = 0; round < 200; round++) {
      const ticks = membersOf(5).map((_member, at) => ticksUntilCandidate(round * 5 + at, again));
      ticks.sort((a, b) => a - b);
      if (ticks[0] === ticks[1]) conflicts++;
    }
    expect(conflicts / 200).toBeLessThan(0.3);
  });
});

describe('5.3: log replication', () => {
  /** Leader of term 1 whose noop is durable with all and committed. */
  const establishedLeader = (): Raft => {
    const raft = winnerOf();
    rest(raft);
    for (const peer of [B, C]) raft.step(accepted({ from: peer, index: 1 }));
    rest(raft);
    return raft;
  };

  it('5.3: a proposal -> appended, sent to all beside the own write', () => {
    const raft = establishedLeader();
    expect(raft.propose(1, batchOf())).toEqual({ accepted: true, index: 2 });
    const entry = batchAt(2, 1);
    const at = { commit: 1, released: 1 };
    expect(raft.ready()).toEqual({
      ...NONE,
      persist: { ticket: 3, term: 1, vote: A, entries: [entry] },
      sendNow: [
        said(append({ prevIndex: 1, prevTerm: 1, entries: [entry], ...at })),
        said(append({ prevIndex: 1, prevTerm: 1, entries: [entry], ...at }), C),
      ],
    });
  });

  it('5.3: an entry with a majority -> committed, and its holders are told at once', () => {
    const raft = establishedLeader();
    raft.propose(1, batchOf());
    rest(raft);
    expect(raft.commit).toBe(1);
    raft.step(accepted({ index: 2 }));
    expect(raft.commit).toBe(2);
    expect(raft.ready()).toEqual({
      ...NONE,
      sendNow: [said(heartbeat({ commit: 2, released: 1 }))],
    });
    raft.step(accepted({ from: C, index: 2 }));
    expect(raft.ready()).toEqual({
      ...NONE,
      sendNow: [said(heartbeat({ commit: 2, released: 2 }), C)],
    });
  });

  it.each([
    [1, 0, true],
    [2, 0, false],
    [2, 1, true],
    [3, 0, false],
    [3, 1, true],
    [3, 2, true],
    [4, 1, false],
    [4, 2, true],
    [5, 0, false],
    [5, 1, false],
    [5, 2, true],
    [5, 3, true],
    [5, 4, true],
  ])('5.3: %i members, %i acknowledge beside the leader -> committed: %s', (size, acks, done) => {
    const raft = winnerOf([], { size });
    rest(raft);
    for (const peer of membersOf(size).slice(1, acks + 1))
      raft.step(accepted({ from: peer, index: 1 }));
    expect(raft.commit).toBe(done ? 1 : 0);
  });

  it.each([[[]], [[2]], [[1, 2]], [[1]]])(
    '5.3: a log %j of earlier leaders -> committed with the first own entry',
    (terms) => {
      const raft = winnerOf(terms);
      rest(raft);
      const own = terms.length + 1;
      raft.step(accepted({ term: raft.term, index: own }));
      expect(raft.commit).toBe(own);
    },
  );

  it.each([
    [1, 1],
    [2, 2],
    [3, 3],
    [9, 3],
  ])('5.3: a follower told of commit %i commits up to what matched: %i', (commit, expected) => {
    const raft = raftOf();
    raft.step(append({ entries: entriesOf(1, 1, 1), commit }));
    expect(raft.commit).toBe(expected);
    expect(raft.ready()).toEqual({
      ...NONE,
      persist: { ticket: 1, term: 1, vote: null, entries: entriesOf(1, 1, 1) },
      sendAfterPersist: [said(accepted({ index: 3 }))],
      events: [role('follower', 1, B, 'higherTerm')],
    });
  });

  it('5.3: commit stops at what the message proved, not at an own tail that may conflict', () => {
    const raft = raftOf({ journal: journalOf([1, 1, 2], { term: 2 }) });
    raft.step(append({ term: 3, prevIndex: 1, prevTerm: 1, entries: [entryAt(2, 1)], commit: 3 }));
    expect([raft.commit, termsOf(raft)]).toEqual([2, [1, 1, 2]]);
  });

  const LOG = [1, 2, 2, 5, 5];
  it.each([
    [0, 0, null],
    [2, 2, null],
    [5, 5, null],
    [1, 3, [1, 1]],
    [3, 4, [3, 2]],
    [4, 4, [3, 2]],
    [5, 6, [5, 5]],
    [5, 1, [1, 1]],
    [7, 5, [5, 5]],
    [7, 3, [3, 2]],
  ] as const)('5.3: the log matches at %i of term %i, or the hint is %j', (index, term, hint) => {
    const raft = raftOf({ journal: journalOf(LOG, { term: 6 }) });
    raft.step(append({ term: 6, prevIndex: index, prevTerm: term }));
    const reply =
      hint === null
        ? said(accepted({ term: 6, index }))
        : said(refused({ term: 6, index, hintIndex: hint[0], hintTerm: hint[1] }));
    expect(raft.ready()).toEqual({
      ...NONE,
      sendAfterPersist: [reply],
      events: [role('follower', 6, B, 'leaderHeard')],
    });
    expect(termsOf(raft)).toEqual(LOG);
  });

  it.each([
    [2, 2, [3], [1, 2, 3], [3]],
    [1, 1, [3, 4], [1, 3, 4], [3, 4]],
    [0, 0, [1], [1, 2], []],
    [0, 0, [1, 2, 3], [1, 2, 3], [3]],
    [0, 0, [3], [3], [3]],
    [1, 1, [2], [1, 2], []],
    [1, 1, [], [1, 2], []],
  ])(
    '5.3: log 1 2, after %i of term %i come %j -> %j, written: %j',
    (index, term, come, expected, written) => {
      const raft = raftOf({ journal: journalOf([1, 2], { term: 4 }) });
      const entries = come.map((of, at) => entryAt(index + 1 + at, of));
      raft.step(append({ term: 4, prevIndex: index, prevTerm: term, entries }));
      const first = expected.length - written.length + 1;
      const write = written.map((of, at) => entryAt(first + at, of));
      expect(raft.ready()).toEqual({
        ...NONE,
        persist: write.length === 0 ? null : { ticket: 1, term: 4, vote: null, entries: write },
        sendAfterPersist: [said(accepted({ term: 4, index: index + come.length }))],
        events: [role('follower', 4, B, 'leaderHeard')],
      });
      expect(termsOf(raft)).toEqual(expected);
    },
  );
});

describe('5.4.1: election restriction', () => {
  it('5.4.1: a request for votes says how the log of the candidate ends', () => {
    const raft = raftOf({ journal: journalOf([1, 2, 4, 4], { term: 4 }), preVote: false });
    ticks(raft, 10);
    expect(raft.ready().sendAfterPersist).toEqual([
      said(vote({ term: 5, lastIndex: 4, lastTerm: 4 })),
      said(vote({ term: 5, lastIndex: 4, lastTerm: 4 }), C),
    ]);
  });

  it.each([
    [[1], [1, 1], true],
    [[1], [2, 1], true],
    [[1, 1], [1, 1], false],
    [[1], [1, 2], true],
    [[1, 1], [1, 2], true],
    [[2], [1, 1], false],
    [[2], [5, 1], false],
    [[1, 2], [2, 2], true],
    [[], [0, 0], true],
  ] as const)('5.4.1: a voter with log %j, a candidate at %j -> %s', (terms, last, granted) => {
    for (const pre of [false, true]) {
      const raft = raftOf({ journal: journalOf(terms, { term: 2 }) });
      raft.step(vote({ from: 'r4.1', term: 3, lastIndex: last[0], lastTerm: last[1], pre }));
      expect(raft.ready(), 'asked by a non-member').toEqual(NONE);
      raft.step(vote({ from: C, term: 3, lastIndex: last[0], lastTerm: last[1], pre }));
      const [reply] = raft.ready().sendAfterPersist;
      expect(reply).toEqual(said(voteReply({ term: pre && !granted ? 2 : 3, granted, pre }), C));
    }
  });
});

describe('5.4.2: entries of earlier terms', () => {
  it.each([
    [1, 0],
    [2, 0],
    [3, 3],
  ])('5.4.2: leader of term 3 with 1 2 3, a majority at %i -> commit %i', (index, commit) => {
    const raft = winnerOf([1, 2]);
    rest(raft);
    raft.step(accepted({ term: 3, index }));
    expect(raft.commit).toBe(commit);
  });

  it('5.4.2: case C3: acknowledgements of (1,1) and (2,2) commit nothing, of (3,4) all', () => {
    const raft = winnerOf([1, 2], { journal: journalOf([1, 2], { term: 3 }) });
    rest(raft);
    const commits = [1, 2, 3].map((index) => {
      raft.step(accepted({ term: 4, index }));
      return raft.commit;
    });
    expect([raft.term, termsOf(raft), commits]).toEqual([4, [1, 2, 4], [0, 0, 3]]);
  });
});
