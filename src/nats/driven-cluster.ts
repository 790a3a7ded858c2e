/**
 * A run on servers: an origin that is filled as the plan says, a mirror of it that the servers keep
 * by themselves, looks at every member, and in the end a reader for each copy. Nothing of the
 * mirror's own work is seen from outside but what it leads to.
 */
import { once } from 'node:events';
import type { NatsConnection } from 'nats';
import { LockstepError, toErrorData } from '../base/errors.js';
import type { Hasher } from '../base/hasher.js';
import { slotsOf, type Slot } from '../base/member.js';
import { FaultBudget } from '../scenario/budget.js';
import type { ClusterEvent, RunningCluster, ServerPlace } from '../scenario/driver.js';
import { madeOrigin } from '../scenario/origins.js';
import { waitsForState } from '../scenario/arms.js';
import { Pauses } from '../scenario/pauses.js';
import type { FaultPlan, Plan } from '../scenario/types.js';
import type { CopyReader, CopyReport, LedgerReader } from '../verdict/types.js';
import { JetStreamAccess } from './access.js';
import { JetStreamAdmin } from './admin.js';
import { budgetOf } from './budgets.js';
import { openConnection } from './connection.js';
import { DrivenOrigin } from './driven-origin.js';
import { Observer } from './observer.js';
import { placed } from './placing.js';
import { refuseIfEnded } from './server.js';
import { ServerInjector } from './server-injector.js';
import type { Site } from './site.js';
import { StreamCopy } from './stream-copy.js';

const LOOK_EVERY_MS = 25;
/** For the mirror to have a leader and a consumer at its origin. */
const READY_WITHIN_MS = 60_000;

export interface DrivenClusterOptions {
  readonly plan: Plan;
  readonly site: Site;
  readonly hasher: Hasher;
  readonly onEvent: (event: ClusterEvent) => void;
  /** Ends the start: interrupted. */
  readonly signal?: AbortSignal | undefined;
}

interface Connections {
  readonly access: JetStreamAccess;
  readonly publishing: NatsConnection;
}

export class DrivenCluster implements RunningCluster {
  readonly #site: Site;
  readonly #hasher: Hasher;
  readonly #onEvent: (event: ClusterEvent) => void;
  readonly #slots: readonly Slot[];
  readonly #connections: Connections;
  readonly #admin: JetStreamAdmin;
  readonly #budget: FaultBudget;
  readonly #origin: DrivenOrigin;
  readonly #observer: Observer;
  readonly #injector: ServerInjector;
  readonly #pauses = new Pauses();
  readonly #looking: Promise<void>[] = [];
  /** Names of servers that ended by themselves. */
  readonly #dead = new Set<string>();
  #isLooking = true;

