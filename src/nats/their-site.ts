/**
 * A cluster that is already there, and not ours: a run makes two streams of its own, with names
 * that nobody else has, asks their leaders for what their API can do, and deletes them in the end.
 * Faults need a word of whoever runs it and the cluster's name, and wait until every replica is
 * current. What each replica holds while the run goes on is only known by its leader's word.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { NatsConnection } from 'nats';
import { LockstepError, toErrorData, usageError } from '../base/errors.js';
import { slotsOf, type Slot } from '../base/member.js';
import { plain } from '../base/plain.js';
import type { ConnectionGiven } from '../scenario/connection.js';
import type { Plan } from '../scenario/types.js';
import { JetStreamAdmin, placementOf, type Placement } from './admin.js';
import { JetStreamApi } from './api.js';
import { openConnection } from './connection.js';
import type { RunNames } from './driven-origin.js';
import { seenOf } from './monitor.js';
import type { MemberSight } from './observer.js';
import { patiently } from './patience.js';
import { resolveSettings, type Settings } from './settings.js';
import type { Site } from './site.js';

/** What whoever runs it says of the cluster. */
export interface TheirCluster {
  readonly connection: ConnectionGiven;
  readonly allowFaults: boolean;
  /** As it was typed. */
  readonly name: string | null;
}

/** One answer of the mirror's leader serves the looks at all members. */
const LOOK_MAX_AGE_MS = 20;
/** For every replica of a new stream to be current. */
const WHOLE_WITHIN_MS = 10_000;
const WHOLE_LOOK_MS = 100;

interface Look {
  readonly atMs: number;
  readonly info: Promise<Readonly<Record<string, unknown>> | null>;
}

export class TheirSite implements Site {
  readonly version: string;
  readonly names: RunNames;
  readonly settings: Settings;
  readonly servers = null;
  readonly originServer = null;
  readonly placing: Site['placing'];
  readonly tellsOpenings = false;
  readonly remarks: readonly string[];
  readonly #connection: NatsConnection;
  readonly #api: JetStreamApi;
  readonly #admin: JetStreamAdmin;
  readonly #slots: readonly Slot[];
  readonly #made: string[] = [];
  #servers: readonly string[] = [];
  #look: Look | null = null;

  private constructor(connection: NatsConnection, settings: Settings, plan: Plan) {
    const id = randomUUID().slice(0, 8);
    this.#connection = connection;
    this.settings = settings;
    this.version = connection.info?.version ?? '';
    this.names = {
      origin: `LOCKSTEP_ORIGIN_${id}`,
      mirror: `LOCKSTEP_MIRROR_${id}`,
      prefix: `lockstep-${id}.`,
    };
    this.placing = {
      origin: { num_replicas: plan.replicas },
      mirror: { num_replicas: plan.replicas },
    };
    this.#api = new JetStreamApi(connection, settings);
    this.#admin = new JetStreamAdmin(connection, settings);
    this.#slots = slotsOf(plan.replicas);
    const { origin, mirror } = this.names;
    this.remarks = [
      `cluster ${clusterOf(connection)}, nats-server ${this.version}`,
      `makes streams ${origin} and ${mirror}, ${plan.replicas} replicas each, and deletes them`,
      ...plan.faults.map(({ id: fault, action }) => `fault ${fault}: ${action.kind}`),
    ];
  }

