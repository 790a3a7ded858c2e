/** Classic bugs of raft, the log: what is replicated, committed, durable. */
import type { SwarmMutant } from './types.js';

const FOLLOWER = 'src/raft/follower.js';
const LEADERSHIP = 'src/raft/leadership.js';
const REPLICATION = 'src/raft/replication.js';

/** What a log that is not the leader's leads to, whichever comes first. */
const UNLIKE_LOGS = [
  'acknowledged matches',
  'applied is durable',
  'log matching',
  'committed on quorum',
  'committed immutable',
  'leader completeness',
  'state machine safety',
  'replica assertion',
];

export const RAFT_LOG_MUTANTS: readonly SwarmMutant[] = [
  {
    id: 'M5',
    title: 'an entry of an earlier term is committed by counting',
    source: 'raft paper, figure 8; logcabin issue 44; nats-server pull request 7955',
    edits: [
      {
        file: LEADERSHIP,
        find: 'if (index <= commit || log.termAt(index) !== term)',
        replace: 'if (index <= commit)',
      },
    ],
    fires: ['own term commits', ...UNLIKE_LOGS],
    focus: 'logs',
    within: 200,
  },
  {
    id: 'M6',
    title: 'the quorum index is taken from unsorted match indices',
    source: 'akka-raft issue 42; openraft pull request 1802',
    edits: [
      {
        file: REPLICATION,
        find: 'for (; at > 0 && rising[at - 1] > value; at--)',
        replace: 'for (; false; at--)',
      },
    ],
    fires: UNLIKE_LOGS,
  },
  {
    id: 'M7b',
    title: 'half of the acknowledgements commit',
    source: 'openraft d60f1e85 (a quorum one too small)',
    edits: [
      {
        file: REPLICATION,
        find: 'held[Math.floor((held.length - 1) / 2)]',
        replace: 'held[Math.floor(held.length / 2)]',
      },
    ],
    fires: UNLIKE_LOGS,
  },
  {
    id: 'M8',
    title: 'a heartbeat carries the whole commit, beyond what its follower is known to match',
    source: 'atomix copycat issue 265',
    edits: [
      {
        file: REPLICATION,
        find: 'commit: Math.min(this.#state.commit, progress.match),',
        replace: 'commit: this.#state.commit,',
      },
    ],
    fires: UNLIKE_LOGS,
    directed: {
      test: 'test/raft/propose.test.ts',
      titled: 'a heartbeat tells a follower no commit beyond',
    },
  },
  {
    id: 'M9',
    title: 'the term of the entry before is not compared',
    source: 'akka-raft issue 58',
    edits: [
      {
        file: FOLLOWER,
        find: 'log.termAt(prevIndex) !== prevTerm',
        replace: 'log.termAt(prevIndex) === undefined',
      },
    ],
    fires: UNLIKE_LOGS,
    focus: 'logs',
    within: 200,
    directed: { test: 'test/raft/paper.test.ts', titled: '5.3' },
  },
  {
    id: 'M10',
    title: 'a conflicting tail is not truncated',
    source: 'nats-server pull request 5957',
    edits: [
      {
        file: FOLLOWER,
        find: 'if (term !== undefined) {',
        replace: 'if (term !== undefined) return;\n    if (term !== undefined) {',
      },
    ],
    fires: ['durable answers', ...UNLIKE_LOGS],
  },
  {
    id: 'M11',
    title: 'a late append truncates what is equal',
    source: 'openraft 9540c904',
    edits: [
      {
        file: FOLLOWER,
        find: 'if (term === entry.term)',
        replace: 'if (term === entry.term && entry.index <= state.commit)',
      },
    ],
    fires: ['durable answers', 'catch-up', ...UNLIKE_LOGS],
    focus: 'logs',
    directed: { test: 'test/raft/paper.test.ts', titled: '5.3' },
  },
  {
    id: 'M14a',
    title: 'a leader accepts proposals while it hands over',
    source: 'raft dissertation, section 3.10; etcd TestLeaderTransferIgnoreProposal',
    edits: [
      {
        file: LEADERSHIP,
        find: "if (this.#transfer !== null)\n            return 'transferring';",
        replace: '',
      },
    ],
    fires: ['transfer fence'],
    focus: 'elections',
    directed: { test: 'test/raft/replication.test.ts', titled: 'refusals by code, in their order' },
  },
  {
    id: 'M14b',
    title: 'a late completion of a write proves an entry that replaced the written one',
    source: 'etcd async_storage_writes_append_aba_race',
    edits: [
      {
        file: 'src/raft/durability.js',
        find: 'write.lastIndex = Math.min(write.lastIndex, index - 1);',
        replace: 'void write;',
      },
    ],
    fires: ['durable answers', ...UNLIKE_LOGS],
    focus: 'logs',
    within: 400,
    directed: {
      test: 'test/raft/durability.test.ts',
      titled: 'ABA: a write of an entry that was replaced',
    },
  },
  {
    id: 'M15a',
    title: 'the leader counts its own log before it is durable',
    source: 'nats-server issue 7564; etcd issue 14370',
    edits: [
      {
        file: REPLICATION,
        find: 'insert(held, 0, this.#state.durability.index)',
        replace: 'insert(held, 0, this.#state.log.lastIndex)',
      },
    ],
    fires: UNLIKE_LOGS,
  },
  {
    id: 'M15b',
    title: 'a follower acknowledges before its write is durable',
    source: 'nats-server issue 7564',
    edits: [
      {
        file: 'src/raft/outbox.js',
        find: "this.#sendAfterPersist.push({\n            type: 'appendReply'",
        replace: "this.#sendNow.push({\n            type: 'appendReply'",
      },
    ],
    fires: ['durable answers', ...UNLIKE_LOGS],
  },
  {
    id: 'M16',
    title: 'a write error is swallowed',
    source: 'nats-server TestNRGDoesntRequestVoteOnWriteError',
    edits: [
      { file: 'src/replica/host.js', find: 'if (error !== null) {', replace: 'if (false) {' },
    ],
    // Its own vote may be what the disk lacks.
    fires: ['durable answers', 'elected by a quorum', ...UNLIKE_LOGS],
    within: 300,
    directed: {
      test: 'test/replica/cluster.test.ts',
      titled: 'a leader whose write failed sends nothing any more',
    },
  },
  {
    id: 'M18',
    title: 'what a leader knows of its followers outlives its leadership',
    source: 'akka-raft issue 58',
    edits: [
      {
        file: REPLICATION,
        find: 'this.#followers = state.peers.map((member) => new Progress(member, next));',
        replace:
          'this.#followers = state.kept ??= ' +
          'state.peers.map((member) => new Progress(member, next));',
      },
    ],
    fires: ['catch-up', ...UNLIKE_LOGS],
    focus: 'logs',
  },
  {
    id: 'M19',
    title: 'the hint of a refusal raises the match index',
    source: 'etcd TestLogReplicationWithReorderedMessage; nats-server TestNRGQuorumAccounting',
    edits: [
      {
        file: 'src/raft/progress.js',
        find: 'this.probing = true;\n        this.paused = false;',
        replace:
          'this.match = Math.max(this.match, next - 1);\n' +
          '        this.probing = true;\n        this.paused = false;',
      },
    ],
    fires: UNLIKE_LOGS,
    focus: 'logs',
    within: 600,
    directed: { test: 'test/raft/replication.test.ts', titled: 'raft: probing' },
  },
];
