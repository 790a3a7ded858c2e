/**
 * Reads one stream's messages in order of sequence, from one sequence to another, and leaves
 * nothing behind. The way is an ephemeral push consumer that acknowledges nothing, of one replica
 * and in memory: the answer to its making names the server that serves it, so a reader can be bound
 * to one replica. Where a stream takes no such consumer (a work queue, too many consumers) its
 * leader is asked for message after message. Upstream: consumer.go; errors.json 10098, 10026.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { LockstepError } from '../base/errors.js';
import type { JetStreamAccess } from './access.js';
import { ByteRate } from './byte-rate.js';
import { API_ERROR, apiErrorOf, isTransient } from './api.js';
import type { Listening } from './listening.js';
import { PATIENCE_TIMEOUTS, RETRY_MS } from './patience.js';
import { RequestReader } from './request-reader.js';
import { ReaderIntake, type ReadBatch } from './reader-intake.js';

export interface ReadRequest {
  readonly stream: string;
  /** Sequences, both included. */
  readonly from: number;
  readonly to: number;
  /** Name of the server whose copy is read; null: whichever serves. */
  readonly replica: string | null;
  /** Null: as fast as the server can. */
  readonly bytesPerSecond: number | null;
  /** Only messages of these subjects; empty: all. */
  readonly subjects?: readonly string[];
  /** How long a server that does not answer is waited for; default: four times the time-out. */
  readonly patienceMs?: number;
  /** True: no consumer is tried; one would add interest to a stream that keeps by interest. */
  readonly byRequests?: boolean;
}

export interface StreamReader {
  /** `consumer`, or `requests` to the leader where no consumer may be made. */
  readonly way: 'consumer' | 'requests';
  /** Whoever served since it was opened; none where there is no cluster or requests are made. */
  readonly servers: readonly string[];
  /** What was read so far; bytes are those of subjects, headers and payloads. */
  readonly load: { readonly messages: number; readonly bytes: number };
  /**
   * The next messages; null: there is none up to the end. One call at a time. Errors: timeout (no
   * answer for `patienceMs`), originRefused (with detail `forbidden`: the subject that it takes).
   */
  next(): Promise<ReadBatch | null>;
  /** Deletes the consumer on the server. */
  close(): Promise<void>;
}

const HEARTBEAT_MS = 1_000;
const INACTIVE_MS = 30_000;
/** Without any frame for so long the consumer is taken for lost. */
const SILENCE_MS = 3_000;
/** In a row without a message, before the reader gives up. */
const CONSUMERS_MAX = 5;
/** Consumers that were placed on another server and made again without a pause. */
const MISPLACED_AT_ONCE = 12;
const CLOSE_MS = 2_000;

/** Errors: as those of `next`. */
export async function openReader(
  access: JetStreamAccess,
  request: ReadRequest,
): Promise<StreamReader> {
  const patient = { ...request, patienceMs: patienceOf(access, request) };
  if (request.byRequests === true) return new RequestReader(access.api, patient);
  const reader = new ConsumerReader(access, request);
  try {
    await reader.open();
    return reader;
  } catch (error) {
    await reader.close();
    const code = apiErrorOf(error);
    const isForbidden = code === API_ERROR.workQueue || code === API_ERROR.tooManyConsumers;
    if (!isForbidden || request.replica !== null) throw error;
    return new RequestReader(access.api, patient);
  }
}

function patienceOf({ settings }: JetStreamAccess, { patienceMs }: ReadRequest): number {
  return patienceMs ?? PATIENCE_TIMEOUTS * settings.timeoutMs;
}

/** One consumer. */
interface Serving {
  readonly name: string;
  readonly listening: Listening;
  readonly intake: ReaderIntake;
}

class ConsumerReader implements StreamReader {
  readonly way = 'consumer';
  readonly load = { messages: 0, bytes: 0 };
  readonly servers: string[] = [];
  readonly #access: JetStreamAccess;
  readonly #request: ReadRequest;
  readonly #patienceMs: number;
  readonly #silenceMs: number;
  readonly #rate: ByteRate;
  readonly #unwatch: () => void;
  #serving: Serving | null = null;
  #next: number;
  #isAtEnd = false;
  #refusal: LockstepError | null = null;
  #heardMs = performance.now();
  /** Consumers made since the last message. */
  #fruitless = 0;
  #wake: () => void = () => undefined;

