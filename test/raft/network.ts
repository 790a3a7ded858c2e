/**
 * A small deterministic network of members with journals. In a tick every living member ticks once;
 * then everything that is under way arrives, in the order of sending, until nothing is left. A test
 * that wants losses, duplicates or another order takes from the wire itself.
 */
import { invariant } from '../../src/base/errors.js';
import { createPrng } from '../../src/base/prng.js';
import { Raft, type RaftOptions } from '../../src/raft/raft.js';
import type {
  Entry,
  Message,
  Persist,
  RaftEvent,
  RaftJournal,
  RaftReady,
} from '../../src/raft/types.js';

export class Node {
  readonly member: string;
  raft: Raft | null = null;
  journal: RaftJournal;
  /** Started and not yet complete; oldest first. */
  readonly writes: Persist[] = [];
  readonly #held: { ticket: number; messages: readonly Message[] }[] = [];
  /** Entries applied since the last start. */
  applied: Entry[] = [];
  readonly events: RaftEvent[] = [];

  constructor(member: string, journal: RaftJournal) {
    this.member = member;
    this.journal = journal;
  }

  /** Takes in a drain; returns what may leave now. */
  carryOut(ready: RaftReady): Message[] {
    this.events.push(...ready.events);
    if (ready.persist !== null) this.writes.push(ready.persist);
    const last = this.writes.at(-1);
    if (last === undefined) return [...ready.sendNow, ...ready.sendAfterPersist];
    this.#held.push({ ticket: last.ticket, messages: ready.sendAfterPersist });
    return [...ready.sendNow];
  }

  /** The oldest write becomes durable; returns what waited for it. */
  complete(): Message[] {
    const write = this.writes.shift()!;
    this.write(write);
    this.raft!.persisted(write.ticket);
    const free: Message[] = [];
    while (this.#held.length > 0 && this.#held[0]!.ticket <= write.ticket) {
      free.push(...this.#held.shift()!.messages);
    }
    return free;
  }

  write({ term, vote, entries }: Persist): void {
    const first = entries[0]?.index;
    const kept =
      first === undefined
        ? this.journal.entries
        : this.journal.entries.filter(({ index }) => index < first);
    this.journal = { ...this.journal, term, vote, entries: [...kept, ...entries] };
  }

  /** Applies what is committed and durable. */
  apply(): void {
    const raft = this.raft!;
    const end = Math.min(raft.commit, raft.durableIndex);
    while (this.applied.length < end) this.applied.push(raft.entry(this.applied.length + 1)!);
    raft.appliedTo(this.applied.length);
  }

  /** Memory is gone: with it what waited for a write and writes that were not complete. */
  crash(): void {
    this.raft = null;
    this.writes.length = 0;
    this.#held.length = 0;
    this.applied = [];
  }
}

export interface NetworkOptions {
  readonly members: readonly string[];
  readonly seed?: number;
  readonly raft?: Partial<RaftOptions>;
  readonly journals?: Readonly<Record<string, RaftJournal>>;
}

/** Far more messages than one tick of a cluster that works can cause. */
const SETTLED_WITHIN = 20_000;

const EMPTY: RaftJournal = { term: 0, vote: null, baseIndex: 0, baseTerm: 0, entries: [] };

export class Network {
  readonly nodes = new Map<string, Node>();
  readonly wire: Message[] = [];
  /** All that was ever sent. */
  readonly sent: Message[] = [];
  readonly #options: NetworkOptions;
  readonly #cuts = new Set<string>();
  #starts = 0;

  constructor(options: NetworkOptions) {
    this.#options = options;
    for (const member of options.members) {
      this.nodes.set(member, new Node(member, options.journals?.[member] ?? EMPTY));
      this.start(member);
    }
  }

  node(member: string): Node {
    return this.nodes.get(member)!;
  }

  raft(member: string): Raft {
    const { raft } = this.node(member);
    invariant(raft !== null, `${member} is up`);
    return raft;
  }

  get living(): Node[] {
    return [...this.nodes.values()].filter(({ raft }) => raft !== null);
  }