  /** Errors: usage, when it cannot be reached, or faults are not allowed on it. */
  static async open(their: TheirCluster, plan: Plan): Promise<TheirSite> {
    checkAllowed(their, plan);
    const settings = resolveSettings(their.connection, process.env);
    const connection = await openConnection(settings);
    try {
      const name = clusterOf(connection);
      if (plan.faults.length > 0 && their.name !== name) {
        throw usageError('--cluster-name', their.name, `${plain(name)}, the name of this cluster`);
      }
      return new TheirSite(connection, settings, plan);
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  made(stream: string): void {
    this.#made.push(stream);
  }

  /** Errors: usage, when a server that shall hold a replica is not there. */
  async placed(): Promise<void> {
    let placement: Placement;
    do {
      await this.#whole();
      placement = await this.#admin.placement(this.names.mirror);
      // Without a leader one name would be missing, for the whole run.
    } while (behindIn(placement).length > 0);
    const { leader, followers } = placement;
    // No cluster: the one server has no name there.
    const names = [leader ?? '', ...followers.map(({ name }) => name)];
    this.#servers = names.sort();
  }

  /** A run that begins without one of its replicas would say nothing of it in the end. */
  async #whole(): Promise<void> {
    const until = performance.now() + WHOLE_WITHIN_MS;
    for (;;) {
      const why = await this.refuses();
      if (why === null) return;
      if (performance.now() > until) {
        const text = `cluster ${plain(clusterOf(this.#connection))}: ${why}`;
        throw new LockstepError('usage', `${text}; a run needs all its replicas at its start`);
      }
      await setTimeout(WHOLE_LOOK_MS);
    }
  }

  serverOf(slot: Slot): string {
    return this.#servers[this.#slots.indexOf(slot)] ?? '';
  }

  async look(slot: Slot): Promise<MemberSight | null> {
    const info = await this.#freshLook();
    if (info === null) return null;
    const { leader, followers } = placementOf(info['cluster'] as Placed);
    const { state } = seenOf(info);
    const name = this.serverOf(slot);
    if (name === (leader ?? '')) return { role: 'leader', term: null, state };
    const follower = followers.find((each) => each.name === name);
    const isEven = follower?.current === true && follower.lag === 0;
    return isEven ? { role: 'follower', term: null, state } : null;
  }

  openings(): Promise<null> {
    return Promise.resolve(null);
  }

  /** Why no fault may strike now; null: one may. */
  async refuses(): Promise<string | null> {
    try {
      const placements = await Promise.all(this.#made.map((name) => this.#admin.placement(name)));
      const behind = placements.flatMap(behindIn);
      return behind.length === 0 ? null : `not current: ${[...new Set(behind)].join(', ')}`;
    } catch (error) {
      return toErrorData(error).message;
    }
  }

  stepDownMeta(): Promise<void> {
    throw new LockstepError('unsupported', 'it takes the system account');
  }

  keep(): void {
    // Logs are theirs.
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const failures: unknown[] = [];
    // The mirror first: it would else look for its origin. One that stays keeps not the other.
    for (const name of [...this.#made].reverse()) {
      await patiently(() => this.#admin.deleteStream(name)).catch((error: unknown) => {
        failures.push(error);
      });
    }
    await this.#connection.close();
    if (failures.length > 0) throw failures[0];
  }

  #freshLook(): Look['info'] {
    const nowMs = performance.now();
    if (this.#look === null || nowMs - this.#look.atMs > LOOK_MAX_AGE_MS) {
      const info = this.#api.streamInfo(this.names.mirror).catch(() => null);
      this.#look = { atMs: nowMs, info };
    }
    return this.#look.info;
  }
}

type Placed = Readonly<Record<string, unknown>> | undefined;

function behindIn({ leader, followers }: Placement): string[] {
  const behind = followers.filter(({ current, offline }) => !current || offline);
  const names = behind.map(({ name }) => name);
  return leader === null && followers.length > 0 ? ['no leader', ...names] : names;
}

function checkAllowed({ allowFaults, name }: TheirCluster, { faults }: Plan): void {
  if (faults.length === 0 || (allowFaults && name !== null)) return;
  const kinds = [...new Set(faults.map(({ action }) => action.kind))].join(', ');
  const needed = '--allow-faults and --cluster-name NAME';
  const text = `faults (${kinds}) on a cluster that lockstep did not start need ${needed}`;
  throw new LockstepError('usage', text);
}

function clusterOf(connection: NatsConnection): string {
  const { cluster, server_name: server } = connection.info ?? {};
  return cluster ?? server ?? '';
}
