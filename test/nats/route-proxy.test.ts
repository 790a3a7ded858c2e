/** What goes through a proxy of a route, and what a cut does to it; no server is needed. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { RouteProxy } from '../../src/nats/route-proxy.js';

/** Answers each piece with itself. */
let echo: Server;
let port: number | null = null;
let proxy: RouteProxy;
const clients: Socket[] = [];

beforeEach(async () => {
  echo = createServer((socket) => socket.on('error', () => undefined).pipe(socket));
  echo.listen(0, '127.0.0.1');
  await once(echo, 'listening');
  ({ port } = echo.address() as AddressInfo);
  proxy = await RouteProxy.open(() => port);
});
afterEach(async () => {
  await proxy[Symbol.asyncDispose]();
  for (const client of clients.splice(0)) client.destroy();
  echo.close();
});

async function dial(): Promise<Socket> {
  const client = connect(Number(new URL(proxy.url).port), '127.0.0.1');
  clients.push(client);
  await once(client, 'connect');
  return client;
}

async function next(client: Socket): Promise<string> {
  const [part] = (await once(client, 'data')) as [Buffer];
  return part.toString();
}

async function ask(client: Socket, text: string): Promise<string> {
  client.write(text);
  return next(client);
}

it('proxy: what is written comes through, and back', async () => {
  expect(await ask(await dial(), 'a')).toBe('a');
});

it.each([[['there']], [['back']], [['there', 'back']]] as const)(
  'proxy: held: %s: late, in order, nothing lost; two cuts end in turn',
  async (ways) => {
    const client = await dial();
    await ask(client, 'a');
    const [first, second] = [proxy.hold(ways), proxy.hold(ways)];
    let heard = '';
    client.on('data', (part: Buffer) => (heard += part.toString()));
    client.write('b');
    client.write('c');
    first();
    first();
    // Something that was sent later, and came through, shows that the rest would have.
    const other = await RouteProxy.open(() => port);
    const beside = connect(Number(new URL(other.url).port), '127.0.0.1');
    clients.push(beside);
    for (let time = 0; time < 20; time++) await ask(beside, 'd');
    expect(heard).toBe('');
    second();
    await expect.poll(() => heard).toBe('bc');
    beside.destroy();
    await other[Symbol.asyncDispose]();
  },
);

it('proxy: held: an end that goes is not seen by the other one until the cut is over', async () => {
  const client = await dial();
  await ask(client, 'a');
  const heal = proxy.hold(['there', 'back']);
  client.destroy();
  const open = (): Promise<number> =>
    new Promise((resolve) => {
      echo.getConnections((_, count) => resolve(count));
    });
  expect(await open()).toBe(1);
  heal();
  await expect.poll(open).toBe(0);
});

it('proxy: held: one that connects meanwhile gets nowhere, and is reset when that is over', async () => {
  const heal = proxy.hold(['there']);
  const client = await dial();
  const reset = once(client, 'error');
  client.write('a');
  heal();
  expect(await reset).toMatchObject([{ code: 'ECONNRESET' }]);
  expect(await ask(await dial(), 'b')).toBe('b');
});

it('proxy: rejecting: connections are reset, new ones too, until that is over', async () => {
  const client = await dial();
  await ask(client, 'a');
  const reset = next(client);
  const heal = proxy.reject();
  await expect(reset).rejects.toMatchObject({ code: 'ECONNRESET' });
  await expect(dial().then(next)).rejects.toMatchObject({ code: 'ECONNRESET' });
  heal();
  expect(await ask(await dial(), 'b')).toBe('b');
});

it('proxy: the other server is down: reset', async () => {
  port = null;
  await expect(dial().then(next)).rejects.toMatchObject({ code: 'ECONNRESET' });
});
