/** `--sys-context`: every server of a cluster is asked through the system account. */
import { expect, it } from 'vitest';
import { Secret } from '../../src/base/secret.js';
import { NatsCluster } from '../../src/nats/cluster.js';
import { findServer } from '../../src/nats/server.js';
import { resolveSettings, type Settings } from '../../src/nats/settings.js';
import { Client, onServer } from '../nats/stage.js';
import { addMirror, verify } from './verify-stage.js';

const CONFIG = `
  accounts {
    A: { jetstream: enabled, users: [{ user: a, password: of-a }] }
    SYS: { users: [{ user: sys, password: of-sys }] }
  }
  system_account: SYS
  no_auth_user: a`;

onServer('verify --sys-context', () => {
  it('what each server says is noted; a user of another account is refused', async () => {
    const binary = findServer(process.env)!;
    await using cluster = await NatsCluster.start({ servers: 3, binary, config: CONFIG });
    const [server] = cluster.servers;
    await using client = await Client.connect(server!);
    await client.addStream('ORDERS', { num_replicas: 3 });
    await client.publish('ORDERS', 20, () => 'orders.a');
    await addMirror(client, 'MIRROR', 'ORDERS', { num_replicas: 3 });
    const of = (user: string): Settings => {
      const password = new Secret(`of-${user}`);
      return resolveSettings({ servers: [server!.url], user, password }, {});
    };
    const { report } = await verify(server!, 'MIRROR', { sysSettings: of('sys') });
    expect(report.result).toBe('identical');
    expect(report.notes).toEqual([
      'ORDERS by its servers: 1 to 20, 20 messages on n1, n2 and n3',
      'MIRROR by its servers: 1 to 20, 20 messages on n1, n2 and n3',
      'ORDERS was delivered to 1 mirror up to 20',
    ]);
    await expect(verify(server!, 'MIRROR', { sysSettings: of('a') })).rejects.toMatchObject({
      code: 'usage',
      message:
        '--sys-context: no server answers $SYS.REQ.SERVER.PING.JSZ: its user has to be one of ' +
        'the system account',
    });
  });
});
