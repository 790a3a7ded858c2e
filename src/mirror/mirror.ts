/**
 * The mirror of one member, alive only while that member leads: it opens a consumer at the origin,
 * judges what is delivered against its cursor, skips gaps, proposes, and undoes what was refused.
 * The rules are those of docs/mirror.md; upstream: nats-server stream.go, setupMirrorConsumer,
 * processInboundMirrorMsg and skipMsgs as of pull request 8152.
 */
import { LockstepError, toErrorData, type ErrorCode, type ErrorData } from '../base/errors.js';
import {
  BATCH_BYTES_MAX,
  BATCH_COUNT_MAX,
  ORIGIN_WINDOW_BYTES,
  RECORD_BYTES_MAX,
} from '../base/limits.js';
import type { Member } from '../base/member.js';
import type { Prng } from '../base/prng.js';
import {
  identitySize,
  RANGE_BYTES,
  validateMessages,
  viewOf,
  writeIdentity,
  writeReset,
} from '../stream/layout.js';
import { answerFault } from './answer.js';
import { Intake, type MessageRun } from './intake.js';
import { Lag } from './lag.js';
import { Pacing } from './pacing.js';
import { SkipJob } from './skip-job.js';
import type {
  MirrorCause,
  MirrorCondition,
  MirrorCursor,
  MirrorEvent,
  MirrorStatus,
  Opening,
  OriginCommand,
  OriginFrame,
  OriginIdentity,
  SkipEncoding,
} from './types.js';

/** Why a proposal was refused. `mismatch` comes from the direct path only. */
export type ProposalRefusal =
  'notLeader' | 'staleTerm' | 'transferring' | 'overrun' | 'writeFailed' | 'mismatch';

export type ProposalResult =
  { readonly accepted: true } | { readonly accepted: false; readonly code: ProposalRefusal };

export interface ProposalBatch {
  readonly count: number;
  readonly bytes: Uint8Array;
}

/** What a mirror is surrounded by. The store's readings are of applied state, never of accepted. */
export interface MirrorPorts {
  /** All or nothing; accepted means queued, nothing more. */
  propose(term: number, batch: ProposalBatch): ProposalResult;
  /** Bytes that a proposal may have now; to wait for room is no refusal. */
  room(): number;
  storeLast(): number;
  storeMessages(): number;
  storeIdentity(): OriginIdentity | null;
  /** Zeroed bytes, 8-byte aligned, never handed out again. */
  allocate(size: number): Uint8Array;
}

export interface MirrorOptions {
  readonly member: Member;
  readonly ports: MirrorPorts;
  readonly prng: Prng;
  readonly skip: SkipEncoding | 'direct';
  /** Scales every constant of upstream; 1 is upstream's. */
  readonly timeScale: number;
  readonly recordBytesMax?: number;
  readonly batchCountMax?: number;
  readonly batchBytesMax?: number;
}

type ProposeWhat = Extract<MirrorEvent, { kind: 'propose' }>['what'];

/** What is proposed, and what its events say of it. */
interface Proposal extends ProposalBatch {
  readonly what: ProposeWhat;
  readonly first: number;
  readonly last: number;
}

/** Failures to set up wait with backoff; all others only for the gate. */
const SETUP_CAUSES: ReadonlySet<MirrorCause> = new Set([
  'createRefused',
  'createTimeout',
  'malformedAnswer',
  'setupSkipRefused',
  'identityRefused',
]);

const NO_CURSOR: MirrorCursor = { seq: 0, deliverySeq: 0 };

export class Mirror {
  readonly #member: Member;
  readonly #ports: MirrorPorts;
  readonly #pacing: Pacing;
  readonly #skipEncoding: SkipEncoding | 'direct';
  readonly #recordBytesMax: number;
  readonly #batchCountMax: number;
  readonly #batchBytesMax: number;

  #configured = false;
  #term: number | null = null;
  #generation = 0;
  #condition: MirrorCondition = 'running';
  #error: ErrorData | null = null;

