/** One member of a cluster of three, spoken to by hand: messages, logs and drains in few words. */
import { createPrng } from '../../src/base/prng.js';
import { Raft, type RaftOptions } from '../../src/raft/raft.js';
import type {
  AppendReply,
  AppendRequest,
  Batch,
  Entry,
  Heartbeat,
  HeartbeatReply,
  Message,
  Persist,
  RaftEvent,
  RaftJournal,
  RaftReady,
  Role,
  RoleCause,
  TimeoutNow,
  VoteReply,
  VoteRequest,
} from '../../src/raft/types.js';

export const A = 'r1.1';
export const B = 'r2.1';
export const C = 'r3.1';
export const THREE = [A, B, C];
export const FIVE = ['r1.1', 'r2.1', 'r3.1', 'r4.1', 'r5.1'];
export const NONE: RaftReady = { persist: null, sendNow: [], sendAfterPersist: [], events: [] };

export function batchOf(size = 1, fill = 1): Batch {
  return { count: 1, bytes: new Uint8Array(size).fill(fill) };
}

/** Entries 1 … n of the given terms; each holds its term as its only byte. */
export function entriesOf(...terms: number[]): Entry[] {
  return terms.map((term, at) => entryAt(at + 1, term));
}

export function entryAt(index: number, term: number): Entry {
  return { term, index, kind: 'batch', count: 1, bytes: Uint8Array.of(term) };
}

export function noopAt(index: number, term: number): Entry {
  return { term, index, kind: 'noop', count: 0, bytes: new Uint8Array(0) };
}

export function batchAt(index: number, term: number, batch = batchOf()): Entry {
  return { term, index, kind: 'batch', ...batch };
}

export function journalOf(
  terms: readonly number[],
  { term = terms.at(-1) ?? 0, vote = null as string | null } = {},
): RaftJournal {
  return { term, vote, baseIndex: 0, baseTerm: 0, entries: entriesOf(...terms) };
}

/** Member r1.1 of three, its start event drained. Time-outs are the longest unless given. */
export function memberOf(options: Partial<RaftOptions> = {}): Raft {
  const raft = new Raft({
    member: A,
    members: THREE,
    prng: createPrng(1),
    journal: null,
    timers: true,
    ...options,
  });
  raft.ready();
  return raft;
}

/** Drains and completes writes until nothing is left; returns what the last write was. */
export function rest(raft: Raft): void {
  while (raft.hasReady()) {
    const { persist } = raft.ready();
    if (persist !== null) raft.persisted(persist.ticket);
  }
}

/** Everything that comes out until the member rests, writes completing at once. */
export function flow(raft: Raft): Omit<RaftReady, 'persist'> & { persists: Persist[] } {
  const persists: Persist[] = [];
  const sendNow: Message[] = [];
  const sendAfterPersist: Message[] = [];
  const events: RaftEvent[] = [];
  while (raft.hasReady()) {
    const ready = raft.ready();
    sendNow.push(...ready.sendNow);
    sendAfterPersist.push(...ready.sendAfterPersist);
    events.push(...ready.events);
    if (ready.persist === null) continue;
    persists.push(ready.persist);
    raft.persisted(ready.persist.ticket);
  }
  return { persists, sendNow, sendAfterPersist, events };
}

/** Ticks without unread messages. */
export function ticks(raft: Raft, count: number): void {
  for (let tick = 0; tick < count; tick++) raft.tick(false);
}

/** A leader of the term after its journal's; its noop is durable here and sent, not answered. */
export function leaderOf(options: Partial<RaftOptions> = {}): Raft {
  const raft = memberOf(options);
  raft.campaign({ term: raft.term, deadLeader: null });
  rest(raft);
  for (const from of options.members ?? THREE) {
    if (from !== A && !raft.isLeader) raft.step(voteReply({ from, term: raft.term }));
  }
  rest(raft);
  return raft;
}

/** A leader whose whole log is acknowledged by all and known by all as committed. */
export function settledLeader(options: Partial<RaftOptions> = {}): Raft {
  const raft = leaderOf(options);
  for (const from of options.members ?? THREE) {
    if (from !== A) raft.step(accepted({ from, term: raft.term, index: raft.lastIndex }));
  }
  rest(raft);
  return raft;
}

/** A follower of r2.1 in a term; its log is the journal's. */
export function followerOf(options: Partial<RaftOptions> = {}, term?: number): Raft {
  const raft = memberOf(options);
  raft.step(heartbeat({ term: term ?? Math.max(1, raft.term) }));
  rest(raft);
  return raft;
}

/** Replies and requests of r2.1 to r1.1 unless said otherwise. */
const ADDRESS = { from: B, to: A, term: 1 };

export function vote(given: Partial<VoteRequest>): VoteRequest {
  const rest = { pre: false, ordered: false, lastIndex: 0, lastTerm: 0 };
  return { type: 'vote', ...ADDRESS, ...rest, ...given };
}

export function voteReply(given: Partial<VoteReply>): VoteReply {
  return { type: 'voteReply', ...ADDRESS, pre: false, granted: true, ...given };
}

export function append(given: Partial<AppendRequest>): AppendRequest {
  const rest = { prevIndex: 0, prevTerm: 0, commit: 0, released: 0, entries: [] };
  return { type: 'append', ...ADDRESS, ...rest, ...given };
}

export function accepted(given: Partial<AppendReply>): AppendReply {
  const rest = { accepted: true, index: 0, hintIndex: 0, hintTerm: 0 };
  return { type: 'appendReply', ...ADDRESS, ...rest, ...given };
}

export function refused(given: Partial<AppendReply>): AppendReply {
  return accepted({ accepted: false, ...given });
}

export function heartbeat(given: Partial<Heartbeat>): Heartbeat {
  return { type: 'heartbeat', ...ADDRESS, commit: 0, released: 0, ...given };
}

export function heartbeatReply(given: Partial<HeartbeatReply>): HeartbeatReply {
  return { type: 'heartbeatReply', ...ADDRESS, ...given };
}

export function timeoutNow(given: Partial<TimeoutNow>): TimeoutNow {
  return { type: 'timeoutNow', ...ADDRESS, ...given };
}

export function role(name: Role, term: number, leader: string | null, cause: RoleCause): RaftEvent {
  return { kind: 'role', role: name, term, leader, cause };
}

export function transfer(state: 'started' | 'sent' | 'abandoned', to: string): RaftEvent {
  return { kind: 'transfer', state, to };
}

/** From r1.1 to a peer: what this member is expected to say. */
export function said<M extends Message>(message: M, to: string = B): M {
  return { ...message, from: A, to };
}
