/**
 * A replica's thread: wires ports to the host loop and answers the control plane. It knows neither
 * scenario nor verdict; what it sees it reports to the main thread once a turn.
 */
import { threadId } from 'node:worker_threads';
import { LockstepError, type Reply } from '../base/errors.js';
import type { Hasher } from '../base/hasher.js';
import { TICK_MS } from '../base/limits.js';
import type { Member, Slot } from '../base/member.js';
import { createPrng } from '../base/prng.js';
import type { OriginFrame } from '../mirror/types.js';
import type { Message } from '../raft/types.js';
import { ReplicaHost, type Inbox } from '../replica/host.js';
import type { HostIo, Input, ReplicaView } from '../replica/types.js';
import { Arms, type Arm } from '../scenario/arms.js';
import { breaksMember, FaultBudget, OVER_BUDGET } from '../scenario/budget.js';
import { transferTarget } from '../scenario/target.js';
import type { FaultAction } from '../scenario/types.js';
import { copyReport } from '../verdict/copy.js';
import { monotonicMs } from './clock.js';
import { Link } from './links.js';
import type { MemberFault, ReplicaControl, ReplicaStart } from './protocol.js';
import { answer } from './reply.js';
import { Reporter } from './reporter.js';
import { SegmentTable } from './segments.js';

