import { describe, expect, it } from 'vitest';
import type { Message } from '../../src/raft/types.js';
import { AcknowledgedMatches } from '../../src/sim/invariants/acknowledged-matches.js';
import { AppliedIsDurable } from '../../src/sim/invariants/applied-is-durable.js';
import { AppliedInPlace } from '../../src/sim/invariants/applied-in-place.js';
import { CommittedImmutable } from '../../src/sim/invariants/committed-immutable.js';
import { CommittedOnQuorum } from '../../src/sim/invariants/committed-on-quorum.js';
import { DurableAnswers } from '../../src/sim/invariants/durable-answers.js';
import { ElectedByQuorum } from '../../src/sim/invariants/elected-by-quorum.js';
import { ElectionSafety } from '../../src/sim/invariants/election-safety.js';
import { LaterTermFollowed } from '../../src/sim/invariants/later-term-followed.js';
import { LeaderAppendOnly } from '../../src/sim/invariants/leader-append-only.js';
import { LeaderCompleteness } from '../../src/sim/invariants/leader-completeness.js';
import { LoggedAsAccepted } from '../../src/sim/invariants/logged-as-accepted.js';
import { LogMatching } from '../../src/sim/invariants/log-matching.js';
import { Monotonic } from '../../src/sim/invariants/monotonic.js';
import { NewerLogVoted } from '../../src/sim/invariants/newer-log-voted.js';
import { OneConsumer } from '../../src/sim/invariants/one-consumer.js';
import { OwnTermCommits } from '../../src/sim/invariants/own-term-commits.js';
import { RefusalRestores } from '../../src/sim/invariants/refusal-restores.js';
import { RetryPacing } from '../../src/sim/invariants/retry-pacing.js';
import { SkipBatches } from '../../src/sim/invariants/skip-batches.js';
import { StateMachineSafety } from '../../src/sim/invariants/state-machine-safety.js';
import { TermFence } from '../../src/sim/invariants/term-fence.js';
import { TimeoutKept } from '../../src/sim/invariants/timeout-kept.js';
import { TransferFence } from '../../src/sim/invariants/transfer-fence.js';

/** A log by its terms, from index 1 on. */
function logOf(...terms: number[]): {
  lastIndex: number;
  termAt(index: number): number | undefined;
} {
  return { lastIndex: terms.length, termAt: (index) => terms[index - 1] };
}