  #opening: Opening | null = null;
  #answered = false;
  /** Ticks since a frame of the opening came, or since it was requested. */
  #silentTicks = 0;
  readonly #intake = new Intake();
  #cursor = NO_CURSOR;
  readonly #lag = new Lag();
  /** A skip under way: the cursor stands before it until its message is accepted too. */
  #skip: SkipJob | null = null;
  #skipsAccepted = 0;
  #storesMessages = false;
  #credit = 0;
  #credited = 0;

  #commands: OriginCommand[] = [];
  #events: MirrorEvent[] = [];

  constructor(options: MirrorOptions) {
    this.#member = options.member;
    this.#ports = options.ports;
    this.#pacing = new Pacing(options.timeScale, options.prng);
    this.#skipEncoding = options.skip;
    this.#recordBytesMax = options.recordBytesMax ?? RECORD_BYTES_MAX;
    this.#batchCountMax = options.batchCountMax ?? BATCH_COUNT_MAX;
    this.#batchBytesMax = options.batchBytesMax ?? BATCH_BYTES_MAX;
  }

  /** Skip commands accepted, on top of what the store had passed over when this leadership began. */
  get skipsAccepted(): number {
    return this.#skipsAccepted;
  }

  /**
   * This member leads and has applied its own noop (rule 8). `skipped`: sequences that its store has
   * passed over so far.
   */
  lead(term: number, skipped: number): void {
    this.stopLeading('notLeading');
    this.#term = term;
    this.#skipsAccepted = skipped;
    this.#storesMessages = this.#ports.storeMessages() > 0;
    this.#start('leading');
  }

