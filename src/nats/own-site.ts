/**
 * Servers of our own: one for each replica of the mirror, and one more for the origin, in one
 * cluster. The origin has a server to itself so that what strikes a replica never strikes what the
 * mirror copies, as with every other driver; tags keep the streams apart.
 */
import { randomUUID } from 'node:crypto';
import { Secret } from '../base/secret.js';
import type { Slot } from '../base/member.js';
import { JetStreamAdmin } from './admin.js';
import { budgetText } from './budgets.js';
import { NatsCluster } from './cluster.js';
import { openConnection } from './connection.js';
import type { RunNames } from './driven-origin.js';
import { Monitor } from './monitor.js';
import type { MemberSight } from './observer.js';
import type { Settings } from './settings.js';
import type { Site } from './site.js';
import { isAtLeast, TELLS_GROUPS, TELLS_MIRRORS } from './version.js';

const ACCOUNT = 'LOCKSTEP';
const USER = 'lockstep';
const SYSTEM_ACCOUNT = 'SYS';
const TIMEOUT_MS = 5_000;

export class OwnSite implements Site {
  readonly names: RunNames = { origin: 'ORIGIN', mirror: 'MIRROR', prefix: '' };
  readonly servers: NatsCluster;
  readonly originServer: string;
  readonly settings: Settings;
  readonly placing: Site['placing'];
  readonly tellsOpenings: boolean;
  readonly remarks: readonly string[];
  /** Whether a copy of the mirror has a raft group that its server tells of. */
  readonly #tellsGroups: boolean;
  readonly #systemSettings: Settings;
  readonly #monitors: ReadonlyMap<string, Monitor>;

  private constructor(servers: NatsCluster, replicas: number, password: string) {
    this.servers = servers;
    this.originServer = `n${replicas + 1}`;
    const { version } = servers;
    this.tellsOpenings = isAtLeast(version, TELLS_MIRRORS);
    this.#tellsGroups = replicas > 1 && isAtLeast(version, TELLS_GROUPS);
    this.remarks = [
      `nats-server ${version}: ${budgetText(version)}`,
      ...(this.tellsOpenings
        ? []
        : [`nats-server ${version} tells of no opening: none is counted`]),
    ];
    this.placing = {
      origin: { num_replicas: 1, placement: { tags: ['origin'] } },
      mirror: { num_replicas: replicas, placement: { tags: ['mirror'] } },
    };
    // The origin's server first: it is the one that no fault of a replica ends.
    const urls = [...servers.urls].reverse();
    this.settings = settingsOf(urls, USER, password);
    this.#systemSettings = settingsOf(urls, 'system', password);
    this.#monitors = new Map(
      servers.servers.map((server) => [server.name, new Monitor(server, ACCOUNT)]),
    );
  }

  /** Errors: harness, interrupted. @param replicas  of the mirror */
  static async start(binary: string, replicas: number, signal?: AbortSignal): Promise<OwnSite> {
    const password = randomUUID();
    const originServer = `n${replicas + 1}`;
    const servers = await NatsCluster.start({
      ...{ binary, signal },
      servers: replicas + 1,
      config: (name) => configOf(name === originServer ? 'origin' : 'mirror', password),
    });
    return new OwnSite(servers, replicas, password);
  }

  get version(): string {
    return this.servers.version;
  }

  made(): void {
    // They end with their servers.
  }

  placed(): Promise<void> {
    return Promise.resolve();
  }

  async stepDownMeta(): Promise<void> {
    const connection = await openConnection(this.#systemSettings);
    try {
      await new JetStreamAdmin(connection, this.#systemSettings).stepDownMeta(null);
    } finally {
      await connection.close();
    }
  }

  refuses(): Promise<null> {
    return Promise.resolve(null);
  }

  serverOf(slot: Slot): string {
    return `n${slot.slice(1)}`;
  }

  async look(slot: Slot): Promise<MemberSight | null> {
    const name = this.serverOf(slot);
    const monitor = this.#monitors.get(name)!;
    const stream = await monitor.stream(this.names.mirror);
    if (stream === null) return null;
    const group = stream.group === null ? null : await monitor.group(stream.group);
    // It hung between two pages: the first is as old as the second was waited for.
    if (group === null && stream.group !== null && this.#tellsGroups) return null;
    const { state, leader } = stream;
    return { role: leader === name ? 'leader' : 'follower', term: null, ...group, state };
  }

  async openings(): Promise<readonly string[] | null> {
    const stream = await this.#monitors.get(this.originServer)!.stream(this.names.origin);
    return stream?.hiddenConsumers ?? null;
  }

  keep(): void {
    this.servers.keep();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.servers[Symbol.asyncDispose]();
  }
}

function configOf(tag: 'origin' | 'mirror', password: string): string {
  const account = (user: string, more: string): string =>
    `{ ${more} users: [{ user: ${user}, password: "${password}" }] }`;
  return [
    `server_tags: [${tag}]`,
    'accounts {',
    `  ${ACCOUNT}: ${account(USER, 'jetstream: enabled,')}`,
    `  ${SYSTEM_ACCOUNT}: ${account('system', '')}`,
    '}',
    `system_account: ${SYSTEM_ACCOUNT}`,
    // Loopback, and only while the run lasts: a test's own client needs no password.
    `no_auth_user: ${USER}`,
    '',
  ].join('\n');
}

function settingsOf(servers: readonly string[], user: string, password: string): Settings {
  return {
    servers,
    login: {
      ...{ kind: 'password', user },
      password: { kind: 'text', what: 'password', text: new Secret(password) },
    },
    token: null,
    ...{ tlsCert: null, tlsKey: null, tlsCa: null, tlsFirst: false },
    ...{ apiPrefix: '$JS.API', inboxPrefix: null, timeoutMs: TIMEOUT_MS },
  };
}
