/**
 * A stage for mirrors: members that share one log and each have a store of the plainest kind, and
 * an origin that can be published to, deleted from and made again. Nothing here runs by itself: a
 * test says when commands reach the origin, frames the mirror, and entries the stores.
 */
import type { Prng } from '../../src/base/prng.js';
import {
  KIND_IDENTITY,
  KIND_MESSAGE,
  KIND_RESET,
  KIND_SKIP,
  messageSize,
  readIdentity,
  readMessage,
  readSafe,
  viewOf,
  writeMessage,
} from '../../src/stream/layout.js';
import type { StreamState } from '../../src/stream/types.js';
import { Mirror, type MirrorOptions } from '../../src/mirror/mirror.js';
import type { MirrorReady } from '../../src/mirror/outbox.js';
import type {
  MirrorPorts,
  ProposalBatch,
  ProposalKind,
  ProposalRefusal,
  ProposalResult,
} from '../../src/mirror/ports.js';
import type {
  MirrorCause,
  MirrorCursor,
  MirrorEvent,
  Opening,
  OriginCommand,
  OriginFrame,
  OriginIdentity,
} from '../../src/mirror/types.js';

export const ORDERS: OriginIdentity = { name: 'ORDERS', created: 1_700_000_000_000_000_000n };

/** Upstream's constants in ticks of 10 ms, under a time scale of 1; jitter is at its least. */
export const GATE = 200;
export const JITTER = 10;
export const BACKOFF = 1_000;
export const BACKOFF_MAX = 12_000;
export const SILENCE = 1_000;
export const CREATE_WAIT = 3_000;

/** Every draw is the least that it may be. */
export const LEAST: Prng = {
  draw: () => 0,
  below: () => 0,
  between: (_label, min) => min,
  chance: () => false,
  fork: () => LEAST,
};

export type DeliverFrame = Extract<OriginFrame, { type: 'deliver' }>;

/** What was accepted, in order; a batch is one entry. */
export interface Logged {
  readonly what: ProposalKind;
  readonly count: number;
  readonly bytes: Uint8Array;
}

export interface Outcome {
  stored: number;
  skipped: number;
  seen: number;
  mismatched: number;
}

/** What a stream holds, by plain maps and one number. */
export class PlainStore {
  last = 0;
  identity: OriginIdentity | null = null;
  readonly messages = new Map<number, string>();

  get state(): StreamState {
    const messages = this.messages.size;
    if (messages === 0) return { first: this.last + 1, last: this.last, messages, deleted: 0 };
    const first = Math.min(...this.messages.keys());
    return { first, last: this.last, messages, deleted: this.last - first + 1 - messages };
  }

  apply({ count, bytes }: ProposalBatch): Outcome {
    const outcome: Outcome = { stored: 0, skipped: 0, seen: 0, mismatched: 0 };
    const view = viewOf(bytes);
    let at = 0;
    for (let nth = 0; nth < count; nth++) {
      this.#applyOne(bytes, at, outcome);
      at += view.getUint32(at, true);
    }
    if (at !== bytes.length) throw new Error(`a batch of ${bytes.length} bytes ends at ${at}`);
    return outcome;
  }

  #applyOne(bytes: Uint8Array, at: number, outcome: Outcome): void {
    const view = viewOf(bytes);
    const kind = view.getUint8(at + 4);
    const expected = readSafe(view, at + 8);
    if (kind === KIND_IDENTITY) return this.#identify(bytes, at, outcome);
    const end = endOf(view, at, kind, expected);
    if (end <= this.last) outcome.seen++;
    else if (expected > this.last) outcome.mismatched++;
    else if (kind === KIND_RESET && this.messages.size > 0) outcome.mismatched++;
    else {
      if (kind === KIND_MESSAGE) this.messages.set(end, text(readMessage(bytes, at).payload));
      if (kind === KIND_MESSAGE) outcome.stored++;
      else outcome.skipped += end - this.last;
      this.last = end;
    }
  }

  #identify(bytes: Uint8Array, at: number, outcome: Outcome): void {
    const { name, created } = readIdentity(bytes, at);
    if (this.identity === null) this.identity = { name: text(name), created };
    else if (this.identity.created === created) outcome.seen++;
    else outcome.mismatched++;
  }
}