describe('sim: invariants: raft', () => {
  it('election safety: two leaders of one term', () => {
    const rule = new ElectionSafety();
    expect(rule.elected('r1.1', 1)).toBeNull();
    expect(rule.elected('r2.1', 2)).toBeNull();
    expect(rule.elected('r1.1', 1)).toBeNull();
    expect(rule.elected('r3.1', 2)).toBe('r2.1 and r3.1 both led term 2');
  });

  it('elected by a quorum: a vote counted twice, or of another term; an own one not durable', () => {
    const rule = new ElectedByQuorum();
    rule.voted('r2.1', 3, 'r1.1');
    rule.voted('r2.1', 3, 'r1.1');
    rule.voted('r3.1', 2, 'r1.1');
    rule.voted('r4.1', 3, 'r5.1');
    expect(rule.elected('r1.1', 3, { ownVote: true, members: 3 })).toBeNull();
    expect(rule.elected('r1.1', 1, { ownVote: true, members: 1 })).toBeNull();
    expect(rule.elected('r1.1', 3, { ownVote: true, members: 5 })).toBe(
      'r1.1 leads term 3 with 2 of 5 votes',
    );
    expect(rule.elected('r1.1', 3, { ownVote: false, members: 3 })).toBe(
      'r1.1 leads term 3 with 1 of 3 votes',
    );
    expect(rule.elected('r1.1', 2, { ownVote: true, members: 4 })).toBe(
      'r1.1 leads term 2 with 2 of 4 votes',
    );
  });

  it('votes for newer logs: the voter has a later last term, or more of the same one', () => {
    const rule = new NewerLogVoted();
    const voted = (term: number, ...ends: { index: number; term: number }[]): string | null => {
      rule.asked('r1.1', term, { index: 5, term: 2 });
      return rule.voted('r2.1', term, 'r1.1', ends);
    };
    expect(voted(3, { index: 5, term: 2 }, { index: 5, term: 2 })).toBeNull();
    expect(voted(4, { index: 9, term: 1 }, { index: 9, term: 1 })).toBeNull();
    // Written in one go with the vote, before it or after it: nobody can tell.
    expect(voted(5, { index: 4, term: 2 }, { index: 6, term: 2 })).toBeNull();
    expect(voted(6, { index: 6, term: 2 }, { index: 7, term: 2 })).toBe(
      'r2.1 voted for r1.1 in term 6, whose log ends at 5 of term 2; its own ends at 6 of term 2',
    );
    expect(voted(7, { index: 1, term: 3 }, { index: 1, term: 3 })).toBe(
      'r2.1 voted for r1.1 in term 7, whose log ends at 5 of term 2; its own ends at 1 of term 3',
    );
    expect([rule.isJudged('r2.1', 7), rule.isJudged('r2.1', 8)]).toEqual([true, false]);
    expect(rule.voted('r2.1', 9, 'r3.1', [{ index: 9, term: 9 }])).toBeNull();
  });

  it('votes for newer logs: a vote that a crash took back is looked at when it is given anew', () => {
    const rule = new NewerLogVoted();
    rule.asked('r1.1', 3, { index: 5, term: 2 });
    rule.voted('r2.1', 3, 'r1.1', [{ index: 1, term: 1 }]);
    rule.started('r2', 'r2.1', { term: 3, vote: 'r1.1' });
    expect(rule.isJudged('r2.1', 3)).toBe(true);
    rule.started('r2', 'r2.1', { term: 3, vote: null });
    expect(rule.isJudged('r2.1', 3)).toBe(false);
    rule.voted('r2.1', 3, 'r1.1', [{ index: 1, term: 1 }]);
    rule.started('r2', 'r2.1', { term: 2, vote: 'r1.1' });
    expect(rule.isJudged('r2.1', 3)).toBe(false);
  });

  it('applied is durable: the disk ends before it, or has what it replaced', () => {
    const rule = new AppliedIsDurable();
    expect(rule.applied('r1.1', 2, 1, logOf(1, 1))).toBeNull();
    expect(rule.applied('r1.1', 3, 1, logOf(1, 1))).toBe(
      'r1.1 applied entry 3 of term 1, its disk ends at 2',
    );
    expect(rule.applied('r1.1', 2, 3, logOf(1, 1))).toBe(
      'r1.1 applied entry 2 of term 3, its disk has one of term 1',
    );
  });

  it('term fence: a proposal of an earlier leadership, or of none', () => {
    const rule = new TermFence();
    rule.role('r1.1', 3);
    expect(rule.accepted('r1.1', 3)).toBeNull();
    rule.role('r1.1', 5);
    expect(rule.accepted('r1.1', 3)).toBe('r1.1 accepted a proposal of term 3 and leads term 5');
    rule.role('r1.1', null);
    expect(rule.accepted('r1.1', 5)).toBe('r1.1 accepted a proposal of term 5 and does not lead');
  });

  it('logged as accepted: overtaken, unasked, or left from an earlier leadership', () => {
    const rule = new LoggedAsAccepted();
    rule.role('r1.1', 3);
    rule.accepted('r1.1', { count: 2, follows: 5 });
    rule.accepted('r1.1', { count: 1, follows: 7 });
    expect(rule.written('r1.1', 3, { count: 2, follows: 5 })).toBeNull();
    // What a follower writes, and what is left of other terms, is no business of this leadership.
    expect(rule.written('r2.1', 3, { count: 2, follows: 5 })).toBeNull();
    expect(rule.written('r1.1', 2, { count: 9, follows: 9 })).toBeNull();
    expect(rule.written('r1.1', 3, { count: 1, follows: 8 })).toBe(
      'r1.1 logged 1 commands behind 8 in term 3, accepted was 1 commands behind 7',
    );
    rule.accepted('r1.1', { count: 1, follows: 8 });
    rule.role('r1.1', null);
    rule.role('r1.1', 4);
    expect(rule.written('r1.1', 4, { count: 1, follows: 8 })).toBe(
      'r1.1 logged 1 commands behind 8 in term 4, accepted was nothing',
    );
  });

  it('leader append-only: a leader writes over its log; a follower may', () => {
    const rule = new LeaderAppendOnly();
    expect(rule.written('r1', 3, 5)).toBeNull();
    rule.role('r1', true);
    expect(rule.written('r1', 6, 5)).toBeNull();
    expect(rule.written('r2', 3, 5)).toBeNull();
    expect(rule.written('r1', 5, 5)).toBe(
      'the leader r1 wrote from 5 on over a log that ends at 5',
    );
    rule.role('r1', false);
    expect(rule.written('r1', 5, 5)).toBeNull();
  });

  it('own term commits: a leader counts for an earlier term; a follower learns of one', () => {
    const rule = new OwnTermCommits();
    rule.elected('r1.1', 4);
    expect(rule.committed('r1.1', 4, 3, 4)).toBeNull();
    expect(rule.committed('r2.1', 4, 2, 2)).toBeNull();
    expect(rule.committed('r1.1', 3, 2, 2)).toBeNull();
    expect(rule.committed('r1.1', 4, 2, 2)).toBe(
      'r1.1 leads term 4 and committed up to entry 2 of term 2',
    );
  });

  it('transfer fence: a proposal is accepted before the transfer is over or given up', () => {
    const rule = new TransferFence(40);
    const accepted = 'r1.1 accepted a proposal while it hands over to r2.1';
    expect(rule.accepted('r1.1')).toBeNull();
    rule.transfer('r1.1', { state: 'started', to: 'r2.1' }, 7);
    expect(rule.accepted('r1.1')).toBe(accepted);
    expect(rule.accepted('r2.1')).toBeNull();
    rule.transfer('r1.1', { state: 'sent', to: 'r2.1' }, 9);
    expect(rule.accepted('r1.1')).toBe(accepted);
    rule.transfer('r1.1', { state: 'abandoned', to: 'r2.1' }, 47);
    expect(rule.accepted('r1.1')).toBeNull();
    rule.transfer('r1.1', { state: 'started', to: 'r2.1' }, 50);
    rule.over('r1.1');
    expect(rule.accepted('r1.1')).toBeNull();
  });

  it('transfer fence: a transfer that is not given up, a target that lacks entries', () => {
    const rule = new TransferFence(40);
    expect(rule.stands('r1.1', 90)).toBeNull();
    rule.transfer('r1.1', { state: 'started', to: 'r2.1' }, 7);
    rule.transfer('r1.1', { state: 'sent', to: 'r2.1' }, 30);
    expect(rule.stands('r1.1', 47)).toBeNull();
    expect(rule.stands('r1.1', 48)).toBe('r1.1 hands over to r2.1 since 41 ticks, 40 at most');
    const order = { from: 'r1.1', to: 'r2.1', term: 3 };
    const lacks = 'r1.1 hands over to r2.1, which lacks its entry 2';
    expect(rule.ordered(order, logOf(1, 3), { ...logOf(1, 3), term: 3 })).toBeNull();
    expect(rule.ordered(order, logOf(1, 3), { ...logOf(1), term: 3 })).toBe(lacks);
    expect(rule.ordered(order, logOf(1, 3), { ...logOf(1, 2), term: 3 })).toBe(lacks);
    expect(rule.ordered(order, logOf(1, 3), { ...logOf(1), term: 4 })).toBeNull();
    rule.over('r1.1');
    expect(rule.ordered(order, logOf(1, 3, 4), { ...logOf(1, 3), term: 3 })).toBeNull();
  });

  it('acknowledged matches: a follower names an entry that its leader has not, or has otherwise', () => {
    const rule = new AcknowledgedMatches();
    const leader = { member: 'r1.1', isAlive: true, disk: { written: logOf(1, 1, 3) } };
    const reply = { type: 'appendReply', from: 'r2.1', to: 'r1.1', term: 3, index: 3 } as const;
    const accepted: Message = { ...reply, accepted: true, hintIndex: 0, hintTerm: 0 };
    const other = { ...logOf(1, 1, 2, 2), term: 3 };
    expect(rule.sent(accepted, other)).toBeNull();
    rule.elected(leader, 3);
    const unlike = 'r2.1 acknowledged entry 3 and holds one of term 2, the leader r1.1 has one of ';
    expect(rule.sent(accepted, other)).toBe(`${unlike}term 3`);
    expect(rule.sent({ ...accepted, index: 4 }, other)).toBe(
      'r2.1 acknowledged entry 4 and holds one of term 2, the leader r1.1 ends before it',
    );
    expect(rule.sent({ ...accepted, index: 2 }, other)).toBeNull();
    expect(rule.sent({ ...accepted, accepted: false }, other)).toBeNull();
    expect(rule.sent(accepted, { ...other, term: 4 })).toBeNull();
    expect(rule.sent(accepted, { ...logOf(1, 1, 3), term: 3 })).toBeNull();
    rule.over('r1.1');
    expect(rule.sent(accepted, other)).toBeNull();
    rule.elected({ ...leader, isAlive: false }, 3);
    expect(rule.sent(accepted, other)).toBeNull();
  });

  it('time-out kept: nobody waits for longer, whatever it refuses or what later term it meets', () => {
    const rule = new TimeoutKept(20, 40);
    const waits = (tick: number): string | null => rule.stands('r1', tick, 3);
    const text = 'r1 waits for a leader since 41 ticks, its time-out is 40 at most';
    rule.started('r1');
    expect([waits(40), waits(41)]).toEqual([null, text]);
    rule.begins('r1', 30);
    expect([waits(70), waits(71)]).toEqual([null, text]);
    rule.role('r1', false, 'higherTerm', 60);
    expect([waits(70), waits(71)]).toEqual([null, text]);
    rule.role('r1', false, 'electionTimeout', 70);
    expect([waits(110), waits(111)]).toEqual([null, text]);
    rule.role('r1', true, 'won', 110);
    expect(waits(500)).toBeNull();
    rule.role('r1', false, 'higherTerm', 500);
    expect([waits(540), waits(541)]).toEqual([null, text]);
    rule.started('r1');
    expect(waits(40)).toBeNull();
    rule.asked('r1', 3, 40);
    expect(waits(41)).toBe(text);
    rule.asked('r1', 2, 40);
    expect([waits(80), waits(81)]).toEqual([null, text]);
  });

  it('later term followed: a reply of a later term was read, and the term is as before', () => {
    const rule = new LaterTermFollowed();
    const ends = { from: 'r2.1', to: 'r1.1' } as const;
    const vote = { ...ends, type: 'vote', lastIndex: 1, lastTerm: 1 } as const;
    const reads = (message: Message): string | null => {
      rule.started('r1');
      rule.received('r1', message);
      return rule.stands('r1', 3);
    };
    const reply = (term: number): Message => ({ ...ends, type: 'heartbeatReply', term });
    expect([reads(reply(2)), reads(reply(3))]).toEqual([null, null]);
    expect(reads(reply(4))).toBe("r1 is in term 3 after r2.1's heartbeatReply of term 4");
    expect(reads({ ...vote, term: 5, pre: false, ordered: true })).toBe(
      "r1 is in term 3 after r2.1's vote of term 5",
    );
    expect(reads({ ...ends, type: 'voteReply', term: 4, pre: true, granted: false })).toBe(
      "r1 is in term 3 after r2.1's voteReply of term 4",
    );
    // What binds nobody, or may be disregarded within a lease.
    expect(reads({ ...ends, type: 'voteReply', term: 4, pre: true, granted: true })).toBeNull();
    expect(reads({ ...vote, term: 4, pre: true, ordered: true })).toBeNull();
    expect(reads({ ...vote, term: 4, pre: false, ordered: false })).toBeNull();
    // The latest of all counts, and only for the life that it reached.
    rule.received('r1', reply(9));
    rule.received('r1', reply(8));
    expect([rule.stands('r1', 8), rule.stands('r1', 9), rule.stands('r2', 1)]).toEqual([
      "r1 is in term 8 after r2.1's heartbeatReply of term 9",
      null,
      null,
    ]);
    rule.started('r1');
    expect(rule.stands('r1', 1)).toBeNull();
  });

  it('log matching: same index and term with other bytes, or behind another term', () => {
    const rule = new LogMatching();
    const entry = { term: 2, termBefore: 1, hash: 7n };
    expect(rule.written(5, entry)).toBeNull();
    expect(rule.written(5, entry)).toBeNull();
    expect(rule.written(5, { term: 3, termBefore: 1, hash: 9n })).toBeNull();
    expect(rule.written(5, { ...entry, hash: 8n })).toBe(
      'two logs hold an entry 5 of term 2 with different commands',
    );
    expect(rule.written(5, { ...entry, termBefore: 2 })).toBe(
      'two logs hold an entry 5 of term 2 behind terms 1 and 2',
    );
  });

  it('leader completeness: a later leader lacks what was committed; an earlier one owes nothing', () => {
    const rule = new LeaderCompleteness();
    rule.committed(1, 1, 1);
    rule.committed(2, 1, 3);
    expect(rule.elected(3, logOf(1))).toBeNull();
    expect(rule.elected(4, logOf(1, 1))).toBeNull();
    expect(rule.elected(3, logOf())).toBe(
      'the leader of term 3 lacks entry 1 of term 1: its log ends at 0',
    );
    expect(rule.elected(4, logOf(1, 2))).toBe(
      'the leader of term 4 lacks entry 2 of term 1: it has 2',
    );
  });

  it('state machine safety: another hash at the same index', () => {
    const rule = new StateMachineSafety();
    expect(rule.applied('r1.1', 3, 5n)).toBeNull();
    expect(rule.applied('r2.1', 3, 5n)).toBeNull();
    expect(rule.applied('r3.1', 3, 6n)).toBe('r1.1 and r3.1 differ in what they applied up to 3');
  });

  it('committed immutable: another term committed, or a committed entry replaced', () => {
    const rule = new CommittedImmutable();
    expect(rule.committed('r1', 4, 2)).toBeNull();
    expect(rule.written('r1', 4, 2)).toBeNull();
    expect(rule.written('r2', 4, 3)).toBeNull();
    expect(rule.committed('r2', 4, 3)).toBe('entry 4 was committed with term 2 and with term 3');
    expect(rule.written('r1', 4, 3)).toBe(
      'committed entry 4 of term 2 was replaced by one of term 3',
    );
  });

  it('committed on quorum: fewer than a majority hold it', () => {
    const held = [logOf(1, 2), logOf(1, 1), logOf(1, 2)];
    expect(new CommittedOnQuorum().committed(2, 2, held)).toBeNull();
    expect(new CommittedOnQuorum().committed(2, 1, held)).toBe(
      'entry 2 of term 1 was committed while 1 of 3 held it',
    );
    expect(new CommittedOnQuorum().committed(1, 1, [logOf(1), logOf()])).toBe(
      'entry 1 of term 1 was committed while 1 of 2 held it',
    );
  });

  it('monotonic: term, vote, commit and applied never go back; a restart forgets what was no promise', () => {
    const stands = { life: 1, term: 2, vote: 'r1.1', commit: 5, applied: 4, lastIndex: 6 };
    const after = (change: Partial<typeof stands>, restarted = false): string | null => {
      const rule = new Monotonic();
      expect(rule.stands('r1', stands)).toBeNull();
      if (restarted) rule.restarted('r1', { term: 1, vote: null });
      return rule.stands('r1', { ...stands, ...change });
    };
    expect(after({})).toBeNull();
    expect(after({ term: 1 })).toBe('r1 went from term 2 to 1');
    expect(after({ vote: 'r2.1' })).toBe('r1 voted for r1.1 and r2.1 in term 2');
    expect(after({ term: 3, vote: 'r2.1' })).toBeNull();
    expect(after({ commit: 4 })).toBe('r1 took commit 5 to 4');
    expect(after({ applied: 3 })).toBe('r1 took applied 4 to 3');
    expect(after({ applied: 6 })).toBe('r1 applied 6 beyond 5');
    expect(after({ commit: 7 })).toBe('r1 committed 7 of 6');
    expect(after({ life: 2, commit: 0, applied: 0 })).toBeNull();
    expect(after({ life: 2, term: 1, commit: 0, applied: 0 }, true)).toBeNull();
    expect(after({ life: 2, term: 0, commit: 0, applied: 0 }, true)).toBe(
      'r1 went from term 1 to 0',
    );
  });

  it('durable answers: a vote or an acknowledgement that the disk does not hold', () => {
    const rule = new DurableAnswers();
    const disk = { ...logOf(1, 1), term: 2, vote: 'r1.1', longest: 3 };
    const between = { from: 'r2.1', to: 'r1.1', term: 2 };
    const vote: Message = { ...between, type: 'voteReply', pre: false, granted: true };
    expect(rule.sent(vote, disk)).toBeNull();
    expect(rule.sent(vote, { ...disk, term: 3, vote: null })).toBeNull();
    expect(rule.sent({ ...vote, pre: true, term: 3 }, { ...disk, vote: null })).toBeNull();
    expect(rule.sent({ ...vote, granted: false }, { ...disk, vote: null })).toBeNull();
    const lacks = 'r2.1 told r1.1 of a vote that its disk lacks';
    expect(rule.sent(vote, { ...disk, vote: 'r3.1' })).toBe(lacks);
    expect(rule.sent(vote, { ...disk, term: 1 })).toBe(
      'r2.1 told r1.1 of term 2, its disk is in 1',
    );
    const beat: Message = { ...between, type: 'heartbeatReply' };
    const behind = { ...disk, term: 1 };
    expect(rule.sent(beat, disk)).toBeNull();
    expect(rule.sent(beat, behind)).toBe('r2.1 told r1.1 of term 2, its disk is in 1');
    const ask: Message = {
      ...{ ...between, type: 'vote', pre: false, ordered: false },
      ...{ lastIndex: 2, lastTerm: 1 },
    };
    expect(rule.sent({ ...ask, pre: true }, behind)).toBeNull();
    expect(rule.sent(ask, { ...disk, vote: 'r2.1' })).toBeNull();
    expect(rule.sent(ask, disk)).toBe('r2.1 asked r1.1 for a vote, its disk lacks its own');
    const reply = { ...between, type: 'appendReply', accepted: true, hintIndex: 0, hintTerm: 0 };
    expect(rule.sent({ ...reply, index: 2 } as Message, disk)).toBeNull();
    expect(rule.sent({ ...reply, index: 9, accepted: false } as Message, disk)).toBeNull();
    const cut = { ...disk, term: 3 };
    expect(rule.sent({ ...reply, index: 3 } as Message, cut)).toBeNull();
    expect([3, 4].map((index) => rule.sent({ ...reply, index } as Message, disk))).toEqual([
      'r2.1 acknowledged 3, its disk ends at 2',
      'r2.1 acknowledged 4, its disk ends at 2',
    ]);
    expect(rule.sent({ ...reply, index: 4 } as Message, cut)).toBe(
      'r2.1 acknowledged 4, its disk ends at 2',
    );
    expect(rule.sent({ ...reply, index: 3 } as Message, { ...disk, term: 3 })).toBeNull();
  });
});

