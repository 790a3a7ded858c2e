/**
 * One slot of a simulation: its disk, and while it lives a host with its queues and its own clock.
 * Turns happen when something waits or a tick is due, one at a time; a frozen member lets things
 * wait. A fault may strike in the middle of a turn: it dies there, or is held up and goes on later.
 */
import type { ErrorData } from '../base/errors.js';
import type { Prng } from '../base/prng.js';
import { TICK_MS } from '../base/limits.js';
import type { Hasher } from '../base/hasher.js';
import type { Member, Slot } from '../base/member.js';
import type { OriginCommand, OriginFrame } from '../mirror/types.js';
import type { WindowLimits } from '../origin/window.js';
import type { Message, Persist } from '../raft/types.js';
import { ReplicaHost } from '../replica/host.js';
import type { Replica, ReplicaLimits } from '../replica/replica.js';
import type { HostIo, Input, ReplicaEvent, ReplicaView } from '../replica/types.js';
import type { MadeOriginPlan, Plan } from '../scenario/types.js';
import type { Agenda } from './agenda.js';
import type { Conditions } from './conditions.js';
import { MemoryDisk } from './disk.js';
import { SimMemory } from './memory.js';
import { Queues } from './queues.js';
import { ReplicaThrew } from './thrown.js';
import type { Watched } from './watch.js';

/** What of a plan a simulated world is made from. */
export interface WorldPlan extends Pick<
  Plan,
  'seed' | 'replicas' | 'election' | 'skip' | 'timeScale'
> {
  readonly origin: MadeOriginPlan;
  /** Not given: as in base/limits.ts, with pre-vote and check-quorum. */
  readonly tuning?: Tuning;
  /** Not given: everything is there from the start, at its rate, with payloads of one size. */
  readonly load?: LoadShape;
}

/** How messages come to be and what they are like, beside the plan of the origin. */
export interface LoadShape {
  /** How many of the last, the sentinel among them, exist only once the core was healed. */
  readonly heldBack: number;
  readonly burst: Burst | null;
  /** Bytes of the largest payload; the smallest is the origin's. */
  readonly sizeMax: number;
  /** One message in this many carries headers. */
  readonly headersEvery: number;
}

/** So many messages at once, again and again. */
export interface Burst {
  readonly messages: number;
  readonly everyMs: number;
}

/** What of a replica and of the origin's window a run may set. */
export interface Tuning {
  readonly preVote: boolean;
  readonly checkQuorum: boolean;
  readonly limits: Partial<ReplicaLimits>;
  readonly window?: WindowLimits;
}

/** Where what a member does goes. `atUs` is when it does it, never before now. */
export interface NodeOutputs {
  sent(node: SimNode, message: Message, atUs: number): void;
  received(node: SimNode, message: Message, replica: Replica): void;
  /** What it takes in next; the replica is as it was before. */
  reads(node: SimNode, message: Message, replica: Replica): void;
  takesIn(node: SimNode, frame: OriginFrame): void;
  ordered(node: SimNode, order: Input, replica: Replica): void;
  commanded(node: SimNode, command: OriginCommand, atUs: number): void;
  written(node: SimNode, write: Persist): void;
  reported(node: SimNode, event: ReplicaEvent, atUs: number): void;
  /** Before and between the proposals of a turn: faults armed for a state fire here. */
  armed(node: SimNode, view: ReplicaView): void;
  turned(node: SimNode, replica: Replica): void;
}

export interface NodeOptions {
  readonly agenda: Agenda;
  readonly slot: Slot;
  readonly member: Member;
  readonly members: readonly Member[];
  readonly plan: WorldPlan;
  readonly conditions: Conditions;
  readonly hasher: Hasher;
  /** Of this slot alone. */
  readonly prng: Prng;
  readonly outputs: NodeOutputs;
}

/** Of 1,000: however many faults slow a clock down, it goes on. */
const CLOCK_RATE_MIN = 50;

/** Unwinds the turn in which a member dies. */
class Died extends Error {}

