/** `lockstep verify` as a process, against a real server: results, refusals, interruptions. */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { NatsServer } from '../../src/nats/server.js';
import { spanText } from '../../src/report/verify.js';
import { Client, onServer, startServer } from '../nats/stage.js';
import { addMirror } from './verify-stage.js';

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const COUNT = 20_000;
const SECRET = 'only-for-this-test';
const CONFIG = `
  accounts {
    A: { jetstream: enabled, users: [
      { user: full, password: ${SECRET} }
      { user: blind, password: ${SECRET}, permissions: {
        publish: { deny: ["$JS.API.STREAM.INFO.ORDERS"] } } }
      { user: still, password: ${SECRET}, permissions: {
        publish: { deny: ["$JS.API.CONSUMER.CREATE.>"] } } }
    ] }
    B: { users: [{ user: none, password: ${SECRET} }] }
  }`;

onServer('lockstep verify: the command', () => {
  let server: NatsServer;
  let client: Client;
  const dir = mkdtempSync(join(tmpdir(), 'lockstep-verify-'));

  beforeAll(async () => {
    server = await startServer({ config: CONFIG });
    const user = { user: 'full', pass: SECRET, maxReconnectAttempts: -1, reconnectTimeWait: 50 };
    client = await Client.connect(server, user);
    await client.addStream('ORDERS');
    await client.publish('ORDERS', COUNT, (seq) => `orders.${seq % 3}`);
    await addMirror(client, 'MIRROR', 'ORDERS');
    await client.addStream('MERGED', { subjects: undefined, sources: [{ name: 'ORDERS' }] });
    const mirror = { name: 'ELSEWHERE', external: { api: '$JS.hub.API' } };
    await client.addStream('FAR', { subjects: undefined, mirror });
  }, 60_000);
  afterAll(async () => {
    await client[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
    rmSync(dir, { recursive: true });
  });

  function start(args: readonly string[], user = 'full'): ChildProcess {
    const login = { NATS_URL: server.url, NATS_USER: user, NATS_PASSWORD: SECRET };
    const env = { ...process.env, XDG_CONFIG_HOME: dir, ...login };
    return spawn(process.execPath, ['dist/src/cli/main.js', 'verify', ...args], { env });
  }

  function ended(child: ChildProcess): Promise<Ended> {
    const said = { stdout: '', stderr: '' };
    child.stdout?.on('data', (part: Buffer) => (said.stdout += part.toString()));
    child.stderr?.on('data', (part: Buffer) => (said.stderr += part.toString()));
    return new Promise((resolve) => {
      child.once('close', (code) => {
        resolve({ ...said, code });
      });
    });
  }

  /** When it reads, which its consumer shows. */
  async function isReading(): Promise<void> {
    await expect
      .poll(() => client.consumersOf('MIRROR'), { timeout: 20_000, interval: 20 })
      .toBeGreaterThan(0);
  }

  const run = (args: readonly string[], user?: string): Promise<Ended> => ended(start(args, user));

  it('the whole: identical, as text, for a person', async () => {
    const { code, stdout, stderr } = await run(['MIRROR', '--depth', 'full', '--rate', '0']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.split('\n')[0]).toBe('identical: MIRROR, mirror of ORDERS, up to 20,000');
    expect(stdout).toContain('read    full: every message from 1 to 20,000 was read on both sides');
    expect(stdout).toContain('backlog caught up (the mirror itself reports lag 0)');
  });

  it('formats: json, nagios, prometheus', async () => {
    const [json, nagios, prometheus] = await Promise.all(
      ['json', 'nagios', 'prometheus'].map((format) => run(['MIRROR', '--format', format])),
    );
    expect(JSON.parse(json!.stdout)).toMatchObject({
      ...{ schema: 1, result: 'no difference seen', up_to: COUNT, differences: [], explained: [] },
      origin: { name: 'ORDERS', state: { messages: COUNT, first_seq: 1, last_seq: COUNT } },
      mirror: { name: 'MIRROR', state: { messages: COUNT, first_seq: 1, last_seq: COUNT } },
      coverage: { depth: 'state', compared: 200 },
      load: { msgs: 400 },
    });
    expect(nagios!.stdout).toBe(
      'OK no difference seen: MIRROR, mirror of ORDERS, up to 20,000|' +
        'differences=0 explained=0 backlog=0 compared=200\n',
    );
    expect(prometheus!.stdout).toContain(
      'lockstep_verify_result{mirror="MIRROR",origin="ORDERS",depth="state",' +
        'result="no difference seen"} 1\n',
    );
  });

  it('interrupted: exit 2, and gone on with from where it ended', async () => {
    const file = join(dir, 'token.json');
    const child = start(['MIRROR', '--depth', 'full', '--rate', '256KiB', '--resume', file]);
    const first = ended(child);
    await isReading();
    child.kill('SIGINT');
    const { code, stdout, stderr } = await first;
    expect({ code, stderr }).toEqual({ code: 2, stderr: `go on with --resume ${file}\n` });
    expect(stdout).toMatch(/^inconclusive: .*: it was interrupted\n/);
    const token = JSON.parse(readFileSync(file, 'utf8')) as { next: number; config: string };
    expect(token.next).toBeLessThan(COUNT);
    const read = spanText({ from: 1, to: token.next - 1 }, 1);
    expect(stdout.split('\n')[0]).toContain(`, ${read}: it was interrupted`);
    const again = ['MIRROR', '--depth', 'full', '--rate', '0', '--resume', file];
    const second = await run(again);
    expect(second).toMatchObject({ code: 0, stderr: '' });
    expect(second.stdout).toMatch(/^identical: /);
    expect(existsSync(file)).toBe(false);
    writeFileSync(file, JSON.stringify({ ...token, config: '0' }));
    expect(await run(again)).toEqual({
      ...{ code: 64, stdout: '' },
      stderr:
        'lockstep: --resume: cannot go on: a configuration was changed; begin anew without it\n',
    });
    writeFileSync(file, '{}');
    expect((await run(again)).stderr).toBe(
      `lockstep: --resume: ${file}: not a resume token of lockstep verify\n`,
    );
  }, 60_000);

  it('interrupted, and the file cannot be written: the token is printed', async () => {
    const folder = join(dir, 'folder-that-goes');
    const file = join(folder, 'token.json');
    const asked = ['MIRROR', '--depth', 'full', '--rate', '256KiB', '--resume', file];
    const early = await run(asked);
    expect([early.code, early.stderr]).toEqual([
      64,
      expect.stringMatching(`^lockstep: --resume: ${file}: cannot be written to \\(ENOENT`),
    ]);
    mkdirSync(folder);
    const child = start(asked);
    const whole = ended(child);
    await isReading();
    rmSync(folder, { recursive: true });
    child.kill('SIGINT');
    const { code, stderr } = await whole;
    const [problem, advice] = stderr.split('\n');
    expect({ code, problem }).toEqual({
      ...{
        code: 2,
        problem: expect.stringMatching(
          `^lockstep: --resume: ${file}: cannot be written to \\(ENOENT`,
        ),
      },
    });
    expect(advice).toMatch(/^go on with --resume FILE, where FILE holds: \{"schema":1,/);
  }, 60_000);

  it('the server goes away: inconclusive, with a token; once it is back, gone on with', async () => {
    const file = join(dir, 'gone.json');
    const flags = ['MIRROR', '--depth', 'full', '--resume', file, '--timeout', '500ms'];
    const child = start([...flags, '--rate', '256KiB']);
    const first = ended(child);
    await isReading();
    await server.kill();
    const { code, stdout, stderr } = await first;
    expect({ code, stderr }).toEqual({ code: 2, stderr: `go on with --resume ${file}\n` });
    expect(stdout).toMatch(/^inconclusive: .*: \$JS\.API\.CONSUMER\.CREATE\.\S+: no answer\n/);
    await server.restart();
    await expect
      .poll(() => client.lastOf('MIRROR').catch(() => 0), { timeout: 20_000 })
      .toBe(COUNT);
    const second = await run([...flags, '--rate', '0']);
    expect(second).toMatchObject({ code: 0, stderr: '' });
  }, 90_000);

  it.concurrent.each<[string, string[], string | undefined, RegExp]>([
    ['no such stream', ['MIRORR'], undefined, /stream MIRORR not found; did you mean MIRROR\?/],
    ['a stream with sources', ['MERGED'], undefined, /not a mirror \(it has sources\)/],
    ['no mirror', ['ORDERS'], undefined, /ORDERS is not a mirror: /],
    ['one replica', ['ORDERS', '--replicas'], undefined, /ORDERS has one replica/],
    [
      'less than everything of replicas',
      ['ORDERS', '--replicas', '--depth', 'sample'],
      undefined,
      /--depth: sample does not go with --replicas/,
    ],
    [
      'replicas, gone on with',
      ['ORDERS', '--replicas', '--resume', 'token.json'],
      undefined,
      /--resume: does not go with --replicas/,
    ],
    ['itself', ['ORDERS', '--origin', 'ORDERS'], undefined, /ORDERS is the stream itself/],
    [
      'another origin',
      ['MIRROR', '--origin', 'MERGED'],
      undefined,
      /a mirror of ORDERS, not of MERGED/,
    ],
    [
      'an origin out of reach',
      ['FAR'],
      undefined,
      /ELSEWHERE not found through \$JS\.hub\.API: it may have been deleted; if it is elsewhere, give/,
    ],
    ['wrong credentials', ['MIRROR'], 'nobody', /refuses these credentials/],
    ['no JetStream', ['MIRROR'], 'none', /JetStream is not enabled/],
    ['a context', ['MIRROR', '--origin-context', 'prdo'], undefined, /context prdo not found/],
    ['a context of a system', ['MIRROR', '--sys-context', 'prdo'], undefined, /prdo not found/],
    [
      'a system beside replicas',
      ['MIRROR', '--replicas', '--sys-context', 'prdo'],
      undefined,
      /--sys-context: does not go with --replicas/,
    ],
    [
      'an origin that is hidden',
      ['MIRROR'],
      'blind',
      /no permission to publish to \$JS\.API\.STREAM\.INFO\.ORDERS/,
    ],
    [
      'no consumers',
      ['MIRROR', '--depth', 'full'],
      'still',
      /no permission to publish to \$JS\.API\.CONSUMER\.CREATE\.ORDERS\.>: allow it, or use --depth state/,
    ],
    [
      'a sequence',
      ['MIRROR', '--from', '0'],
      undefined,
      /--from: "0" is not a whole number from 1/,
    ],
    [
      'the wrong way round',
      ['MIRROR', '--from', '9', '--to', '8'],
      undefined,
      /9 lies above --to, 8/,
    ],
    [
      'above its last',
      ['MIRROR', '--from', '20001'],
      undefined,
      /20001 lies above the last of MIRROR/,
    ],
    ['a name', ['MI.RROR'], undefined, /stream: "MI\.RROR" is not a name of a stream/],
    [
      'a resumed state',
      ['MIRROR', '--resume', 'x'],
      undefined,
      /only --depth full can be gone on with/,
    ],
  ])('%s: one line, exit 64', async (_title, args, user, says) => {
    const { code, stdout, stderr } = await run(args, user);
    expect({ code, stdout, lines: stderr.split('\n').length }, stderr).toEqual({
      ...{ code: 64, stdout: '', lines: 2 },
    });
    expect(stderr).toMatch(says);
    expect(stderr).not.toContain(SECRET);
  });

  it('without the permission for consumers, state still says what it saw', async () => {
    const { code, stdout } = await run(['MIRROR'], 'still');
    expect(code).toBe(0);
    expect(stdout).toContain(
      'note    the backlog is not known: no permission to publish to $JS.API.CONSUMER',
    );
  });

  it('a dry run and the permissions', async () => {
    const [dry, needed] = await Promise.all([
      run(['MIRROR', '--dry-run', '--depth', 'full']),
      run(['MIRROR', '--permissions', '--origin', 'ORDERS']),
    ]);
    expect(dry.stdout).toContain('1 x $JS.API.CONSUMER.CREATE.MIRROR and its deletion');
    expect(needed.stdout).toContain('publish   $JS.API.STREAM.MSG.GET.ORDERS\n');
  });
});
