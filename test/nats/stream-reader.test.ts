/** Reading a stream of a real server, and what becomes of deliveries that are lost on their way. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Secret } from '../../src/base/secret.js';
import { JetStreamAccess } from '../../src/nats/access.js';
import { ReaderIntake, type ReadBatch } from '../../src/nats/reader-intake.js';
import type { NatsServer } from '../../src/nats/server.js';
import { resolveSettings } from '../../src/nats/settings.js';
import { openReader, type ReadRequest, type StreamReader } from '../../src/nats/stream-reader.js';
import { readMessage, recordSize, viewOf } from '../../src/stream/layout.js';
import type { SeqRange, StoredMessage } from '../../src/stream/types.js';
import { rangesOf } from '../../src/verdict/ranges.js';
import { Client, onServer, ORDERS_GAPS, ORDERS_TAIL, publishOrders, startServer } from './stage.js';

const encoder = new TextEncoder();

function messagesOf({ bytes }: ReadBatch): StoredMessage[] {
  const messages: StoredMessage[] = [];
  const view = viewOf(bytes);
  for (let at = 0; at < bytes.length; at += recordSize(view, at)) {
    messages.push(readMessage(bytes, at));
  }
  return messages;
}

async function drain(reader: StreamReader): Promise<StoredMessage[]> {
  const messages: StoredMessage[] = [];
  for (let batch = await reader.next(); batch !== null; batch = await reader.next()) {
    messages.push(...messagesOf(batch));
  }
  await reader.close();
  return messages;
}

function runsOf(messages: readonly StoredMessage[]): SeqRange[] {
  return rangesOf(messages.map(({ seq }) => seq));
}

describe('reader intake', () => {
  function delivery(seq: number, deliverySeq: number, pending: number): void {
    intake.take({
      subject: encoder.encode('a.b'),
      reply: encoder.encode(`$JS.ACK.S.C.1.${seq}.${deliverySeq}.1700000000000000000.${pending}`),
      headers: new Uint8Array(0),
      payload: encoder.encode(`m${seq}`),
    });
  }
  function control(headers: string, reply = ''): void {
    intake.take({
      subject: encoder.encode('_INBOX.x'),
      reply: encoder.encode(reply),
      headers: encoder.encode(`NATS/1.0 100 x\r\n${headers}\r\n\r\n`),
      payload: new Uint8Array(0),
    });
  }
  let published: string[] = [];
  let intake = new ReaderIntake(100, () => undefined);
  function start(to: number): void {
    published = [];
    intake = new ReaderIntake(to, (subject) => published.push(subject));
  }
  const seen = (): object => ({ fault: intake.fault, isAtEnd: intake.isAtEnd });

  it('messages with a gap between them, up to the end', () => {
    start(9);
    delivery(3, 1, 2);
    delivery(7, 2, 1);
    expect(seen()).toEqual({ fault: null, isAtEnd: false });
    delivery(9, 3, 5);
    delivery(10, 4, 0);
    expect(seen()).toEqual({ fault: null, isAtEnd: true });
    const batch = intake.shift()!;
    expect({ ...batch, bytes: null }).toEqual({
      ...{ bytes: null, count: 3, last: 9, size: 15, pending: 5 },
    });
    expect(messagesOf(batch).map(({ seq, timestamp }) => [seq, timestamp])).toEqual(
      [3, 7, 9].map((seq) => [seq, 1_700_000_000_000_000_000n]),
    );
    expect(intake.shift()).toBeNull();
  });

  it('ends before what lies beyond the end, and where nothing is pending', () => {
    start(8);
    delivery(7, 1, 4);
    delivery(9, 2, 3);
    expect(seen()).toEqual({ fault: null, isAtEnd: true });
    expect(intake.shift()).toMatchObject({ count: 1, last: 7 });
    start(8);
    delivery(5, 1, 0);
    expect(seen()).toEqual({ fault: null, isAtEnd: true });
  });

  it('a delivery number that is missing: nothing later is taken, what came before is handed out', () => {
    start(100);
    delivery(1, 1, 9);
    delivery(3, 3, 7);
    delivery(4, 4, 6);
    expect(seen()).toEqual({ fault: 'delivery 3 (sequence 3) after 1', isAtEnd: false });
    expect(intake.shift()).toMatchObject({ count: 1, last: 1 });
    expect(intake.shift()).toBeNull();
  });

  it('a reply subject that cannot be read', () => {
    start(100);
    delivery(Number.NaN, 1, 9);
    expect(intake.fault).toContain('its stream sequence is no number');
  });

  it('heartbeats: of what did not come, of a server that waits, of one that is done', () => {
    start(100);
    delivery(1, 1, 9);
    control('Nats-Last-Consumer: 1\r\nNats-Consumer-Stalled: $JS.FC.a');
    expect(seen()).toEqual({ fault: null, isAtEnd: false });
    // Nine were counted behind it: one may be ahead of them, two in a row are not.
    control('Nats-Last-Consumer: 1');
    expect(seen()).toEqual({ fault: null, isAtEnd: false });
    delivery(2, 2, 8);
    control('Nats-Last-Consumer: 2');
    expect(seen()).toEqual({ fault: null, isAtEnd: false });
    control('Nats-Last-Consumer: 2');
    expect(seen()).toEqual({ fault: null, isAtEnd: true });
    start(100);
    delivery(1, 1, 9);
    control('Nats-Last-Consumer: 2');
    expect(seen()).toEqual({ fault: 'delivery 2 was sent and did not come', isAtEnd: false });
  });

  it('what the server counted before the first: nothing, or more than a heartbeat is believed', () => {
    start(100);
    intake.counted(0);
    expect(seen()).toEqual({ fault: null, isAtEnd: true });
    start(100);
    intake.counted(9);
    control('Nats-Last-Consumer: 0');
    expect(seen()).toEqual({ fault: null, isAtEnd: false });
    delivery(1, 1, 8);
    intake.counted(9);
    expect(intake.shift()).toMatchObject({ last: 1, pending: 8 });
  });

  it('flow control is answered once, when all before it was taken', () => {
    start(100);
    delivery(1, 1, 9);
    control('', '$JS.FC.a');
    control('Nats-Last-Consumer: 1\r\nNats-Consumer-Stalled: $JS.FC.a');
    delivery(2, 2, 8);
    expect(intake.shift()).toMatchObject({ last: 1 });
    expect(published).toEqual([]);
    expect(intake.shift()).toMatchObject({ last: 2 });
    expect(published).toEqual(['$JS.FC.a']);
  });

  it('batches are bounded in messages', () => {
    start(10_000);
    for (let seq = 1; seq <= 5_000; seq++) delivery(seq, seq, 5_000 - seq);
    expect([intake.shift(), intake.shift(), intake.shift()].map((each) => each?.count)).toEqual([
      ...[4_096, 904, undefined],
    ]);
  });
});

onServer('stream reader: a real server', () => {
  let server: NatsServer;
  let client: Client;
  let access: JetStreamAccess;
  const request = (given: Partial<ReadRequest> = {}): ReadRequest => ({
    ...{ stream: 'ORDERS', from: 1, to: ORDERS_TAIL.last, replica: null, bytesPerSecond: null },
    ...given,
  });
  const opened = (given?: Partial<ReadRequest>): Promise<StreamReader> =>
    openReader(access, request(given));

  beforeAll(async () => {
    server = await startServer();
    client = await Client.connect(server);
    await publishOrders(client);
    await client.addStream('WORK', { retention: 'workqueue' });
    await client.publish('WORK', 500, (seq) => `work.${seq}`);
    await client.deleteMessages('WORK', 1, 7, ...Array.from({ length: 200 }, (_, at) => 100 + at));
    access = await JetStreamAccess.open(resolveSettings({ servers: [server.url] }, {}));
  }, 60_000);
  afterAll(async () => {
    await access[Symbol.asyncDispose]();
    await client[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  it('the whole stream: every message in order, gaps left out, nothing left behind', async () => {
    const reader = await opened();
    const messages = await drain(reader);
    const [first, second, third] = ORDERS_GAPS as [SeqRange, SeqRange, SeqRange];
    expect(runsOf(messages)).toEqual([
      { first: 1, last: first.first - 1 },
      { first: first.last + 1, last: second.first - 1 },
      { first: second.last + 1, last: third.first - 1 },
      { first: third.last + 1, last: ORDERS_TAIL.first - 1 },
    ]);
    const bytes = messages.reduce((sum, { subject, headers, payload }) => {
      return sum + subject.length + headers.length + payload.length;
    }, 0);
    expect(reader.load).toEqual({ messages: messages.length, bytes });
    expect(await client.consumersOf('ORDERS')).toBe(0);
  });

  it('a part of it, as the leader has it', async () => {
    const messages = await drain(await opened({ from: 10, to: 22 }));
    expect(runsOf(messages)).toEqual([
      { first: 10, last: 16 },
      { first: 20, last: 22 },
    ]);
    for (const message of messages) {
      const { seq, timestamp, subject, payload } = message;
      const kept = await access.api.messageAt('ORDERS', seq);
      expect([timestamp, Buffer.from(subject), Buffer.from(payload)]).toEqual([
        ...[kept?.timestamp, Buffer.from(kept!.subject), Buffer.from(kept!.payload)],
      ]);
    }
  });

  it('a part without a message, and one behind the end', async () => {
    expect(await drain(await opened({ from: 80_001, to: 130_000 }))).toEqual([]);
    expect(await drain(await opened({ from: 199_999 }))).toEqual([]);
  });

  it('one subject', async () => {
    const messages = await drain(await opened({ to: 100, subjects: ['orders.3'] }));
    expect(messages.map(({ seq }) => seq % 7)).toEqual(messages.map(() => 3));
    expect(messages).toHaveLength(13);
  });

  it('the consumer is deleted on the server: another one goes on behind what was read', async () => {
    const reader = await opened({ to: 80_000 });
    const batch = (await reader.next())!;
    const { consumers } = await client.ask('CONSUMER.NAMES.ORDERS');
    for (const name of consumers as string[]) await client.ask(`CONSUMER.DELETE.ORDERS.${name}`);
    const rest = await drain(reader);
    expect(batch.count + rest.length).toBe(80_000 - 3);
    expect(rest[0]!.seq).toBe(batch.last + 1);
  }, 20_000);

  it('a work queue takes no such consumer: its leader is asked for each message', async () => {
    const reader = await opened({ stream: 'WORK', to: 500 });
    expect(reader.way).toBe('requests');
    const runs = [
      { first: 2, last: 6 },
      { first: 8, last: 99 },
      { first: 300, last: 500 },
    ];
    expect(runsOf(await drain(reader))).toEqual(runs);
  });

  it('a replica: the server by its name; another one is waited for and refused', async () => {
    const replica = access.serverName;
    expect(await drain(await opened({ to: 5, replica }))).toHaveLength(5);
    await expect(opened({ replica: 'n9', patienceMs: 50 })).rejects.toMatchObject({
      ...{ code: 'timeout', message: expect.stringContaining('no consumer on n9') },
    });
    expect(await client.consumersOf('ORDERS')).toBe(0);
  });

  it('no such stream: at once', async () => {
    await expect(opened({ stream: 'NONE' })).rejects.toMatchObject({
      ...{ code: 'originRefused', message: expect.stringContaining('stream not found') },
    });
  });

  it.each([
    [
      'a consumer',
      ['$JS.API.CONSUMER.CREATE.>'],
      /no permission to publish to \$JS\.API\.CONSUMER\.CREATE\.S\.>/,
    ],
    ['flow control', ['$JS.FC.>'], /no permission to publish to \$JS\.FC\.>/],
  ])(
    'no permission for %s: the subject by name',
    async (_title, deny, says) => {
      const password = 'only-for-this-test';
      const permissions = `{ publish: { deny: ${JSON.stringify(deny)} } }`;
      const config = `authorization { users: [
      { user: full, password: ${password} }
      { user: bound, password: ${password}, permissions: ${permissions} }
    ] }`;
      await using guarded = await startServer({ config });
      await using writer = await Client.connect(guarded, { user: 'full', pass: password });
      await writer.addStream('S');
      await writer.publish('S', 60_000, () => 's.a');
      const given = { servers: [guarded.url], user: 'bound', password: new Secret(password) };
      await using bound = await JetStreamAccess.open(resolveSettings(given, {}));
      const read = async (): Promise<unknown> =>
        drain(await openReader(bound, request({ stream: 'S', to: 60_000 })));
      await expect(read()).rejects.toMatchObject({ message: expect.stringMatching(says) });
    },
    30_000,
  );
});
