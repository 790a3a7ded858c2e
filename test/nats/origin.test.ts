/** The live source on a real server, driven by the test: bytes, openings, refusals, connections. */
import { headers, nkeys } from 'nats';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Opening, OriginFrame } from '../../src/mirror/types.js';
import type { NatsServer } from '../../src/nats/server.js';
import { Secret } from '../../src/base/secret.js';
import type { ConnectionGiven } from '../../src/scenario/connection.js';
import { readMessage, recordSize, viewOf } from '../../src/stream/layout.js';
import { Client, onServer, openOrigin, startServer, type Opened } from './stage.js';

const decoder = new TextDecoder();

function openingOf(generation: number): Opening {
  return { member: 'r1.1', term: 1, generation };
}

function open(opened: Opened, opening: Opening, startSeq: number): void {
  opened.origin.command(opening.member, { type: 'open', opening, startSeq }, 0);
}

/** Frames as they come, until one of them is the last that is wanted. */
async function framesUntil(
  { origin, woken }: Opened,
  isLast: (frame: OriginFrame) => boolean,
): Promise<OriginFrame[]> {
  const frames: OriginFrame[] = [];
  for (;;) {
    const waking = woken();
    frames.push(...origin.pump(0).map(({ frame }) => frame));
    if (frames.some(isLast)) return frames;
    await waking;
  }
}

interface Message {
  readonly seq: number;
  readonly subject: string;
  readonly headers: string;
  readonly payload: readonly number[];
}

function messagesOf(frames: readonly OriginFrame[]): Message[] {
  return frames.flatMap((frame) => {
    if (frame.type !== 'deliver') return [];
    const messages: Message[] = [];
    for (let at = 0; at < frame.bytes.length; at += recordSize(viewOf(frame.bytes), at)) {
      const message = readMessage(frame.bytes, at);
      messages.push({
        seq: message.seq,
        subject: decoder.decode(message.subject),
        headers: decoder.decode(message.headers),
        payload: [...message.payload],
      });
    }
    return messages;
  });
}

function deliveredUpTo(seq: number): (frame: OriginFrame) => boolean {
  return (frame) => messagesOf([frame]).some((message) => message.seq >= seq);
}

async function refusalOf(stream: string, connection: ConnectionGiven): Promise<string> {
  try {
    await using _opened = await openOrigin(stream, connection);
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    return `${code ?? ''}: ${message}`;
  }
  return 'nothing';
}

