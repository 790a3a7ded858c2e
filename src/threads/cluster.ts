/**
 * A running cluster of worker threads: one worker a replica, one for the origin, a port for each
 * pair. The main thread watches reports, helps elections and injects what is due by time; it is
 * never in the way of data.
 */
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { invariant, toErrorData } from '../base/errors.js';
import { slotOf, slotsOf, type Member, type Slot } from '../base/member.js';
import { Conductor, type ConductorOrder } from '../election/conductor.js';
import { armsOf, furthestSeen } from '../scenario/arms.js';
import { FaultBudget } from '../scenario/budget.js';
import { revealed } from '../scenario/connection.js';
import type { ClusterEvent, RunningCluster } from '../scenario/driver.js';
import { Pauses } from '../scenario/pauses.js';
import type { FaultPlan, Plan } from '../scenario/types.js';
import type { CopyReader, LedgerReader } from '../verdict/types.js';
import { monotonicMs } from './clock.js';
import { SharedConditions } from './conditions.js';
import { ControlledWorker } from './control.js';
import { Injector } from './injector.js';
import { meshOf, workerFile, type PeerPort } from './mesh.js';
import type { OriginControl, OriginFacts, OriginReport, ReplicaReport } from './protocol.js';
import { Pulse } from './pulse.js';
import {
  haltReplica,
  isLatenessExplained,
  lastSeenBy,
  startHandle,
  type ReplicaHandle,
} from './replica-handle.js';

const CALL_DEADLINE_MS = 10_000;
/** The judge asks for digests of everything a replica holds. */
const REPORT_DEADLINE_MS = 120_000;
const CONDUCT_EVERY_MS = 5;
/** Of a thread that a fault is to drive out of memory, or that one may. */
const HEAP_MB = 128;
const HEAP_MAYBE_MB = 512;
/** How long a report of a worker's own end may come after the end. */
const EXIT_GRACE_MS = 50;

