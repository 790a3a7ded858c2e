/** The replicas of a stream on real servers: alike, and with one bit flipped on one of them. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ErrorCode } from 'nats';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { JetStreamAccess } from '../../src/nats/access.js';
import { NatsCluster } from '../../src/nats/cluster.js';
import { patiently } from '../../src/nats/patience.js';
import { findServer, type NatsServer } from '../../src/nats/server.js';
import { resolveSettings } from '../../src/nats/settings.js';
import { ServerReplicas } from '../../src/verify/replica-access.js';
import type { ReplicasReport } from '../../src/verify/replica-report.js';
import { compareReplicas, type ReplicasRequest } from '../../src/verify/replicas.js';
import { verifyReplicas } from '../../src/verify/verify-replicas.js';
import { Client, hasher, onServer } from '../nats/stage.js';
import { addMirror, verify } from './verify-stage.js';

const MESSAGES = 2_000;
const payloadOf = (seq: number): string => `order ${seq} of many `.repeat(10);

/** Flips one bit of a message in the file that this server keeps it in. */
function flipBit(server: NatsServer, stream: string, text: string): void {
  for (const entry of readdirSync(server.storeDir, { recursive: true, withFileTypes: true })) {
    if (!entry.name.endsWith('.blk') || !entry.parentPath.endsWith(join(stream, 'msgs'))) continue;
    const path = join(entry.parentPath, entry.name);
    const bytes = readFileSync(path);
    const at = bytes.indexOf(text);
    if (at < 0) continue;
    bytes[at] = bytes[at]! ^ 1;
    writeFileSync(path, bytes);
    return;
  }
  throw new Error(`${server.name} keeps no message "${text}"`);
}

function isUnheard(error: unknown): boolean {
  return (error as { readonly code?: unknown }).code === ErrorCode.NoResponders;
}

