/**
 * The one loop that runs a replica, used by worker threads and by the simulator; only HostIo and
 * Inbox differ. It is synchronous: completions of writes come back as inputs.
 *
 * A turn drains what was queued when it began, bounded in messages and bytes, peers before origin,
 * then counts the ticks owed by the clock (several late ones are one). An election time-out does
 * not expire while peer messages lie unread: a busy follower would else depose a healthy leader
 * whose heartbeats sit in its own queue.
 */
import type { ErrorData } from '../base/errors.js';
import {
  BATCH_BYTES_MAX,
  ORIGIN_WINDOW_BYTES,
  TICK_MS,
  TURN_BYTES_MAX,
  TURN_MESSAGES_MAX,
} from '../base/limits.js';
import type { OriginFrame } from '../mirror/types.js';
import type { Message } from '../raft/types.js';
import { Replica, type ReplicaOptions } from './replica.js';
import type { HostIo, Input, Ready } from './types.js';

/** What waits for a host. Each call takes one; undefined when none is left. */
export interface Inbox {
  order(): Input | undefined;
  peer(): Message | undefined;
  frame(): OriginFrame | undefined;
  /** Whether a peer's message waits; looked at before an election may time out. */
  peersWait(): boolean;
}

/** Batches that one turn proposes before it looks at its queues again. */
const TURN_BATCHES_MAX = Math.floor(ORIGIN_WINDOW_BYTES / BATCH_BYTES_MAX);

interface Completion {
  readonly ticket: number;
  readonly error: ErrorData | null;
}

export class ReplicaHost {
  readonly replica: Replica;
  readonly #io: HostIo;
  #tickedAt: number;
  /** The longest that a tick came late, since last asked. */
  #lateMs = 0;
  #issued = 0;
  #durable = 0;
  /** Nothing was asked of the replica since it was ready for nothing more. */
  #isAtRest = false;
  readonly #completions: Completion[] = [];
  /** Messages that wait for a write, oldest first. */
  readonly #held: {
    readonly ticket: number;
    readonly messages: readonly Message[];
  }[] = [];

  constructor(options: Omit<ReplicaOptions, 'journal'>, io: HostIo) {
    this.#io = io;
    this.#tickedAt = io.now();
    // Nothing is carried out before the first turn: what an io does may need this host.
    this.replica = new Replica({ ...options, journal: io.recover() });
  }

  /** A write that `HostIo.persist` started has ended. Taken in at the next step of a turn. */
  completed(ticket: number, error: ErrorData | null = null): void {
    this.#completions.push({ ticket, error });
  }

  /** Milliseconds that the worst tick since the last call came late. */
  takeLateness(): number {
    const late = this.#lateMs;
    this.#lateMs = 0;
    return late;
  }

  /** One input from outside of a turn: a fault that fires inside the host. */
  input(input: Input): void {
    this.#step(input);
    this.#flush();
  }

  /** Returns whether another turn has work to do at once. */
  turn(inbox: Inbox): boolean {
    this.#flush();
    for (let order = inbox.order(); order !== undefined; order = inbox.order()) {
      this.#step(order);
    }
    const peersLeft = this.#drainPeers(inbox);
    this.#flush();
    const framesLeft = this.#drainFrames(inbox);
    const workLeft = this.#advance();
    this.#tick(inbox);
    this.#flush();
    return peersLeft || framesLeft || workLeft;
  }

  #drainPeers(inbox: Inbox): boolean {
    let bytes = 0;
    for (let taken = 0; taken < TURN_MESSAGES_MAX && bytes < TURN_BYTES_MAX; taken++) {
      const message = inbox.peer();
      if (message === undefined) return false;
      if (message.type === 'append') {
        for (const entry of message.entries) bytes += entry.bytes.length;
      }
      this.#step({ type: 'peer', message });
    }
    return true;
  }

  #drainFrames(inbox: Inbox): boolean {
    let bytes = 0;
    for (let taken = 0; taken < TURN_MESSAGES_MAX && bytes < TURN_BYTES_MAX; taken++) {
      const frame = inbox.frame();
      if (frame === undefined) return false;
      if (frame.type === 'deliver') bytes += frame.bytes.length;
      this.#step({ type: 'origin', frame });
    }
    return true;
  }

  /** Proposes batch by batch; what is armed for a state is looked at before each of them. */
  #advance(): boolean {
    this.#io.beforeAdvance(this.replica);
    if (!this.replica.serving) return false;
    for (let batch = 0; batch < TURN_BATCHES_MAX; batch++) {
      const more = this.replica.advance();
      this.#isAtRest = false;
      this.#flush();
      this.#io.beforeAdvance(this.replica);
      if (!more) return false;
    }
    return true;
  }

  #tick(inbox: Inbox): void {
    const now = this.#io.now();
    const owed = Math.floor((now - this.#tickedAt) / TICK_MS);
    if (owed < 1) return;
    const late = (owed - 1) * TICK_MS;
    if (late > this.#lateMs) this.#lateMs = late;
    this.#tickedAt += owed * TICK_MS;
    this.replica.tick(inbox.peersWait());
    this.#isAtRest = false;
  }

  #step(input: Input): void {
    this.replica.step(input);
    this.#isAtRest = false;
  }

  /** Carries out what the replica is ready for, until no completion leads to more. */
  #flush(): void {
    if (this.#isAtRest && this.#completions.length === 0) return;
    for (;;) {
      const isReady = this.replica.hasReady();
      if (isReady) this.#carryOut(this.replica.ready());
      if (this.#completions.length > 0) this.#complete(this.#completions.shift()!);
      else if (!isReady) break;
    }
    this.#isAtRest = true;
  }

  #carryOut(ready: Ready): void {
    const io = this.#io;
    for (const event of ready.events) io.report(event);
    if (ready.persist !== null) {
      this.#issued = ready.persist.ticket;
      io.persist(ready.persist);
    }
    for (const message of ready.sendNow) io.send(message);
    if (ready.sendAfterPersist.length > 0) {
      if (this.#durable === this.#issued) this.#send(ready.sendAfterPersist);
      else
        this.#held.push({
          ticket: this.#issued,
          messages: ready.sendAfterPersist,
        });
    }
    for (const command of ready.originCommands) io.origin(command);
  }

  #complete({ ticket, error }: Completion): void {
    if (error !== null) {
      this.#held.length = 0;
      this.#step({ type: 'persistFailed', ticket, error });
      return;
    }
    this.#durable = Math.max(this.#durable, ticket);
    this.#step({ type: 'persisted', ticket });
    while (this.#held.length > 0 && this.#held[0]!.ticket <= this.#durable) {
      this.#send(this.#held.shift()!.messages);
    }
  }

  #send(messages: readonly Message[]): void {
    for (const message of messages) this.#io.send(message);
  }
}
