/**
 * A cluster of nats-servers on loopback: one, three or five processes that are ours. Each server
 * reaches each other one through a proxy of that ordered pair, so that any two can be parted, one
 * way too. Whatever a test did to it, closing ends and removes all of it.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { LockstepError, toErrorData } from '../base/errors.js';
import { untilPlaceable } from './placing.js';
import { RouteProxy } from './route-proxy.js';
import type { Membership } from './server-config.js';
import { NatsServer, refuseIfEnded, versionOf } from './server.js';
import { resolveSettings } from './settings.js';

export const CLUSTER_SIZES = [1, 3, 5] as const;
export type ClusterSize = (typeof CLUSTER_SIZES)[number];

export interface ClusterOptions {
  /** How many; a cluster for streams of three replicas and one more server has four. */
  readonly servers: number;
  /** Path of nats-server. */
  readonly binary: string;
  /**
   * Lines of every server's configuration file: accounts, users, TLS; or those of each by its name.
   */
  readonly config?: string | ((name: string) => string);
  /** Path of a file of the user's that every server includes. */
  readonly configFile?: string | undefined;
  /** Default 60 s. */
  readonly readyWithinMs?: number;
  /** Ends the start: interrupted, and nothing is left of it. */
  readonly signal?: AbortSignal | undefined;
}

export interface Cut {
  /** What the first hears of the second still comes through. */
  readonly oneWay?: boolean;
  /** Connections are reset, not held: both ends know at once. Never one way. */
  readonly reset?: boolean;
}

const READY_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 50;

export class NatsCluster implements AsyncDisposable {
  /** n1, n2, …; killed ones too. */
  readonly servers: readonly NatsServer[];
  /** `2.15.2`. */
  readonly version: string;
  /** By `from>to`: what `from` connected to. */
  readonly #proxies: ReadonlyMap<string, RouteProxy>;
  readonly #readyWithinMs: number;

  private constructor(
    servers: readonly NatsServer[],
    version: string,
    proxies: ReadonlyMap<string, RouteProxy>,
    readyWithinMs: number,
  ) {
    this.servers = servers;
    this.version = version;
    this.#proxies = proxies;
    this.#readyWithinMs = readyWithinMs;
  }

  /**
   * Resolves when JetStream is ready on every server and, if they admit anybody, a stream finds its
   * replicas; who may make one where the lines or the file give accounts is not known here.
   *
   * Errors: harness, with what was last seen; the folders of the servers stay then. usage, when
   * they refuse the user's file; interrupted.
   */
  static async start(options: ClusterOptions): Promise<NatsCluster> {
    const { signal } = options;
    const version = await versionOf(options.binary, signal);
    const names = Array.from({ length: options.servers }, (_, at) => `n${at + 1}`);
    const running = new Map<string, NatsServer>();
    const proxies = await openProxies(names, (name) => running.get(name)?.routePort ?? null);
    // Not the name of any other cluster of ours: a port may be another's by the time it is tried.
    const cluster = `lockstep-${randomUUID()}`;
    const started = await Promise.allSettled(
      names.map(async (name) => {
        const routes = routesOf(name, names, proxies);
        running.set(name, await startMember(options, { cluster, name, routes }));
      }),
    );
    const servers = names.flatMap((name) => running.get(name) ?? []);
    const { readyWithinMs = READY_WITHIN_MS } = options;
    const whole = new NatsCluster(servers, version, proxies, readyWithinMs);
    try {
      for (const each of started) if (each.status === 'rejected') throw each.reason;
      await whole.ready(signal);
      const admitsAnybody = options.config === undefined && options.configFile === undefined;
      if (admitsAnybody && options.servers > 1) {
        const anybody = resolveSettings({ servers: whole.urls, noContext: true }, {});
        await untilPlaceable(anybody, options.servers, signal);
      }
    } catch (error) {
      if (toErrorData(error).code === 'harness') whole.keep();
      await whole[Symbol.asyncDispose]();
      throw error;
    }
    return whole;
  }

  /** Of clients, of every server. */
  get urls(): string[] {
    return this.servers.map(({ url }) => url);
  }

  /** Errors: harness, if none is named so. */
  server(name: string): NatsServer {
    const found = this.servers.find((server) => server.name === name);
    if (found !== undefined) return found;
    throw new LockstepError('harness', `no server ${name} in this cluster`);
  }

