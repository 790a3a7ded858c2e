/** Whole runs on a stream of a real server, and the command line on one. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { NatsServer } from '../../src/nats/server.js';
import { play, type PlayResult } from '../../src/scenario/play.js';
import type { ClusterEvent } from '../../src/scenario/driver.js';
import { simDriver } from '../../src/sim/driver.js';
import { threadsDriver } from '../../src/threads/driver.js';
import { planOf } from '../threads/stage.js';
import {
  Client,
  hasher,
  onServer,
  ORDERS_GAPS,
  ORDERS_TAIL,
  publishOrders,
  startServer,
} from './stage.js';

const gone = ORDERS_GAPS.reduce((sum, { first, last }) => sum + last - first + 1, 0);
const TAIL = ORDERS_TAIL.last - ORDERS_TAIL.first + 1;
const MESSAGES = ORDERS_TAIL.last - gone - TAIL;
const MIRRORED = { first: 1, last: ORDERS_TAIL.first - 1, messages: MESSAGES, deleted: gone };
const NONE_WRONG = { lost: 0, duplicated: 0, reordered: 0, corrupt: 0, phantom: 0, unknown: 0 };

function playOn(
  server: NatsServer,
  scenario: Record<string, unknown>,
  onEvent: (event: ClusterEvent) => void = () => undefined,
): Promise<PlayResult> {
  const plan = planOf({ origin: { nats: { url: server.url, stream: 'ORDERS' } }, ...scenario });
  return play(plan, { driver: threadsDriver, hasher, replay: '', onEvent });
}

function expectMirrored({ summary, reasons }: PlayResult): void {
  expect(reasons).toEqual([]);
  expect(summary).toMatchObject({
    verdict: 'held',
    origin: {
      ...{ first: 1, last: ORDERS_TAIL.last, messages: MESSAGES, deleted: gone + TAIL },
      ...{ sentinel: null, tailGap: ORDERS_TAIL },
    },
    replicas: ['r1', 'r2', 'r3'].map((id) => ({ id, ...MIRRORED })),
    messages: { ok: MESSAGES, ...NONE_WRONG },
  });
  expect(new Set(summary.replicas.map(({ digest }) => digest)).size).toBe(1);
}

onServer('live run: 200,000 messages', () => {
  let server: NatsServer;
  let client: Client;

  beforeAll(async () => {
    server = await startServer();
    client = await Client.connect(server);
    await publishOrders(client);
  });
  afterAll(async () => {
    await client[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  it('a leader that steps down inside the purged range: held, the tail gap told', async () => {
    const result = await playOn(server, {
      faults: [{ stepDown: 'leader', when: { skipped: 10_000 } }],
      expect: { covered: ['stepDown'], stallAtMost: '10s' },
    });
    expectMirrored(result);
    expect(result.summary.skip).toMatchObject({ largestBatch: 10_000 });
    expect(result.summary.mirror.openings).toBeGreaterThan(1);
    expect(await client.consumersOf('ORDERS')).toBe(0);
  });

  it('a server that is killed and restarted in the middle: held', async () => {
    const restarts: Promise<void>[] = [];
    const result = await playOn(server, { expect: { stallAtMost: '30s' } }, (event) => {
      if (restarts.length > 0 || event.kind !== 'progress' || event.last <= 10_000) return;
      restarts.push(server.restart());
    });
    await Promise.all(restarts);
    expect(restarts).toHaveLength(1);
    expectMirrored(result);
    expect(result.summary.mirror.openings).toBeGreaterThan(1);
  });

  it('a consumer that is deleted on the server: another opening, held', async () => {
    const result = await playOn(server, {
      faults: [{ dropConsumer: true, when: { applied: 10_000 } }],
      expect: { covered: ['dropConsumer'], stallAtMost: '10s' },
    });
    expectMirrored(result);
    expect(await client.consumersOf('ORDERS')).toBe(0);
  });

  it('sim refuses it', async () => {
    const plan = planOf({ origin: { nats: { url: server.url, stream: 'ORDERS' } } });
    await expect(play(plan, { driver: simDriver, hasher, replay: '' })).rejects.toMatchObject({
      ...{ code: 'usage', message: expect.stringContaining('cannot be played on sim') },
    });
  });
});

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function lockstep(args: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ['dist/src/cli/main.js', ...args], {
      env: { ...process.env, ...env },
    });
    const ended = { stdout: '', stderr: '' };
    child.stdout.on('data', (part: Buffer) => (ended.stdout += part.toString()));
    child.stderr.on('data', (part: Buffer) => (ended.stderr += part.toString()));
    child.once('close', (code) => {
      resolve({ ...ended, code });
    });
  });
}

onServer('live run: the command line', () => {
  const SECRET = 'hunter-2-of-alice';
  const CONFIG = `authorization { user: alice, password: "${SECRET}" }`;
  let server: NatsServer;
  const out = mkdtempSync(join(tmpdir(), 'lockstep-'));
  const url = (credentials: string): string => server.url.replace('//', `//${credentials}`);
  const written = (): string =>
    ['events.ndjson', 'summary.json']
      .map((file) => readFileSync(join(out, file), 'utf8'))
      .join('\n');

  beforeAll(async () => {
    server = await startServer({ config: CONFIG });
    await using client = await Client.connect(server, { user: 'alice', pass: SECRET });
    await client.addStream('SMALL');
    await client.publish('SMALL', 1_000, (seq) => `small.${seq % 3}`);
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    rmSync(out, { recursive: true });
  });

  it.each([
    ['a url', (): string[] => ['--origin', `${url(`alice:${SECRET}@`)}/SMALL`]],
    [
      'flags',
      (): string[] => ['--origin', `${server.url}/SMALL`, '--user', 'alice', '--password', SECRET],
    ],
    ['a server', (): string[] => ['--origin', 'nats:///SMALL', '-s', url(`alice:${SECRET}@`)]],
  ])('credentials in %s let it in and are nowhere to be read', async (_title, args) => {
    const { code, stdout, stderr } = await lockstep(['run', ...args(), '--out-dir', out]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('1,000 ok');
    const replay = /^replay: (.*)$/m.exec(stdout)?.[1];
    expect(replay).toContain('/SMALL');
    const json = await lockstep(['run', ...args(), '--json']);
    expect(JSON.parse(json.stdout)).toMatchObject({ verdict: 'held' });
    const everything = stdout + stderr + json.stdout + json.stderr + written();
    expect(everything).toContain('"kind":"config"');
    expect(everything).not.toContain(SECRET);
  });

  it('credentials in the environment', async () => {
    const env = { NATS_URL: server.url, NATS_USER: 'alice', NATS_PASSWORD: SECRET };
    const { code, stderr } = await lockstep(['run', '--origin', 'nats:///SMALL', '--json'], env);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  it.concurrent.each<[string, () => string[], RegExp]>([
    ['wrong credentials', () => [`${url(`alice:${SECRET}x@`)}/SMALL`], /refuses these credentials/],
    ['no credentials', () => [`${server.url}/SMALL`], /wants credentials/],
    ['a slip', () => [`${url(`alice:${SECRET}@`)}/SMAL`], /did you mean SMALL\?/],
    ['no stream', () => [url(`alice:${SECRET}@`)], /a url with a stream/],
    ['a scheme', () => [`nat://alice:${SECRET}@h/S`], /did you mean nats\?/],
    ['an unknown context', () => ['nats:///S', '--context', 'prdo'], /context prdo not found/],
    ['two servers', () => ['nats://h/S', '-s', `nats://alice:${SECRET}@i`], /names its server/],
    ['on sim', () => ['nats://h/S', '--on', 'sim'], /cannot be played on sim/],
    ['flags for nobody', () => ['synthetic:messages=1', '--creds', 'x'], /belong to a live origin/],
    ['a password alone', () => ['nats:///S', '--password', SECRET], /without --user/],
  ])('%s: one line, exit 64, nothing written', async (title, args, says) => {
    const dir = join(out, `refused-${title.replaceAll(' ', '-')}`);
    const { code, stdout, stderr } = await lockstep([
      'run',
      '--origin',
      ...args(),
      '--out-dir',
      dir,
    ]);
    expect({ code, stdout, lines: stderr.split('\n').length }).toEqual({
      ...{ code: 64, stdout: '', lines: 2 },
    });
    expect(stderr).toMatch(says);
    expect(stderr).not.toContain(SECRET);
    if (existsSync(dir)) expect(readdirSync(dir)).toEqual([]);
  });
});
