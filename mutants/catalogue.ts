/** All mutants, and those that wait for what they would break. */
import { CASE_MUTANTS } from './cases.js';
import { MIRROR_MUTANTS } from './mirror.js';
import { PULL_8152_MUTANTS } from './pull-8152.js';
import { RAFT_ELECTION_MUTANTS } from './raft-election.js';
import { RAFT_LOG_MUTANTS } from './raft-log.js';
import type { SwarmMutant, WaitingMutant } from './types.js';

export const SWARM_MUTANTS: readonly SwarmMutant[] = [
  ...RAFT_ELECTION_MUTANTS,
  ...RAFT_LOG_MUTANTS,
  ...MIRROR_MUTANTS,
  ...PULL_8152_MUTANTS,
  ...CASE_MUTANTS,
];

export { TESTED_MUTANTS } from './tested.js';

export const WAITING_MUTANTS: readonly WaitingMutant[] = [
  {
    id: 'M17',
    title: 'acknowledgements of a catch-up or a snapshot count for the quorum',
    source: 'nats-server pull request 6944',
    waitsFor: 'snapshots',
  },
  {
    id: 'M20',
    title: 'a snapshot is installed without dropping the tail that conflicts with it',
    source: 'RedisLabs raft issue 49; openraft issue 1892',
    waitsFor: 'snapshots',
  },
  {
    id: 'M21',
    title: 'after a snapshot the members are those of the old log',
    source: 'scylladb issue 9551; openraft dba24036',
    waitsFor: 'snapshots and changes of membership',
  },
  {
    id: 'M22',
    title: 'a change of membership before an entry of the own term is committed',
    source: 'raft-dev list, 2015, bug in single-server membership changes; maelstrom PR 101',
    waitsFor: 'changes of membership',
  },
  {
    id: 'M23',
    title: 'a truncated change of membership stays in force',
    source: 'nats-server TestNRGTruncateWALRevertsAddPeer',
    waitsFor: 'changes of membership',
  },
  {
    id: 'M24',
    title: 'the vote of a removed member counts',
    source: 'nats-server TestNRGRemovedPeerVoteDoesNotElectLeader',
    waitsFor: 'changes of membership',
  },
  {
    id: 'X9',
    title: 'a restart installs the snapshot and replays what it holds',
    source: 'nats-server TestNRGCatchupDoesNotTruncateCommittedEntriesDuringRedelivery',
    waitsFor: 'snapshots',
  },
];
