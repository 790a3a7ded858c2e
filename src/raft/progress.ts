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
  /** Probing: an append is under way and unanswered since the last heartbeat. */
  paused = false;
  /** A heartbeat was answered by a follower that is behind: ask where it stands. */
  checkDue = false;
  /** The highest commit that this follower was told and that it can act on. */
  toldCommit = 0;
  #flights: Flight[] = [];
  #bytes = 0;

  constructor(member: Member, next: number) {
    this.member = member;
    this.next = next;
  }

  hasRoom(appendsMax: number, bytesMax: number): boolean {
    return this.#flights.length < appendsMax && (this.#bytes < bytesMax || this.#bytes === 0);
  }

  /** An append that ends at `lastIndex` went out. */
  sent(lastIndex: number, bytes: number): void {
    this.next = lastIndex + 1;
    this.#flights.push({ lastIndex, bytes });
    this.#bytes += bytes;
  }

  /** The follower holds everything up to `index`; a reordered reply never moves it back. */
  accepted(index: number): void {
    if (index > this.match) this.match = index;
    if (this.next <= this.match) this.next = this.match + 1;
    while (this.#flights.length > 0 && this.#flights[0]!.lastIndex <= this.match) {
      this.#bytes -= this.#flights.shift()!.bytes;
    }
    this.paused = false;
    if (this.probing && this.match > 0) this.#replicate();
  }

  /** The log does not match at `next - 1`: try again from `next`. */
  rejected(next: number): void {
    this.probing = true;
    this.paused = false;
    this.next = Math.max(this.match + 1, next);
    this.#flights = [];
    this.#bytes = 0;
  }

  #replicate(): void {
    this.probing = false;
    this.next = this.match + 1;
    this.#flights = [];
    this.#bytes = 0;
  }
}
