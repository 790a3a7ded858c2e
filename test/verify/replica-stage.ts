/** Replicas in memory, for comparisons that ask no server: what each holds, and when it fails. */
import type { ReadBatch } from '../../src/nats/reader-intake.js';
import { messageSize, viewOf, writeMessage } from '../../src/stream/layout.js';
import type { SeqRange, StoredMessage } from '../../src/stream/types.js';
import type { ReplicaAccess, ReplicaReader } from '../../src/verify/replica-access.js';
import { replicatedStream, type ReplicatedStream } from '../../src/verify/replica-facts.js';

const encoder = new TextEncoder();
const SECOND = 1_000_000_000n;
/** The servers' clock; message n is of n seconds after START. */
export const START = 1_800_000_000n * SECOND;
export const NOW = START + 1_000n * SECOND;

export function message(seq: number, given: Partial<StoredMessage> = {}): StoredMessage {
  return {
    seq,
    timestamp: START + BigInt(seq) * SECOND,
    subject: encoder.encode(`orders.${seq % 3}`),
    headers: new Uint8Array(0),
    payload: encoder.encode(`m${seq}`),
    ...given,
  };
}

export function bytes(text: string): Uint8Array {
  return encoder.encode(text);
}

export type Replica = Map<number, StoredMessage>;

export interface Follower {
  readonly name: string;
  readonly current: boolean;
  readonly offline?: boolean;
  readonly lag?: number;
}

const SERVERS = ['n1', 'n2', 'n3'];
const BATCH = 4;

/** Three replicas with messages 1 to 20, n1 leads. */
export class HeldReplicas implements ReplicaAccess {
  readonly calls = 7;
  readonly replicas = new Map<string, Replica>();
  config: Record<string, unknown> = {};
  created = '2027-01-15T00:00:00Z';
  followers: readonly Follower[] = SERVERS.slice(1).map((name) => ({ name, current: true }));
  firstSeq = 1;
  lastSeq = 20;
  /** By server: the last sequence that is read before it fails. */
  readonly failing = new Map<string, number>();
  /** Before each reading, the first one is number 0. */
  onOpen: (reading: number) => void = () => undefined;
  /** What was read, as `servers first-last`. */
  readonly opened: string[] = [];
  readonly closed: string[] = [];
  readonly askedFor: string[] = [];
  later = 0;
  laterFor: (subject: string, seq: number) => number = () => this.later;

  constructor() {
    for (const server of SERVERS) {
      const held = Array.from({ length: this.lastSeq }, (_, at) => message(at + 1));
      this.replicas.set(server, new Map(held.map((each) => [each.seq, each])));
    }
  }

  /** All of them hold so many. */
  grow(last: number): void {
    for (const replica of this.replicas.values()) {
      for (let seq = this.lastSeq + 1; seq <= last; seq++) replica.set(seq, message(seq));
    }
    this.lastSeq = last;
  }

  /** Changes one message on one server, or takes it away. */
  put(server: string, seq: number, given: Partial<StoredMessage> | null): void {
    const replica = this.replicas.get(server)!;
    if (given === null) replica.delete(seq);
    else replica.set(seq, message(seq, given));
  }

  stream(): Promise<ReplicatedStream> {
    const state = {
      ...{ messages: this.lastSeq, bytes: 100, num_deleted: 0 },
      ...{ first_seq: this.firstSeq, first_ts: this.created },
      ...{ last_seq: this.lastSeq, last_ts: this.created },
    };
    const config = { name: 'ORDERS', retention: 'limits', ...this.config };
    const cluster = { leader: 'n1', replicas: this.followers };
    const answer = { config, created: this.created, state, cluster };
    return Promise.resolve(replicatedStream(answer, 'n1'));
  }

  settled(): Promise<ReplicatedStream> {
    return this.stream();
  }

  open(servers: readonly string[], range: SeqRange): Promise<readonly ReplicaReader[]> {
    this.onOpen(this.opened.length);
    this.opened.push(`${servers.join(' ')} ${range.first}-${range.last}`);
    return Promise.resolve(
      servers.map((server) => {
        const held = [...this.replicas.get(server)!.values()]
          .filter(({ seq }) => seq >= range.first && seq <= range.last)
          .sort((one, other) => one.seq - other.seq);
        return new HeldReader(held, this.failing.get(server) ?? null, range, () => {
          this.closed.push(server);
        });
      }),
    );
  }

  laterOn(subject: string, seq: number): Promise<number> {
    this.askedFor.push(`${subject} behind ${seq}`);
    return Promise.resolve(this.laterFor(subject, seq));
  }

  now(): bigint {
    return NOW;
  }

  pauseMs(): Promise<void> {
    return Promise.resolve();
  }
}

class HeldReader implements ReplicaReader {
  failure: string | null = null;
  readonly load = { messages: 0, bytes: 0 };
  readonly close: () => Promise<void>;
  readonly #left: StoredMessage[];
  readonly #failsBehind: number | null;
  #last: number;

  constructor(
    held: StoredMessage[],
    failsBehind: number | null,
    range: SeqRange,
    onClose: () => void,
  ) {
    this.#left = held;
    this.#failsBehind = failsBehind;
    this.#last = range.first - 1;
    this.close = () => {
      onClose();
      return Promise.resolve();
    };
  }

  get readTo(): number {
    return this.failure === null ? Infinity : this.#last;
  }

  next(): Promise<ReadBatch | null> {
    const end = this.#failsBehind ?? Infinity;
    const count = this.#left.slice(0, BATCH).filter(({ seq }) => seq <= end).length;
    const messages = this.#left.splice(0, count);
    if (messages.length > 0) return Promise.resolve(this.#batch(messages));
    if (this.#failsBehind !== null) this.failure = 'it went away';
    return Promise.resolve(null);
  }

  #batch(messages: readonly StoredMessage[]): ReadBatch {
    const sizes = messages.map(({ subject, headers, payload }) =>
      messageSize(subject.length, headers.length, payload.length),
    );
    const batch = new Uint8Array(sizes.reduce((sum, size) => sum + size, 0));
    let at = 0;
    for (const each of messages) at = writeMessage(batch, viewOf(batch), at, each);
    this.#last = messages.at(-1)!.seq;
    this.load.messages += messages.length;
    this.load.bytes += 10_240 * messages.length;
    return { bytes: batch, count: messages.length, size: 0, last: this.#last, pending: 0 };
  }
}