onServer('replicas: three servers', () => {
  let cluster: NatsCluster;
  let client: Client;
  let access: JetStreamAccess;

  beforeAll(async () => {
    cluster = await NatsCluster.start({ servers: 3, binary: findServer(process.env)! });
    // Not the one that a test ends.
    client = await Client.connect(cluster.server('n1'));
    const settings = resolveSettings({ servers: [cluster.server('n1').url], timeoutMs: 2_000 }, {});
    access = await JetStreamAccess.open(settings);
    await client.addStream('ORDERS', { num_replicas: 3 });
    const jetStream = client.connection.jetstream();
    const publish = (seq: number): Promise<unknown> =>
      jetStream.publish(`orders.${(seq - 1) % 5}`, payloadOf(seq), { timeout: 30_000 });
    // Its leader is there before every server knows that somebody listens.
    await patiently(() => publish(1), undefined, isUnheard);
    await Promise.all(Array.from({ length: MESSAGES - 1 }, (_, at) => publish(at + 2)));
    await client.deleteMessages('ORDERS', 7, 8, 1_500);
    await addMirror(client, 'MR', 'ORDERS', { num_replicas: 3 });
  }, 60_000);
  afterAll(async () => {
    await access[Symbol.asyncDispose]();
    await client[Symbol.asyncDispose]();
    await cluster[Symbol.asyncDispose]();
  });

  function compare(
    given: Partial<ReplicasRequest> = {},
    bytesPerSecond: number | null = null,
    stream = 'ORDERS',
  ): Promise<ReplicasReport> {
    const replicas = new ServerReplicas({ access, stream, bytesPerSecond, patienceMs: 8_000 });
    return compareReplicas(replicas, { from: null, to: null, ...given });
  }

  it('alike: identical on three, none of ours left behind', async () => {
    const report = await compare();
    expect(report).toMatchObject({
      ...{ result: 'identical', reason: null, up_to: MESSAGES, differences: [] },
      coverage: { from: 1, to: MESSAGES, compared: MESSAGES - 3 },
    });
    expect(Object.values(report.replicas).map(({ messages }) => messages)).toEqual([
      ...[MESSAGES - 3, MESSAGES - 3, MESSAGES - 3],
    ]);
    expect(await client.consumersOf('ORDERS')).toBe(0);
  });

  it('the leader steps down while they are read: identical', async () => {
    let asked = 0;
    const steps: Promise<boolean>[] = [];
    const stepDown = (): Promise<boolean> =>
      client.ask('STREAM.LEADER.STEPDOWN.ORDERS').then(
        () => true,
        () => false,
      );
    const progress = (): void => {
      // Before the first messages, and between them.
      if (asked++ < 3) steps.push(stepDown());
    };
    const report = await compare({ progress }, 200_000);
    expect(await Promise.all(steps)).toContain(true);
    expect(report).toMatchObject({ result: 'identical', coverage: { compared: MESSAGES - 3 } });
  });

  it.each([
    ['one message of each subject', { max_msgs_per_subject: 1 }],
    ['a hundred messages', { max_msgs: 100 }],
    ['messages that expire', { max_age: 1_500_000_000 }],
  ])('written to while they are read, %s: no difference is reported', async (title, limits) => {
    const stream = `LIMITED_${Object.keys(limits).join('_').toUpperCase()}`;
    await client.addStream(stream, { num_replicas: 3, ...limits });
    const jetStream = client.connection.jetstream();
    let isOver = false;
    const write = async (): Promise<number> => {
      let written = 0;
      for (; !isOver; written++) {
        const subject = `${stream.toLowerCase()}.${written % 50}`;
        await jetStream.publish(subject, payloadOf(written)).catch(() => undefined);
      }
      return written;
    };
    const writing = write();
    await expect.poll(() => client.lastOf(stream), { timeout: 20_000 }).toBeGreaterThan(500);
    const report = await compare({}, 4_000, stream).finally(() => (isOver = true));
    expect(await writing, title).toBeGreaterThan(report.up_to);
    expect(report).toMatchObject({ differences: [], reason: null });
    expect(['identical', 'explained']).toContain(report.result);
  });

  it('one bit flipped on one of them, every count as before: found, by name and sequence', async () => {
    const server = cluster.server('n3');
    // As an operator would: what is killed takes its messages from the log once more.
    await server.stop();
    flipBit(server, 'ORDERS', payloadOf(1_234));
    flipBit(server, 'MR', payloadOf(1_234));
    await server.restart();
    await cluster.ready();
    const report = await compare();
    const { state } = await client.ask('STREAM.INFO.ORDERS');
    expect(state).toMatchObject({ messages: MESSAGES - 3, first_seq: 1, last_seq: MESSAGES });
    const { differences, replicas } = report;
    expect({ result: report.result, differences }).toEqual({
      result: 'different',
      differences: [
        {
          ...{ kind: 'missing', holding: [['n1', 'n2']], lacking: ['n3'], unread: [] },
          ...{ first: 1_234, last: 1_234, count: 1 },
          ranges: [{ first: 1_234, last: 1_234 }],
        },
      ],
    });
    expect(replicas['n3']).toMatchObject({ current: true, read: 'whole', reason: null });
  });

  it('of a mirror: its replicas beside its origin, which holds what two of them hold', async () => {
    const settings = resolveSettings({ servers: [cluster.server('n1').url] }, {});
    const outcome = await verifyReplicas(
      {
        ...{
          stream: 'MR',
          origin: null,
          settings,
          originSettings: null,
          sysSettings: null,
          depth: 'full',
        },
        ...{ from: null, to: null, bytesPerSecond: null, resume: null },
      },
      {
        ...{ hasher, seed: 1, clock: Date.now, signal: new AbortController().signal },
        progress: () => undefined,
      },
    );
    const { result, mirror, replicas } = outcome;
    expect({ result, upTo: mirror?.up_to, differences: mirror?.differences }).toEqual({
      ...{ result: 'different', upTo: MESSAGES, differences: [] },
    });
    expect(replicas).toMatchObject({
      differences: [{ kind: 'missing', lacking: ['n3'], first: 1_234, last: 1_234 }],
      against_origin: [
        { seq: 1_234, held_by_origin: true, like_origin: ['n1', 'n2'], unlike_origin: ['n3'] },
      ],
    });
  });

  it('of a mirror whose origin is read where a message is lost: it is not called kept', async () => {
    const given = { connection: { servers: [cluster.server('n1').url] } };
    // Chance places the readers.
    for (let round = 0; round < 200; round++) {
      const { report } = await verify(cluster.server('n1'), 'MR', given);
      const [, origin, mirror] = /origin on (\w+), mirror on (\w+)/.exec(report.coverage.claim)!;
      if (origin !== 'n3' || mirror === 'n3') continue;
      expect(report).toMatchObject({ result: 'explained', explained: [{ kind: 'settled' }] });
      return;
    }
    expect.unreachable('no reader of the origin was ever placed on n3');
  });

  it('of a mirror, both read where the same message is lost: read again on the leaders', async () => {
    const given = { connection: { servers: [cluster.server('n1').url] } };
    // Chance places the readers: only both on n3 are of no use to each other.
    for (let round = 0; round < 200; round++) {
      const { report } = await verify(cluster.server('n1'), 'MR', given);
      if (report.result === 'identical' || report.coverage.compared < MESSAGES - 3) continue;
      expect(report).toMatchObject({
        ...{ result: 'explained', differences: [] },
        explained: [{ kind: 'settled', first: 1, last: MESSAGES, count: 1 }],
        coverage: { compared: MESSAGES - 3, claim: expect.not.stringContaining('n3') },
      });
      return;
    }
    expect.unreachable('both were never placed on n3');
  });

  it('a server is gone: the others are compared, and it is named', async () => {
    await cluster.server('n3').kill();
    expect(await compare()).toMatchObject({
      ...{ result: 'inconclusive', differences: [] },
      reason: expect.stringMatching(/^n3 was not read \(.+\)$/),
      coverage: { claim: expect.stringMatching(/ among n1 and n2$/) },
    });
  });

  it('a work queue, interest, one replica: refused', async () => {
    await client.addStream('WORK', { retention: 'workqueue' });
    await client.addStream('EVENTS', { retention: 'interest' });
    await client.addStream('ALONE');
    await expect(compare({}, null, 'WORK')).rejects.toMatchObject({
      message: expect.stringContaining('WORK is a work queue'),
    });
    await expect(compare({}, null, 'EVENTS')).rejects.toMatchObject({
      message: expect.stringContaining('EVENTS keeps messages by interest'),
    });
    await expect(compare({}, null, 'ALONE')).rejects.toMatchObject({
      message: expect.stringMatching(/^ALONE has one replica \(on n[123]\)/),
    });
  });
});