describe('sim: invariants: mirror', () => {
  it('applied in place: a command beyond the last sequence', () => {
    expect(new AppliedInPlace().applied('r1.1', 9, 0)).toBeNull();
    expect(new AppliedInPlace().applied('r1.1', 9, 2)).toBe(
      'r1.1: 2 commands of entry 9 lay beyond the last sequence',
    );
  });

  it('skip batches: more than 10,000, or not one a sequence', () => {
    const rule = new SkipBatches();
    expect(rule.proposed(1, 10_000, 10_000)).toBeNull();
    expect(rule.proposed(1, 10_001, 10_001)).toBe(
      'a batch of 10001 skips for 1 to 10001, at most 10000 may be proposed',
    );
    expect(rule.proposed(1, 10, 9)).toBe('a batch of 9 skips for 1 to 10');
  });

  it('one consumer: two members ask in a term, or the origin goes back to an older opening', () => {
    const rule = new OneConsumer();
    const opening = { member: 'r1.1', term: 2, generation: 2 };
    expect(rule.asked(opening)).toBeNull();
    expect(rule.asked({ ...opening, generation: 3 })).toBeNull();
    expect(rule.asked({ ...opening, member: 'r2.1' })).toBe(
      'r1.1 and r2.1 both asked for an opening in term 2',
    );
    expect(rule.served(opening)).toBeNull();
    expect(rule.served({ ...opening })).toBeNull();
    expect(rule.served({ ...opening, term: 3, generation: 1 })).toBeNull();
    expect(rule.served(opening)).toBe(
      "the origin serves r1.1's opening 2 of term 2 although r1.1's opening 1 of term 3 is newer",
    );
  });

  it('retry pacing: two requests closer than 2 s, scaled and read in ticks', () => {
    const rule = new RetryPacing(0.05);
    const asked = (member: string, life: number, atMs: number): string | null => {
      const finding = rule.asked(member, life, atMs);
      rule.closed(member, life, 'mismatch', atMs);
      return finding;
    };
    expect(asked('r1.1', 1, 1_000)).toBeNull();
    expect(asked('r2.1', 1, 1_001)).toBeNull();
    expect(asked('r1.1', 2, 1_002)).toBeNull();
    expect(asked('r1.1', 1, 1_080)).toBeNull();
    expect(asked('r1.1', 1, 1_159)).toBe('r1.1 asked again after 79 ms');
  });

  it('retry pacing: two requests in flight; a restart forgets its own', () => {
    const rule = new RetryPacing(0.05);
    expect(rule.asked('r1.1', 1, 1_000)).toBeNull();
    expect(rule.asked('r1.1', 2, 2_000)).toBeNull();
    expect(rule.asked('r1.1', 2, 3_000)).toBe('r1.1 asked again while an opening was in flight');
    rule.closed('r1.1', 2, 'mismatch', 3_000);
    expect(rule.asked('r1.1', 2, 4_000)).toBeNull();
  });

  it('refusal restores: cursor, delivery number and lag; to the last of a store that refused', () => {
    const standing = { cursor: { seq: 5, deliverySeq: 3 }, lag: 7, storeLast: 4 };
    const after = (
      change: Partial<{ seq: number; deliverySeq: number; lag: number; storeLast: number }>,
      cause: 'skipRefused' | 'mismatch' = 'skipRefused',
    ): string | null => {
      const rule = new RefusalRestores();
      const { storeLast = 4, lag = 7, ...cursor } = change;
      expect(rule.begins('r1.1', { ...standing, storeLast })).toBeNull();
      rule.refused('r1.1', 'skips 6..15');
      const back = rule.rolledBack('r1.1', { to: { ...standing.cursor, ...cursor }, lag, cause });
      expect(rule.begins('r1.1', standing)).toBeNull();
      return back;
    };
    const text = (at: string, expected = 'cursor 5, delivery 3, lag 7'): string =>
      `r1.1 stands at ${at} after skips 6..15 was refused, not at ${expected}`;
    expect(after({})).toBeNull();
    expect(after({ seq: 15 })).toBe(text('cursor 15, delivery 3, lag 7'));
    expect(after({ deliverySeq: 4 })).toBe(text('cursor 5, delivery 4, lag 7'));
    expect(after({ lag: 6 })).toBe(text('cursor 5, delivery 3, lag 6'));
    expect(after({ storeLast: 8 })).toBeNull();
    expect(after({ seq: 8, storeLast: 8 }, 'mismatch')).toBeNull();
    expect(after({ storeLast: 8 }, 'mismatch')).toBe(
      text('cursor 5, delivery 3, lag 7', 'cursor 8, delivery 3, lag 7'),
    );
  });

  it('refusal restores: work goes on without a rollback; a restart forgets it', () => {
    const rule = new RefusalRestores();
    const standing = { cursor: { seq: 5, deliverySeq: 3 }, lag: 7, storeLast: 4 };
    const other = { to: standing.cursor, lag: 0, cause: 'mismatch' } as const;
    expect(rule.rolledBack('r1.1', other)).toBeNull();
    for (const restarts of [true, false]) {
      expect(rule.begins('r1.1', standing)).toBeNull();
      rule.refused('r1.1', 'skips 6..15');
      if (restarts) rule.started('r1.1');
    }
    expect(rule.begins('r1.1', standing)).toBe('r1.1 went on although skips 6..15 was refused');
    expect(rule.begins('r1.1', standing)).toBeNull();
  });
});
