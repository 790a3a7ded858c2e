/** Connections that come to nothing: what they leave behind, seen from the other end. */
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { openConnection } from '../../src/nats/connection.js';
import { resolveSettings, type Settings } from '../../src/nats/settings.js';

const HELLO = 'INFO {"server_id":"x","version":"2.15.2","max_payload":1024,"proto":1}\r\n';

let servers: Server[] = [];
afterEach(() => {
  for (const server of servers) server.close();
  servers = [];
});

/** Resolves with each socket in turn, for as long as it is asked. */
async function listening(): Promise<{ port: number; accepted: () => Promise<Socket> }> {
  const server = createServer().listen(0, '127.0.0.1');
  servers.push(server);
  const sockets: Socket[] = [];
  server.on('connection', (socket) => {
    socket.resume().on('error', () => undefined);
    sockets.push(socket);
  });
  await once(server, 'listening');
  const accepted = async (): Promise<Socket> => {
    if (sockets.length === 0) await once(server, 'connection');
    return sockets.shift()!;
  };
  return { port: (server.address() as AddressInfo).port, accepted };
}

function settingsFor(url: string, more: Partial<Settings> = {}): Settings {
  const given = { servers: [url], timeoutMs: 50 };
  return { ...resolveSettings(given, { XDG_CONFIG_HOME: '/nowhere' }), ...more };
}

/** Resolves once the other end has closed it; a test that waits in vain fails. */
async function closed(socket: Socket): Promise<'closed'> {
  if (!socket.destroyed) await once(socket, 'close');
  return 'closed';
}

describe('a connection that comes to nothing leaves no socket open', () => {
  it('a server that says nothing', async () => {
    const { port, accepted } = await listening();
    const opened = openConnection(settingsFor(`nats://127.0.0.1:${port}`));
    await expect(opened).rejects.toMatchObject({
      code: 'usage',
      message: `nats://127.0.0.1:${port}: no server answered within 50ms`,
    });
    expect(await closed(await accepted())).toBe('closed');
  });

  it('one that says nothing in TLS', async () => {
    const { port, accepted } = await listening();
    const settings = settingsFor(`tls://127.0.0.1:${port}`, { tlsFirst: true });
    await expect(openConnection(settings)).rejects.toMatchObject({ code: 'usage' });
    expect(await closed(await accepted())).toBe('closed');
  });

  it('one that says hello and nothing more', async () => {
    const { port, accepted } = await listening();
    const opened = openConnection(settingsFor(`nats://127.0.0.1:${port}`));
    const socket = await accepted();
    socket.write(HELLO);
    await expect(opened).rejects.toMatchObject({ code: 'usage' });
    expect(await closed(socket)).toBe('closed');
  });

  it('closed while it connects anew', async () => {
    const { port, accepted } = await listening();
    const settings = settingsFor(`nats://127.0.0.1:${port}`, { timeoutMs: 60_000 });
    const opened = openConnection(settings);
    const first = await accepted();
    first.write(`${HELLO}PONG\r\n`);
    const connection = await opened;
    first.destroy();
    const second = await accepted();
    await connection.close();
    expect(await closed(second)).toBe('closed');
  });
});