/** Blocks the calling thread: nothing of it runs meanwhile, timers and ports included. */
function blockFor(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

export class ReplicaWorker implements ReplicaControl {
  readonly #hasher: Hasher;
  readonly #file: string;
  #running: RunningReplica | null = null;

  /** @param file  the compiled file that this worker was started from */
  constructor(hasher: Hasher, file: string) {
    this.#hasher = hasher;
    this.#file = file;
  }

  start(start: ReplicaStart): Reply<{ threadId: number; file: string }> {
    return answer(() => {
      this.#running = new RunningReplica(start, this.#hasher);
      return { threadId, file: this.#file };
    });
  }

  probe(): Reply<null> {
    return answer(() => this.#replica.probe());
  }

  campaign(order: { term: number; deadLeader: Member | null }): Reply<null> {
    return answer(() => this.#replica.order({ type: 'campaign', ...order }));
  }

  inject(fault: MemberFault, to: Member | 'best' | null): Reply<null> {
    return answer(() => {
      this.#replica.enact(fault, to);
      return null;
    });
  }

  status(): ReturnType<ReplicaControl['status']> {
    return answer(() => this.#replica.host.replica.status());
  }

  report(): ReturnType<ReplicaControl['report']> {
    return answer(() => copyReport(this.#replica.host.replica.store));
  }

  records(range: { first: number; last: number }): ReturnType<ReplicaControl['records']> {
    return answer(() => this.#replica.host.replica.store.partDigests(range));
  }

  lastSeen(): ReturnType<ReplicaControl['lastSeen']> {
    return answer(() => [...this.#replica.arms.lastSeen()]);
  }

  halt(): Reply<null> {
    return answer(() => this.#replica.halt());
  }

  get #replica(): RunningReplica {
    if (this.#running !== null) return this.#running;
    throw new LockstepError('harness', 'the replica was not started');
  }
}

class RunningReplica {
  readonly host: ReplicaHost;
  readonly arms: Arms;
  readonly #start: ReplicaStart;
  readonly #budget: FaultBudget;
  readonly #reporter: Reporter;
  readonly #peers = new Map<Member, Link>();
  readonly #origin: Link;
  readonly #inbox: PortInbox;
  readonly #ticker: NodeJS.Timeout;
  #again: NodeJS.Immediate | null = null;

  constructor(start: ReplicaStart, hasher: Hasher) {
    this.#start = start;
    this.#budget = new FaultBudget(new Int32Array(start.budget), start.tolerated);
    this.arms = new Arms(start.arms, start.slot, this.#budget);
    const table = new SegmentTable();
    const wake = (): void => {
      this.#turn();
    };
    for (const peer of start.peers) this.#peers.set(peer.member, new Link(peer.port, table, wake));
    this.#origin = new Link(start.origin, table, wake);
    this.#inbox = new PortInbox([...this.#peers.values()], this.#origin);
    this.#reporter = new Reporter(start.reports, start.member);
    this.host = new ReplicaHost(
      {
        member: start.member,
        members: start.members,
        prng: createPrng(start.seed).fork(start.slot),
        hasher,
        skip: start.skip,
        timeScale: start.timeScale,
        timers: start.timers,
        allocate: (size) => new Uint8Array(size),
      },
      this.#io(),
    );
    this.#ticker = setInterval(wake, TICK_MS);
  }

  order(input: Input): null {
    this.#inbox.push(input);
    this.#turn();
    return null;
  }

  /** Makes this member heard by all peers; their answers show in the views that it reports. */
  probe(): null {
    this.#reporter.watch();
    return this.order({ type: 'probe' });
  }

  enact(action: FaultAction, to: Member | 'best' | null): void {
    switch (action.kind) {
      case 'stepDown':
        this.host.input({ type: 'stepDown', to });
        break;
      case 'failPropose':
        this.host.input({
          type: 'failPropose',
          count: action.times,
          code: action.code,
        });
        break;
      case 'freeze':
        this.#reporter.flush(this.host);
        blockFor(action.forMs);
        break;
      case 'dropConsumer':
        this.#origin.sendDropConsumer();
        break;
      case 'kill':
        this.#reporter.flush(this.host);
        process.exit(0);
    }
  }

  halt(): null {
    clearInterval(this.#ticker);
    if (this.#again !== null) clearImmediate(this.#again);
    for (const link of this.#peers.values()) link.close();
    this.#origin.close();
    this.#reporter.close();
    return null;
  }

  #io(): HostIo {
    return {
      now: monotonicMs,
      persist: (write) => {
        // A memory journal: what was handed over is as durable as this thread's life.
        this.host.completed(write.ticket);
      },
      send: (message) => this.#peers.get(message.to)?.sendMessage(message),
      origin: (command) => {
        this.#origin.sendCommand(command);
      },
      report: (event) => {
        this.#reporter.event(event);
      },
      recover: () => null,
      beforeAdvance: (replica) => {
        this.#fireDue(replica);
      },
    };
  }

  #turn(): void {
    const more = this.host.turn(this.#inbox);
    this.#reporter.turnEnded(this.host);
    if (!more || this.#again !== null) return;
    this.#again = setImmediate(() => {
      this.#again = null;
      this.#turn();
    });
  }

  #fireDue(replica: ReplicaView): void {
    for (let arm = this.arms.due(replica); arm !== undefined; arm = this.arms.due(replica)) {
      this.#fire(arm);
    }
  }

  #fire(arm: Arm): void {
    const { action } = arm.fault;
    const slot = this.#start.slots.indexOf(this.#start.slot);
    if (breaksMember(action) && !this.#budget.break(slot)) {
      this.#reporter.skipped(arm.at, OVER_BUDGET);
      return;
    }
    this.#reporter.fault(arm.at, 'installed');
    const to = transferTarget(action, (named) => this.#memberOf(named));
    this.enact(action, to);
    if (action.kind !== 'freeze') return;
    this.#budget.mend(slot);
    this.#reporter.fault(arm.at, 'healed');
  }

  #memberOf(slot: Slot): Member {
    return this.#start.members[this.#start.slots.indexOf(slot)]!;
  }
}

/** Pulls from the ports: orders of main, then peers in turn, then the origin. */
class PortInbox implements Inbox {
  readonly #peers: readonly Link[];
  readonly #origin: Link;
  readonly #orders: Input[] = [];
  #next = 0;

  constructor(peers: readonly Link[], origin: Link) {
    this.#peers = peers;
    this.#origin = origin;
  }

  push(order: Input): void {
    this.#orders.push(order);
  }

  order(): Input | undefined {
    return this.#orders.shift();
  }

  /** Peers take turns, so that a busy one cannot keep another's heartbeats unread. */
  peer(): Message | undefined {
    let tried = 0;
    while (tried++ < this.#peers.length) {
      const received = this.#peers[this.#next++ % this.#peers.length]!.take();
      if (received?.kind === 'message') return received.message;
    }
    return undefined;
  }

  frame(): OriginFrame | undefined {
    const received = this.#origin.take();
    return received?.kind === 'frame' ? received.frame : undefined;
  }

  peersWait(): boolean {
    return this.#peers.some((peer) => peer.waits());
  }
}
