/**
 * The origin of a run on servers: a stream of ours, filled from the plan's made content while the
 * run goes on, changed by faults, and read at the end. What is in it then is the truth that the
 * mirror is compared with; what a fault took out of it before was read first, so that its bytes are
 * known, and the mirror may hold it or not.
 */
import type { NatsConnection } from 'nats';
import { LockstepError, toErrorData, usageError } from '../base/errors.js';
import type { Hasher } from '../base/hasher.js';
import { OriginContent } from '../origin/content.js';
import { OriginStream } from '../origin/stream.js';
import type { ClusterEvent } from '../scenario/driver.js';
import type { ContentChange, MadeOriginPlan, OriginAction } from '../scenario/types.js';
import type { SeqRange } from '../stream/types.js';
import { rangeText, setOf, span, subtract } from '../verdict/ranges.js';
import type { LedgerReader, LedgerReport, RecordDigest } from '../verdict/types.js';
import type { JetStreamAccess } from './access.js';
import type { JetStreamAdmin } from './admin.js';
import { patiently } from './patience.js';
import { Publisher } from './publisher.js';
import { lastStored } from './stored.js';
import { StreamCopy } from './stream-copy.js';

/** Names of what a run makes on its servers. */
export interface RunNames {
  readonly origin: string;
  readonly mirror: string;
  /** Before every subject: '' on servers of our own. */
  readonly prefix: string;
}

export interface DrivenOriginOptions {
  readonly plan: MadeOriginPlan;
  readonly seed: number;
  readonly hasher: Hasher;
  readonly names: RunNames;
  /** Of the stream's configuration: how many replicas, and where. */
  readonly placing: Readonly<Record<string, unknown>>;
  readonly access: JetStreamAccess;
  readonly admin: JetStreamAdmin;
  /** Messages are published here, and by nobody else: their order is that of the stream. */
  readonly connection: NatsConnection;
  readonly now: () => number;
  readonly onEvent: (event: ClusterEvent) => void;
}

type Change = Extract<OriginAction, { readonly kind: ContentChange }>;

/** Every sequence is published; a gap costs as much as messages do. */
const GAPS_MAX = 2_000_000;
const DELETES_AT_A_TIME = 32;

