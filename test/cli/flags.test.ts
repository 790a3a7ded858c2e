import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { ConnectionFlags } from '../../src/cli/connection-flags.js';
import { replayCommand } from '../../src/cli/replay-command.js';
import { planOf, type RunFlags } from '../../src/cli/run.js';
import { revealed, type ConnectionGiven } from '../../src/scenario/connection.js';
import type { LiveOriginPlan } from '../../src/scenario/types.js';

const dir = mkdtempSync(join(tmpdir(), 'lockstep-'));
afterAll(() => rmSync(dir, { recursive: true }));

const FILE = `version: 1
name: a run
origin: { synthetic: { messages: 10 } }
replicas: 5
mirror: { skip: range }
faults:
  - { id: own, freeze: r1, at: 1s }
`;

function flags(given: Partial<RunFlags> = {}): RunFlags {
  return { on: 'threads', fault: [], ...given };
}

/** The path of a scenario file with this text. */
function scenario(text = FILE): string {
  const path = join(dir, 'a.yaml');
  writeFileSync(path, text);
  return path;
}

/** What is refused, the path of the file left out. */
function refusal(given: Partial<RunFlags>, text?: string): string {
  try {
    planOf(text === undefined ? undefined : scenario(text), flags(given));
  } catch (error) {
    return (error as Error).message.replace(`${dir}/`, '');
  }
  return 'nothing';
}

describe('flags: over a scenario', () => {
  it('none: the scenario as it is', () => {
    expect(planOf(scenario(), flags())).toMatchObject({
      ...{ name: 'a run', replicas: 5, skip: 'range', faults: [{ id: 'own' }] },
    });
  });

  it('another origin: the end state that the scenario expects of its own is left out', () => {
    const text = [
      'version: 1',
      'name: five',
      'origin: { synthetic: { messages: 4 } }',
      'expect: { mirror: diverged, state: { first: 1, last: 5, messages: 5, deleted: 0 } }',
    ].join('\n');
    const state = { first: 1, last: 5, messages: 5, deleted: 0 };
    expect(planOf(scenario(text), flags()).expect).toMatchObject({ mirror: 'diverged', state });
    const given = flags({ origin: 'synthetic:messages=7' });
    const { expect: others } = planOf(scenario(text), given);
    expect(others).toMatchObject({ mirror: 'diverged', state: null });
  });

  it('each replaces one field, faults are added', () => {
    const given = flags({
      ...{ replicas: '3', skip: 'entries', seed: '9', election: 'timers', timeScale: '0.5' },
      ...{ timeLimit: '5s', beyondQuorum: true, fault: ['kill=r2,after=own'] },
      origin: 'synthetic:messages=7,size=1KiB,gap=2+3',
    });
    const plan = planOf(scenario(), given);
    expect(plan).toEqual({
      ...{ name: 'a run', seed: 9, replicas: 3, election: 'timers', skip: 'entries' },
      ...{ timeScale: 0.5, timeLimitMs: 5_000, beyondQuorum: true },
      origin: {
        ...{ kind: 'synthetic', messages: 7, size: 1_024, rate: null },
        gaps: [{ after: 2, count: 3 }],
      },
      faults: [
        {
          ...{ id: 'own', action: { kind: 'freeze', forMs: 500 }, on: null },
          ...{ target: { kind: 'slot', slot: 'r1' }, trigger: { kind: 'time', atMs: 1_000 } },
        },
        {
          ...{ id: 'faults[1]', action: { kind: 'kill' }, on: null },
          target: { kind: 'slot', slot: 'r2' },
          trigger: { kind: 'after', fault: 'own', delayMs: 0, settled: false },
        },
      ],
      expect: plan.expect,
    });
  });

  it('without a file: 100,000 messages on three replicas, no faults', () => {
    expect(planOf(undefined, flags())).toMatchObject({
      ...{ name: 'a run', replicas: 3, faults: [], origin: { messages: 100_000, gaps: [] } },
    });
  });

  it('time scale: upstream or a number', () => {
    expect(planOf(undefined, flags({ timeScale: 'upstream' })).timeScale).toBe(1);
    expect(planOf(undefined, flags({ timeScale: '0.2' })).timeScale).toBe(0.2);
  });
});

