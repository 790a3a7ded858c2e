/**
 * The leader's side of AppendEntries (section 5.3): what each follower is sent, built when the host
 * asks for it, so that several replies of one turn lead to one set of messages.
 */
import { invariant } from '../base/errors.js';
import type { Member } from '../base/member.js';
import { Progress } from './progress.js';
import type { MemberState } from './state.js';
import type { AppendReply, AppendRequest } from './types.js';

export class Replication {
  readonly #state: MemberState;
  readonly #term: number;
  readonly #followers: readonly Progress[];
  /** What each member holds; filled and sorted anew at each count. */
  readonly #held: Float64Array;
  heartbeatDue = false;

  constructor(state: MemberState) {
    this.#state = state;
    this.#term = state.term;
    const next = state.log.lastIndex + 1;
    this.#followers = state.peers.map((member) => new Progress(member, next));
    this.#held = new Float64Array(state.peers.length + 1);
  }

  progress(member: Member): Progress | undefined {
    return this.#followers.find((progress) => progress.member === member);
  }

  /** The highest index that a majority holds durably, this member's own durable log included. */
  quorumIndex(): number {
    const held = this.#holdings();
    return held[Math.floor((held.length - 1) / 2)]!;
  }

  /** The last index that so many members hold durably, and the last that one more does. */
  heldBy(members: number): { readonly last: number; readonly beyond: number } {
    const held = this.#holdings();
    const at = held.length - members;
    return { last: held[at] ?? 0, beyond: held[at - 1] ?? 0 };
  }

  /** What every member holds durably and knows, or may know, as committed. */
  releasable(): number {
    const { durability, commit } = this.#state;
    let least = Math.min(durability.index, commit);
    for (const { match } of this.#followers) least = Math.min(least, match);
    return least;
  }

  /** Followers that answered in this term since a tick of this leadership. */
  answeredSince(tick: number): number {
    return this.#followers.filter(({ answeredAt }) => answeredAt > tick).length;
  }

  /** The follower with the longest matching log among those heard; ties by order of members. */
  mostCaughtUp(): Member | null {
    let best: Progress | null = null;
    for (const progress of this.#followers) {
      if (!this.#state.hears(progress.member)) continue;
      if (best === null || progress.match > best.match) best = progress;
    }
    return best?.member ?? null;
  }

  appendReplied(reply: AppendReply): void {
    const progress = this.progress(reply.from)!;
    const { log } = this.#state;
    if (reply.accepted) {
      // Beyond our last only a cluster that lost a majority's journals has committed anything.
      if (reply.index <= log.lastIndex) progress.accepted(reply.index);
      return;
    }
    // Both sides step over a whole term at a time: the follower named its last entry of a term not
    // above ours at the refused index, here is our last entry of a term not above that one.
    const matching = log.lastAtMost(reply.hintIndex, reply.hintTerm);
    progress.rejected(reply.index, Math.min(reply.index, matching + 1));
  }

  /** A follower lives: what it lacks although all was sent may have been lost on its way. */
  heartbeatReplied(from: Member): void {
    const progress = this.progress(from)!;
    progress.paused = false;
    progress.checkDue = progress.match < this.#state.log.lastIndex;
  }

  /** Whether send() has anything to say. */
  get isDue(): boolean {
    if (this.heartbeatDue) return true;
    for (const progress of this.#followers) if (this.#isOwed(progress)) return true;
    return false;
  }

  /** All that goes out to followers now: appends as windows allow, heartbeats that are due. */
  send(): void {
    for (const progress of this.#followers) {
      this.#sendAppends(progress);
      if (this.heartbeatDue || this.#owesCommit(progress)) this.#sendHeartbeat(progress);
    }
    this.heartbeatDue = false;
  }

  /** What each member holds durably, rising. */
  #holdings(): Float64Array {
    const held = this.#held;
    let size = insert(held, 0, this.#state.durability.index);
    for (const { match } of this.#followers) size = insert(held, size, match);
    return held;
  }

  #isOwed(progress: Progress): boolean {
    return progress.checkDue || this.#maySend(progress) || this.#owesCommit(progress);
  }

  #maySend(progress: Progress): boolean {
    if (progress.probing) return !progress.paused;
    const { inflightAppendsMax, inflightBytesMax } = this.#state.limits;
    const more = progress.next <= this.#state.log.lastIndex;
    return more && progress.hasRoom(inflightAppendsMax, inflightBytesMax);
  }

  /** With nothing more to append, nothing else would carry the commit before the next heartbeat. */
  #owesCommit({ match, toldCommit }: Progress): boolean {
    const { log, commit } = this.#state;
    return match === log.lastIndex && toldCommit < commit;
  }

  #sendAppends(progress: Progress): void {
    const checks = progress.checkDue && !this.#maySend(progress);
    progress.checkDue = false;
    while (this.#maySend(progress)) {
      const message = this.#append(progress, true);
      this.#state.outbox.sendNow(message);
      if (progress.probing) progress.paused = true;
      else progress.sent(progress.next + message.entries.length - 1, bytesOf(message));
    }
    // An append of nothing behind all that was sent: refused if something of it was lost.
    if (checks) this.#state.outbox.sendNow(this.#append(progress, false));
  }

  #append(progress: Progress, full: boolean): AppendRequest {
    const { log, limits, commit } = this.#state;
    const prevIndex = progress.next - 1;
    const prevTerm = log.termAt(prevIndex);
    invariant(prevTerm !== undefined, `entry ${prevIndex} was not released`);
    this.#told(progress);
    return {
      type: 'append',
      from: this.#state.member,
      to: progress.member,
      term: this.#term,
      prevIndex,
      prevTerm,
      commit,
      released: this.releasable(),
      entries: full ? log.slice(progress.next, limits.appendBytesMax) : [],
    };
  }

  #sendHeartbeat(progress: Progress): void {
    this.#told(progress);
    this.#state.outbox.sendNow({
      type: 'heartbeat',
      from: this.#state.member,
      to: progress.member,
      term: this.#term,
      commit: Math.min(this.#state.commit, progress.match),
      released: this.releasable(),
    });
  }

  #told(progress: Progress): void {
    const actionable = Math.min(this.#state.commit, progress.match);
    if (actionable > progress.toldCommit) progress.toldCommit = actionable;
  }
}

/** Puts a value among the first `size`, which rise; returns how many rise now. */
function insert(rising: Float64Array, size: number, value: number): number {
  let at = size;
  for (; at > 0 && rising[at - 1]! > value; at--) rising[at] = rising[at - 1]!;
  rising[at] = value;
  return size + 1;
}

function bytesOf({ entries }: AppendRequest): number {
  let bytes = 0;
  for (const entry of entries) bytes += entry.bytes.length;
  return bytes;
}