  start(member: string): void {
    const node = this.node(member);
    node.raft = new Raft({
      member,
      members: this.#options.members,
      prng: createPrng(this.#options.seed ?? 1).fork(`${member}/${this.#starts++}`),
      timers: true,
      ...this.#options.raft,
      journal: node.journal,
    });
  }

  crash(member: string): void {
    this.node(member).crash();
  }

  /** One direction only. */
  cut(from: string, to: string): void {
    this.#cuts.add(`${from}>${to}`);
  }

  cutBoth(one: string, other: string): void {
    this.cut(one, other);
    this.cut(other, one);
  }

  isolate(member: string): void {
    for (const other of this.nodes.keys()) if (other !== member) this.cutBoth(member, other);
  }

  /** Only members of the same group reach each other. */
  partition(...groups: string[][]): void {
    this.heal();
    const groupOf = (member: string): number => groups.findIndex((group) => group.includes(member));
    for (const from of this.nodes.keys()) {
      for (const to of this.nodes.keys()) if (groupOf(from) !== groupOf(to)) this.cut(from, to);
    }
  }

  heal(): void {
    this.#cuts.clear();
  }

  reaches({ from, to }: Message): boolean {
    return !this.#cuts.has(`${from}>${to}`) && this.node(to).raft !== null;
  }

  /** Drains one member: its messages go on the wire; its writes wait. */
  drain(node: Node): void {
    while (node.raft!.hasReady()) this.#send(node.carryOut(node.raft!.ready()));
    node.apply();
  }

  complete(node: Node): void {
    this.#send(node.complete());
  }

  /** Everything arrives and every write completes, until nothing is under way. */
  settle(): void {
    for (let delivered = 0; ; delivered++) {
      invariant(delivered < SETTLED_WITHIN, 'messages under way come to an end');
      for (const node of this.living) this.#rest(node);
      const message = this.wire.shift();
      if (message === undefined) return;
      if (this.reaches(message)) this.raft(message.to).step(message);
    }
  }

  tick(count = 1): void {
    for (let tick = 0; tick < count; tick++) {
      for (const node of this.living) node.raft!.tick(false);
      this.settle();
    }
  }

  /** Ticks until the condition holds; fails after `most` ticks. */
  until(condition: () => boolean, most = 400): number {
    for (let ticks = 0; ticks <= most; ticks++) {
      if (condition()) return ticks;
      this.tick();
    }
    throw new Error(`not within ${most} ticks`);
  }

  /** Orders a campaign as the conductor does, and lets it play out. */
  elect(member: string): void {
    const raft = this.raft(member);
    raft.campaign({ term: raft.term, deadLeader: raft.leader });
    this.settle();
  }

  leaders(): string[] {
    return this.living.filter(({ raft }) => raft!.isLeader).map(({ member }) => member);
  }

  /** Proposes one batch of one byte to a leader; returns whether it was accepted. */
  propose(member: string, byte = 1): boolean {
    const raft = this.raft(member);
    return raft.propose(raft.term, { count: 1, bytes: Uint8Array.of(byte) }).accepted;
  }

  /** The terms of a member's log. */
  terms(member: string): number[] {
    const raft = this.raft(member);
    return Array.from({ length: raft.lastIndex }, (_, at) => raft.termAt(at + 1) ?? -1);
  }

  /** The role events of a member since last asked, in short: `leader@2 r1.1 won`. */
  roles(member: string): string[] {
    return this.node(member)
      .events.splice(0)
      .flatMap((event) =>
        event.kind === 'role'
          ? [`${event.role}@${event.term} ${event.leader ?? '-'} ${event.cause}`]
          : [`transfer ${event.state} ${event.to}`],
      );
  }

  #rest(node: Node): void {
    this.drain(node);
    while (node.writes.length > 0) {
      this.complete(node);
      this.drain(node);
    }
  }

  #send(messages: readonly Message[]): void {
    this.sent.push(...messages);
    this.wire.push(...messages);
  }
}
