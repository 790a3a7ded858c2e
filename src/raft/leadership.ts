/**
 * What a member holds only while it leads: its followers' progress, the quorum check, the bound on
 * uncommitted bytes, a transfer under way. Made anew for each term led, so that nothing of an
 * earlier one can be left over.
 */
import type { Member } from '../base/member.js';
import { Replication } from './replication.js';
import type { MemberState } from './state.js';
import type {
  AppendReply,
  Batch,
  Entry,
  HeartbeatReply,
  ProposeRefusal,
  ProposeResult,
  RaftEvent,
} from './types.js';

const NO_BYTES = new Uint8Array(0);

/** A transfer (dissertation, section 3.10): no proposals until it ends. */
interface Transfer {
  readonly to: Member;
  readonly sinceTick: number;
  sent: boolean;
}

export class Leadership {
  readonly replication: Replication;
  readonly #state: MemberState;
  #transfer: Transfer | null = null;
  #ticks = 0;
  #heartbeatAt = 0;
  #uncommittedBytes = 0;
  readonly #noopIndex: number;

  /** Begins to lead in the present term: with an entry of it, since only such ones are counted. */
  constructor(state: MemberState) {
    this.#state = state;
    this.replication = new Replication(state);
    for (let index = state.commit + 1; index <= state.log.lastIndex; index++) {
      this.#uncommittedBytes += state.log.entry(index)!.bytes.length;
    }
    this.#noopIndex = this.#append('noop', 0, NO_BYTES);
  }

  get uncommittedBytes(): number {
    return this.#uncommittedBytes;
  }

  get transferTarget(): Member | null {
    return this.#transfer?.to ?? null;
  }

  /** All or nothing; refuses with staleTerm, transferring or overrun. */
  propose(term: number, batch: Batch): ProposeResult {
    const code = this.#refusal(term, batch);
    if (code !== null) return { accepted: false, code };
    return { accepted: true, index: this.#append('batch', batch.count, batch.bytes) };
  }

  /** Bytes that propose still takes. */
  room(): number {
    return Math.max(0, this.#state.limits.uncommittedBytesMax - this.#uncommittedBytes);
  }

  tick(): void {
    const { heartbeatTicks, electionTicksMax } = this.#state.limits;
    this.#ticks++;
    if (this.#ticks - this.#heartbeatAt >= heartbeatTicks) {
      this.#heartbeatAt = this.#ticks;
      this.replication.heartbeatDue = true;
    }
    const transfer = this.#transfer;
    if (transfer === null || this.#ticks - transfer.sinceTick < electionTicksMax) return;
    this.#abandonTransfer();
  }

  /** Whether a majority answered in this term within the longest election time-out. */
  get hasQuorum(): boolean {
    const { limits, peers } = this.#state;
    if (this.#ticks < limits.electionTicksMax) return true;
    const answered = this.replication.answeredSince(this.#ticks - limits.electionTicksMax) + 1;
    return answered * 2 > peers.length + 1;
  }

  appendReplied(reply: AppendReply): void {
    this.#answered(reply.from);
    this.replication.appendReplied(reply);
    this.advanceCommit();
    this.#completeTransfer();
  }

  heartbeatReplied(reply: HeartbeatReply): void {
    this.#answered(reply.from);
    this.replication.heartbeatReplied(reply.from);
  }

  /**
   * Section 5.4.2: only an entry of the own term is committed by counting; those before it are with
   * it. An earlier one on a majority can still be replaced (figure 8).
   */
  advanceCommit(): void {
    const { log, term, commit } = this.#state;
    const index = this.replication.quorumIndex();
    if (index <= commit || log.termAt(index) !== term) return;
    for (let at = commit + 1; at <= index; at++) {
      this.#uncommittedBytes -= log.entry(at)!.bytes.length;
    }
    this.#state.commitTo(index);
  }

  /** Whether an entry behind the own no-op is durable on exactly so many members. */
  appendedOn(members: number): boolean {
    const { last, beyond } = this.replication.heldBy(members);
    return last > Math.max(beyond, this.#noopIndex);
  }

  /** A transfer to another target gives up the one under way; to the same it changes nothing. */
  transferTo(to: Member): void {
    if (this.#transfer?.to === to) return;
    if (this.#transfer !== null) this.#abandonTransfer();
    this.#transfer = { to, sinceTick: this.#ticks, sent: false };
    this.#tellTransfer('started', to);
    this.#completeTransfer();
  }

  #refusal(term: number, batch: Batch): ProposeRefusal | null {
    const { log, limits } = this.#state;
    if (term !== this.#state.term) return 'staleTerm';
    if (this.#transfer !== null) return 'transferring';
    const overrun = log.size >= limits.logEntriesMax || batch.bytes.length > this.room();
    return overrun ? 'overrun' : null;
  }

  #append(kind: Entry['kind'], count: number, bytes: Uint8Array): number {
    const { log, term } = this.#state;
    const index = log.lastIndex + 1;
    log.append({ term, index, kind, count, bytes });
    this.#uncommittedBytes += bytes.length;
    return index;
  }

  #answered(from: Member): void {
    this.replication.progress(from)!.answeredAt = this.#ticks;
  }

  /** Tells the target to campaign, once, when it holds the whole log. */
  #completeTransfer(): void {
    const transfer = this.#transfer;
    if (transfer === null || transfer.sent) return;
    const { log, member: from, term, outbox } = this.#state;
    if (this.replication.progress(transfer.to)!.match !== log.lastIndex) return;
    transfer.sent = true;
    outbox.sendNow({ type: 'timeoutNow', from, to: transfer.to, term });
    this.#tellTransfer('sent', transfer.to);
  }

  #abandonTransfer(): void {
    this.#tellTransfer('abandoned', this.#transfer!.to);
    this.#transfer = null;
  }

  #tellTransfer(step: Extract<RaftEvent, { kind: 'transfer' }>['state'], to: Member): void {
    this.#state.outbox.event({ kind: 'transfer', state: step, to });
  }
}