export class SimNode implements Watched {
  readonly slot: Slot;
  readonly member: Member;
  readonly disk: MemoryDisk;
  /** Where what it receives is copied to. */
  readonly memory = new SimMemory();
  /** What each turn takes beyond what it takes anyway. */
  slowUs = 0;
  readonly #options: NodeOptions;
  readonly #agenda: Agenda;
  readonly #prng: Prng;
  readonly #inbox: Queues;
  /** The speed of its clock, of 1,000, and what faults add to it. */
  readonly #clockRate: number;
  #hurriedBy = 0;
  /** What the clock showed when its speed was changed last, and when that was. */
  #clockSetMs = 0;
  #clockSetUs = 0;
  /** Of the chain of ticks: another speed begins another one. */
  #ticking = 0;
  #host: ReplicaHost | null = null;
  #life = 0;
  #inTurn = false;
  /** The turn is in the world around: what is thrown now is no fault of the replica. */
  #isOutside = false;
  /** How far this turn is ahead of the world: it was held up and goes on later. */
  #aheadUs = 0;
  #heldUp = false;
  #busyUntilUs = 0;
  #turnAtUs: number | null = null;
  /** Unless it was put off, or the life that it was meant for is over. */
  readonly #turnOf = (life: number): void => {
    if (life === this.#life && this.#turnAtUs === this.#agenda.nowUs) this.#turn();
  };

  constructor(options: NodeOptions) {
    this.#options = options;
    this.#agenda = options.agenda;
    this.slot = options.slot;
    this.member = options.member;
    this.#prng = options.prng;
    this.#inbox = new Queues(this, options.outputs);
    const { driftPerMille } = options.conditions;
    this.#clockRate = 1_000 + this.#prng.between('drift', -driftPerMille, driftPerMille);
    this.disk = new MemoryDisk(
      options.agenda,
      this.#prng.fork('disk'),
      options.conditions,
      options.hasher,
    );
  }

  get life(): number {
    return this.#life;
  }

  get clockMs(): number {
    return this.#clockSetMs + ((this.#localUs - this.#clockSetUs) * this.#speed) / 1_000_000;
  }

  get ticks(): number {
    return this.#host?.replica.ticks ?? 0;
  }

  get quietTicks(): number {
    return this.#host?.replica.quietTicks ?? 0;
  }

  get peersWait(): boolean {
    return this.#inbox.peersWait();
  }

  /** Null while the member is dead. */
  get replica(): Replica | null {
    return this.#host?.replica ?? null;
  }

  get isAlive(): boolean {
    return this.#host !== null;
  }

  get isFrozen(): boolean {
    return this.#busyUntilUs - this.#agenda.nowUs > this.#turnUs;
  }

