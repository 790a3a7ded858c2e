/**
 * The mirror of one member, at work only while that member leads: it asks the origin for an
 * opening, lets it run, and decides what follows when it ends: one at once, one later, or none. The
 * rules are numbered in docs/mirror.md; upstream: nats-server stream.go, setupMirrorConsumer,
 * processInboundMirrorMsg and skipMsgs as of pull request 8152.
 *
 * A host calls lead() once the member's own noop is applied, then frame(), applied() and tick() as
 * things happen, advance() for each unit of work, and carries out what ready() says.
 */
import { invariant, type ErrorData } from '../base/errors.js';
import { BATCH_BYTES_MAX, BATCH_COUNT_MAX, RECORD_BYTES_MAX } from '../base/limits.js';
import type { Member } from '../base/member.js';
import type { Prng } from '../base/prng.js';
import { SKIP_BYTES } from '../stream/layout.js';
import { Lag } from './lag.js';
import { Leadership } from './leadership.js';
import { LiveOpening, type Ending } from './opening.js';
import { Outbox, type MirrorReady } from './outbox.js';
import { mirrorTicks, Pacing, type MirrorTicks } from './pacing.js';
import type { MirrorPorts } from './ports.js';
import type {
  MirrorCause,
  MirrorCondition,
  MirrorCursor,
  MirrorStatus,
  Opening,
  OpeningPhase,
  OriginFrame,
  SkipEncoding,
} from './types.js';

export interface MirrorOptions {
  readonly member: Member;
  readonly ports: MirrorPorts;
  readonly prng: Prng;
  /** `direct`: one replica without raft. */
  readonly skip: SkipEncoding | 'direct';
  /** Scales every constant of upstream; 1 is upstream's. */
  readonly timeScale: number;
  /** Milliseconds that one tick() stands for; TICK_MS by default. */
  readonly tickMs?: number;
  /** Bytes of the largest record that a store takes; RECORD_BYTES_MAX by default. */
  readonly recordBytesMax?: number | undefined;
  /** Commands in one batch; BATCH_COUNT_MAX by default. */
  readonly batchCountMax?: number | undefined;
  /** Bytes of one batch, no less than of one record; BATCH_BYTES_MAX by default. */
  readonly batchBytesMax?: number | undefined;
}

/** Failures to set up: they count, and wait with backoff. All others only wait for the gate. */
const SETUP_CAUSES: ReadonlySet<MirrorCause> = new Set([
  'createRefused',
  'createTimeout',
  'malformedAnswer',
  'setupSkipRefused',
  'identityRefused',
]);

const NO_CURSOR: MirrorCursor = { seq: 0, deliverySeq: 0 };

export class Mirror {
  readonly #options: MirrorOptions;
  readonly #ticks: MirrorTicks;
  readonly #pacing: Pacing;
  readonly #outbox = new Outbox();
  readonly #lag = new Lag();
  #configured = false;
  #leadership: Leadership | null = null;
  #live: LiveOpening | null = null;
  /** Never starts again: an opening of an earlier leadership of this member is told from ours. */
  #generation = 0;
  #condition: MirrorCondition = 'running';
  #error: ErrorData | null = null;
  /** Where the last opening left its cursor, and the last leadership its count. */
  #cursor = NO_CURSOR;
  #skipsAccepted = 0;

  constructor(options: MirrorOptions) {
    const { recordBytesMax = RECORD_BYTES_MAX, batchBytesMax = BATCH_BYTES_MAX } = options;
    invariant(recordBytesMax <= batchBytesMax, 'every record of a mirror fits its batches');
    this.#options = options;
    this.#ticks = mirrorTicks(options.timeScale, options.tickMs);
    this.#pacing = new Pacing(this.#ticks, options.prng);
  }

  /** Skip commands accepted by this leadership, counted on from what lead() was given. */
  get skipsAccepted(): number {
    return this.#leadership?.skipsAccepted ?? this.#skipsAccepted;
  }

  /** Of the live opening, or where the last one left it. */
  get cursor(): MirrorCursor {
    return this.#live?.cursor ?? this.#cursor;
  }