  constructor(access: JetStreamAccess, request: ReadRequest) {
    const { bytesPerSecond } = request;
    this.#access = access;
    this.#request = request;
    this.#next = Math.max(1, request.from);
    this.#patienceMs = patienceOf(access, request);
    const largestMs = bytesPerSecond === null ? 0 : (1_000 * access.payloadMax) / bytesPerSecond;
    this.#silenceMs = SILENCE_MS + largestMs;
    this.#rate = new ByteRate(bytesPerSecond);
    this.#unwatch = access.onRefusal((error) => {
      this.#refuse(error);
    });
  }

  async next(): Promise<ReadBatch | null> {
    this.#heardMs = performance.now();
    for (;;) {
      if (this.#refusal !== null) throw this.#refusal;
      const batch = this.#serving?.intake.shift() ?? null;
      if (batch !== null) {
        this.#took(batch);
        await this.#rate.keep(this.load.bytes);
        return batch;
      }
      if (this.#isOver()) return null;
      if (this.#serving === null) await this.open();
      else if (this.#isLost(this.#serving)) await this.#drop();
      else await this.#heard();
    }
  }

  async close(): Promise<void> {
    this.#unwatch();
    await this.#drop();
  }

  /** Makes a consumer at the next sequence, again and again while its server may be coming back. */
  async open(): Promise<void> {
    const until = performance.now() + this.#patienceMs;
    if (this.#fruitless++ === CONSUMERS_MAX) throw this.#silent();
    for (let misplaced = 0; ;) {
      try {
        if (await this.#create()) return;
        if (performance.now() > until) throw this.#misplaced();
        // Chance has had its turns: a server that is down gets none, however often it is tried.
        if (++misplaced > MISPLACED_AT_ONCE) await sleep(RETRY_MS);
      } catch (error) {
        if (!isTransient(error) || performance.now() > until) throw error;
        await sleep(RETRY_MS);
      }
    }
  }

  /** False: it was placed on another server than the one that is to be read. */
  async #create(): Promise<boolean> {
    const { stream, replica, bytesPerSecond, subjects = [], to } = this.#request;
    const { api } = this.#access;
    const name = `lockstep-${randomUUID().slice(0, 8)}`;
    const goOn = (subject: string): void => {
      this.#access.goOn(subject);
    };
    const intake = new ReaderIntake(to, goOn, bytesPerSecond ?? Infinity);
    const listening = this.#listen(intake);
    this.#serving = { name, listening, intake };
    try {
      const { server, pending } = await api.createConsumer(stream, {
        ...{ name, startSeq: this.#next, bytesPerSecond, subjects },
        ...{ deliverSubject: listening.subject, heartbeatMs: HEARTBEAT_MS },
        inactiveMs: INACTIVE_MS,
      });
      intake.counted(pending);
      if (replica !== null && replica !== (server ?? this.#access.serverName)) {
        await this.#drop();
        return false;
      }
      if (server !== null && !this.servers.includes(server)) this.servers.push(server);
      return true;
    } catch (error) {
      await this.#drop();
      throw error;
    }
  }

  #listen(intake: ReaderIntake): Listening {
    return this.#access.listen(
      (message) => {
        this.#heardMs = performance.now();
        intake.take(message);
        this.#wake();
      },
      (error) => {
        this.#refuse(error);
      },
    );
  }

  #took(batch: ReadBatch): void {
    this.#fruitless = 0;
    this.#next = batch.last + 1;
    this.load.messages += batch.count;
    this.load.bytes += batch.size;
  }

  #isOver(): boolean {
    const intake = this.#serving?.intake;
    // What was lost lies before what told that there is nothing more.
    if (intake?.isAtEnd === true && intake.fault === null) this.#isAtEnd = true;
    return this.#isAtEnd || this.#next > this.#request.to;
  }

  #isLost({ intake }: Serving): boolean {
    // However slow it was asked to be: where there is no connection nothing comes.
    if (this.#access.disconnectedForMs > SILENCE_MS) return true;
    return intake.fault !== null || performance.now() - this.#heardMs > this.#silenceMs;
  }

  /** Resolves with the next frame, or once there was none for too long. */
  async #heard(): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, SILENCE_MS / 4);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = () => undefined;
  }

  #misplaced(): LockstepError {
    const { stream, replica } = this.#request;
    const text = `${stream}: the server placed no consumer on ${replica}: is it up?`;
    return new LockstepError('timeout', text);
  }

  #silent(): LockstepError {
    const { stream } = this.#request;
    const text = `${stream}: ${CONSUMERS_MAX} consumers, one after the other, delivered nothing`;
    return new LockstepError('timeout', text);
  }

  #refuse(error: LockstepError): void {
    this.#refusal = error;
    this.#wake();
  }

  /** What cannot be deleted is forgotten by the server in a while, since nobody listens. */
  async #drop(): Promise<void> {
    const serving = this.#serving;
    this.#serving = null;
    if (serving === null) return;
    serving.listening.close();
    if (this.#access.disconnectedForMs > 0) return;
    const deleted = this.#access.api.deleteConsumer(this.#request.stream, serving.name);
    const late = new AbortController();
    const limit = sleep(CLOSE_MS, undefined, { signal: late.signal });
    await Promise.race([deleted.catch(() => undefined), limit.catch(() => undefined)]);
    late.abort();
    this.#heardMs = performance.now();
  }
}
