/** The process itself: its port, its store, and that nothing is left of it whoever dies. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { sweep } from '../../src/nats/server-folder.js';
import { findServer } from '../../src/nats/server.js';
import { Client, isAlive, onServer, startServer } from './stage.js';

it('server: the binary is the one that is named, else the first on the PATH', () => {
  const dir = mkdtempSync(join(tmpdir(), 'lockstep-'));
  const file = join(dir, 'nats-server');
  expect(findServer({ PATH: dir })).toBeNull();
  writeFileSync(file, '', { mode: 0o755 });
  expect(findServer({ PATH: `/nowhere:${dir}` })).toBe(file);
  expect(findServer({ PATH: '', LOCKSTEP_NATS_SERVER: file })).toBe(file);
  expect(findServer({ PATH: dir, LOCKSTEP_NATS_SERVER: '/nowhere' })).toBeNull();
  rmSync(dir, { recursive: true });
});

onServer('server: one process', () => {
  it('killed and restarted: another process, the same port and store', async () => {
    await using server = await startServer();
    const { url, pid } = server;
    {
      await using client = await Client.connect(server);
      await client.addStream('S');
      await client.publish('S', 3, () => 's.a');
    }
    await server.kill();
    expect({ alive: isAlive(pid!), pid: server.pid }).toEqual({ alive: false, pid: null });
    await server.restart();
    expect(server.url).toBe(url);
    expect(server.pid).not.toBe(pid);
    await using client = await Client.connect(server);
    expect(await client.lastOf('S')).toBe(3);
  });

  it('stopped: the process and its folder are gone', async () => {
    const server = await startServer();
    const { pid, dir } = server;
    expect(existsSync(dir)).toBe(true);
    await server[Symbol.asyncDispose]();
    expect({ alive: isAlive(pid!), dir: existsSync(dir) }).toEqual({ alive: false, dir: false });
  });

  it('closed while it is started again: it stays down, its log is kept', async () => {
    const server = await startServer();
    server.keep();
    const restarting = server.restart().catch((error: unknown) => error);
    await server[Symbol.asyncDispose]();
    expect(await restarting).toMatchObject({ code: 'harness', message: 'n1 was closed' });
    expect({ pid: server.pid, kept: existsSync(server.logFile) }).toEqual({
      pid: null,
      kept: true,
    });
    rmSync(server.dir, { recursive: true });
  });

  it('one that does not start: the reason, and its log is kept', async () => {
    const failure: unknown = await startServer({ config: 'max_payload: oops' }).catch(
      (error: unknown) => error,
    );
    const { code, message } = failure as { code: string; message: string };
    expect(code).toBe('harness');
    const log = /; (\S+\/)server\.log: /.exec(message)?.[1];
    expect(message).toMatch(/^nats-server ended with code 1; /);
    expect(existsSync(log!)).toBe(true);
    rmSync(log!, { recursive: true });
  });

  it('ends when whoever started it is killed', async () => {
    const program = `
      Symbol.asyncDispose ??= Symbol('Symbol.asyncDispose');
      const { NatsServer } = await import('./dist/src/nats/server.js');
      const server = await NatsServer.start({ binary: process.argv[1] });
      process.stdout.write(JSON.stringify({ pid: server.pid, dir: server.dir }));
      setInterval(() => undefined, 1_000);
    `;
    const binary = findServer(process.env)!;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program, binary]);
    const [told] = await new Promise<[Buffer]>((resolve) => {
      child.stdout.once('data', (part: Buffer) => resolve([part]));
    });
    const { pid, dir } = JSON.parse(told.toString()) as { pid: number; dir: string };
    expect(isAlive(pid)).toBe(true);
    child.kill('SIGKILL');
    await expect.poll(() => isAlive(pid), { timeout: 20_000 }).toBe(false);
    expect(existsSync(dir)).toBe(true);
    sweep(tmpdir());
    expect(existsSync(dir)).toBe(false);
  });
});
