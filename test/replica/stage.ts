/** A cluster of hosts in one thread: queues instead of ports, a clock that a test moves. */
import { loadHasher } from '../../src/base/hasher.js';
import { TICK_MS } from '../../src/base/limits.js';
import type { Member } from '../../src/base/member.js';
import { createPrng } from '../../src/base/prng.js';
import type { OriginCommand, OriginFrame } from '../../src/mirror/types.js';
import { OriginContent } from '../../src/origin/content.js';
import { OriginService } from '../../src/origin/service.js';
import type { Message, Persist } from '../../src/raft/types.js';
import { ReplicaHost, type Inbox } from '../../src/replica/host.js';
import type { ReplicaLimits } from '../../src/replica/replica.js';
import type { Input, ReplicaEvent } from '../../src/replica/types.js';
import type { MadeOriginPlan } from '../../src/scenario/types.js';
import { Ledger } from '../../src/verdict/ledger.js';

const hasher = await loadHasher();

export interface StageMember {
  readonly member: Member;
  readonly host: ReplicaHost;
  readonly peers: Message[];
  readonly frames: OriginFrame[];
  readonly orders: Input[];
  readonly events: ReplicaEvent[];
  readonly writes: Persist[];
  readonly sent: Message[];
  alive: boolean;
  /** Writes complete in the turn that issued them; else when the test says so. */
  autoPersist: boolean;
}

export interface StageOptions {
  readonly replicas?: number;
  readonly skip?: 'entries' | 'range';
  readonly timers?: boolean;
  readonly limits?: Partial<ReplicaLimits>;
}

export class Stage {
  now = 0;
  readonly members: StageMember[];
  readonly origin: OriginService;
  readonly ledger = new Ledger();
  /** Links that are cut, as `from>to`. */
  readonly cut = new Set<string>();
  /** Called before each proposal of a member. */
  beforeAdvance: (member: StageMember) => void = () => undefined;

  constructor(plan: MadeOriginPlan, options: StageOptions = {}) {
    const content = new OriginContent(plan, {
      seed: 1,
      hasher,
      allocate: (size) => new Uint8Array(size),
    });
    this.origin = new OriginService(content, {
      ledger: this.ledger,
      rate: plan.rate,
      timeScale: 0.05,
    });
    const members = Array.from({ length: options.replicas ?? 3 }, (_, at) => `r${at + 1}.1`);
    this.members = members.map((member) => this.#member(member, members, options));
  }

  get serving(): StageMember | undefined {
    return this.members.find(({ alive, host }) => alive && host.replica.serving);
  }

  of(member: Member): StageMember {
    return this.members.find((known) => known.member === member)!;
  }

  /** One tick of time: everybody takes turns until nothing is left to do. */
  step(): void {
    this.now += TICK_MS;
    for (let busy = true; busy;) {
      busy = false;
      for (const member of this.members) {
        if (member.alive && member.host.turn(inboxOf(member))) busy = true;
      }
      for (const { to, frame } of this.origin.pump(this.now)) {
        const target = this.of(to);
        if (target.alive) target.frames.push(frame);
        busy = true;
      }
      busy ||= this.members.some(
        ({ alive, peers, frames, orders }) =>
          alive && peers.length + frames.length + orders.length > 0,
      );
    }
  }

  /** Steps until it holds; fails after `ticks`. */
  until(holds: () => boolean, ticks = 2_000): void {
    for (let tick = 0; tick < ticks; tick++) {
      if (holds()) return;
      this.step();
    }
    throw new Error(`not within ${ticks} ticks`);
  }

  isolate(member: Member): void {
    for (const { member: other } of this.members) {
      this.cut.add(`${member}>${other}`);
      this.cut.add(`${other}>${member}`);
    }
  }

  #member(member: Member, members: readonly Member[], options: StageOptions): StageMember {
    const stage: StageMember = {
      member,
      peers: [],
      frames: [],
      orders: [],
      events: [],
      writes: [],
      sent: [],
      alive: true,
      autoPersist: true,
      host: undefined as unknown as ReplicaHost,
    };
    const host = new ReplicaHost(
      {
        member,
        members,
        prng: createPrng(7).fork(member),
        hasher,
        skip: options.skip ?? 'entries',
        timeScale: 0.05,
        timers: options.timers ?? true,
        limits: options.limits ?? {},
        allocate: (size) => new Uint8Array(size),
      },
      {
        now: () => this.now,
        persist: (write) => {
          stage.writes.push(write);
          if (stage.autoPersist) stage.host.completed(write.ticket);
        },
        send: (message) => {
          stage.sent.push(message);
          const target = this.of(message.to);
          if (target.alive && !this.cut.has(`${member}>${message.to}`)) target.peers.push(message);
        },
        origin: (command: OriginCommand) => {
          this.origin.command(member, command, this.now);
        },
        report: (event) => {
          stage.events.push(event);
        },
        recover: () => null,
        beforeAdvance: () => {
          this.beforeAdvance(stage);
        },
      },
    );
    return Object.assign(stage, { host });
  }
}

function inboxOf(member: StageMember): Inbox {
  return {
    order: () => member.orders.shift(),
    peer: () => member.peers.shift(),
    frame: () => member.frames.shift(),
    peersWait: () => member.peers.length > 0,
  };
}

export function synthetic(
  messages: number,
  gaps: { after: number; count: number }[] = [],
): MadeOriginPlan {
  return { kind: 'synthetic', messages, size: 32, rate: null, gaps };
}
