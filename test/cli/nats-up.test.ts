/** `lockstep nats up`: what it says, and that nothing of it stays. */
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { findServer } from '../../src/nats/server.js';
import { isAlive, onServer, serverFiles } from '../nats/stage.js';
import { lockstep } from './stage.js';

interface Places {
  readonly url: string;
  readonly servers: readonly { readonly url: string; readonly pid: number; readonly dir: string }[];
}

describe('nats up: refused', () => {
  it.each([
    [['--servers', '2'], 'lockstep: --servers: "2" is not 1, 3 or 5\n'],
    [
      ['--for', '10'],
      'lockstep: --for: "10" is not a duration with its unit, such as 250ms or 2s\n',
    ],
    [['--config', 'test/fixtures/"'], 'lockstep: --config: test/fixtures/": no such file\n'],
    [['--config', '/nowhere'], 'lockstep: --config: /nowhere: no such file\n'],
    [['--server', '3'], "lockstep: unknown option '--server'; did you mean --servers?\n"],
  ])('%s', async (flags, stderr) => {
    expect(await lockstep(['nats', 'up', ...flags])).toEqual({ code: 64, stdout: '', stderr });
  });

  it('no server: how to get one', async () => {
    const env = { PATH: '/nowhere', LOCKSTEP_NATS_SERVER: '' };
    const { code, stdout, stderr } = await lockstep(['nats', 'up'], undefined, env);
    expect({ code, stdout, lines: stderr.split('\n').length }).toEqual({
      ...{ code: 64, stdout: '', lines: 2 },
    });
    expect(stderr).toMatch(/^lockstep: no nats-server on the PATH, .* go install github\.com/);
  });
});

/** Where everything of a command lands that it does not remove. */
function ownFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'lockstep-'));
  onTestFinished(() => {
    rmSync(dir, { recursive: true });
  });
  return dir;
}

/** A nats-server whose third one never comes up, so that the others are waiting for it. */
function withoutLast(dir: string): string {
  const server = findServer(process.env)!;
  const file = join(dir, 'nats-server');
  const lines = [
    '#!/bin/sh',
    '[ "$1" = -c ] && grep -q "server_name: n3" "$2" && exec sleep 1000',
    `exec ${server} "$@"`,
  ];
  writeFileSync(file, `${lines.join('\n')}\n`, { mode: 0o755 });
  return file;
}

onServer('nats up', () => {
  it.each([
    ['accounts {', ":2: 'Unexpected EOF processing map.'"],
    ['debug: false\nlimit: 1', ':2:1: unknown field "limit"'],
    [
      'include "more.conf"',
      ": error parsing include file 'more.conf', open DIR/more.conf: no such file or directory",
    ],
    ['http_base_path: "/x"\nwebsocket { port: 8080 }', 'websocket requires TLS configuration'],
  ])('--config: refused in the words of the server: %j', async (lines, refusal) => {
    const dir = ownFolder();
    const file = join(dir, 'u.conf');
    writeFileSync(file, `${lines}\n`);
    const ended = await lockstep(['nats', 'up', '--config', file], undefined, { TMPDIR: dir });
    const said = `${refusal.startsWith(':') ? file : ''}${refusal.replace('DIR', dir)}`;
    expect(ended).toEqual({
      ...{ code: 64, stdout: '' },
      stderr: `lockstep: --config ${file}: nats-server refuses it: ${said}\n`,
    });
    expect(readdirSync(dir)).toEqual(['u.conf']);
  });

  it('TMPDIR: where no folder can be made', async () => {
    const env = { TMPDIR: '/proc/nowhere' };
    const { code, stderr } = await lockstep(['nats', 'up'], undefined, env);
    expect(code).toBe(64);
    expect(stderr).toMatch(/^lockstep: TMPDIR: no folder can be made in \/proc\/nowhere: .+\n$/);
  });

  it('a signal while servers start: 130, and nothing is left of them', async () => {
    const dir = ownFolder();
    const env = { TMPDIR: dir, LOCKSTEP_NATS_SERVER: withoutLast(ownFolder()) };
    const isStarting = (): boolean => serverFiles(dir).some((path) => path.endsWith('.ports'));
    const ended = await lockstep(['nats', 'up'], isStarting, env);
    expect(ended).toEqual({ code: 130, stdout: '', stderr: '' });
    expect(readdirSync(dir)).toEqual([]);
  });

  it('servers that end by themselves: each is told, and without one it is over', async () => {
    const dir = ownFolder();
    let told = 0;
    const killNext = (stdout: string, stderr: string): boolean => {
      const lines = stderr.split('\n').length - 1;
      if (!stdout.endsWith('\n') || lines < told) return false;
      const { servers } = JSON.parse(stdout) as Places;
      const next = servers[told++];
      if (next !== undefined) process.kill(next.pid, 'SIGKILL');
      return false;
    };
    const { code, stdout, stderr } = await lockstep(['nats', 'up', '--json'], killNext, {
      TMPDIR: dir,
    });
    const dirs = (JSON.parse(stdout) as Places).servers.map((server) => server.dir);
    expect(code).toBe(70);
    const rests = ['n2 and n3 go on', 'n3 goes on', 'no server is left'];
    expect(stderr.trimEnd().split('\n')).toEqual(
      rests.map((rest, at) => {
        const line = `^lockstep: n${at + 1} ended with SIGKILL; ${dirs[at]!}/server\\.log: \\[.+; ${rest}$`;
        return expect.stringMatching(new RegExp(line)) as string;
      }),
    );
    // Their logs are for whoever wants to know why.
    expect(dirs.map(existsSync)).toEqual([true, true, true]);
  });

  it('three servers until a signal comes: then none, and no folder', async () => {
    let said = '';
    const ended = await lockstep(['nats', 'up', '--json'], (stdout) => {
      said = stdout;
      return said.endsWith('\n');
    });
    const { url, servers } = JSON.parse(said) as Places;
    expect(ended).toEqual({ code: 0, stdout: said, stderr: '' });
    expect(url).toBe(
      servers
        .map((each) => each.url)
        .join(',')
        .replaceAll(',nats://', ','),
    );
    expect(servers.map(({ pid, dir }) => isAlive(pid) || existsSync(dir))).toEqual([
      ...[false, false, false],
    ]);
  });

  it('one server for a while: says how it is used', async () => {
    const ended = await lockstep(['nats', 'up', '--servers', '1', '--for', '50ms']);
    expect({ ...ended, stdout: ended.stdout.replaceAll(/:\d+\b/g, ':PORT') }).toEqual({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(
        new RegExp(
          [
            '^nats-server \\S+, JetStream is ready',
            ' {2}n1 {2}nats://127.0.0.1:PORT {2}monitor http://127.0.0.1:PORT',
            '',
            'export NATS_URL=nats://127.0.0.1:PORT',
            'Ctrl-C ends it early and removes everything.\n$',
          ].join('\n'),
        ),
      ) as string,
    });
  });
});