describe('flags: refused where they were given', () => {
  it.each<[string, Partial<RunFlags>, string]>([
    ['a field', { timeLimit: '5' }, 'flags: timeLimit: "5" is not a duration with its unit'],
    ['replicas', { replicas: '2' }, 'flags: replicas: "2" is not one of 1, 3, 5, 7'],
    ['a fault', { fault: ['kill=r9,at=1s'] }, 'flags: faults[1].kill: "r9" is not one of leader'],
    ['no number', { timeScale: 'x' }, '--time-scale: "x" is not upstream or a number'],
    ['no value', { timeScale: '' }, '--time-scale: "" is not upstream or a number'],
    ['hexadecimal', { timeScale: '0x1' }, '--time-scale: "0x1" is not upstream or a number'],
    ['too small', { timeScale: '0' }, 'flags: timeScale: 0 is not upstream or a number'],
    ['a word', { election: 'timer' }, '--election: "timer" is not one of conductor, timers, both'],
  ])('%s', (_title, given, message) => {
    expect(refusal(given, FILE)).toContain(message);
  });

  it('without a file everything was given by flags', () => {
    expect(refusal({ fault: ['kill=r9,at=1s'] })).toContain('flags: faults[0].kill: "r9"');
  });

  it('the file by its line, whatever flags there are', () => {
    const given = { timeLimit: '5s', fault: ['kill=r2,at=1s'] };
    expect(refusal(given, FILE.replace('r1', 'r9'))).toContain('a.yaml:7: faults[0].freeze: "r9"');
    expect(refusal(given, FILE.replace('replicas: 5', 'replica: 5'))).toContain(
      'a.yaml:4: "replica" is not a known key; did you mean replicas?',
    );
    for (const key of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
      expect(refusal({ seed: '2' }, `${FILE}${key}: { a: 1 }\n`)).toBe(
        `a.yaml:8: "${key}" is not a known key`,
      );
    }
    expect(refusal({}, '- 1')).toBe('a.yaml: a list is not a mapping');
  });

  it('faults that are no list are not replaced by those of flags', () => {
    const text = FILE.replace(/faults:[^]*/, 'faults: 3\n');
    const given = { fault: ['kill=r2,at=1s'] };
    expect(refusal(given, text)).toBe('a.yaml:6: faults: 3 is not a list');
  });
});

describe('flags: words of subjects', () => {
  const LINES = 'x 0\r\n\r\nPUB S.1 0\r\n\r\nPUB y';
  it.each<[keyof ConnectionFlags, string, string]>([
    ['jsApiPrefix', LINES, '--js-api-prefix: "x 0\\u{d}\\u{a}\\u{d}\\u{a}PUB S.1 0\\u{d}'],
    ['jsApiPrefix', '', '--js-api-prefix: "" is not a prefix of subjects such as a.b'],
    ['jsApiPrefix', 'a\u00a0b', '--js-api-prefix: "a\u00a0b" is not a prefix'],
    ['jsDomain', LINES, '--js-domain: "x 0'],
    ['jsDomain', 'a.b', '--js-domain: "a.b" is not one word of a subject'],
    ['inboxPrefix', 'a.>', '--inbox-prefix: "a.>" is not a prefix of subjects'],
    ['inboxPrefix', '*', '--inbox-prefix: "*" is not a prefix of subjects'],
    ['inboxPrefix', 'a..', '--inbox-prefix: "a.." is not a prefix of subjects'],
    ['inboxPrefix', 'a'.repeat(256), 'is not at most 255 letters long'],
  ])('%s: %j is refused', (flag, text, message) => {
    expect(refusal({ origin: 'nats:///S', [flag]: text })).toContain(message);
  });

  it('prefixes and domains as they are, without a dot behind them', () => {
    const given = { jsApiPrefix: '$JS.a@hub.API.', inboxPrefix: '_me.ann' };
    expect(planOf(undefined, flags({ origin: 'nats:///S', ...given })).origin).toMatchObject({
      connection: { jsApiPrefix: '$JS.a@hub.API', inboxPrefix: '_me.ann' },
    });
  });
});