onServer('live origin: one server', () => {
  let server: NatsServer;
  let client: Client;
  const here = (): ConnectionGiven => ({ servers: [server.url] });

  beforeAll(async () => {
    server = await startServer();
    client = await Client.connect(server);
    await client.addStream('SMALL', { storage: 'memory' });
    await client.publish('SMALL', 10, (seq) => `small.${seq}`);
    await client.deleteMessages('SMALL', 4, 5, 9, 10);
  });
  afterAll(async () => {
    await client[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  it('content: headers as they came, binary and empty payloads', async () => {
    await client.addStream('BODIES');
    const { connection } = client;
    const trace = headers();
    trace.append('Trace', 'a');
    trace.append('trace', 'b  ');
    const binary = Uint8Array.from({ length: 256 }, (_, at) => at);
    connection.publish('bodies.a', binary, { headers: trace });
    connection.publish('bodies.b');
    connection.publish('bodies.c', new Uint8Array(0), { headers: trace });
    connection.publish('bodies.d', new Uint8Array([13, 10, 0]));
    await connection.flush();
    await using opened = await openOrigin('BODIES', here());
    open(opened, openingOf(1), 1);
    const messages = messagesOf(await framesUntil(opened, deliveredUpTo(4)));
    const raw = 'NATS/1.0\r\nTrace: a\r\ntrace: b\r\n\r\n';
    expect(messages.map(({ seq, subject }) => `${seq} ${subject}`)).toEqual([
      ...['1 bodies.a', '2 bodies.b', '3 bodies.c', '4 bodies.d'],
    ]);
    expect(messages.map((message) => message.headers.replaceAll('b  ', 'b'))).toEqual([
      ...[raw, '', raw, ''],
    ]);
    expect(messages.map(({ payload }) => payload)).toEqual([[...binary], [], [], [13, 10, 0]]);
  });

  it('an opening: its answer, what lies between deliveries, where the tail is a gap', async () => {
    await using opened = await openOrigin('SMALL', here());
    const { origin, ledger } = opened;
    expect({ last: origin.last, messages: origin.messages }).toEqual({ last: 8, messages: 6 });
    open(opened, openingOf(1), 1);
    const frames = await framesUntil(opened, deliveredUpTo(8));
    expect(frames[0]).toMatchObject({
      ...{ type: 'opened', opening: openingOf(1), startsAfter: 0, last: 10, pending: 6 },
      identity: { name: 'SMALL' },
    });
    expect(messagesOf(frames).map(({ seq }) => seq)).toEqual([1, 2, 3, 6, 7, 8]);
    expect(ledger.ranges()).toEqual({
      delivered: [
        { first: 1, last: 3 },
        { first: 6, last: 8 },
      ],
      passedOver: [{ first: 4, last: 5 }],
    });
    expect(origin.report()).toMatchObject({
      origin: { first: 1, last: 10, messages: 6, deleted: 4 },
      ...{ sentinel: null, tailGap: { first: 9, last: 10 } },
    });
  });

  it('what was there before the start is passed over with the answer', async () => {
    await client.addStream('PURGED');
    await client.publish('PURGED', 20, () => 'purged.a');
    await client.ask('STREAM.PURGE.PURGED', { seq: 15 });
    await using opened = await openOrigin('PURGED', here());
    open(opened, openingOf(1), 3);
    const [answer] = await framesUntil(opened, deliveredUpTo(20));
    expect(answer).toMatchObject({ type: 'opened', startsAfter: 14, last: 20, pending: 6 });
    expect(opened.ledger.ranges().passedOver).toEqual([{ first: 3, last: 14 }]);
  });

  it('the newest opening is served, older ones are gone from the server', async () => {
    await using opened = await openOrigin('SMALL', here());
    open(opened, openingOf(1), 1);
    open(opened, openingOf(2), 7);
    open(opened, openingOf(1), 1);
    const frames = await framesUntil(opened, deliveredUpTo(8));
    expect(new Set(frames.map(({ opening }) => opening.generation))).toEqual(new Set([2]));
    expect(messagesOf(frames).map(({ seq }) => seq)).toEqual([7, 8]);
    opened.origin.command('r1.1', { type: 'close', opening: openingOf(2) }, 0);
    await opened.origin.close();
    expect(await client.consumersOf('SMALL')).toBe(0);
  });

  it('heartbeats carry the last delivery number', async () => {
    await using opened = await openOrigin('SMALL', here());
    open(opened, openingOf(1), 6);
    const frames = await framesUntil(opened, ({ type }) => type === 'heartbeat');
    expect(frames.at(-1)).toEqual({
      ...{ type: 'heartbeat', opening: openingOf(1), lastDeliverySeq: 3 },
    });
  });

  it('faults: lost, repeated, refused', async () => {
    await using opened = await openOrigin('SMALL', here());
    const { origin } = opened;
    origin.refuseNext(1, { code: 'originRefused', message: 'a fault' });
    open(opened, openingOf(1), 1);
    expect(origin.pump(0).map(({ frame }) => frame)).toEqual([
      {
        ...{ type: 'refused', opening: openingOf(1) },
        error: { code: 'originRefused', message: 'a fault' },
      },
    ]);
    origin.loseDeliveries(2);
    origin.repeatDeliveries(1);
    open(opened, openingOf(2), 1);
    const frames = await framesUntil(opened, deliveredUpTo(8));
    const delivered = frames.flatMap((frame) =>
      frame.type === 'deliver' ? [[frame.deliverySeq, frame.count]] : [],
    );
    // 1 and 2 were lost, 3 came twice, then 6 to 8.
    expect(delivered).toEqual([
      [3, 1],
      [3, 1],
      [4, 3],
    ]);
    // What was lost was neither handed out nor passed over.
    expect(opened.ledger.ranges()).toEqual({
      delivered: [
        { first: 3, last: 3 },
        { first: 6, last: 8 },
      ],
      passedOver: [{ first: 4, last: 5 }],
    });
    expect(origin.records({ first: 1, last: 8 }).map(({ seq }) => seq)).toEqual([1, 2, 3, 6, 7, 8]);
  });

  it('faults: a loss at the end shows in the heartbeat', async () => {
    await using opened = await openOrigin('SMALL', here());
    opened.origin.loseDeliveries(3);
    open(opened, openingOf(1), 6);
    const told = ({ type }: OriginFrame): boolean => type === 'heartbeat';
    expect((await framesUntil(opened, told)).slice(1)).toEqual([
      { type: 'heartbeat', opening: openingOf(1), lastDeliverySeq: 3 },
    ]);
  });

  it('a stalled origin says nothing until its time is over', async () => {
    await using opened = await openOrigin('SMALL', here());
    opened.origin.stall(1_000, 0);
    open(opened, openingOf(1), 1);
    let frames: readonly unknown[] = [];
    while (frames.length === 0) {
      await opened.woken();
      expect(opened.origin.pump(999)).toEqual([]);
      expect(opened.origin.nextDueMs(999)).toBe(1_000);
      frames = opened.origin.pump(1_000);
    }
    expect(frames[0]).toMatchObject({ frame: { type: 'opened' } });
  });

  it('a stream that goes away while it is mirrored: the next opening is refused', async () => {
    await client.addStream('GONE');
    await client.publish('GONE', 1, () => 'gone.a');
    await using opened = await openOrigin('GONE', here());
    await client.ask('STREAM.DELETE.GONE');
    open(opened, openingOf(1), 1);
    const frames = await framesUntil(opened, ({ type }) => type === 'refused');
    expect(frames).toMatchObject([{ type: 'refused', error: { code: 'originRefused' } }]);
  });

  it('a mirror as origin is taken, and said', async () => {
    await client.ask('STREAM.CREATE.COPY', {
      ...{ name: 'COPY', storage: 'memory', mirror: { name: 'SMALL', filter_subject: 'small.8' } },
    });
    while ((await client.lastOf('COPY')) < 8) await client.connection.flush();
    await using opened = await openOrigin('COPY', here());
    expect(opened.notes).toEqual([
      'COPY is itself a filtered mirror of SMALL: it is the origin here as it stands',
    ]);
  });

  it('refused before anything is started', async () => {
    await client.addStream('WORK', { retention: 'workqueue' });
    await client.addStream('INTEREST', { retention: 'interest' });
    await client.addStream('EMPTY');
    const refused: Record<string, string> = {};
    for (const stream of ['SMAL', 'WORK', 'INTEREST', 'EMPTY']) {
      refused[stream] = await refusalOf(stream, here());
    }
    expect(refused).toEqual({
      SMAL: 'usage: stream SMAL not found; did you mean SMALL?',
      WORK:
        'usage: stream WORK is a work queue: its messages are taken by whoever reads them, and ' +
        'lockstep takes none',
      INTEREST:
        'usage: stream INTEREST has interest retention: a consumer of ours would change how long ' +
        'its messages are kept',
      EMPTY: 'usage: stream EMPTY has no message: there is nothing to mirror',
    });
  });
});

const ACCOUNTS = `
accounts {
  A {
    jetstream: enabled
    users: [
      { user: full, password: of-full }
      { user: blind, password: of-blind
        permissions: { publish: { deny: ["$JS.API.STREAM.INFO.>"] } } }
      { user: idle, password: of-idle
        permissions: { publish: { deny: ["$JS.API.CONSUMER.CREATE.>"] } } }
      { user: deaf, password: of-deaf, permissions: { subscribe: ["_ME.>"] } }
    ]
  }
  B { users: [{ user: none, password: of-none }] }
}
`;

/** The client's nkeys come without types. */
interface Nkeys {
  createUser(): { getPublicKey(): string; getSeed(): Uint8Array };
}

onServer('live origin: connections', () => {
  const login = (user: string, password = `of-${user}`): ConnectionGiven => ({
    ...{ user, password: new Secret(password) },
  });

  it('accounts: who may, and what is said of who may not', async () => {
    await using server = await startServer({ config: ACCOUNTS });
    await using client = await Client.connect(server, { user: 'full', pass: 'of-full' });
    await client.addStream('S');
    await client.publish('S', 3, () => 's.a');
    const servers = [server.url];
    {
      const given = { servers, inboxPrefix: '_ME', ...login('deaf') };
      await using opened = await openOrigin('S', given);
      expect(opened.origin.last).toBe(3);
    }
    const refused = async (given: ConnectionGiven): Promise<string> =>
      (await refusalOf('S', { servers, ...given })).replace(server.url, 'URL');
    expect([
      await refused({}),
      await refused(login('full', 'of-wrong')),
      await refused({ token: new Secret('of-token') }),
      await refused(login('blind')),
      await refused(login('idle')),
      await refused(login('deaf')),
      await refused(login('none')),
      await refused({ jsDomain: 'hub', ...login('full') }),
    ]).toEqual([
      'usage: URL: the server wants credentials: --creds, --nkey, --user and --password, or a context',
      'usage: URL: the server refuses these credentials (a user and a password)',
      'usage: URL: the server refuses these credentials (a token)',
      'usage: no permission to publish to $JS.API.STREAM.INFO.S',
      'usage: no permission to publish to $JS.API.CONSUMER.CREATE.S.>',
      'usage: no permission to subscribe to _INBOX.>',
      'usage: JetStream is not enabled on this server, account or domain',
      'usage: JetStream is not enabled on this server, account or domain: nobody answers at ' +
        "$JS.hub.API (--js-domain hub, or the context's)",
    ]);
  });

  it('no server, no JetStream', async () => {
    const server = await startServer({ jetStream: false });
    const servers = [server.url];
    const off = await refusalOf('S', { servers });
    await server[Symbol.asyncDispose]();
    const gone = await refusalOf('S', { servers });
    expect([off, gone]).toEqual([
      'usage: JetStream is not enabled on this server, account or domain',
      `usage: ${server.url}: cannot be reached: connection refused`,
    ]);
  });

  it('an nkey', async () => {
    const user = (nkeys as Nkeys).createUser();
    const config = `authorization { users: [{ nkey: ${user.getPublicKey()} }] }`;
    const dir = mkdtempSync(join(tmpdir(), 'lockstep-'));
    const file = join(dir, 'user.nk');
    const seed = new TextDecoder().decode(user.getSeed());
    writeFileSync(file, `-- a seed\n${seed}\n`);
    await using server = await startServer({ config });
    const given = { servers: [server.url], nkey: file };
    // It gets as far as asking for the stream.
    expect(await refusalOf('S', given)).toBe('usage: stream S not found');
    writeFileSync(file, 'no seed');
    expect(await refusalOf('S', given)).toBe(`usage: ${file}: holds no nkey seed`);
    rmSync(dir, { recursive: true });
    expect(await refusalOf('S', given)).toBe(`usage: nkey file: ${file}: no such file`);
  });

  it.each([false, true])('TLS, first: %s', async (tlsFirst) => {
    const tls = join(import.meta.dirname, '../fixtures/tls');
    const files = `cert_file: "${tls}/cert.pem", key_file: "${tls}/key.pem"`;
    const config = `tls { ${files}, handshake_first: ${tlsFirst} }`;
    await using server = await startServer({ config });
    const given = { servers: [server.url], tlsCa: `${tls}/cert.pem`, tlsFirst };
    expect(await refusalOf('S', given)).toBe('usage: stream S not found');
    const distrusted = { servers: [server.url.replace('nats:', 'tls:')], tlsFirst };
    expect(await refusalOf('S', distrusted)).toMatch(
      /its certificate is not trusted \(.*self-signed/,
    );
  });
});
