/**
 * One opening from its request to its end: the origin's answer and the set-up that follows from
 * it, then deliveries judged against the cursor, gaps skipped, messages proposed. It ends by saying
 * why; what comes after is for mirror.ts. Made anew for each request, so nothing of an older one is
 * left.
 */
import { LockstepError, toErrorData, type ErrorCode, type ErrorData } from '../base/errors.js';
import { identitySize, RANGE_BYTES, viewOf, writeIdentity, writeReset } from '../stream/layout.js';
import { answerFault, type Answer } from './answer.js';
import { Intake, type RunBounds } from './intake.js';
import type { Lag } from './lag.js';
import type { Leadership } from './leadership.js';
import type { Outbox } from './outbox.js';
import type { MirrorTicks } from './pacing.js';
import type { MirrorPorts, Proposal } from './ports.js';
import { SkipJob } from './skip-job.js';
import type {
  MirrorCause,
  MirrorCursor,
  Opening,
  OpeningPhase,
  OriginFrame,
  SkipEncoding,
} from './types.js';

/** Why an opening cannot go on. */
export interface Ending {
  readonly cause: MirrorCause;
  readonly error: ErrorData;
  /** Where a refusal takes the cursor back to, and how far it had come. Null: none refused. */
  readonly undone: { readonly from: MirrorCursor; readonly to: MirrorCursor } | null;
}

/** `idle`: nothing to do until a frame comes or the uncommitted window has room again. */
export type Step = 'more' | 'idle' | Ending;

export interface OpeningSurroundings {
  readonly ports: MirrorPorts;
  readonly leadership: Leadership;
  readonly lag: Lag;
  readonly outbox: Outbox;
  readonly skip: SkipEncoding | 'direct';
  readonly bounds: RunBounds;
  /** Commands in one batch of skips. */
  readonly skipCountMax: number;
}

export class LiveOpening {
  readonly opening: Opening;
  readonly startSeq: number;
  readonly #around: OpeningSurroundings;
  readonly #intake = new Intake();
  #cursor: MirrorCursor;
  #answer: Answer | null = null;
  #identified = false;
  #isSetUp = false;
  /** A skip under way, or a done one that waits for its message: the cursor stays before it. */
  #skip: SkipJob | null = null;
  #waitedTicks = 0;
  #silentTicks = 0;
  #taken = 0;
  #credited = 0;
  #creditDue = false;

  constructor(opening: Opening, around: OpeningSurroundings) {
    const last = around.ports.storeLast();
    this.opening = opening;
    this.startSeq = last + 1;
    this.#around = around;
    this.#cursor = { seq: last, deliverySeq: 0 };
  }

  get cursor(): MirrorCursor {
    return this.#cursor;
  }

  get isSetUp(): boolean {
    return this.#isSetUp;
  }