export class ThreadCluster implements RunningCluster {
  readonly #plan: Plan;
  readonly #onEvent: (event: ClusterEvent) => void;
  readonly #replicas: readonly ReplicaHandle[];
  readonly #originWorker: ControlledWorker<OriginControl>;
  readonly #budget: FaultBudget;
  readonly #words: SharedArrayBuffer;
  readonly #conditions: SharedConditions;
  readonly #conductor: Conductor | null;
  readonly #injector: Injector;
  readonly #reportPorts: MessagePort[] = [];
  readonly #pauses = new Pauses();
  readonly #pulse = new Pulse((late) => {
    this.#onEvent({ kind: 'late', who: 'main', ...late });
  });
  #conducting: NodeJS.Timeout | null = null;
  #facts: OriginFacts | null = null;
  #closing = false;

  private constructor(plan: Plan, onEvent: (event: ClusterEvent) => void, takesMore: boolean) {
    this.#plan = plan;
    this.#onEvent = onEvent;
    const words = FaultBudget.wordsFor(plan.faults.length);
    this.#words = new SharedArrayBuffer(words * Int32Array.BYTES_PER_ELEMENT);
    this.#budget = new FaultBudget(new Int32Array(this.#words), this.#tolerated);
    // Only where a fault is to exhaust it: the limit would else be one more thing to run into.
    const runsOut = plan.faults.some(({ action }) => action.kind === 'outOfMemory');
    const heapMb = runsOut ? HEAP_MB : HEAP_MAYBE_MB;
    const isLimited = runsOut || takesMore;
    const limits = isLimited ? { resourceLimits: { maxOldGenerationSizeMb: heapMb } } : {};
    this.#conditions = new SharedConditions(plan.replicas);
    this.#replicas = slotsOf(plan.replicas).map((slot) => startHandle(slot, limits));
    this.#originWorker = new ControlledWorker<OriginControl>('origin', workerFile('origin'));
    this.#injector = new Injector({
      plan,
      onEvent,
      replicas: this.#replicas,
      origin: this.#originWorker,
      budget: this.#budget,
      conditions: this.#conditions,
      runsOut: isLimited,
    });
    const conducts = plan.election !== 'timers' && plan.replicas > 1;
    this.#conductor = conducts
      ? new Conductor({
          members: this.#members,
          viewMaxAgeMs: 300,
          probeMs: 10,
          probeMostMs: 100,
          orderMs: 150,
          restMs: 400,
        })
      : null;
  }

  static async start(
    plan: Plan,
    onEvent: (event: ClusterEvent) => void,
    takesMore = false,
  ): Promise<ThreadCluster> {
    const cluster = new ThreadCluster(plan, onEvent, takesMore);
    try {
      await cluster.#start();
      return cluster;
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Thread ids and files of the replicas' workers. */
  readonly workers: { readonly slot: Slot; readonly threadId: number; readonly file: string }[] =
    [];

  get origin(): { readonly last: number; readonly messages: number } {
    invariant(this.#facts !== null, 'the origin was started');
    return this.#facts;
  }

  readonly ledger: LedgerReader = {
    report: () => this.#originWorker.call('report', [], { deadlineMs: REPORT_DEADLINE_MS }),
    records: (range) =>
      this.#originWorker.call('records', [range], { deadlineMs: REPORT_DEADLINE_MS }),
  };

  copy(slot: Slot): CopyReader {
    const { worker } = this.#replica(slot);
    return {
      report: () => worker.call('report', [], { deadlineMs: REPORT_DEADLINE_MS }),
      records: (range) => worker.call('records', [range], { deadlineMs: REPORT_DEADLINE_MS }),
    };
  }

  now(): number {
    return monotonicMs();
  }

  async serve(): Promise<void> {
    await this.#originWorker.call('serve', [], { deadlineMs: CALL_DEADLINE_MS });
  }

  async halt(): Promise<void> {
    if (this.#conducting !== null) clearInterval(this.#conducting);
    this.#pulse.stop();
    await this.#originWorker.call('halt', [], { deadlineMs: CALL_DEADLINE_MS });
    const living = this.#replicas.filter(({ alive }) => alive);
    await Promise.all(living.map(haltReplica));
  }

  pause(ms: number): Promise<void> {
    return this.#pauses.pause(ms);
  }

  living(): Slot[] {
    return this.#replicas.filter(({ alive }) => alive).map(({ slot }) => slot);
  }

  leader(): Slot | null {
    return this.#replicas.find(({ alive, serving }) => alive && serving)?.slot ?? null;
  }

  disarm(at: number): boolean {
    return this.#budget.claim(at);
  }

  async lastSeen(): Promise<ReadonlyMap<string, number>> {
    return furthestSeen(await Promise.all(this.#replicas.map(lastSeenBy)));
  }

  release(): void {
    this.#conditions.release();
  }

  add(fault: FaultPlan): Promise<void> {
    return this.#injector.add(fault);
  }

  inject(at: number): Promise<boolean> {
    return this.#injector.inject(at);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing = true;
    if (this.#conducting !== null) clearInterval(this.#conducting);
    this.#pulse.stop();
    this.#injector.close();
    this.#pauses.wake();
    const workers = [...this.#replicas.map(({ worker }) => worker), this.#originWorker];
    await Promise.all(workers.map((worker) => worker.terminate()));
    for (const port of this.#reportPorts) port.close();
  }

  // Starting.

  get #members(): Member[] {
    return this.#replicas.map(({ member }) => member);
  }

  get #tolerated(): number {
    return FaultBudget.tolerated(this.#plan.replicas, this.#plan.beyondQuorum);
  }

  async #start(): Promise<void> {
    for (const replica of this.#replicas) this.#watchExit(replica);
    void this.#originWorker.exited.then(({ code, error }) => {
      if (!this.#closing) this.#harness(`the origin's thread ended: ${error ?? `code ${code}`}`);
    });
    const originPorts = this.#replicas.map(() => new MessageChannel());
    const pairs = meshOf(this.#members);
    const origin = this.#startOrigin(originPorts.map(({ port1 }) => port1));
    // A live one may turn out to be none: that is known before any replica is started.
    if (this.#plan.origin.kind === 'nats') await origin;
    await Promise.all([
      origin,
      ...this.#replicas.map((replica, at) =>
        this.#startReplica(replica, pairs[at]!, originPorts[at]!.port2),
      ),
    ]);
    this.#pulse.start();
    if (this.#conductor !== null) {
      this.#conducting = setInterval(() => {
        this.#conduct(this.#conductor!);
      }, CONDUCT_EVERY_MS);
    }
  }

  async #startOrigin(ports: readonly MessagePort[]): Promise<void> {
    const { port1, port2 } = new MessageChannel();
    this.#reportPorts.push(port1);
    port1.on('message', (report: OriginReport) => {
      if (report.kind === 'fault') this.#injector.originReported(report);
      else if (report.kind === 'late') this.#onEvent({ who: 'origin', ...report });
      else this.#onEvent(report);
      this.#pauses.wake();
    });
    const { origin: plan, seed, timeScale, faults } = this.#plan;
    const conditions = this.#conditions.memory;
    const links = ports.map((port, at) => ({ member: this.#members[at]!, port }));
    const secrets = plan.kind === 'nats' ? revealed(plan.connection) : {};
    this.#facts = await this.#originWorker.call(
      'start',
      [{ plan, secrets, seed, timeScale, faults, conditions, links, reports: port2 }],
      { deadlineMs: REPORT_DEADLINE_MS, transfer: [port2, ...ports] },
    );
  }

  async #startReplica(
    replica: ReplicaHandle,
    peers: readonly PeerPort[],
    origin: MessagePort,
  ): Promise<void> {
    const { port1, port2 } = new MessageChannel();
    this.#reportPorts.push(port1);
    port1.on('message', (report: ReplicaReport) => {
      this.#reported(replica, report);
    });
    const { seed, skip, timeScale, election, faults } = this.#plan;
    const { threadId, file } = await replica.worker.call(
      'start',
      [
        {
          slot: replica.slot,
          member: replica.member,
          members: this.#members,
          slots: this.#replicas.map(({ slot }) => slot),
          seed,
          skip,
          timeScale,
          timers: election !== 'conductor',
          arms: armsOf(faults),
          budget: this.#words,
          tolerated: this.#tolerated,
          beyondQuorum: this.#plan.beyondQuorum,
          conditions: this.#conditions.memory,
          peers,
          origin,
          reports: port2,
        },
      ],
      {
        deadlineMs: CALL_DEADLINE_MS,
        transfer: [port2, origin, ...peers.map(({ port }) => port)],
      },
    );
    this.workers.push({ slot: replica.slot, threadId, file });
  }

  // Watching.

  #reported(replica: ReplicaHandle, report: ReplicaReport): void {
    if (report.kind === 'fault') {
      this.#injector.replicaReported(replica, report);
      this.#pauses.wake();
      return;
    }
    const { slot } = replica;
    if (report.view !== null) {
      this.#conductor?.view(report.view, monotonicMs());
      if (report.serving !== replica.serving) this.#pauses.wake();
      replica.serving = report.serving;
    }
    for (const { atMs, event } of report.events) {
      this.#onEvent({ kind: 'replica', slot, atMs, event });
    }
    for (const { atMs, last, messages } of report.marks) {
      replica.last = Math.max(replica.last, last);
      this.#onEvent({ kind: 'progress', slot, atMs, last, messages });
    }
    const atMs = monotonicMs();
    if (isLatenessExplained(replica, atMs, report.lateMs)) return;
    const byMs = replica.lateness.add(report.lateMs, atMs);
    if (byMs > 0) this.#onEvent({ kind: 'late', who: slot, atMs, byMs });
  }

  #watchExit(replica: ReplicaHandle): void {
    void replica.worker.exited.then(({ code, error }) => {
      replica.alive = false;
      replica.serving = false;
      this.#conductor?.exited(replica.member);
      if (this.#closing) return;
      // A worker that a fault ended said so before it went; its report may come a moment later.
      setTimeout(() => {
        const { slot } = replica;
        const ending = replica.ending ?? replica.doom;
        const fault = ending !== null;
        const reason = ending?.reason ?? error ?? `ended with code ${code}`;
        const by = ending === null ? {} : { by: ending.by };
        this.#onEvent({ kind: 'exit', slot, atMs: this.now(), fault, ...by, reason });
        if (!fault && !this.#closing) this.#harness(`${slot}'s thread ended: ${reason}`);
        this.#pauses.wake();
      }, EXIT_GRACE_MS);
    });
  }

  #conduct(conductor: Conductor): void {
    for (const order of conductor.tick(monotonicMs())) void this.#order(order);
  }

  /** An order that fails is the conductor's to repeat: it sees by the views what came of it. */
  async #order(order: ConductorOrder): Promise<void> {
    const { worker, alive } = this.#replica(slotOf(order.to));
    if (!alive) return;
    const options = { deadlineMs: CALL_DEADLINE_MS };
    try {
      if (order.type === 'probe') {
        await worker.call('probe', [], options);
      } else {
        const { term, deadLeader } = order;
        await worker.call('campaign', [{ term, deadLeader }], options);
      }
    } catch (error) {
      const { code, message } = toErrorData(error);
      if (!this.#closing && code === 'harness') this.#harness(message);
    }
  }

  #harness(reason: string): void {
    this.#onEvent({ kind: 'harness', atMs: this.now(), reason });
    this.#pauses.wake();
  }

  #replica(slot: Slot): ReplicaHandle {
    const replica = this.#replicas.find((candidate) => candidate.slot === slot);
    invariant(replica !== undefined, `slot ${slot} exists`);
    return replica;
  }
}
