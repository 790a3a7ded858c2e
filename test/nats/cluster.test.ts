/** A cluster of real servers: what can be done to it, and that all of it ends. */
import { existsSync, rmSync } from 'node:fs';
import { expect, it } from 'vitest';
import { NatsCluster, type ClusterOptions } from '../../src/nats/cluster.js';
import { findServer, versionOf, type NatsServer } from '../../src/nats/server.js';
import { onServer } from './stage.js';

const binary = findServer(process.env)!;

function startCluster(options: Partial<ClusterOptions> = {}): Promise<NatsCluster> {
  return NatsCluster.start({ servers: 3, binary, ...options });
}

async function leaderSeenBy(server: NatsServer): Promise<string | undefined> {
  type Jsz = { readonly meta_cluster: { readonly leader?: string } };
  return (await server.monitor<Jsz>('jsz')).meta_cluster.leader;
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

  it('one that does not start: the reason is its log, and nothing is left running', async () => {
    const failure: unknown = await startCluster({ config: 'max_payload: oops' }).catch(
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({ code: 'harness' });
    const { message } = failure as Error;
    expect(message).toMatch(/^nats-server ended with code 1; .*max_payload/);
    const kept = /; (\S+)\/server\.log: /.exec(message)![1]!;
    expect(existsSync(kept)).toBe(true);
    rmSync(kept, { recursive: true });
  });
});
