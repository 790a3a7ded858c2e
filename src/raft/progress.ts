/**
 * What a leader knows of one follower: how far its log matches, what to send next, what is under
 * way. While the match is not known the leader probes with one append at a time; then it replicates
 * with a window.
 */
import type { Member } from '../base/member.js';

interface Flight {
  readonly lastIndex: number;
  readonly bytes: number;
}

export class Progress {
  readonly member: Member;
  match = 0;
  next: number;
  probing = true;
  /** Probing: an append is under way and unanswered since the last heartbeat reply. */
  paused = false;
  /** A heartbeat was answered by a follower that is behind: ask where it stands. */
  checkDue = false;
  /** The highest commit that this follower was told and that it can act on. */
  toldCommit = 0;
  /** The tick of this leadership at which it last answered in this term. */
  answeredAt = 0;
  #flights: Flight[] = [];
  #bytes = 0;

  constructor(member: Member, next: number) {
    this.member = member;
    this.next = next;
  }

  /** The bound in bytes may be passed by the append that reaches it. */
  hasRoom(appendsMax: number, bytesMax: number): boolean {
    return this.#flights.length < appendsMax && this.#bytes < bytesMax;
  }

  /** An append that ends at `lastIndex` went out. */
  sent(lastIndex: number, bytes: number): void {
    this.next = lastIndex + 1;
    this.#flights.push({ lastIndex, bytes });
    this.#bytes += bytes;
  }

  /**
   * The follower holds everything up to `index`. A late reply tells nothing and changes nothing.
   */
  accepted(index: number): void {
    if (index < this.match) return;
    this.match = index;
    this.paused = false;
    if (this.probing) {
      this.#restartFrom(index + 1);
      this.probing = false;
      return;
    }
    if (this.next <= index) this.next = index + 1;
    while (this.#flights.length > 0 && this.#flights[0]!.lastIndex <= index) {
      this.#bytes -= this.#flights.shift()!.bytes;
    }
  }

  /**
   * The follower's log does not match at `refused`; it may match just before `next`. A refusal of
   * anything but the probe under way, or of what is known to match, is a late one.
   */
  rejected(refused: number, next: number): void {
    const late = this.probing ? refused !== this.next - 1 : refused <= this.match;
    if (late) return;
    this.probing = true;
    this.paused = false;
    this.#restartFrom(Math.max(this.match + 1, next));
  }

  #restartFrom(next: number): void {
    this.next = next;
    this.#flights = [];
    this.#bytes = 0;
  }
}
