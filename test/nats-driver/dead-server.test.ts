/** A server that ends while a run goes on, and no fault of the run did it. */
import { rmSync } from 'node:fs';
import { expect, it, onTestFinished, vi } from 'vitest';
import { loadHasher } from '../../src/base/hasher.js';
import { DrivenCluster } from '../../src/nats/driven-cluster.js';
import { OwnSite } from '../../src/nats/own-site.js';
import { findServer } from '../../src/nats/server.js';
import type { ClusterEvent } from '../../src/scenario/driver.js';
import { planScenario } from '../../src/scenario/parse.js';
import { onServers } from './stage.js';

onServers('a server that ends by itself', () => {
  it('is told at once, by name and with its log: the mirror is not blamed', async () => {
    const origin = { synthetic: { messages: 1_000, rate: 100 } };
    const raw = { version: 1, name: 'a test', origin };
    const site = await OwnSite.start(findServer(process.env)!, 3);
    onTestFinished(() => {
      // Kept, for whoever wants to know why.
      for (const { dir } of site.servers.servers) rmSync(dir, { recursive: true });
    });
    const told: string[] = [];
    await using cluster = await DrivenCluster.start({
      ...{ plan: planScenario(raw, 'test', () => ''), site, hasher: await loadHasher() },
      onEvent: (event: ClusterEvent) => {
        if (event.kind === 'harness') told.push(event.reason);
      },
    });
    await cluster.serve();
    process.kill(site.servers.server('n2').pid!, 'SIGKILL');
    await vi.waitFor(() => {
      expect(told).toEqual([
        expect.stringMatching(
          /^nats-server n2, by no fault of the run, ended with SIGKILL; .*server\.log: ./,
        ),
      ]);
    }, 5_000);
  });
});
