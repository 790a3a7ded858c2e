/** A cluster of real servers: what can be done to it, and that all of it ends. */
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { NatsCluster, type ClusterOptions } from '../../src/nats/cluster.js';
import { findServer, versionOf, type NatsServer } from '../../src/nats/server.js';
import { onServer } from '../nats/stage.js';

const binary = findServer(process.env)!;

function startCluster(options: Partial<ClusterOptions> = {}): Promise<NatsCluster> {
  return NatsCluster.start({ servers: 3, binary, ...options });
}

interface Jsz {
  readonly meta_cluster: { readonly leader?: string };
}

async function leaderSeenBy(server: NatsServer): Promise<string | undefined> {
  const { meta_cluster: meta } = await server.monitor<Jsz>('jsz');
  return meta.leader;
}

onServer('cluster: three servers', () => {
  it('killed, restarted, frozen, reloaded: the others go on, and it comes back', async () => {
    const cluster = await startCluster();
    const { servers, urls } = cluster;
    expect(cluster.version).toBe(await versionOf(binary));
    expect(servers.map(({ name }) => name)).toEqual(['n1', 'n2', 'n3']);
    expect(new Set(urls).size).toBe(3);
    const [killed, frozen, reloaded] = servers as [NatsServer, NatsServer, NatsServer];
    await killed.kill();
    await cluster.ready();
    await killed.restart();
    await cluster.ready();
    expect(cluster.urls).toEqual(urls);
    frozen.freeze();
    await cluster.ready();
    expect(servers.map(({ isUp }) => isUp)).toEqual([true, false, true]);
    frozen.thaw();
    await reloaded.reload('max_payload: 4096');
    expect(await reloaded.monitor('varz')).toMatchObject({ max_payload: 4_096 });
    frozen.freeze();
    const dirs = servers.map(({ dir }) => dir);
    await cluster[Symbol.asyncDispose]();
    expect(dirs.map(existsSync)).toEqual([false, false, false]);
  });

  it('parted from both others: it is not led by whom they elect, until that is healed', async () => {
    await using cluster = await startCluster();
    const before = (await leaderSeenBy(cluster.servers[0]!))!;
    const others = cluster.servers.filter(({ name }) => name !== before);
    for (const reset of [false, true]) {
      const heals = others.map(({ name }) => cluster.cut(before, name, { reset }));
      await expect
        .poll(() => Promise.all(others.map(leaderSeenBy)), { timeout: 40_000 })
        .not.toContain(before);
      for (const heal of heals) heal();
      await cluster.ready();
    }
  });

  it('none starts: the reason, and every log is kept', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'lockstep-'));
    vi.stubEnv('TMPDIR', dir);
    const failure: unknown = await startCluster({ config: 'max_payload: oops' })
      .catch((error: unknown) => error)
      .finally(() => vi.unstubAllEnvs());
    expect(failure).toMatchObject({ code: 'harness' });
    expect((failure as Error).message).toMatch(/^nats-server ended with code 1; .*server\.conf:1/);
    expect(readdirSync(dir)).toHaveLength(3);
    rmSync(dir, { recursive: true });
  });
});