  private constructor(options: DrivenClusterOptions, connections: Connections) {
    const { plan, site, hasher } = options;
    this.#site = site;
    this.#hasher = hasher;
    this.#onEvent = (event): void => {
      options.onEvent(event);
      if (event.kind === 'harness') site.keep();
      this.#pauses.wake();
    };
    this.#slots = slotsOf(plan.replicas);
    this.#connections = connections;
    this.#admin = new JetStreamAdmin(connections.publishing, site.settings);
    this.#budget = FaultBudget.ofPlan(plan);
    const shared = { now: this.now, onEvent: this.#onEvent, admin: this.#admin };
    const [slots, budget] = [this.#slots, this.#budget];
    this.#origin = new DrivenOrigin({
      ...{ ...shared, hasher, seed: plan.seed, plan: madeOrigin('nats', plan) },
      ...{ names: site.names, placing: site.placing.origin },
      ...{ access: connections.access, connection: connections.publishing },
    });
    this.#observer = new Observer({ ...shared, slots, budget, faults: plan.faults });
    this.#injector = new ServerInjector({
      ...{ ...shared, plan, slots, site, budget },
      ...{ origin: this.#origin, observer: this.#observer },
    });
  }

  /**
   * Makes both streams and waits until the mirror reads. The site is closed with the cluster.
   *
   * Errors: usage; harness, when servers of ours did not come so far; interrupted.
   */
  static async start(options: DrivenClusterOptions): Promise<DrivenCluster> {
    const { site } = options;
    let connections: Connections | null = null;
    let cluster: DrivenCluster | null = null;
    try {
      connections = await connect(site);
      cluster = new DrivenCluster(options, connections);
      const { signal } = options;
      const starting = cluster.#start(signal);
      // Servers of ours end, and with them whatever is asked of them. On somebody's every request
      // is waited for: what it made has to be deleted.
      await (site.servers === null ? starting : orInterrupted(starting, signal));
      return cluster;
    } catch (error) {
      const { code, message } = toErrorData(error);
      if (code !== 'usage' && code !== 'interrupted') site.keep();
      if (cluster !== null) await cluster.#stopLooking();
      const left = await close(site, connections).catch((failure: unknown) => failure);
      // What a cluster of somebody's refuses is no fault of ours: no JetStream, no room, no right.
      // Nor is it that it does not answer, at the start as little as when it is connected to.
      if (site.servers !== null || (code !== 'originRefused' && code !== 'timeout')) throw error;
      const more = left === undefined ? '' : `; not deleted: ${toErrorData(left).message}`;
      throw new LockstepError('usage', `${message}${more}`);
    }
  }

  readonly now = (): number => performance.now();

  get origin(): { readonly last: number; readonly messages: number } {
    return this.#origin.facts;
  }

  get ledger(): LedgerReader {
    return this.#origin.ledger;
  }

  get place(): ServerPlace {
    const { names, servers, settings } = this.#site;
    const url = servers?.urls[0] ?? settings.servers[0]!;
    return { url, mirror: { name: names.mirror } };
  }

  /** What it says that it holds is asked of its own server, and what it holds is read there. */
  copy(slot: Slot): CopyReader {
    const copy = new StreamCopy(this.#hasher);
    const report = async (): Promise<CopyReport> => {
      const sight = await this.#site.look(slot);
      const replica = this.#site.serverOf(slot);
      if (sight === null) throw new LockstepError('timeout', `${replica} does not tell its state`);
      const { access } = this.#connections;
      const stream = this.#site.names.mirror;
      const range = { first: Math.max(1, sight.state.first), last: sight.state.last };
      await copy.read(access, { stream, replica, range });
      return copy.report(sight.state);
    };
    return { report, records: (range) => Promise.resolve(copy.records(range)) };
  }

  serve(): Promise<void> {
    this.#origin.serve();
    return Promise.resolve();
  }

  pause(ms: number): Promise<void> {
    return this.#pauses.pause(ms);
  }

  add(fault: FaultPlan): Promise<void> {
    const at = this.#injector.add(fault);
    if (waitsForState(fault)) this.#observer.arm({ at, fault });
    return Promise.resolve();
  }

  inject(at: number): Promise<boolean> {
    return this.#injector.inject(at);
  }

  release(): void {
    this.#injector.release();
  }

  async halt(): Promise<void> {
    await this.#origin.stop();
    await this.#stopLooking();
  }

  living(): Slot[] {
    return this.#slots.filter((slot) => !this.#injector.ended.has(slot));
  }

  /** As long as it may take until somebody leads again. */
  get targetWaitMs(): number {
    return budgetOf(this.#site.version).firstMessageMs;
  }

  leader(): Slot | null {
    return this.#observer.leader();
  }

  disarm(at: number): boolean {
    return this.#budget.claim(at);
  }

  lastSeen(): Promise<ReadonlyMap<string, number>> {
    return Promise.resolve(this.#observer.lastSeen());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#injector.release();
    await this.#origin.stop();
    await this.#stopLooking();
    await close(this.#site, this.#connections);
  }

  async #start(signal: AbortSignal | undefined): Promise<void> {
    const { names, placing, remarks } = this.#site;
    for (const text of remarks) this.#onEvent({ kind: 'note', atMs: this.now(), text });
    await this.#make(names.origin, signal, () => this.#origin.create());
    const { filter } = this.#origin;
    await this.#make(names.mirror, signal, () =>
      this.#admin.createStream({
        name: names.mirror,
        storage: 'file',
        ...placing.mirror,
        mirror: { name: names.origin, ...(filter === null ? {} : { filter_subject: filter }) },
      }),
    );
    await this.#site.placed();
    for (const slot of this.#slots) this.#watch(() => this.#look(slot));
    this.#watch(() => this.#lookAtOrigin());
    this.#watch(() => this.#lookForDead());
    const until = this.now() + READY_WITHIN_MS;
    while (this.leader() === null || this.#isUnopened) {
      refuseIfEnded(signal);
      if (this.now() > until) throw this.#notReady();
      await this.pause(LOOK_EVERY_MS);
    }
  }

  /** One whose making was not answered may be there: it is deleted like the others. */
  async #make(
    name: string,
    signal: AbortSignal | undefined,
    make: () => Promise<void>,
  ): Promise<void> {
    try {
      // Servers of ours have just met; what somebody's refuse is refused.
      await (this.#site.servers === null ? make() : placed(make, signal));
    } catch (error) {
      if (toErrorData(error).code === 'timeout') this.#site.made(name);
      throw error;
    }
    this.#site.made(name);
  }

  get #isUnopened(): boolean {
    return this.#site.tellsOpenings && !this.#observer.hasOpened;
  }

  #watch(look: () => Promise<void>): void {
    const watch = async (): Promise<void> => {
      while (this.#isLooking) {
        await look();
        await this.pause(LOOK_EVERY_MS);
      }
    };
    this.#looking.push(watch());
  }

  async #look(slot: Slot): Promise<void> {
    if (this.#injector.ended.has(slot)) return;
    const sight = await this.#site.look(slot);
    if (sight !== null && !this.#injector.ended.has(slot)) this.#observer.take(slot, sight);
  }

  async #lookAtOrigin(): Promise<void> {
    const openings = await this.#site.openings();
    if (openings !== null) this.#observer.openings(this.leader(), openings);
  }

  /** A server that no fault of the run ended: whatever follows is not the mirror's doing. */
  #lookForDead(): Promise<void> {
    for (const { name, died } of this.#site.servers?.servers ?? []) {
      if (died === null || this.#dead.has(name)) continue;
      this.#dead.add(name);
      const reason = `nats-server ${name}, by no fault of the run, ${died}`;
      this.#onEvent({ kind: 'harness', atMs: this.now(), reason });
    }
    return Promise.resolve();
  }

  #notReady(): LockstepError {
    const seen = this.leader() === null ? 'no leader' : 'no consumer at its origin';
    return new LockstepError('harness', `the mirror has ${seen} after ${READY_WITHIN_MS} ms`);
  }

  async #stopLooking(): Promise<void> {
    this.#isLooking = false;
    this.#pauses.wake();
    await Promise.all(this.#looking);
  }
}

/** Errors: interrupted, at once; what still goes on then has nobody to tell. */
async function orInterrupted(work: Promise<void>, signal?: AbortSignal): Promise<void> {
  if (signal === undefined) return work;
  const settled = new AbortController();
  const asked = once(signal, 'abort', { signal: settled.signal }).then(() => undefined);
  try {
    await Promise.race([work, asked]);
    refuseIfEnded(signal);
  } finally {
    settled.abort();
    for (const each of [work, asked]) each.catch(() => undefined);
  }
}

async function connect(site: Site): Promise<Connections> {
  const access = await JetStreamAccess.open(site.settings);
  try {
    return { access, publishing: await openConnection(site.settings) };
  } catch (error) {
    await access[Symbol.asyncDispose]();
    throw error;
  }
}

async function close(site: Site, connections: Connections | null): Promise<void> {
  await connections?.publishing.close();
  await connections?.access[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
}
