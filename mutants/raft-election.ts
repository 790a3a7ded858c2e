/** Classic bugs of raft, elections and terms: who may lead, who may vote. */
import type { SwarmMutant } from './types.js';

const BALLOT = 'src/raft/ballot.js';
const ELECTION = 'src/raft/election.js';
const RAFT = 'src/raft/raft.js';
const STATE = 'src/raft/state.js';

/** What two leaders of one term lead to, whichever comes first. */
const TWO_LEADERS = [
  'elected by a quorum',
  'election safety',
  'one consumer',
  'log matching',
  'committed immutable',
  'committed on quorum',
  'leader completeness',
  'state machine safety',
  'replica assertion',
];

/** What the leadership of a shorter or an older log leads to. */
const NEWER_LOG_LOST = [
  'votes for newer logs',
  'leader completeness',
  'committed immutable',
  'replica assertion',
];

const UP_TO_DATE =
  'lastTerm > log.lastTerm || (lastTerm === log.lastTerm && lastIndex >= log.lastIndex)';

export const RAFT_ELECTION_MUTANTS: readonly SwarmMutant[] = [
  {
    id: 'M1',
    title: 'a vote that arrives twice is counted twice',
    source: 'akka-raft issue 45',
    edits: [
      {
        file: BALLOT,
        find: 'if (this.#granted.has(member) || this.#refused.has(member))\n            return;',
        replace: 'while (this.#granted.has(member)) member += "+";',
      },
    ],
    fires: TWO_LEADERS,
    directed: { test: 'test/raft/votes.test.ts', titled: 'one grant delivered three times' },
  },
  {
    id: 'M2',
    title: 'a vote of an earlier term is counted',
    source: 'akka-raft issues 46 and 47',
    edits: [
      {
        file: ELECTION,
        find: 'if (reply.granted && reply.term !== ballot.term)\n        return;',
        replace: '',
      },
      {
        file: RAFT,
        find: 'if (message.term < state.term)',
        replace: "if (message.term < state.term && message.type !== 'voteReply')",
      },
    ],
    fires: TWO_LEADERS,
    focus: 'elections',
    directed: { test: 'test/raft/votes.test.ts', titled: 'grants of an earlier term, after' },
  },
  {
    id: 'M3',
    title: 'a candidate that becomes a follower in its term forgets its vote',
    source: 'akka-raft issue 56; CCF issue 5891; camunda issue 5356',
    edits: [
      {
        file: STATE,
        find: 'this.outbox.forgetAcknowledgement();\n        this.ballot = null;',
        replace: 'if (this.role === "candidate") this.vote = null;\n        this.ballot = null;',
      },
    ],
    fires: ['monotonic', ...TWO_LEADERS],
  },
  {
    id: 'M4a',
    title: 'a vote is answered before it is durable',
    source: 'akka-raft issue 62',
    edits: [
      {
        file: ELECTION,
        find: "sendAfterPersist({\n        type: 'voteReply'",
        replace: "sendNow({\n        type: 'voteReply'",
      },
    ],
    fires: ['durable answers', 'monotonic', ...TWO_LEADERS],
  },
  {
    id: 'M4b',
    title: 'the vote is not written at all',
    source: 'akka-raft issue 62',
    edits: [
      {
        file: 'src/raft/durability.js',
        find: 'return { ticket, term, vote, entries };',
        replace: 'return { ticket, term, vote: null, entries };',
      },
    ],
    fires: ['durable answers', 'monotonic', ...TWO_LEADERS],
  },
  {
    id: 'M7a',
    title: 'half of the votes elect',
    source: 'openraft d60f1e85 (a quorum one too small)',
    edits: [
      {
        file: BALLOT,
        find: 'Math.floor(voters / 2) + 1',
        replace: 'Math.ceil(voters / 2)',
      },
    ],
    fires: TWO_LEADERS,
    directed: { test: 'test/raft/paper.test.ts', titled: '5.2' },
  },
  {
    id: 'M12a',
    title: 'the longer log wins a vote, whatever its last term',
    source: 'openraft a48a3282',
    edits: [
      {
        file: ELECTION,
        find: UP_TO_DATE,
        replace: 'lastIndex >= log.lastIndex',
      },
    ],
    fires: NEWER_LOG_LOST,
    focus: 'logs',
    within: 200,
    directed: { test: 'test/raft/paper.test.ts', titled: '5.4.1' },
  },
  {
    id: 'M12b',
    title: 'the later last term wins a vote, whatever the length',
    source: 'openraft a48a3282',
    edits: [
      {
        file: ELECTION,
        find: UP_TO_DATE,
        replace: 'lastTerm >= log.lastTerm',
      },
    ],
    fires: NEWER_LOG_LOST,
    directed: { test: 'test/raft/paper.test.ts', titled: '5.4.1' },
  },
  {
    id: 'M13',
    title: 'a leader ignores a later term in a reply',
    source: 'akka-raft issue 46; nats-server TestNRGAEFromOldLeader',
    edits: [
      {
        file: RAFT,
        find: "const fromLeader = message.type === 'append'",
        replace:
          "if (message.type === 'appendReply' || message.type === 'heartbeatReply') return;\n" +
          "        const fromLeader = message.type === 'append'",
      },
    ],
    fires: ['later term followed', 'catch-up', 'committed on quorum', 'replica assertion'],
    directed: { test: 'test/raft/paper.test.ts', titled: '5.1' },
  },
  {
    id: 'M25a',
    title: "a refused candidate restarts the voter's time-out",
    source: 'nats-server TestNRGUnsuccessfulVoteRequestDoesntResetElectionTimer',
    edits: [
      {
        file: ELECTION,
        find: 'const granted = mayVoteFor(state, asked) && isUpToDate(state, asked);',
        replace:
          'const granted = mayVoteFor(state, asked) && isUpToDate(state, asked);\n' +
          '    state.timer.restart();',
      },
    ],
    fires: ['time-out kept', 'catch-up'],
    focus: 'elections',
    directed: {
      test: 'test/raft/votes.test.ts',
      titled: 'a refused request for a later term does not put it off',
    },
  },
  {
    id: 'M25b',
    title: 'all members have the same election time-out',
    source: 'raft paper, section 5.2; etcd FollowersElectionTimeoutNonconflict',
    edits: [
      {
        file: 'src/raft/timer.js',
        find: "this.#prng.between('election', electionTicksMin, electionTicksMax)",
        replace: 'electionTicksMin',
      },
    ],
    fires: ['catch-up'],
    focus: 'elections',
    within: 400,
    directed: { test: 'test/raft/paper.test.ts', titled: 'is drawn from the whole range' },
  },
  {
    id: 'M26',
    title: 'a leader that no majority answers never steps down',
    source: 'etcd TestLeaderStepdownWhenQuorumLost',
    edits: [
      {
        file: 'src/raft/leadership.js',
        find: 'return answered * 2 > peers.length + 1;',
        replace: 'return true;',
      },
    ],
    fires: ['catch-up'],
    within: 300,
    directed: { test: 'test/raft/campaign.test.ts', titled: 'raft: check-quorum' },
  },
  {
    id: 'M27',
    title: 'votes are asked for before the own one is durable',
    source: 'raft paper, figure 2; akka-raft issue 62',
    edits: [
      {
        file: ELECTION,
        find: "state.outbox.sendAfterPersist({\n        type: 'vote',",
        replace: "state.outbox.sendNow({\n        type: 'vote',",
      },
    ],
    fires: ['durable answers', 'monotonic', ...TWO_LEADERS],
  },
  {
    id: 'M28',
    title: 'a later term is told of before it is durable',
    source: 'raft paper, figure 2 (currentTerm); akka-raft issue 62',
    edits: [
      {
        file: 'src/raft/follower.js',
        find: "state.outbox.sendAfterPersist({ type: 'heartbeatReply'",
        replace: "state.outbox.sendNow({ type: 'heartbeatReply'",
      },
    ],
    fires: ['durable answers', 'monotonic'],
  },
  {
    id: 'M29',
    title: 'a transfer is never given up',
    source: 'hashicorp/raft TestRaft_LeadershipTransferLeaderReplicationTimeout',
    edits: [
      {
        file: 'src/raft/leadership.js',
        find: 'if (transfer === null || this.#ticks - transfer.sinceTick < electionTicksMax)',
        replace: 'if (true)',
      },
    ],
    fires: ['transfer fence', 'catch-up'],
    focus: 'elections',
    within: 300,
    directed: {
      test: 'test/raft/transfer.test.ts',
      titled: 'abandoned after one election time-out, then takes proposals',
    },
  },
  {
    id: 'M30',
    title: 'a transfer orders a target to campaign that lacks entries',
    source: 'hashicorp/raft TestRaft_LeadershipTransferToBehindServer',
    edits: [
      {
        file: 'src/raft/leadership.js',
        find: 'if (this.replication.progress(transfer.to).match !== log.lastIndex)',
        replace: 'if (false)',
      },
    ],
    fires: ['transfer fence'],
    focus: 'elections',
  },
  {
    id: 'M31',
    title: 'votes are given within the lease of a leader that is well',
    source: 'raft dissertation, section 6.2; etcd TestLeaderElectionWithCheckQuorum',
    edits: [
      {
        file: ELECTION,
        find: 'if (ordered || !state.checkQuorum || term < state.term)',
        replace: 'if (true)',
      },
    ],
    fires: ['lease kept'],
    focus: 'elections',
  },
  {
    id: 'M32',
    title: 'what a leader sends does not put off the election time-out',
    source: 'raft paper, section 5.2',
    edits: [{ file: 'src/raft/follower.js', find: 'state.timer.touch();', replace: '' }],
    fires: ['time-out kept', 'catch-up'],
    focus: 'elections',
  },
  {
    id: 'M33',
    title: 'a pre-vote is granted whatever the logs',
    source: 'raft dissertation, section 9.6',
    edits: [
      {
        file: ELECTION,
        find: 'mayVoteFor(state, asked) && isUpToDate(state, asked)',
        replace: 'mayVoteFor(state, asked) && (asked.pre || isUpToDate(state, asked))',
      },
    ],
    fires: ['votes for newer logs', 'catch-up'],
    focus: 'logs',
  },
  {
    id: 'M34',
    title: 'an order that names another term is obeyed',
    source: 'src/raft/raft.ts, campaign',
    edits: [
      {
        file: RAFT,
        find: 'leadership !== null || order.term !== term',
        replace: 'leadership !== null',
      },
    ],
    fires: ['orders obeyed'],
    within: 300,
    directed: { test: 'test/raft/campaign.test.ts', titled: 'another term was observed' },
  },
  {
    id: 'M35',
    title: 'an order is obeyed by who hears another leader than the one reported dead',
    source: 'src/raft/raft.ts, campaign',
    edits: [
      { file: RAFT, find: 'if (hears && leader !== order.deadLeader)', replace: 'if (false)' },
    ],
    fires: ['orders obeyed'],
    directed: { test: 'test/raft/campaign.test.ts', titled: 'hears a leader -> ignored' },
  },
];