  /**
   * Waits until the servers that are up agree on JetStream's meta leader and it finds every one of
   * them current.
   *
   * Errors: harness, with what each of them last said, or why one ended; interrupted.
   */
  async ready(signal?: AbortSignal): Promise<void> {
    const lastLook = performance.now() + this.#readyWithinMs;
    for (;;) {
      const up = this.servers.filter(({ isUp }) => isUp);
      const views = await Promise.all(up.map((server) => viewOf(server, signal)));
      refuseIfEnded(signal);
      const dead = this.servers.find(({ died }) => died !== null);
      if (dead !== undefined) {
        throw new LockstepError('harness', `nats-server ${dead.name} ${dead.died ?? ''}`);
      }
      if (isReady(views, this.servers.length)) return;
      if (performance.now() > lastLook) throw notReady(views, this.version, this.#readyWithinMs);
      await setTimeout(LOOK_EVERY_MS);
    }
  }

  /**
   * Parts two servers, in whichever direction their connections were made. Returns what heals it;
   * cuts that overlap end in turn.
   */
  cut(from: string, to: string, { oneWay = false, reset = false }: Cut = {}): () => void {
    const there = this.#proxy(from, to);
    const back = this.#proxy(to, from);
    const healings = reset
      ? [there.reject(), back.reject()]
      : oneWay
        ? [there.hold(['there']), back.hold(['back'])]
        : [there.hold(['there', 'back']), back.hold(['there', 'back'])];
    return () => {
      for (const heal of healings) heal();
    };
  }

  /** The folders of all servers stay when the cluster is closed. */
  keep(): void {
    for (const server of this.servers) server.keep();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.servers.map((server) => server[Symbol.asyncDispose]()));
    await Promise.all([...this.#proxies.values()].map((proxy) => proxy[Symbol.asyncDispose]()));
  }

  #proxy(from: string, to: string): RouteProxy {
    const proxy = this.#proxies.get(`${from}>${to}`);
    if (proxy !== undefined) return proxy;
    throw new LockstepError('harness', `no route from ${from} to ${to} in this cluster`);
  }
}

async function openProxies(
  names: readonly string[],
  portOf: (name: string) => number | null,
): Promise<Map<string, RouteProxy>> {
  const proxies = new Map<string, RouteProxy>();
  for (const from of names) {
    for (const to of names) {
      if (from === to) continue;
      proxies.set(`${from}>${to}`, await RouteProxy.open(() => portOf(to)));
    }
  }
  return proxies;
}

function routesOf(
  from: string,
  names: readonly string[],
  proxies: ReadonlyMap<string, RouteProxy>,
): string[] {
  return names.flatMap((to) => proxies.get(`${from}>${to}`)?.url ?? []);
}

/** A server that has nobody to reach is no member of anything. */
function startMember(
  { binary, config = '', configFile, signal }: ClusterOptions,
  membership: Membership,
): Promise<NatsServer> {
  const isAlone = membership.routes.length === 0;
  const lines = typeof config === 'string' ? config : config(membership.name);
  const given = { binary, config: lines, configFile, signal };
  return NatsServer.start({ ...given, ...(isAlone ? {} : { membership }) });
}

interface Peer {
  readonly name: string;
  readonly current: boolean;
  /** Not heard of yet: no stream is placed there, current or not. */
  readonly offline?: boolean;
}

/** What a server's monitor says of JetStream. */
interface Jsz {
  readonly disabled?: boolean;
  readonly meta_cluster?: {
    readonly leader?: string;
    readonly cluster_size?: number;
    /** Said by the leader alone. */
    readonly replicas?: readonly Peer[];
  };
}

interface View {
  readonly name: string;
  /** Null: it does not answer. */
  readonly jsz: Jsz | null;
}

async function viewOf(server: NatsServer, signal: AbortSignal | undefined): Promise<View> {
  return { name: server.name, jsz: await server.monitor<Jsz>('jsz', signal).catch(() => null) };
}

function isReady(views: readonly View[], size: number): boolean {
  if (views.some(({ jsz }) => jsz === null || jsz.disabled === true)) return false;
  if (size === 1) return views.length === 1;
  const leaders = new Set(views.map(({ jsz }) => jsz?.meta_cluster?.leader ?? ''));
  const [leader] = leaders;
  if (leaders.size !== 1 || leader === undefined || leader === '') return false;
  const meta = views.find(({ name }) => name === leader)?.jsz?.meta_cluster;
  const isCurrent = (name: string): boolean =>
    meta?.replicas?.some((peer) => peer.name === name && isPresent(peer)) === true;
  return (
    meta?.cluster_size === size && views.every(({ name }) => name === leader || isCurrent(name))
  );
}

function isPresent({ current, offline }: Peer): boolean {
  return current && offline !== true;
}

function notReady(views: readonly View[], version: string, waitedMs: number): LockstepError {
  const said = views.map(({ name, jsz }) => `${name}: ${saidBy(jsz)}`).join('; ');
  const text = `nats-server ${version}: JetStream is not ready after ${waitedMs} ms: ${said}`;
  return new LockstepError('harness', text);
}

function saidBy(jsz: Jsz | null): string {
  if (jsz === null) return 'no answer';
  if (jsz.disabled === true) return 'JetStream is disabled';
  const { leader = '', cluster_size = 0, replicas = [] } = jsz.meta_cluster ?? {};
  const behind = replicas.filter((peer) => !isPresent(peer)).map(({ name }) => name);
  const led = leader === '' ? 'no meta leader' : `meta leader ${leader}`;
  const missing = behind.length === 0 ? '' : `, not current: ${behind.join(', ')}`;
  return `${led} of ${cluster_size}${missing}`;
}