function endOf(view: DataView, at: number, kind: number, expected: number): number {
  if (kind === KIND_MESSAGE || kind === KIND_SKIP) return expected + 1;
  if (kind === KIND_RESET) return readSafe(view, at + 16) - 1;
  return expected + readSafe(view, at + 16);
}

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/** Memory that an origin hands out from: what is placed one after the other lies side by side. */
export class Arena {
  readonly #bytes: Uint8Array;
  #end = 0;

  constructor(size = 1 << 20) {
    this.#bytes = new Uint8Array(size);
  }

  place(seqs: readonly number[], content: (seq: number) => string = plainContent): Uint8Array {
    const start = this.#end;
    const view = viewOf(this.#bytes);
    const none = new Uint8Array(0);
    for (const seq of seqs) {
      const payload = new TextEncoder().encode(content(seq));
      const message = { seq, timestamp: BigInt(seq), subject: none, headers: none, payload };
      this.#end = writeMessage(this.#bytes, view, this.#end, message);
    }
    return this.#bytes.subarray(start, this.#end);
  }

  /** Leaves a hole: what is placed next does not lie beside what was placed last. */
  leap(): void {
    this.#end += 8;
  }
}

export function plainContent(seq: number): string {
  return `message ${seq}`;
}

/** Bytes of a message of plainContent. */
export function plainSize(seq: number): number {
  return messageSize(0, 0, plainContent(seq).length);
}

export function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, nth) => first + nth);
}

/** Who leads, and the log that all members share. */
export class Cluster {
  readonly log: Logged[] = [];
  term = 0;
  leader: string | null = null;
  transferring = false;

  /** Drops what was accepted and is not committed: the entries behind the first `count`. */
  truncate(count: number): void {
    this.log.length = count;
  }
}

export type StageOptions = Partial<MirrorOptions> & { readonly cluster?: Cluster };

/** One member: a mirror and a store. */
export class Stage {
  readonly member: string;
  readonly mirror: Mirror;
  readonly store = new PlainStore();
  readonly cluster: Cluster;
  /** Bytes that the uncommitted window has left. */
  room = 1 << 25;
  /** Refuses what a test wants refused; called for each proposal. */
  refuse: (what: ProposalKind, first: number) => ProposalRefusal | null = () => null;
  /** Openings that were asked for and not closed. More than one at a time fails the test. */
  readonly open = new Set<number>();
  readonly #direct: boolean;
  #applied = 0;

  constructor(options: StageOptions = {}) {
    const { cluster = new Cluster(), ...rest } = options;
    this.cluster = cluster;
    this.member = options.member ?? 'r1.1';
    this.#direct = options.skip === 'direct';
    const { member } = this;
    const ports = this.#ports();
    const defaults = { member, ports, prng: LEAST, skip: 'entries', timeScale: 1 } as const;
    this.mirror = new Mirror({ ...defaults, ...rest });
    this.mirror.configure(true);
  }

  /** This member wins: its store is at the end of the log when its mirror is told. */
  lead(): void {
    this.cluster.term++;
    this.cluster.leader = this.member;
    this.apply();
    this.mirror.lead(this.cluster.term, 0);
  }

  /** Applies entries of the log, all by default, and tells the mirror of each. */
  apply(count = Infinity): Outcome[] {
    const outcomes: Outcome[] = [];
    while (outcomes.length < count && this.#applied < this.cluster.log.length) {
      const outcome = this.store.apply(this.cluster.log[this.#applied++]!);
      outcomes.push(outcome);
      if (this.cluster.leader === this.member) this.mirror.applied(outcome);
    }
    return outcomes;
  }

  get unapplied(): number {
    return this.cluster.log.length - this.#applied;
  }

  tick(count = 1): void {
    for (let nth = 0; nth < count; nth++) this.mirror.tick();
  }

  /** Advances until there is nothing to do; returns how many steps found work. */
  advanceAll(): number {
    let steps = 0;
    while (this.mirror.advance()) steps++;
    return steps;
  }

  drain(): MirrorReady {
    const ready = this.mirror.ready();
    for (const command of ready.originCommands) this.#count(command);
    return ready;
  }

  #count({ type, opening }: OriginCommand): void {
    if (type === 'close') this.open.delete(opening.generation);
    if (type !== 'open') return;
    if (this.open.size > 0) throw new Error(`two openings live: ${opening.generation}`);
    this.open.add(opening.generation);
  }

  #ports(): MirrorPorts {
    return {
      propose: (term, batch, what) => this.#propose(term, batch, what),
      room: () => this.room,
      storeLast: () => this.store.last,
      storeMessages: () => this.store.messages.size,
      storeIdentity: () => this.store.identity,
      allocate: (size) => new Uint8Array(size),
    };
  }