export class DrivenOrigin {
  readonly ledger: LedgerReader = {
    report: () => this.#report(),
    records: (range) => Promise.resolve(this.#records(range)),
  };
  readonly #options: DrivenOriginOptions;
  readonly #content: OriginContent;
  readonly #stream: OriginStream;
  /** What faults took out, as it was before. */
  readonly #taken: StreamCopy;
  /** What is there at the end. */
  readonly #left: StreamCopy;
  #present: OriginContent;
  #publisher: Publisher | null = null;
  #publishing: Promise<void> = Promise.resolve();
  #lives = 1;
  #isOver = false;

  /** Errors: usage, when the plan's origin is more than a server can be filled with. */
  constructor(options: DrivenOriginOptions) {
    const { plan, hasher } = options;
    this.#options = options;
    this.#content = this.#make(plan, 0);
    this.#present = this.#content;
    this.#stream = new OriginStream(this.#content);
    this.#taken = new StreamCopy(hasher);
    this.#left = new StreamCopy(hasher);
    const { deleted } = this.#content.state();
    if (deleted <= GAPS_MAX) return;
    const found = `gaps of ${deleted} sequences`;
    throw usageError('origin', found, `at most ${GAPS_MAX} on nats: each of them is published`);
  }

  /** The last sequence that the mirror has to reach, and how many messages that makes. */
  get facts(): { readonly last: number; readonly messages: number } {
    return { last: this.#content.last, messages: this.#content.messages };
  }

  /** What a mirror must leave out so that fillers are gaps to it; null: there are none. */
  get filter(): string | null {
    return this.#content.state().deleted === 0 ? null : `${this.#options.names.prefix}*.*`;
  }

  create(): Promise<void> {
    const { names, placing, admin } = this.#options;
    const { origin: name, prefix } = names;
    const { first } = this.#present.state();
    return admin.createStream({
      name,
      subjects: [`${prefix}orders.*`, `${prefix}lockstep.sentinel`, this.#filler],
      storage: 'file',
      ...placing,
      ...(first > 1 ? { first_seq: first } : {}),
    });
  }

  /** Begins to publish; what comes of it is told by events. */
  serve(): void {
    this.#publish(0);
  }

  /** Nothing is published any more, whatever still goes on. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#pause();
  }

  /** @param acknowledged  the highest sequence that this life of the stream is known to have */
  #publish(acknowledged: number): void {
    if (this.#isOver) return;
    const { plan, connection, names, access, admin, now } = this.#options;
    const publisher = new Publisher({
      ...{ connection, now, filler: this.#filler, prefix: names.prefix, acknowledged },
      content: this.#present,
      rate: this.#lives === 1 ? plan.rate : null,
      inboxPrefix: access.settings.inboxPrefix,
      lastOf: () => this.#lastStored(),
      purgeFillers: async () => {
        await admin.purge(names.origin, { filter: this.#filler });
      },
      note: (text) => {
        this.#note(text);
      },
    });
    this.#publisher = publisher;
    this.#publishing = publisher.run().catch((error: unknown) => {
      const { onEvent } = this.#options;
      onEvent({
        kind: 'harness',
        atMs: now(),
        reason: `publishing: ${toErrorData(error).message}`,
      });
    });
  }

  /** Resolves when what was sent has arrived. */
  async #pause(): Promise<void> {
    this.#publisher?.stop();
    await this.#publishing;
  }

  /** False: there is nothing that it could strike by now. */
  async strike(action: Change): Promise<boolean> {
    switch (action.kind) {
      case 'originDelete':
        return 'next' in action.range ? false : this.#delete(action.range);
      case 'originPurge':
        return typeof action.to === 'number' ? this.#purge(action.to - 1) : false;
      case 'originExpire':
        return this.#purge(this.#stream.endOf(1, action.count));
      case 'originRecreate':
        return this.#recreate(action.messages);
    }
  }

  async #delete({ first, last }: SeqRange): Promise<boolean> {
    const { names, admin } = this.#options;
    const range = { first, last: Math.min(last, this.#removable) };
    if (this.#stream.remove(range) === 0) return false;
    await this.#remember(range);
    const seqs = [...this.#content.runs(range)].flatMap((run) =>
      Array.from({ length: run.last - run.first + 1 }, (_, at) => run.first + at),
    );
    for (let at = 0; at < seqs.length; at += DELETES_AT_A_TIME) {
      const part = seqs.slice(at, at + DELETES_AT_A_TIME);
      await Promise.all(part.map((seq) => admin.deleteMessage(names.origin, seq)));
    }
    return true;
  }

  async #purge(upTo: number): Promise<boolean> {
    const { names, admin } = this.#options;
    const range = { first: 1, last: Math.min(upTo, this.#removable) };
    if (this.#stream.remove(range) === 0) return false;
    await this.#remember(range);
    await admin.purge(names.origin, { seq: range.last + 1 });
    return true;
  }

  async #recreate(messages: number): Promise<boolean> {
    if (this.#acknowledged === 0) return false;
    await this.#pause();
    try {
      // What is still on its way is stored, and mirrored, before the stream goes.
      const last = await patiently(() => this.#lastStored());
      await this.#remember({ first: 1, last });
    } catch (error) {
      // The stream is there as it was, and the mirror is owed the rest of it.
      this.#publish(this.#acknowledged);
      throw error;
    }
    await this.#replace(messages);
    return true;
  }

  /** Errors: harness, when it was begun and not ended: the mirror is owed what nobody publishes. */
  async #replace(messages: number): Promise<void> {
    const { names, admin, plan } = this.#options;
    const reborn = { first: 1, last: messages, messages, rate: null, gaps: [] };
    try {
      await patiently(() => admin.deleteStream(names.origin));
      this.#present = this.#make({ ...plan, ...reborn }, this.#lives++);
      if (this.#isOver) return;
      await patiently(() => this.create());
    } catch (error) {
      const text = `the origin could not be made again: ${toErrorData(error).message}`;
      throw new LockstepError('harness', text);
    }
    this.#publish(0);
  }

  async #remember(range: SeqRange): Promise<void> {
    await this.#read(this.#taken, range);
  }

  /** On its leader: a follower may be behind, and what it lacks would be taken for lost. */
  async #read(copy: StreamCopy, range: SeqRange): Promise<void> {
    const { names, access, admin } = this.#options;
    const { leader } = await admin.placement(names.origin);
    await copy.read(access, { stream: names.origin, replica: leader, range });
  }

  async #report(): Promise<LedgerReport> {
    const { names, access } = this.#options;
    const { first, last, messages, deleted } = await access.api.stream(names.origin);
    const range = { first: Math.max(1, first), last };
    await this.#read(this.#left, range);
    const present = this.#left.held();
    this.#tellMore(last);
    const made = [...this.#content.runs({ first: 1, last: this.#stored })];
    this.#tellLost(subtract(made, present));
    const end = Math.max(this.#content.last, last);
    return {
      origin: this.#lives > 1 ? this.#content.state() : { first, last, messages, deleted },
      sentinel: this.#content.sentinel,
      tailGap: null,
      delivered: setOf([...made, ...present, ...this.#taken.held()]).ranges(),
      passedOver: subtract(span(1, end), present),
      blocks: this.#left.blocks(),
    };
  }

  #lastStored(): Promise<number> {
    const { names, connection, access } = this.#options;
    return lastStored({
      ...{ connection, stream: names.origin, subject: this.#filler },
      ...{ api: access.api, timeoutMs: access.settings.timeoutMs },
    });
  }

  /** Whatever is there beyond what was to be published, the mirror is not to blame for. */
  #tellMore(last: number): void {
    const { onEvent, now } = this.#options;
    if (last <= this.#present.last) return;
    const more = `the origin holds ${this.#present.last + 1} to ${last}, which were not to be made`;
    onEvent({ kind: 'harness', atMs: now(), reason: `${more}: messages were stored twice` });
  }

  /** By sequence; one that was taken out and made anew may be there twice. */
  #records(range: SeqRange): RecordDigest[] {
    const records = [...this.#left.records(range), ...this.#taken.records(range)];
    return records.sort((one, other) => one.seq - other.seq);
  }

  /** What the origin acknowledged and no fault took out has to be there. */
  #tellLost(absent: readonly SeqRange[]): void {
    if (this.#lives > 1) return;
    const { onEvent, now } = this.#options;
    for (const range of absent) {
      const seq = this.#stream.nextSeq(range.first);
      if (seq === undefined || seq > range.last) continue;
      onEvent({
        ...{ kind: 'violation', property: 'what is acknowledged is kept', slot: null, seq },
        ...{ text: `the origin has lost ${rangeText(range)}`, atMs: now() },
      });
    }
  }

  /** The highest sequence of the first life that is known to have been stored. */
  get #stored(): number {
    return this.#lives > 1 ? (this.#taken.held().at(-1)?.last ?? 0) : this.#acknowledged;
  }

  get #acknowledged(): number {
    return this.#publisher?.acknowledged ?? 0;
  }

  /** Only what exists by now can go, and never the sentinel. */
  get #removable(): number {
    return Math.min(this.#acknowledged, this.#content.sentinel - 1);
  }

  get #filler(): string {
    return `${this.#options.names.prefix}filler`;
  }

  #make(plan: MadeOriginPlan, life: number): OriginContent {
    const { seed, hasher } = this.#options;
    return new OriginContent(plan, {
      seed,
      hasher,
      allocate: (size) => new Uint8Array(size),
      life,
    });
  }

  #note(text: string): void {
    const { onEvent, now } = this.#options;
    onEvent({ kind: 'note', atMs: now(), text });
  }
}