  /** Closes and schedules nothing: the next leader opens. Idempotent. */
  stopLeading(cause: 'notLeading'): void {
    if (this.#term === null) return;
    this.#close(cause);
    this.#pacing.cancel();
    this.#term = null;
  }

  /** A transfer came to nothing: this member goes on leading, so it opens again. */
  transferAbandoned(): void {
    if (this.#isIdle()) this.#retry('transferAbandoned');
  }

  /** Sets or removes the configuration, at any instant (rule 7). Idempotent. */
  configure(configured: boolean): void {
    if (configured === this.#configured) return;
    this.#configured = configured;
    if (configured) {
      if (this.#term !== null) this.#start('leading');
      return;
    }
    this.#close('unconfigured');
    this.#pacing.cancel();
  }

  /** Takes a frame in. What belongs to another opening is nothing to us (rule 7). */
  frame(frame: OriginFrame): void {
    if (this.#opening === null || !sameOpening(frame.opening, this.#opening)) return;
    this.#silentTicks = 0;
    if (frame.type === 'deliver') {
      try {
        validateMessages(frame.bytes, frame.count);
      } catch (error) {
        this.#rollback('malformedAnswer', toErrorData(error), this.#cursor);
        return;
      }
      if (this.#intake.bytes + frame.bytes.length > 2 * ORIGIN_WINDOW_BYTES) {
        this.#rollback('lostDelivery', errorOf('overrun', 'window overrun'), this.#cursor);
        return;
      }
    }
    this.#intake.push(frame);
  }

  /** One unit of work: at most one batch is proposed. False: nothing to do for now. */
  advance(): boolean {
    if (this.#opening === null || this.#condition !== 'running') return false;
    if (this.#skip !== null && !this.#skip.done) return this.#skipOn(this.#skip);
    const reached = this.#reached();
    const head = this.#intake.head(reached);
    switch (head.kind) {
      case 'none':
        return false;
      case 'frame':
        this.#intake.drop();
        this.#control(head.frame);
        return true;
      case 'stale':
        this.#dropStale(head.deliverySeq);
        return true;
      case 'next':
        return this.#acceptNext(head.seq, head.size);
      case 'gap':
        this.#skip = this.#skipJob(reached.seq + 1, head.seq - 1, false);
        return true;
      case 'lost':
        this.#reopenLost(head.deliverySeq);
        return false;
    }
  }

  /**
   * An entry was applied to this member's store. A command that lay beyond its place was not
   * applied: deliveries are asked for again at once, from the store's last (rule 6).
   */
  applied(outcome: { readonly mismatched: number }): void {
    this.#lag.applied(this.#ports.storeLast());
    if (outcome.mismatched === 0 || this.#opening === null) return;
    this.#rollback('mismatch', errorOf('mismatch', 'an applied command was out of place'), {
      seq: Math.max(this.#cursor.seq, 0),
      deliverySeq: this.#cursor.deliverySeq,
    });
  }

  tick(): void {
    if (this.#pacing.tick() && this.#mayOpen()) this.#open();
    if (this.#opening === null) return;
    this.#silentTicks++;
    const { silence, createWait } = this.#pacing.ticks;
    if (!this.#answered && this.#silentTicks >= createWait) {
      this.#rollback('createTimeout', errorOf('timeout', 'no answer to the opening'), this.#cursor);
    } else if (this.#answered && this.#silentTicks >= silence && this.#intake.isEmpty) {
      this.#rollback('silence', errorOf('timeout', 'no frame of the opening'), this.#cursor);
    }
  }

  hasReady(): boolean {
    return this.#commands.length > 0 || this.#events.length > 0 || this.#credit > this.#credited;
  }

  ready(): { originCommands: OriginCommand[]; events: MirrorEvent[] } {
    if (this.#opening !== null && this.#credit > this.#credited) {
      this.#credited = this.#credit;
      this.#commands.push({
        type: 'credit',
        opening: this.#opening,
        deliverySeq: this.#credit,
      });
    }
    const originCommands = this.#commands;
    const events = this.#events;
    this.#commands = [];
    this.#events = [];
    return { originCommands, events };
  }

  status(): MirrorStatus {
    return {
      condition: this.#condition,
      lag: this.#lag.value,
      error: this.#error,
      attempts: this.#pacing.attempts,
      opening: this.#opening,
      cursor: this.#cursor,
      silentTicks: this.#silentTicks,
    };
  }

  // Opening and closing.

  #mayOpen(): boolean {
    return this.#configured && this.#term !== null && this.#condition === 'running';
  }

  #isIdle(): boolean {
    return this.#mayOpen() && this.#opening === null;
  }

  #start(cause: MirrorCause): void {
    this.#condition = 'running';
    this.#pacing.attempts = 0;
    this.#error = null;
    if (this.#mayOpen()) this.#retry(cause);
  }

  #open(): void {
    this.#close('silence');
    const startSeq = this.#ports.storeLast() + 1;
    const opening = {
      member: this.#member,
      term: this.#term!,
      generation: ++this.#generation,
    };
    this.#opening = opening;
    this.#answered = false;
    this.#silentTicks = 0;
    this.#cursor = { seq: startSeq - 1, deliverySeq: 0 };
    this.#pacing.requested();
    this.#commands.push({ type: 'open', opening, startSeq });
    this.#events.push({
      kind: 'opening',
      state: 'requested',
      opening,
      startSeq,
    });
  }

  #close(cause: MirrorCause): void {
    const opening = this.#opening;
    this.#intake.clear();
    this.#skip = null;
    this.#credit = 0;
    this.#credited = 0;
    if (opening === null) return;
    this.#opening = null;
    const startSeq = this.#cursor.seq + 1;
    this.#commands.push({ type: 'close', opening });
    this.#events.push({
      kind: 'opening',
      state: 'closed',
      opening,
      startSeq,
      cause,
    });
  }

  /** Plans the next request. */
  #retry(cause: MirrorCause): void {
    const { attempts } = this.#pacing;
    const inTicks = this.#pacing.schedule();
    this.#events.push({ kind: 'retry', cause, attempt: attempts, inTicks });
  }

  #stop(condition: 'blocked' | 'diverged', reason: string): void {
    this.#condition = condition;
    this.#error = errorOf(condition === 'blocked' ? 'tooLarge' : 'mismatch', reason);
    this.#close(condition);
    this.#pacing.cancel();
    this.#events.push({ kind: 'condition', condition, reason });
  }

  // What the origin says.

  #control(frame: Exclude<OriginFrame, { type: 'deliver' }>): void {
    switch (frame.type) {
      case 'opened':
        if (!this.#answered) this.#setUp(frame);
        return;
      case 'refused':
        if (!this.#answered) this.#rollback('createRefused', frame.error, this.#cursor);
        return;
      case 'heartbeat':
        if (frame.lastDeliverySeq > this.#cursor.deliverySeq)
          this.#reopenLost(frame.lastDeliverySeq);
    }
  }

  /** The answer to an opening: identity, then what lies between our last and its first. */
  #setUp(answer: Extract<OriginFrame, { type: 'opened' }>): void {
    const fault = answerFault(answer, this.#cursor.seq + 1);
    if (fault !== null) {
      this.#rollback('malformedAnswer', errorOf('badRecord', fault), this.#cursor);
      return;
    }
    const last = this.#ports.storeLast();
    const identity = this.#ports.storeIdentity();
    if (identity !== null && !sameIdentity(identity, answer.identity)) {
      this.#stop('diverged', `the origin is another stream than the one that was copied`);
      return;
    }
    if (answer.last < last) {
      this.#stop('diverged', `the origin ends at ${answer.last}, the mirror at ${last}`);
      return;
    }
    this.#answered = true;
    this.#cursor = { seq: last, deliverySeq: 0 };
    this.#lag.opened(answer.pending);
    this.#events.push({
      kind: 'opening',
      state: 'opened',
      opening: this.#opening!,
      startSeq: answer.startsAfter + 1,
    });
    if (identity === null && !this.#proposeIdentity(answer.identity)) return;
    if (answer.startsAfter > last) this.#startAfter(answer.startsAfter);
    else this.#pacing.attempts = 0;
  }

  #proposeIdentity(identity: OriginIdentity): boolean {
    const name = new TextEncoder().encode(identity.name);
    const bytes = this.#ports.allocate(identitySize(name));
    const { seq } = this.#cursor;
    writeIdentity(bytes, viewOf(bytes), 0, {
      expected: seq,
      name,
      created: identity.created,
    });
    return this.#propose(
      { what: 'identity', bytes, count: 1, first: seq, last: seq },
      'identityRefused',
    );
  }

  /** The set-up skip. An empty mirror jumps instead: a start at 1e9 costs one command. */
  #startAfter(startsAfter: number): void {
    const { seq } = this.#cursor;
    if (this.#storesMessages) {
      this.#skip = this.#skipJob(seq + 1, startsAfter, true);
      return;
    }
    const bytes = this.#ports.allocate(RANGE_BYTES);
    writeReset(viewOf(bytes), 0, seq, startsAfter + 1);
    const reset = {
      what: 'reset',
      bytes,
      count: 1,
      first: seq + 1,
      last: startsAfter,
    } as const;
    if (!this.#propose(reset, 'setupSkipRefused')) return;
    this.#cursor = { seq: startsAfter, deliverySeq: 0 };
    this.#pacing.attempts = 0;
  }

  // Taking deliveries in.

  /** The cursor, or where a finished skip took us that still waits for its message. */
  #reached(): MirrorCursor {
    if (this.#skip === null) return this.#cursor;
    return { seq: this.#skip.end, deliverySeq: this.#cursor.deliverySeq };
  }

  #dropStale(deliverySeq: number): void {
    this.#intake.drop();
    this.#credit = Math.max(this.#credit, deliverySeq);
    if (deliverySeq === this.#cursor.deliverySeq + 1) {
      this.#cursor = { seq: this.#cursor.seq, deliverySeq };
    }
  }

  #acceptNext(seq: number, size: number): boolean {
    if (size > this.#recordBytesMax) {
      this.#stop('blocked', `message ${seq} takes ${size} bytes, more than a mirror can store`);
      return false;
    }
    const room = this.#ports.room();
    const run = this.#intake.run(this.#reached(), {
      count: this.#batchCountMax,
      bytes: Math.min(this.#batchBytesMax, room),
      recordBytes: this.#recordBytesMax,
    });
    if (run === null) return false;
    return this.#proposeRun(run);
  }

  #proposeRun(run: MessageRun): boolean {
    const { bytes, count, first, last } = run;
    if (!this.#propose({ what: 'messages', bytes, count, first, last }, 'messageRefused')) {
      return false;
    }
    this.#intake.consume(run);
    this.#skip = null;
    this.#storesMessages = true;
    this.#cursor = { seq: last, deliverySeq: run.deliverySeq };
    this.#credit = Math.max(this.#credit, run.deliverySeq);
    this.#lag.accepted(last, run.deliverySeq, run.known);
    return true;
  }

  #reopenLost(deliverySeq: number): void {
    const text = `delivery ${deliverySeq} came behind ${this.#cursor.deliverySeq}`;
    this.#rollback('lostDelivery', errorOf('mismatch', text), this.#cursor);
  }

  // Skipping.

  #skipJob(first: number, last: number, setUp: boolean): SkipJob {
    const encoding = this.#skipEncoding;
    const batchCountMax = this.#batchCountMax;
    return new SkipJob({ first, last }, { encoding, batchCountMax, setUp });
  }

  /** One batch of the skip, if the uncommitted window has room for it. */
  #skipOn(skip: SkipJob): boolean {
    if (skip.bytesNeeded > this.#ports.room()) return false;
    const batch = skip.batch((size) => this.#ports.allocate(size));
    const what = this.#skipEncoding === 'entries' ? 'skips' : 'range';
    const cause = skip.setUp ? 'setupSkipRefused' : 'skipRefused';
    if (!this.#propose({ what, ...batch }, cause)) return false;
    skip.accepted(batch);
    if (what === 'skips') this.#skipsAccepted += batch.count;
    if (skip.setUp && skip.done) {
      this.#cursor = { seq: skip.end, deliverySeq: 0 };
      this.#skip = null;
      this.#pacing.attempts = 0;
    }
    return true;
  }

  // Proposing and undoing.

  /** False: it was refused, everything was put back, the opening is closed (rule 4). */
  #propose(proposal: Proposal, cause: MirrorCause): boolean {
    const { what, count, bytes, first, last } = proposal;
    const term = this.#term!;
    const result = this.#ports.propose(term, { count, bytes });
    const refused = result.accepted
      ? null
      : errorOf(result.code, `${what} ${first}..${last} refused: ${result.code}`);
    this.#events.push({
      kind: 'propose',
      what,
      term,
      first,
      last,
      count,
      refused,
    });
    if (refused === null) return true;
    if (refused.code === 'mismatch') this.#mismatchOnDirectPath(refused, last);
    else this.#rollback(cause, refused, this.#cursor);
    return false;
  }

  /** Rule 6: what the store already holds moves the cursor to the store's last. */
  #mismatchOnDirectPath(error: ErrorData, seq: number): void {
    const last = this.#ports.storeLast();
    const to = seq <= last ? { ...this.#cursor, seq: last } : this.#cursor;
    this.#rollback('mismatch', error, to);
  }

  /** Cursor, delivery number and lag go back; the opening closes; a retry is planned or left. */
  #rollback(cause: MirrorCause, error: ErrorData, to: MirrorCursor): void {
    const skip = this.#skip;
    const from = skip === null ? this.#cursor : { ...this.#cursor, seq: skip.passed };
    this.#error = error;
    this.#cursor = to;
    this.#events.push({
      kind: 'rollback',
      cause,
      from,
      to,
      lag: this.#lag.value,
    });
    this.#close(cause);
    if (error.code === 'notLeader' || error.code === 'staleTerm' || error.code === 'transferring') {
      this.#pacing.cancel();
      const { attempts } = this.#pacing;
      this.#events.push({
        kind: 'retry',
        cause,
        attempt: attempts,
        inTicks: null,
      });
      return;
    }
    if (SETUP_CAUSES.has(cause)) this.#pacing.attempts++;
    this.#retry(cause);
  }
}

function errorOf(code: ErrorCode, message: string): ErrorData {
  return toErrorData(new LockstepError(code, message));
}

function sameOpening(a: Opening, b: Opening): boolean {
  return a.member === b.member && a.term === b.term && a.generation === b.generation;
}

function sameIdentity(a: OriginIdentity, b: OriginIdentity): boolean {
  return a.name === b.name && a.created === b.created;
}