  get lag(): number {
    return this.#lag.value;
  }

  /**
   * This member leads `term` and has applied its own noop (rule 8).
   *
   * @param skipsBefore  sequences that its store has passed over so far
   */
  lead(term: number, skipsBefore = 0): void {
    this.stopLeading('notLeading');
    this.#leadership = new Leadership(term, skipsBefore, this.#options.ports, this.#outbox);
    this.#lag.forget();
    this.#start('leading');
  }

  /** Closes and plans nothing: the next leader opens. Idempotent. */
  stopLeading(cause: MirrorCause = 'notLeading'): void {
    this.#close(cause);
    this.#pacing.cancel();
    this.#skipsAccepted = this.skipsAccepted;
    this.#leadership = null;
  }

  /** A transfer came to nothing and this member goes on leading: it opens what that had closed. */
  transferAbandoned(): void {
    const waits = this.#live === null && !this.#pacing.isPlanned;
    if (waits && this.#mayOpen()) this.#retry('transferAbandoned');
  }

  /** Sets or removes the configuration, at any instant (rule 7). Idempotent. */
  configure(configured: boolean): void {
    if (configured === this.#configured) return;
    this.#configured = configured;
    this.#close('unconfigured');
    this.#pacing.cancel();
    if (configured) this.#start('leading');
  }

  /**
   * Takes in what the origin says of the live opening. Without the check that it is the live one:
   *   1. r1 leads term 1 and asks from sequence 6; the origin sends 6 … 10 with numbers 1 … 5;
   *   2. before they come, r1 loses and regains leadership: it leads term 2, its store ends at 8;
   *   3. r1 asks from sequence 9; the origin forgets the first consumer and makes a second;
   *   4. the first one's frames come: 9 and 10 are next, so the cursor stands at 10, number 5;
   *   5. the second one's 9 and 10, numbers 1 and 2, come after them and are dropped as stale;
   *   6. its 12, number 3, lies ahead and is not number 6: lost, where the origin has a gap. Had
   *      the numbers fitted by chance, a loss would pass as a gap, and a message be skipped.
   */
  frame(frame: OriginFrame): void {
    if (this.#live === null || !sameOpening(frame.opening, this.#live.opening)) return;
    this.#live.frame(frame);
  }

  /**
   * One unit of work: at most one batch is proposed, so that a host can look at its triggers
   * between two of a skip. False: nothing to do before a frame comes or room is made.
   */
  advance(): boolean {
    const live = this.#live;
    if (live === null) return false;
    const step = live.advance();
    if (live.isSetUp) this.#pacing.attempts = 0;
    if (step === 'more') return true;
    if (step !== 'idle') this.#end(step);
    return false;
  }

  /**
   * An entry was applied to this member's store: only now the lag moves. A command that lay beyond
   * its place was not applied, so deliveries are asked for again at once (rule 6).
   *
   * @param outcome  commands of the entry that were beyond their place
   */
  applied(outcome: { readonly mismatched: number }): void {
    this.#lag.applied(this.#options.ports.storeLast());
    if (outcome.mismatched > 0 && this.#live !== null) this.#end(this.#live.outOfPlace());
  }

  tick(): void {
    if (this.#pacing.tick()) return this.#open();
    const ending = this.#live?.tick(this.#ticks) ?? null;
    if (ending !== null) this.#end(ending);
  }

  hasReady(): boolean {
    return !this.#outbox.isEmpty || this.#live?.owesCredit === true;
  }

  /** Drains what was said since the last call; credit is given once a call. */
  ready(): MirrorReady {
    if (this.#live?.owesCredit === true) {
      const { opening } = this.#live;
      this.#outbox.command({ type: 'credit', opening, deliverySeq: this.#live.takeCredit() });
    }
    return this.#outbox.drain();
  }

  /** Null while there is no opening. */
  get phase(): OpeningPhase | null {
    return this.#live?.phase ?? null;
  }

  status(): MirrorStatus {
    return {
      condition: this.#condition,
      lag: this.lag,
      error: this.#error,
      attempts: this.#pacing.attempts,
      opening: this.#live?.opening ?? null,
      cursor: this.cursor,
      silentTicks: this.#live?.silentTicks ?? 0,
    };
  }

  // Opening and closing.

  #mayOpen(): boolean {
    return this.#configured && this.#leadership !== null && this.#condition === 'running';
  }

  /** A fresh try: what stopped the mirror before may be gone (rules 11 and 12). */
  #start(cause: 'leading'): void {
    if (this.#condition !== 'running') {
      this.#condition = 'running';
      const reason = 'led or configured anew';
      this.#outbox.event({ kind: 'condition', condition: 'running', reason });
    }
    this.#pacing.attempts = 0;
    this.#error = null;
    if (this.#mayOpen()) this.#retry(cause);
  }

  #open(): void {
    invariant(this.#mayOpen() && this.#live === null, 'one opening at a time, by a leader');
    const leadership = this.#leadership!;
    const { member } = this.#options;
    const opening = { member, term: leadership.term, generation: ++this.#generation };
    const live = this.#newOpening(opening, leadership);
    const { startSeq } = live;
    this.#live = live;
    this.#outbox.command({ type: 'open', opening, startSeq });
    this.#outbox.event({ kind: 'opening', state: 'requested', opening, startSeq });
  }

  #newOpening(opening: Opening, leadership: Leadership): LiveOpening {
    const { ports, skip } = this.#options;
    const { batchCountMax: count = BATCH_COUNT_MAX, batchBytesMax: bytes = BATCH_BYTES_MAX } =
      this.#options;
    return new LiveOpening(opening, {
      ports,
      leadership,
      lag: this.#lag,
      outbox: this.#outbox,
      skip,
      bounds: { count, bytes, recordBytes: this.#options.recordBytesMax ?? RECORD_BYTES_MAX },
      skipCountMax: Math.min(count, Math.floor(bytes / SKIP_BYTES)),
    });
  }

  #close(cause: MirrorCause, undoneTo?: MirrorCursor): void {
    const live = this.#live;
    if (live === null) return;
    const { opening } = live;
    const cursor = undoneTo ?? live.cursor;
    this.#live = null;
    this.#cursor = cursor;
    const startSeq = cursor.seq + 1;
    this.#outbox.command({ type: 'close', opening });
    this.#outbox.event({ kind: 'opening', state: 'closed', opening, startSeq, cause });
  }

  // What follows when an opening ends.

  #end({ cause, error, undone }: Ending): void {
    this.#error = error;
    if (undone !== null) {
      this.#outbox.event({ kind: 'rollback', cause, ...undone, lag: this.#lag.value });
    }
    this.#close(cause, undone?.to);
    if (cause === 'blocked' || cause === 'diverged') return this.#stop(cause, error.message);
    // The origin's own refusals may carry any code: only a proposal's says that we do not lead.
    if (undone !== null && concernsLeadership(error)) return this.#wait(cause, error);
    if (SETUP_CAUSES.has(cause)) this.#pacing.attempts++;
    this.#retry(cause);
  }

  #retry(cause: MirrorCause): void {
    const inTicks = this.#pacing.plan();
    this.#outbox.event({ kind: 'retry', cause, attempt: this.#pacing.attempts, inTicks });
  }

  /** Plans nothing: the next leader opens, or this one once its transfer is given up (rule 4). */
  #wait(cause: MirrorCause, error: ErrorData): void {
    const attempt = this.#pacing.attempts;
    this.#outbox.event({ kind: 'retry', cause, attempt, inTicks: null });
    if (error.code !== 'transferring') this.stopLeading();
  }

  #stop(condition: 'blocked' | 'diverged', reason: string): void {
    this.#condition = condition;
    this.#outbox.event({ kind: 'condition', condition, reason });
  }
}

function concernsLeadership({ code }: ErrorData): boolean {
  return code === 'notLeader' || code === 'staleTerm' || code === 'transferring';
}

function sameOpening(a: Opening, b: Opening): boolean {
  return a.generation === b.generation && a.term === b.term && a.member === b.member;
}