  #propose(term: number, { count, bytes }: ProposalBatch, what: ProposalKind): ProposalResult {
    const expected = readSafe(viewOf(bytes), 8);
    const code = this.#refusal(term, what, expected);
    if (code !== null) return { accepted: false, code };
    this.cluster.log.push({ what, count, bytes });
    return { accepted: true };
  }

  #refusal(term: number, what: ProposalKind, expected: number): ProposalRefusal | null {
    const { cluster } = this;
    if (cluster.leader !== this.member) return 'notLeader';
    if (cluster.term !== term) return 'staleTerm';
    if (cluster.transferring) return 'transferring';
    const code = this.refuse(what, expected + 1);
    if (code !== null) return code;
    // On the direct path nothing waits between the proposal and the store.
    const misplaced = this.#direct && this.unapplied === 0 && expected !== this.store.last;
    return misplaced && what !== 'identity' ? 'mismatch' : null;
  }
}

interface Consumer {
  readonly opening: Opening;
  next: number;
  deliverySeq: number;
}

/** An origin of one stream. Frames wait in it until they are taken. */
export class PlainOrigin {
  identity = ORDERS;
  last = 0;
  readonly messages = new Map<number, string>();
  #served: Consumer | null = null;
  #frames: OriginFrame[] = [];

  get state(): StreamState {
    const messages = this.messages.size;
    const first = Math.min(...this.messages.keys());
    return { first, last: this.last, messages, deleted: this.last - first + 1 - messages };
  }

  publish(count: number): void {
    for (let nth = 0; nth < count; nth++) {
      this.last++;
      this.messages.set(this.last, `${plainContent(this.last)} of ${this.identity.created}`);
    }
  }

  remove(first: number, last: number): void {
    for (const seq of this.messages.keys()) {
      if (seq >= first && seq <= last) this.messages.delete(seq);
    }
  }

  /** Everything below `first` goes, and the next message is `first` at the least. */
  purgeTo(first: number): void {
    this.remove(1, first - 1);
    this.last = Math.max(this.last, first - 1);
  }

  /** Forgets the consumer and tells nobody. */
  dropConsumer(): void {
    this.#served = null;
  }

  command(command: OriginCommand): void {
    const { opening } = command;
    if (command.type === 'close' && this.#serves(opening)) this.#served = null;
    if (command.type !== 'open') return;
    const following = [...this.messages.keys()].filter((seq) => seq >= command.startSeq);
    const first = following.length > 0 ? Math.min(...following) : this.last + 1;
    const startsAfter = Math.max(first, command.startSeq) - 1;
    const { identity, last } = this;
    this.#served = { opening, next: startsAfter + 1, deliverySeq: 0 };
    const pending = following.length;
    this.#frames.push({ type: 'opened', opening, identity, startsAfter, last, pending });
  }

  /** Frames since the last call, with whatever there is to deliver, `most` messages a frame. */
  take(most = 1_000): OriginFrame[] {
    const served = this.#served;
    if (served !== null) this.#deliver(served, most);
    const frames = this.#frames;
    this.#frames = [];
    return frames;
  }

  heartbeat(): OriginFrame[] {
    if (this.#served === null) return [];
    const { opening, deliverySeq } = this.#served;
    return [{ type: 'heartbeat', opening, lastDeliverySeq: deliverySeq }];
  }

  #serves(opening: Opening): boolean {
    return this.#served?.opening.generation === opening.generation;
  }

  #deliver(served: Consumer, most: number): void {
    const seqs = [...this.messages.keys()].filter((seq) => seq >= served.next);
    if (seqs.length === 0) return;
    const arena = new Arena(seqs.length * 128);
    for (let at = 0; at < seqs.length; at += most) {
      const part = seqs.slice(at, at + most);
      const bytes = arena.place(part, (seq) => this.messages.get(seq)!);
      const pending = seqs.length - at - part.length;
      const deliverySeq = served.deliverySeq + 1;
      const { opening } = served;
      const count = part.length;
      this.#frames.push({ type: 'deliver', opening, deliverySeq, count, pending, bytes });
      served.deliverySeq += count;
      served.next = part.at(-1)! + 1;
    }
  }
}

