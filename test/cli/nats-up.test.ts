/** `lockstep nats up`: what it says, and that nothing of it stays. */
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isAlive, onServer } from '../nats/stage.js';
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
    [['--config', '/nowhere'], 'lockstep: --config: /nowhere cannot be read\n'],
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

onServer('nats up', () => {
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
