/** `lockstep verify` as a process, as far as no server is needed: what monitors are told. */
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { describe, expect, it } from 'vitest';
import { permissions } from '../../src/verify/plan.js';
import { lockstep, type Ended } from './stage.js';

const verify = (args: readonly string[]): Promise<Ended> =>
  lockstep(['verify', 'M', '--no-context', '-s', 'nats://127.0.0.1:1', ...args]);

describe('verify: without an answer', () => {
  const refused = 'nats://127.0.0.1:1: cannot be reached: connection refused';

  it.concurrent.each<[string, string[], Ended]>([
    [
      'Nagios: no server',
      ['--format', 'nagios'],
      { code: 3, stdout: `UNKNOWN M: ${refused}\n`, stderr: '' },
    ],
    [
      'Nagios: a flag that there is none of',
      ['--format', 'nagios', '--bogus'],
      { code: 3, stdout: "UNKNOWN verify: unknown option '--bogus'\n", stderr: '' },
    ],
    [
      'Nagios: a wrong value, and no bar before figures',
      ['--format', 'nagios', '--from', 'a|b'],
      {
        code: 3,
        stdout: 'UNKNOWN M: --from: "a/b" is not a whole number from 1 to 2^53-1\n',
        stderr: '',
      },
    ],
    [
      'Prometheus: no server',
      ['--format', 'prometheus'],
      {
        ...{ code: 64, stdout: 'lockstep_verify_failed{stream="M"} 1\n' },
        stderr: `lockstep: ${refused}\n`,
      },
    ],
    ['text: no server', [], { code: 64, stdout: '', stderr: `lockstep: ${refused}\n` }],
  ])('%s', async (_title, args, ended) => {
    expect(await verify(args)).toEqual(ended);
  });
});

/** What a server says to every request of a client, in NATS' own protocol; null: nothing. */
async function answering(answer: object | null): Promise<Server> {
  const body = JSON.stringify(answer);
  const welcome = { server_name: 'n1', version: '2.15.2', proto: 1, headers: true };
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.write(`INFO ${JSON.stringify({ ...welcome, max_payload: 1_048_576 })}\r\n`);
    socket.on('data', (bytes) => {
      const text = bytes.toString();
      if (/^PING\r$/m.test(text)) socket.write('PONG\r\n');
      const reply = /^PUB \S+ (\S+) \d+\r$/m.exec(text)?.[1];
      if (answer === null || reply === undefined) return;
      socket.write(`MSG ${reply} 1 ${body.length}\r\n${body}\r\n`);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return server;
}

describe('verify: a server that cannot tell', () => {
  const description = 'JetStream system temporarily unavailable';
  const refused = `$JS.API.STREAM.INFO.M: ${description} (10008)`;
  const unanswered = '$JS.API.STREAM.INFO.M: no answer';

  it.concurrent.each([
    ['unavailable', { error: { code: 503, err_code: 10_008, description } }, [], refused],
    ['silent', null, [], unanswered],
    ['silent, asked what would be asked', null, ['--dry-run'], unanswered],
  ])('%s: inconclusive', async (_title, answer, args, why) => {
    const server = await answering(answer);
    const { port } = server.address() as AddressInfo;
    const url = `nats://127.0.0.1:${port}`;
    const ended = await lockstep([
      'verify',
      'M',
      '--no-context',
      '-s',
      url,
      '--timeout',
      '300ms',
      ...args,
    ]);
    server.close();
    const said = args.length === 0 ? `inconclusive: ${why}` : why;
    expect(ended).toEqual({ code: 2, stdout: '', stderr: `lockstep: ${said}\n` });
  });
});

describe('verify: nothing is compared', () => {
  it.concurrent.each([
    [['--dry-run', '--watch', '1s'], '--watch: does not go with --dry-run'],
    [['--permissions', '--resume', 'x'], '--resume: does not go with --permissions'],
    [['--permissions', '--dry-run'], '--dry-run: does not go with --permissions'],
  ])('%j', async (args, text) => {
    const stderr = `lockstep: ${text}, which compares nothing\n`;
    expect(await verify(args)).toEqual({ code: 64, stdout: '', stderr });
  });
});

describe('verify: --resume', () => {
  it('a place that cannot be written to is refused before anything is asked', async () => {
    const args = ['--depth', 'full', '--resume', 'package.json/token'];
    const { code, stdout, stderr } = await verify(args);
    expect({ code, stdout, stderr }).toEqual({
      ...{ code: 64, stdout: '' },
      stderr: expect.stringMatching(
        /^lockstep: --resume: package\.json\/token: cannot be written to \(.*ENOTDIR.*\)\n$/,
      ),
    });
  });
});

describe('verify: permissions', () => {
  it('of the system account where every server is asked', () => {
    const prefixes = { mirror: '$JS.API', origin: '$JS.API', inbox: '_INBOX' };
    const ofSystem = (isAsked: boolean): string[] =>
      permissions('M', null, true, isAsked, prefixes).filter((line) => line.includes('$SYS'));
    expect([ofSystem(true), ofSystem(false)]).toEqual([['publish   $SYS.REQ.SERVER.PING.JSZ'], []]);
  });

  it.concurrent.each<[string, string[], string | null]>([
    ['of a mirror', [], 'ORIGIN'],
    ['of a mirror whose origin is named', ['--origin', 'S'], 'S'],
    ['of replicas alone', ['--replicas'], null],
    ['of the replicas of a mirror', ['--replicas', '--origin', 'S'], 'S'],
  ])('%s', async (_title, args, origin) => {
    const { code, stdout } = await verify(['--permissions', ...args]);
    const asked = stdout.split('\n').filter((line) => line.includes('STREAM.INFO'));
    expect({ code, asked }).toEqual({
      code: 0,
      asked: ['M', ...(origin === null ? [] : [origin])].map(
        (name) => `publish   $JS.API.STREAM.INFO.${name}`,
      ),
    });
  });
});
