/** Cases of replicas that hold different things while every report looks healthy. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NatsServer } from '../src/nats/server.js';
import type { Known, KnownCase } from './types.js';

/** Whose payload is damaged, of 100. */
const FLIPPED = 50;

/** Turns one bit of a payload in the server's file of the stream. */
function flip({ storeDir }: NatsServer, stream: string): void {
  const dir = join(storeDir, 'jetstream', '$G', 'streams', stream, 'msgs');
  const payload = `payload ${FLIPPED}`;
  for (const name of readdirSync(dir).filter((each) => each.endsWith('.blk'))) {
    const bytes = readFileSync(join(dir, name));
    const at = bytes.indexOf(payload);
    if (at === -1) continue;
    bytes[at]! ^= 1;
    writeFileSync(join(dir, name), bytes);
    return;
  }
  throw new Error(`${stream}: no file of ${dir} holds "${payload}"`);
}

/** Every count is as before; reading on that replica passes the message over. */
const UNSEEN: Known = {
  state: '{1,100,100,0}',
  said: { result: 'different', found: [`missing ${FLIPPED}..${FLIPPED}`] },
};

const flippedBit: KnownCase = {
  id: 'flipped bit',
  title: "one bit of a payload turned in one replica's file, and that server restarted",
  note: '2.9.10 sees the damage when it starts; how much of what follows it drops varies',
  stream: 'BIT',
  replicas: true,
  disturbs: true,
  known: {
    '2.9': { state: null, said: { result: 'different' } },
    '2.14': UNSEEN,
    '2.15': UNSEEN,
  },
  async play({ cluster, session, series, rest }) {
    await session.create('BIT', { num_replicas: 3 });
    await session.fill('BIT.a', 100);
    await rest('BIT', '{1,100,100,0}');
    const leader = await session.leaderOf('BIT');
    const damaged = cluster.servers.find(({ name }) => name !== leader)!;
    // One that is killed takes its messages from the log once more.
    await damaged.stop();
    flip(damaged, 'BIT');
    await damaged.restart();
    await cluster.ready();
    await rest('BIT', '{1,100,100,0}', series === '2.9' ? 5_000 : undefined);
  },
};

export const REPLICA_CASES: readonly KnownCase[] = [flippedBit];
