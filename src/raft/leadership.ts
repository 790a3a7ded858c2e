/**
 * What a member keeps only while it leads: the progress of its followers, the quorum check, a
 * transfer under way. Made anew for each term led, so nothing of an earlier one can be left over.
 */
import type { Member } from '../base/member.js';
import type { Log } from './log.js';
import { Progress } from './progress.js';
import type { AppendReply, Message } from './types.js';

export interface LeadershipLimits {
  readonly inflightAppendsMax: number;
  readonly inflightBytesMax: number;
  readonly appendBytesMax: number;
}

/** A transfer (dissertation, section 3.10): no proposals until it ends. */
interface Transfer {
  readonly to: Member;
  ticks: number;
  sent: boolean;
}

/** What the leader's messages say of it. */
export interface Standing {
  readonly commit: number;
  readonly durable: number;
}

export class Leadership {
  readonly term: number;
  readonly #self: Member;
  readonly #followers: readonly Progress[];
  readonly #log: Log;
  readonly #limits: LeadershipLimits;
  transfer: Transfer | null = null;
  heartbeatDue = false;
  heartbeatTicks = 0;
  quorumTicks = 0;

  constructor(
    self: Member,
    term: number,
    followers: readonly Member[],
    log: Log,
    limits: LeadershipLimits,
  ) {
    this.#self = self;
    this.term = term;
    this.#log = log;
    this.#limits = limits;
    this.#followers = followers.map((member) => new Progress(member, log.lastIndex + 1));
  }

  progress(member: Member): Progress | undefined {
    return this.#followers.find((progress) => progress.member === member);
  }

  /** The highest index that a majority holds durably, this member's own durable log included. */
  quorumIndex(durable: number): number {
    const held = [durable, ...this.#followers.map((progress) => progress.match)];
    held.sort((a, b) => b - a);
    return held[Math.floor(held.length / 2)]!;
  }

  /** What every member holds durably: nobody will ever ask for it again. */
  releasable(durable: number): number {
    return this.#followers.reduce((least, { match }) => Math.min(least, match), durable);
  }

  /** The follower with the longest matching log among those heard; ties by order of members. */
  mostCaughtUp(heard: (member: Member) => boolean): Member | null {
    let best: Progress | null = null;
    for (const progress of this.#followers) {
      if (heard(progress.member) && (best === null || progress.match > best.match)) best = progress;
    }
    return best?.member ?? null;
  }

  appendReplied(reply: AppendReply): void {
    const progress = this.progress(reply.from);
    if (progress === undefined) return;
    if (reply.accepted) {
      if (reply.index <= this.#log.lastIndex) progress.accepted(reply.index);
      return;
    }
    const stale = progress.probing
      ? reply.index !== progress.next - 1
      : reply.index <= progress.match;
    if (stale) return;
    const matching = this.#log.lastAtMost(reply.hintIndex, reply.hintTerm);
    progress.rejected(Math.min(reply.index, matching + 1));
  }

  /** Heard from a follower: what it lacks although all was sent may have been lost on its way. */
  heartbeatReplied(from: Member): void {
    const progress = this.progress(from);
    if (progress === undefined) return;
    progress.paused = false;
    progress.checkDue = progress.match < this.#log.lastIndex;
  }

  /** True when the target holds the whole log and was not told yet. */
  transferIsDue(): boolean {
    const { transfer } = this;
    if (transfer === null || transfer.sent) return false;
    return this.progress(transfer.to)!.match === this.#log.lastIndex;
  }

  /** All that goes out to followers now: appends as windows allow, heartbeats that are due. */
  messages(standing: Standing): Message[] {
    const messages: Message[] = [];
    for (const progress of this.#followers) {
      this.#appends(progress, standing, messages);
      this.#heartbeat(progress, standing, messages);
    }
    this.heartbeatDue = false;
    return messages;
  }

  /** Whether messages() has anything to say. */
  hasMessages(commit: number): boolean {
    return (
      this.heartbeatDue ||
      this.#followers.some(
        (progress) =>
          this.#maySend(progress) || progress.checkDue || this.#owesCommit(progress, commit),
      )
    );
  }

  #maySend(progress: Progress): boolean {
    if (progress.probing) return !progress.paused && progress.next <= this.#log.lastIndex + 1;
    const { inflightAppendsMax, inflightBytesMax } = this.#limits;
    return (
      progress.next <= this.#log.lastIndex && progress.hasRoom(inflightAppendsMax, inflightBytesMax)
    );
  }

  /** With nothing more to append, nothing else would carry the commit before the next heartbeat. */
  #owesCommit(progress: Progress, commit: number): boolean {
    return progress.match === this.#log.lastIndex && progress.toldCommit < commit;
  }

  #appends(progress: Progress, standing: Standing, messages: Message[]): void {
    let sent = false;
    while (this.#maySend(progress)) {
      messages.push(this.#append(progress, standing, true));
      sent = true;
    }
    if (progress.checkDue && !sent) messages.push(this.#append(progress, standing, false));
    progress.checkDue = false;
  }

  #append(progress: Progress, standing: Standing, withEntries: boolean): Message {
    const prevIndex = progress.next - 1;
    const entries = withEntries ? this.#log.slice(progress.next, this.#limits.appendBytesMax) : [];
    const lastIndex = prevIndex + entries.length;
    if (progress.probing) progress.paused = true;
    else if (entries.length > 0) {
      progress.sent(
        lastIndex,
        entries.reduce((bytes, entry) => bytes + entry.bytes.length, 0),
      );
    }
    progress.toldCommit = Math.max(progress.toldCommit, Math.min(standing.commit, progress.match));
    return {
      type: 'append',
      from: this.#self,
      to: progress.member,
      term: this.term,
      prevIndex,
      prevTerm: this.#log.termAt(prevIndex)!,
      commit: standing.commit,
      released: this.#released(standing),
      entries,
    };
  }

  #heartbeat(progress: Progress, standing: Standing, messages: Message[]): void {
    if (!this.heartbeatDue && !this.#owesCommit(progress, standing.commit)) return;
    const commit = Math.min(standing.commit, progress.match);
    progress.toldCommit = Math.max(progress.toldCommit, commit);
    messages.push({
      type: 'heartbeat',
      from: this.#self,
      to: progress.member,
      term: this.term,
      commit,
      released: this.#released(standing),
    });
  }

  #released({ commit, durable }: Standing): number {
    return Math.min(commit, this.releasable(durable));
  }
}
