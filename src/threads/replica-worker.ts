/**
 * A replica's thread: wires ports to the host loop and answers the control plane. It knows neither
 * scenario nor verdict; what it sees it reports to the main thread once a turn.
 */
import { threadId, type MessagePort } from 'node:worker_threads';
import { LockstepError, toErrorData, type Reply } from '../base/errors.js';
import type { Hasher } from '../base/hasher.js';
import type { Member } from '../base/member.js';
import { createPrng } from '../base/prng.js';
import type { OriginFrame } from '../mirror/types.js';
import type { Message } from '../raft/types.js';
import { ReplicaHost, type Inbox } from '../replica/host.js';
import type { HostIo, Input } from '../replica/types.js';
import type { Arm } from '../scenario/arms.js';
import { copyReport } from '../verdict/copy.js';
import { SharedConditions } from './conditions.js';
import { Edge } from './edge.js';
import { HostClock } from './host-clock.js';
import { HostFaults } from './host-faults.js';
import { Link } from './links.js';
import type { MemberFault, ReplicaControl, ReplicaStart } from './protocol.js';
import { answer } from './reply.js';
import { Reporter } from './reporter.js';
import { SegmentTable } from './segments.js';

const WRITE_FAILED = toErrorData(new LockstepError('writeFailed', 'the journal refused a write'));

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

  arm(arm: Arm): Reply<null> {
    return answer(() => {
      this.#replica.faults.arms.add(arm);
      return null;
    });
  }

  inject(fault: MemberFault, to: Member | 'best' | null): Reply<null> {
    return answer(() => this.#replica.faults.inject(fault, to));
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
    return answer(() => [...this.#replica.faults.arms.lastSeen()]);
  }

  halt(): Reply<null> {
    return answer(() => this.#replica.halt());
  }

  get #replica(): RunningReplica {
    if (this.#running !== null) return this.#running;
    throw new LockstepError('harness', 'the replica was not started');
  }
}

/** A way out of this thread: a link behind its edge. */
interface Exit {
  readonly link: Link;
  readonly edge: Edge;
}

class RunningReplica {
  readonly host: ReplicaHost;
  readonly faults: HostFaults;
  readonly #reporter: Reporter;
  readonly #peers = new Map<Member, Exit>();
  readonly #origin: Exit;
  readonly #inbox: PortInbox;
  readonly #clock: HostClock;
  #ticker: NodeJS.Timeout;
  #tickMs: number;
  #again: NodeJS.Immediate | null = null;

  constructor(start: ReplicaStart, hasher: Hasher) {
    const { members, member } = start;
    const conditions = new SharedConditions(members.length, start.conditions);
    const table = new SegmentTable();
    const wake = (): void => {
      this.#turn();
    };
    const prng = createPrng(start.seed).fork(start.slot);
    const from = members.indexOf(member);
    this.#clock = new HostClock(conditions, from);
    const exit = (port: MessagePort, to: number): Exit => {
      const edge = new Edge(conditions, { from, to }, prng.fork(`edge ${to}`));
      return { link: new Link(port, table, wake), edge };
    };
    for (const peer of start.peers) {
      this.#peers.set(peer.member, exit(peer.port, members.indexOf(peer.member)));
    }
    this.#origin = exit(start.origin, members.length);
    const peers = [...this.#peers.values()].map(({ link }) => link);
    this.#inbox = new PortInbox(peers, this.#origin.link);
    this.#reporter = new Reporter(start.reports, member);
    this.faults = new HostFaults({
      start,
      conditions,
      reporter: this.#reporter,
      host: () => this.host,
      strikeOrigin: (at) => {
        this.#origin.link.sendStrike(at);
      },
    });
    this.host = new ReplicaHost(
      {
        member,
        members,
        prng,
        hasher,
        skip: start.skip,
        timeScale: start.timeScale,
        timers: start.timers,
        allocate: (size) => new Uint8Array(size),
      },
      this.#io(),
    );
    this.#tickMs = this.#clock.tickMs;
    this.#ticker = setInterval(wake, this.#tickMs);
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

  halt(): null {
    clearInterval(this.#ticker);
    if (this.#again !== null) clearImmediate(this.#again);
    for (const { link, edge } of [...this.#peers.values(), this.#origin]) {
      edge.close();
      link.close();
    }
    this.faults.close();
    this.#reporter.close();
    return null;
  }

  #io(): HostIo {
    return {
      now: () => this.#clock.now(),
      persist: (write) => {
        // A memory journal: what was handed over is as durable as this thread's life.
        this.host.completed(write.ticket, this.faults.failsWrites ? WRITE_FAILED : null);
      },
      send: (message) => {
        const exit = this.#peers.get(message.to);
        if (exit === undefined) return;
        const { link, edge } = exit;
        if (edge.isCalm) link.sendMessage(message);
        else edge.pass(() => link.sendMessage(message));
      },
      origin: (command) => {
        const { link, edge } = this.#origin;
        if (edge.isCalm) link.sendCommand(command);
        else edge.pass(() => link.sendCommand(command));
      },
      report: (event) => {
        this.#reporter.event(event);
      },
      recover: () => null,
      beforeAdvance: (replica) => {
        this.faults.fireDue(replica);
      },
    };
  }

  #turn(): void {
    const more = this.host.turn(this.#inbox);
    this.#reporter.turnEnded(this.host);
    this.faults.turnEnded();
    if (this.#clock.tickMs !== this.#tickMs) this.#tickAnew();
    if (!more || this.#again !== null) return;
    this.#again = setImmediate(() => {
      this.#again = null;
      this.#turn();
    });
  }

  /** The clock has another speed: ticks come as it says. */
  #tickAnew(): void {
    clearInterval(this.#ticker);
    this.#tickMs = this.#clock.tickMs;
    this.#ticker = setInterval(() => {
      this.#turn();
    }, this.#tickMs);
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
