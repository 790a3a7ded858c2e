/** A cluster that is there already: what a run asks for before it strikes, and what it leaves. */
import { expect, it } from 'vitest';
import { loadHasher } from '../../src/base/hasher.js';
import { NatsCluster } from '../../src/nats/cluster.js';
import { openConnection } from '../../src/nats/connection.js';
import { natsDriverOn } from '../../src/nats/driver.js';
import { JetStreamApi } from '../../src/nats/api.js';
import { findServer } from '../../src/nats/server.js';
import { resolveSettings } from '../../src/nats/settings.js';
import { planScenario } from '../../src/scenario/parse.js';
import { play, type PlayResult } from '../../src/scenario/play.js';
import { expectState, onServers } from './stage.js';

const FAULTS = [
  { stepDown: 'leader', at: '500ms' },
  { kill: 'leader', at: '600ms' },
];

onServers('a cluster that is there already', () => {
  it('faults need a word and the name; kills are skipped; both streams are gone after', async () => {
    const binary = findServer(process.env)!;
    await using cluster = await NatsCluster.start({ servers: 3, binary });
    const connection = { servers: cluster.urls, noContext: true };
    const settings = resolveSettings(connection, {});
    const client = await openConnection(settings);
    const name = client.info?.cluster ?? '';
    const notes: string[] = [];
    const run = async (allowFaults: boolean, typed: string | null): Promise<PlayResult> => {
      const origin = { synthetic: { messages: 800, rate: 800, gaps: [{ after: 100, count: 50 }] } };
      const raw = { version: 1, name: 'a drill', origin, faults: FAULTS };
      return play(
        planScenario(raw, 'test', () => ''),
        {
          driver: natsDriverOn({ connection, allowFaults, name: typed }),
          ...{ hasher: await loadHasher(), replay: '' },
          onEvent: (event) => {
            if (event.kind === 'note') notes.push(event.text);
          },
        },
      );
    };
    try {
      await expect(run(false, name)).rejects.toThrow(
        'faults (stepDown, kill) on a cluster that lockstep did not start need --allow-faults',
      );
      await expect(run(true, 'another')).rejects.toThrow(
        `--cluster-name: "another" is not ${name}, the name of this cluster`,
      );
      const result = await run(true, name);
      expect(result.reasons).toEqual([]);
      expectState(result, { first: 1, last: 851, messages: 801, deleted: 50 });
      expect(result.summary.faults.map(({ status }) => status)).toEqual(['installed', 'skipped']);
      expect(notes.slice(0, 4)).toEqual([
        `cluster ${name}, nats-server ${cluster.version}`,
        expect.stringMatching(/^makes streams LOCKSTEP_ORIGIN_\w{8} and LOCKSTEP_MIRROR_\w{8}, 3 /),
        'fault faults[0]: stepDown',
        'fault faults[1]: kill',
      ]);
      expect(await new JetStreamApi(client, settings).streamNames()).toEqual([]);
    } finally {
      await client.close();
    }
  });
});