  get phase(): OpeningPhase {
    if (this.#skip !== null && !this.#skip.done) return 'skipping';
    if (this.#isSetUp) return 'receiving';
    return this.#answer === null ? 'requested' : 'settingUp';
  }

  get silentTicks(): number {
    return this.#silentTicks;
  }

  get owesCredit(): boolean {
    return this.#taken > this.#credited || this.#creditDue;
  }

  /** The delivery number that the origin may count as taken in. */
  takeCredit(): number {
    this.#credited = this.#taken;
    this.#creditDue = false;
    return this.#taken;
  }

  frame(frame: OriginFrame): void {
    this.#silentTicks = 0;
    this.#intake.push(frame);
  }

  /** An answer has its own limit: beats of an origin that never answers do not put it off. */
  tick(ticks: MirrorTicks): Ending | null {
    this.#silentTicks++;
    if (this.#answer === null) {
      const late = ++this.#waitedTicks >= ticks.createWait;
      return late ? this.#over('createTimeout', 'timeout', 'no answer to the opening') : null;
    }
    const silent = this.#silentTicks >= ticks.silence;
    return silent ? this.#over('silence', 'timeout', 'no frame of the opening') : null;
  }

  /** At most one batch is proposed. */
  advance(): Step {
    if (this.#skip !== null && !this.#skip.done) return this.#skipOn(this.#skip);
    if (this.#isSetUp) return this.#receive();
    if (this.#answer !== null) return this.#setUp(this.#answer);
    return this.#awaitAnswer();
  }

  /** A command was applied out of its place: what is proposed behind it is, too (rule 6). */
  outOfPlace(): Ending {
    const { cause, error } = this.#over('mismatch', 'mismatch', 'a command was out of place');
    const to = { seq: this.#around.ports.storeLast(), deliverySeq: this.#cursor.deliverySeq };
    return { cause, error, undone: { from: this.#reached(), to } };
  }

  // The answer, and what must be accepted before the first delivery.

  #awaitAnswer(): Step {
    const frame = this.#intake.first;
    if (frame === undefined) return 'idle';
    this.#intake.dropFrame();
    switch (frame.type) {
      case 'opened':
        return this.#answered(frame);
      case 'refused':
        return { cause: 'createRefused', error: frame.error, undone: null };
      case 'deliver':
        return this.#over('malformedAnswer', 'badRecord', 'a delivery came before the answer');
      case 'heartbeat':
        return 'more';
    }
  }

  #answered(answer: Answer): Step {
    const { ports, leadership, outbox } = this.#around;
    const storeLast = ports.storeLast();
    const { identity } = leadership;
    const fault = answerFault(answer, { startSeq: this.startSeq, storeLast, identity });
    if (fault?.kind === 'malformed') return this.#over('malformedAnswer', 'badRecord', fault.text);
    if (fault?.kind === 'diverged') return this.#over('diverged', 'mismatch', fault.text);
    this.#answer = answer;
    this.#identified = ports.storeIdentity() !== null;
    // Batches of an earlier opening may have been applied since the request.
    this.#cursor = { seq: storeLast, deliverySeq: 0 };
    const startSeq = answer.startsAfter + 1;
    outbox.event({ kind: 'opening', state: 'opened', opening: this.opening, startSeq });
    return 'more';
  }

  /** One step of it; none is left once the cursor stands where the origin starts. */
  #setUp(answer: Answer): Step {
    if (!this.#identified) return this.#identify(answer);
    if (answer.startsAfter > this.#cursor.seq) return this.#startAfter(answer.startsAfter);
    this.#isSetUp = true;
    this.#around.lag.opened(answer.pending);
    return 'more';
  }

  #identify({ identity }: Answer): Step {
    const { ports, leadership } = this.#around;
    const { seq } = this.#cursor;
    const name = new TextEncoder().encode(identity.name);
    const bytes = ports.allocate(identitySize(name));
    writeIdentity(bytes, viewOf(bytes), 0, { expected: seq, name, created: identity.created });
    const proposal = { what: 'identity', bytes, count: 1, first: seq, last: seq } as const;
    const refused = leadership.propose(proposal);
    if (refused !== null) return this.#refused('identityRefused', refused, proposal);
    leadership.identified(identity);
    this.#identified = true;
    return 'more';
  }

  /** An empty mirror jumps, under either encoding: a start at 1e9 costs one command (case A5). */
  #startAfter(startsAfter: number): Step {
    const { ports, leadership } = this.#around;
    const { seq } = this.#cursor;
    if (leadership.mayHoldMessages) return this.#beginSkip(startsAfter, true);
    const bytes = ports.allocate(RANGE_BYTES);
    writeReset(viewOf(bytes), 0, seq, startsAfter + 1);
    const proposal = { what: 'reset', bytes, count: 1, first: seq + 1, last: startsAfter } as const;
    const refused = leadership.propose(proposal);
    if (refused !== null) return this.#refused('setupSkipRefused', refused, proposal);
    this.#cursor = { seq: startsAfter, deliverySeq: 0 };
    return 'more';
  }

  // Deliveries.

  #receive(): Step {
    const frame = this.#intake.first;
    if (frame === undefined) return 'idle';
    if (frame.type === 'deliver') return this.#judge();
    this.#intake.dropFrame();
    // A second answer to one request says nothing new (case E2).
    if (frame.type !== 'heartbeat') return 'more';
    return this.#beat(frame.lastDeliverySeq);
  }

  /**
   * Shows a loss when the origin is idle. Credit is given again: if it was lost on its way, an
   * origin whose window is full waits for it for ever, and its beats hide that nothing moves
   * (upstream: nats-server consumer.go, the header Nats-Consumer-Stalled of a heartbeat).
   */
  #beat(lastDeliverySeq: number): Step {
    this.#creditDue = this.#taken > 0;
    if (lastDeliverySeq <= this.#cursor.deliverySeq) return 'more';
    return this.#lost(`the origin's last delivery is ${lastDeliverySeq}`);
  }

  /** The first unread message: stale, next, gap or lost (rule 1). */
  #judge(): Step {
    const fault = this.#intake.fault();
    if (fault !== null) return { cause: 'malformedDelivery', error: fault, undone: null };
    const { seq, deliverySeq } = this.#intake;
    const reached = this.#reached().seq;
    if (seq <= reached) return this.#dropStale(deliverySeq, reached);
    if (seq === reached + 1) return this.#takeNext(seq, reached);
    if (deliverySeq === this.#cursor.deliverySeq + 1) return this.#beginSkip(seq - 1, false);
    return this.#lost(`delivery ${deliverySeq} came`);
  }

  /** The delivery number moves on if the next one is among what is dropped. */
  #dropStale(deliverySeq: number, reached: number): Step {
    const { cursor } = this;
    const dropped = this.#intake.dropThrough(reached);
    this.#taken = Math.max(this.#taken, dropped);
    const next = cursor.deliverySeq + 1;
    if (deliverySeq <= next && next <= dropped) {
      this.#cursor = { seq: cursor.seq, deliverySeq: dropped };
    }
    return 'more';
  }

  #takeNext(seq: number, reached: number): Step {
    const { ports, leadership, lag, bounds } = this.#around;
    const { size } = this.#intake;
    if (size > bounds.recordBytes) {
      const text = `blocked at ${seq}: takes ${size} bytes, a mirror stores ${bounds.recordBytes}`;
      return this.#over('blocked', 'tooLarge', text);
    }
    const bytes = Math.min(bounds.bytes, ports.room());
    const { count, recordBytes } = bounds;
    const run = this.#intake.run(reached, { count, bytes, recordBytes });
    if (run === null) return 'idle';
    const { first, last } = run;
    const proposal: Proposal = {
      what: 'messages',
      bytes: run.bytes,
      count: run.count,
      first,
      last,
    };
    const refused = leadership.propose(proposal);
    if (refused !== null) return this.#refused('messageRefused', refused, proposal);
    this.#intake.take(run);
    this.#skip = null;
    this.#cursor = { seq: run.last, deliverySeq: run.deliverySeq };
    this.#taken = Math.max(this.#taken, run.deliverySeq);
    lag.accepted(run.last, run.behind);
    return 'more';
  }

  // Skipping.

  #beginSkip(end: number, setUp: boolean): Step {
    const { skip, skipCountMax } = this.#around;
    const range = { first: this.#cursor.seq + 1, last: end };
    this.#skip = new SkipJob(range, { encoding: skip, batchCountMax: skipCountMax, setUp });
    return 'more';
  }

  /** One batch, if the uncommitted window has room for it: to wait is no refusal (rule 2). */
  #skipOn(skip: SkipJob): Step {
    const { ports, leadership } = this.#around;
    if (skip.bytesNeeded > ports.room()) return 'idle';
    const proposal = skip.batch((size) => ports.allocate(size));
    const refused = leadership.propose(proposal);
    const cause = skip.setUp ? 'setupSkipRefused' : 'skipRefused';
    if (refused !== null) return this.#refused(cause, refused, proposal);
    skip.accepted(proposal);
    if (skip.setUp && skip.done) {
      this.#cursor = { seq: skip.end, deliverySeq: 0 };
      this.#skip = null;
    }
    return 'more';
  }

  /** How far accepted proposals reach: the cursor, or what a skip in front of it passed over. */
  #reached(): MirrorCursor {
    if (this.#skip === null) return this.#cursor;
    return { seq: this.#skip.passed, deliverySeq: this.#cursor.deliverySeq };
  }

  // Ends.

  /**
   * Whatever was refused, the cursor is where it was before the delivery (rule 4). On the direct
   * path the store may have refused what it holds already: then it goes to the store's last, and
   * deliveries are asked for again as after any mismatch (rule 6; upstream #8152, third fix).
   */
  #refused(cause: MirrorCause, error: ErrorData, { first }: Proposal): Ending {
    const last = this.#around.ports.storeLast();
    const held = error.code === 'mismatch' && first <= last;
    const { deliverySeq } = this.#cursor;
    const to = held ? { seq: last, deliverySeq } : this.#cursor;
    const mismatched = error.code === 'mismatch' && this.#isSetUp;
    const undone = { from: this.#reached(), to };
    return { cause: mismatched ? 'mismatch' : cause, error, undone };
  }

  #lost(what: string): Ending {
    const text = `${what}, expected ${this.#cursor.deliverySeq + 1}`;
    return this.#over('lostDelivery', 'mismatch', text);
  }

  #over(cause: MirrorCause, code: ErrorCode, message: string): Ending {
    return { cause, error: toErrorData(new LockstepError(code, message)), undone: null };
  }
}