  /** Starts from what the disk holds. */
  start(): void {
    const { member, members, plan, hasher } = this.#options;
    const { preVote = true, checkQuorum = true, limits = {} } = plan.tuning ?? {};
    const life = ++this.#life;
    this.#busyUntilUs = this.#agenda.nowUs;
    this.#turnAtUs = null;
    this.#host = new ReplicaHost(
      {
        member,
        members,
        prng: life === 1 ? this.#prng : this.#prng.fork(`life ${life}`),
        hasher,
        skip: plan.skip,
        timeScale: plan.timeScale,
        timers: plan.election !== 'conductor',
        preVote,
        checkQuorum,
        limits,
        allocate: (size) => new Uint8Array(size),
      },
      this.#io(),
    );
    this.#options.outputs.turned(this, this.#host.replica);
    this.#tickLater(life);
    this.wake();
  }

  /** Has told everything that it did up to now. */
  settle(): void {
    if (this.#host !== null) this.#options.outputs.turned(this, this.#host.replica);
  }

  /** Dies at once, in the middle of its turn if it is in one. */
  crash(): void {
    this.#host = null;
    this.#inbox.clear();
    this.disk.crash();
    if (this.#inTurn) throw new Died();
  }

  /** Does nothing for this long; in a turn, the rest of it happens afterwards. */
  freeze(forUs: number): void {
    this.#heldUp = this.#inTurn;
    if (this.#inTurn) this.#aheadUs += forUs;
    else this.#busyUntilUs = Math.max(this.#busyUntilUs, this.#agenda.nowUs + forUs);
  }

  /** By how much faults make its clock faster, of 1,000. */
  get hurriedBy(): number {
    return this.#hurriedBy;
  }

  /** Its clock runs so much faster from here on, of 1,000; slower, when it is negative. */
  hurry(byPerMille: number): void {
    if (byPerMille === 0) return;
    this.#clockSetMs = this.clockMs;
    this.#clockSetUs = this.#localUs;
    this.#hurriedBy += byPerMille;
    if (this.#host !== null) this.#tickLater(this.#life);
  }

  thaw(): void {
    this.#busyUntilUs = Math.min(this.#busyUntilUs, this.#agenda.nowUs);
    this.#turnAtUs = null;
    this.wake();
  }

  receive(message: Message): void {
    if (this.#host === null) return;
    this.#options.outputs.received(this, message, this.#host.replica);
    this.#inbox.peers.push(message);
    this.wake();
  }

  receiveFrame(frame: OriginFrame): void {
    if (this.#host === null) return;
    this.#inbox.frames.push(frame);
    this.wake();
  }

  order(order: Input): void {
    if (this.#host === null) return;
    this.#inbox.orders.push(order);
    this.wake();
  }

  /** A fault that fires inside a turn of this member. */
  input(input: Input): void {
    if (this.#host === null) return;
    this.#options.outputs.ordered(this, input, this.#host.replica);
    this.#host.input(input);
  }

  /** A turn follows as soon as this member is free. */
  wake(): void {
    if (this.#host === null || this.#inTurn) return;
    const atUs = Math.max(this.#agenda.nowUs, this.#busyUntilUs);
    if (this.#turnAtUs !== null && this.#turnAtUs <= atUs) return;
    this.#turnAtUs = atUs;
    this.#agenda.at(atUs, this.#turnOf, this.#life);
  }

  get #speed(): number {
    return Math.max(CLOCK_RATE_MIN, this.#clockRate + this.#hurriedBy);
  }

  get #turnUs(): number {
    return this.#options.conditions.turnUs + this.slowUs;
  }

  get #localUs(): number {
    return this.#agenda.nowUs + this.#aheadUs;
  }

  #turn(): void {
    this.#turnAtUs = null;
    const host = this.#host;
    if (host === null) return;
    if (this.#busyUntilUs > this.#agenda.nowUs) return this.wake();
    const more = this.#takeTurn(host);
    this.#busyUntilUs = this.#localUs + this.#turnUs;
    this.#aheadUs = 0;
    if (this.#host === null) return;
    if (this.#heldUp) this.#agenda.at(this.#busyUntilUs, () => this.settle());
    else this.settle();
    this.#heldUp = false;
    if (more || this.#inbox.orders.length > 0) this.wake();
  }

  #takeTurn(host: ReplicaHost): boolean {
    this.#inTurn = true;
    this.#isOutside = false;
    try {
      return host.turn(this.#inbox);
    } catch (error) {
      if (error instanceof Died) return false;
      throw this.#isOutside ? error : new ReplicaThrew(this.slot, error);
    } finally {
      this.#inTurn = false;
    }
  }

  /** A microsecond behind the tick, so that no rounding of the member's clock hides it. */
  #tickLater(life: number): void {
    const ticking = ++this.#ticking;
    const tickUs = Math.ceil((TICK_MS * 1_000_000) / this.#speed);
    const startUs = this.#agenda.nowUs + 1;
    let count = 0;
    const tick = (): void => {
      if (life !== this.#life || ticking !== this.#ticking || this.#host === null) return;
      this.wake();
      this.#agenda.at(startUs + ++count * tickUs, tick);
    };
    this.#agenda.at(startUs + ++count * tickUs, tick);
  }

  #io(): HostIo {
    const { outputs } = this.#options;
    const completed = (ticket: number, error: ErrorData | null): void => {
      this.#host!.completed(ticket, error);
      this.wake();
    };
    const outside =
      <T>(act: (what: T) => void) =>
      (what: T): void => {
        this.#isOutside = true;
        act(what);
        this.#isOutside = false;
      };
    return {
      now: () => this.clockMs,
      persist: outside((write: Persist) => {
        outputs.written(this, write);
        this.disk.write(write, this.#localUs, completed);
      }),
      send: outside((message: Message) => {
        outputs.sent(this, message, this.#localUs);
      }),
      origin: outside((command: OriginCommand) => {
        outputs.commanded(this, command, this.#localUs);
      }),
      report: outside((event: ReplicaEvent) => {
        outputs.reported(this, event, this.#localUs);
      }),
      recover: () => this.disk.recover(),
      beforeAdvance: outside((view: ReplicaView) => {
        outputs.armed(this, view);
      }),
    };
  }
}