/** Carries what is said both ways and applies, until nothing moves. */
export function settle(stage: Stage, origin: PlainOrigin, others: readonly Stage[] = []): void {
  for (;;) {
    const { originCommands } = stage.drain();
    for (const command of originCommands) origin.command(command);
    const frames = origin.take();
    for (const frame of frames) stage.mirror.frame(frame);
    const steps = stage.advanceAll();
    const entries = stage.apply().length;
    for (const other of others) other.apply();
    if (originCommands.length + frames.length + steps + entries === 0) return;
  }
}

/** As many ticks, everything settled after each; the origin beats once in 100. */
export function play(
  stage: Stage,
  origin: PlainOrigin,
  ticks: number,
  others: readonly Stage[] = [],
): void {
  for (let tick = 1; tick <= ticks; tick++) {
    stage.tick();
    if (tick % 100 === 0) for (const frame of origin.heartbeat()) stage.mirror.frame(frame);
    settle(stage, origin, others);
  }
}

// What mirrors say, in short.

export function openingOf(generation: number, term = 1): Opening {
  return { member: 'r1.1', term, generation };
}

export function opened(
  opening: Opening,
  answer: Partial<Extract<OriginFrame, { type: 'opened' }>> = {},
): OriginFrame {
  const rest = { identity: ORDERS, startsAfter: 0, last: 0, pending: 0 };
  return { type: 'opened', opening, ...rest, ...answer };
}

/** A frame of these messages, in memory of its own unless an arena is given. */
export function delivery(
  opening: Opening,
  deliverySeq: number,
  seqs: readonly number[],
  rest: { readonly pending?: number; readonly arena?: Arena } = {},
): DeliverFrame {
  const bytes = (rest.arena ?? new Arena(seqs.length * 128)).place(seqs);
  const { pending = 0 } = rest;
  return { type: 'deliver', opening, deliverySeq, count: seqs.length, pending, bytes };
}

export function requested(opening: Opening, startSeq: number): MirrorEvent {
  return { kind: 'opening', state: 'requested', opening, startSeq };
}

export function openedAt(opening: Opening, startSeq: number): MirrorEvent {
  return { kind: 'opening', state: 'opened', opening, startSeq };
}

export function closed(opening: Opening, startSeq: number, cause: MirrorCause): MirrorEvent {
  return { kind: 'opening', state: 'closed', opening, startSeq, cause };
}

export function proposed(
  what: ProposalKind,
  first: number,
  last: number,
  code: ProposalRefusal | null = null,
  term = 1,
): MirrorEvent {
  const single = what === 'range' || what === 'reset' || what === 'identity';
  const count = single ? 1 : last - first + 1;
  return {
    kind: 'propose',
    what,
    term,
    first,
    last,
    count,
    refused: refusedAs(what, first, last, code),
  };
}

export function refusedAs(
  what: ProposalKind,
  first: number,
  last: number,
  code: ProposalRefusal | null,
): { code: ProposalRefusal; message: string } | null {
  if (code === null) return null;
  return { code, message: `${what} ${first}..${last} refused: ${code}` };
}

export function rolledBack(
  cause: MirrorCause,
  from: MirrorCursor,
  to: MirrorCursor,
  lag = 0,
): MirrorEvent {
  return { kind: 'rollback', cause, from, to, lag };
}

export function retry(cause: MirrorCause, inTicks: number | null, attempt = 0): MirrorEvent {
  return { kind: 'retry', cause, attempt, inTicks };
}

export function at(seq: number, deliverySeq: number): MirrorCursor {
  return { seq, deliverySeq };
}

/** A stage whose store ends at `last` with messages 1 … last, its opening answered and drained. */
export function receiving(last: number, options: StageOptions = {}, pending = 0): Stage {
  const stage = new Stage(options);
  stage.store.identity = ORDERS;
  for (const seq of range(1, last)) stage.store.messages.set(seq, plainContent(seq));
  stage.store.last = last;
  stage.lead();
  stage.tick(JITTER);
  const opening = openingOf(1);
  stage.mirror.frame(opened(opening, { startsAfter: last, last: last + pending, pending }));
  stage.advanceAll();
  stage.drain();
  return stage;
}