describe('flags: credentials', () => {
  const SEED = `SU${'A'.repeat(56)}`;
  const INLINE = 'data:;base64,b2YtdGhpcyB0ZXN0';
  const JWT = 'eyJ0eXAiOiJKV1QifQ.eyJuYW1lIjoieCJ9.c2lnbmVk';
  const connection = (given: Partial<RunFlags>): ConnectionGiven => {
    const { origin } = planOf(undefined, flags({ origin: 'nats:///S', ...given }));
    return (origin as LiveOriginPlan).connection;
  };

  it('where they are is shown, what they are is not', () => {
    const where = { creds: 'env://C', nkey: '/n', jwt: 'file://j', userSeed: 'a.seed' };
    expect(connection(where)).toEqual({
      ...{ creds: 'env://C', nkey: '/n', jwt: 'file://j', seed: 'a.seed' },
    });
    expect(replayCommand(undefined, flags({ ...where, domain: 'hub' }), 1)).toBe(
      'lockstep run --creds env://C --nkey /n --jwt file://j --user-seed a.seed ' +
        '--js-domain hub --seed 1',
    );
    const secret = { creds: INLINE, nkey: SEED, jwt: JWT, userSeed: SEED, token: 'of-token' };
    const given = connection(secret);
    expect(revealed(given)).toEqual({
      ...{ creds: INLINE, nkey: SEED, jwt: JWT, seed: SEED, token: 'of-token' },
    });
    expect(JSON.stringify(given)).not.toMatch(/b2Yt|SUAA|eyJ|of-token/);
    expect(replayCommand(undefined, flags(secret), 1)).toBe('lockstep run --seed 1');
  });

  it('a login of a url: its user beside no key, its token beside any', () => {
    const url = 'nats://u:p@h';
    expect(connection({ server: url }).user).toBe('u');
    expect(connection({ server: url, user: 'v', password: 'w' }).user).toBe('v');
    expect(connection({ server: url, creds: '/c' })).toEqual({
      ...{ creds: '/c', servers: ['nats://h:4222'] },
    });
    const beside = connection({ server: 'nats://t@h', creds: '/c' });
    expect([beside.creds, revealed(beside)]).toEqual(['/c', { token: 't' }]);
    expect(connection({ origin: `${url}/S`, nkey: '/n' })).toEqual({
      ...{ nkey: '/n', servers: ['nats://h:4222'] },
    });
  });

  it('a user without a password is a token, before --token', () => {
    expect(revealed(connection({ user: 'u', token: 't' }))).toEqual({ token: 'u' });
    const both = { user: 'u', password: 'p', token: 't' };
    expect(revealed(connection(both))).toEqual({ password: 'p', token: 't' });
  });

  it("natscli's other names", () => {
    const { tlsFirst, jsDomain, noProxy } = connection({
      ...{ tlsFirst: true, domain: 'hub', socksProxy: 'none' },
    });
    expect({ tlsFirst, jsDomain, noProxy }).toEqual({
      ...{ tlsFirst: true, jsDomain: 'hub', noProxy: true },
    });
  });

  it.each<[Partial<RunFlags>, string]>([
    [{ seed: SEED }, "--seed: a number, of a run; a user's seed is --user-seed or NATS_SEED"],
    [{ socksProxy: 'socks5://u:of-proxy@h' }, '--socks-proxy: lockstep connects without a proxy'],
  ])('refused, and not repeated', (given, message) => {
    const text = refusal({ origin: 'nats:///S', ...given });
    expect(text).toContain(message);
    expect(text).not.toMatch(/SUAA|of-proxy/);
  });
});
