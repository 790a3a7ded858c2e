import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { Secret } from '../../src/base/secret.js';
import { resolveSettings, type Login } from '../../src/nats/settings.js';
import { parseServerUrl, revealed, type ConnectionGiven } from '../../src/scenario/connection.js';

const home = mkdtempSync(join(tmpdir(), 'lockstep-'));
afterAll(() => rmSync(home, { recursive: true }));
const NONE = { XDG_CONFIG_HOME: join(home, 'empty') };
const HOME = { XDG_CONFIG_HOME: home };
mkdirSync(join(home, 'nats', 'context'), { recursive: true });

function context(name: string, fields: unknown): void {
  const text = typeof fields === 'string' ? fields : JSON.stringify(fields);
  writeFileSync(join(home, 'nats', 'context', `${name}.json`), text);
}

context('prod', { url: 'nats://prod:4222', user: 'ann', password: 'of-prod', token: '' });
context('stage', {
  ...{ url: 'tls://stage:4443', creds: '/s.creds', cert: '/c', key: '/k', ca: '/a' },
  ...{ jetstream_domain: 'hub', inbox_prefix: '_me', tls_first: true },
});
context('lines', { jetstream_domain: 'a b' });
context('split', { jetstream_api_prefix: 'a..b' });
context('wild', { inbox_prefix: 'a.>' });
context('broken', 'password: of-broken');
context('proxied', { url: 'nats://p', socks_proxy: 'socks5://x' });
writeFileSync(join(home, 'nats', 'context.txt'), 'prod\n');

/** Secrets as text, to compare. */
function shown(login: Login): unknown {
  return Object.fromEntries(
    Object.entries(login).map(([key, value]: [string, unknown]) => [
      key,
      value instanceof Secret ? value.reveal() : value,
    ]),
  );
}

function settings(given: ConnectionGiven, env: Record<string, string> = NONE): unknown {
  const { login, ...rest } = resolveSettings(given, env);
  return { ...rest, login: shown(login) };
}

function refused(given: ConnectionGiven, env: Record<string, string> = NONE): string {
  try {
    resolveSettings(given, env);
  } catch (error) {
    return (error as Error).message;
  }
  return 'nothing';
}

const DEFAULTS = {
  ...{ servers: ['nats://127.0.0.1:4222'], login: { kind: 'none' } },
  ...{ tlsCert: null, tlsKey: null, tlsCa: null, tlsFirst: false },
  ...{ apiPrefix: '$JS.API', inboxPrefix: null, timeoutMs: 5_000 },
};
const ANN = { kind: 'password', user: 'ann', password: 'of-prod' };

describe('settings: what is given, the environment, a context', () => {
  it('nothing: the server of this machine', () => {
    expect(settings({})).toEqual(DEFAULTS);
  });

  it('the selected context', () => {
    expect(settings({}, HOME)).toEqual({ ...DEFAULTS, servers: ['nats://prod:4222'], login: ANN });
    expect(settings({ noContext: true }, HOME)).toEqual(DEFAULTS);
  });

  it('a server that is named beats the selected context, credentials too', () => {
    const named = { ...DEFAULTS, servers: ['nats://here:1'] };
    expect(settings({ servers: ['nats://here:1'] }, HOME)).toEqual(named);
    expect(settings({}, { ...HOME, NATS_URL: 'nats://here:1' })).toEqual(named);
    expect(settings({ noContext: true }, { ...HOME, NATS_CONTEXT: 'prod' })).toEqual(DEFAULTS);
  });

  it('a context that is named gives its credentials to a server that is named', () => {
    const given = { servers: ['nats://here:1'], context: 'prod' };
    expect(settings(given, HOME)).toEqual({ ...DEFAULTS, servers: given.servers, login: ANN });
  });

  it('every field of a context', () => {
    const expected = {
      ...{ servers: ['tls://stage:4443'], login: { kind: 'creds', path: '/s.creds' } },
      ...{ tlsCert: '/c', tlsKey: '/k', tlsCa: '/a', tlsFirst: true },
      ...{ apiPrefix: '$JS.hub.API', inboxPrefix: '_me', timeoutMs: 5_000 },
    };
    expect(settings({ context: 'stage' }, HOME)).toEqual(expected);
    expect(settings({}, { ...HOME, NATS_CONTEXT: 'stage' })).toEqual(expected);
  });

  it('every variable, and flags over them', () => {
    const env = {
      ...{ ...NONE, NATS_URL: 'nats://u:p%40@a,b:5', NATS_CREDS: '/e.creds', NATS_TIMEOUT: '2s' },
      ...{ NATS_CERT: '/c', NATS_KEY: '/k', NATS_CA: '/a', NATS_NKEY: '' },
    };
    const expected = {
      ...{ ...DEFAULTS, servers: ['nats://a:4222', 'nats://b:5'], timeoutMs: 2_000 },
      ...{ tlsCert: '/c', tlsKey: '/k', tlsCa: '/a', login: { kind: 'creds', path: '/e.creds' } },
    };
    expect(settings({}, env)).toEqual(expected);
    const given = { nkey: '/n', timeoutMs: 9, tlsCa: '/other', jsApiPrefix: 'JS.acc.API.' };
    expect(settings(given, env)).toEqual({
      ...{ ...expected, login: { kind: 'nkey', path: '/n' }, timeoutMs: 9, tlsCa: '/other' },
      apiPrefix: 'JS.acc.API',
    });
  });

  it('users, passwords and tokens', () => {
    const url = { ...NONE, NATS_URL: 'nats://u:p%40@a' };
    const login = (env: Record<string, string>): unknown => shown(resolveSettings({}, env).login);
    expect(login(url)).toEqual({ kind: 'password', user: 'u', password: 'p@' });
    expect(login({ ...NONE, NATS_URL: 'nats://tok@a' })).toEqual({ kind: 'token', token: 'tok' });
    expect(login({ ...NONE, NATS_USER: 'tok' })).toEqual({ kind: 'token', token: 'tok' });
    expect(login({ ...url, NATS_USER: 'v', NATS_PASSWORD: 'w' })).toEqual({
      ...{ kind: 'password', user: 'v', password: 'w' },
    });
    // Those of a url are for its own servers.
    const given = { servers: ['nats://other:1'] };
    expect(shown(resolveSettings(given, url).login)).toEqual({ kind: 'none' });
  });

  it.each<[string, ConnectionGiven, Record<string, string>, string]>([
    [
      'a slip',
      { context: 'prdo' },
      HOME,
      'context prdo not found; known: broken, lines, prod, proxied, split, stage, wild',
    ],
    ['a path', { context: '../context/prod' }, HOME, 'context ../context/prod not found; known:'],
    ['none at all', { context: 'x' }, NONE, 'context x not found; there are none'],
    ['no JSON', { context: 'broken' }, HOME, 'is not a context of natscli'],
    ['a proxy', { context: 'proxied' }, HOME, 'socks_proxy is not supported'],
    ['a key alone', { tlsKey: '/k' }, NONE, 'TLS: a certificate is missing'],
    ['domain and prefix', { jsDomain: 'a', jsApiPrefix: 'b' }, NONE, 'give one of them'],
    ['a domain', { context: 'lines' }, HOME, 'context lines: jetstream_domain: "a b" is not one'],
    ['a prefix', { context: 'split' }, HOME, 'split: jetstream_api_prefix: "a..b" is not a prefix'],
    ['an inbox', { context: 'wild' }, HOME, 'context wild: inbox_prefix: "a.>" is not a prefix'],
    ['by hand', { jsApiPrefix: 'x\r\nPUB a 0' }, NONE, 'API prefix: "x\\u{d}\\u{a}PUB a 0" is not'],
    ['a timeout', {}, { ...NONE, NATS_TIMEOUT: '5' }, 'NATS_TIMEOUT: "5" is not a duration'],
    [
      'a url',
      {},
      { ...NONE, NATS_URL: 'http://u:of-url@a' },
      'NATS_URL: "http://a" is not nats://',
    ],
  ])('refused: %s', (_title, given, env, message) => {
    const text = refused(given, env);
    expect(text).toContain(message);
    expect(text).not.toMatch(/of-(broken|url|prod)/);
  });
});

describe('connection: urls', () => {
  it.each([
    ['nats://h', ['nats://h:4222'], null],
    ['h:99', ['nats://h:99'], null],
    ['tls://h:1,[::1]:2/S', ['tls://h:1', 'tls://[::1]:2'], 'S'],
    ['nats://h:1,nats://i:2/S', ['nats://h:1', 'nats://i:2'], 'S'],
    ['nats:///S', [], 'S'],
    ['nats://h/', ['nats://h:4222'], null],
  ])('%s', (text, servers, path) => {
    expect(parseServerUrl('--origin', text)).toEqual({ servers, path });
  });

  it.each([
    'nats://h,tls://i',
    'nats://h:0',
    'nats://h:70000',
    'nats://h:x',
    'nats://a b',
    'nats://h?x',
    'natss://h',
  ])('refused: %s', (text) => {
    const rest = text.replace('://', '://u:of-url@');
    for (const given of [text, rest]) {
      expect(() => parseServerUrl('--origin', given)).toThrow(/^--origin: "(?!.*of-url)/);
    }
  });
});

describe('secrets: shown as nothing', () => {
  it('printed, encoded, cloned', () => {
    const connection = { user: 'u', password: new Secret('of-user'), token: new Secret('of-tok') };
    const text = [JSON.stringify(connection), String(connection.password), inspect(connection)];
    expect(text.join(' ')).not.toMatch(/of-/);
    expect(JSON.stringify(structuredClone(connection))).not.toMatch(/of-/);
    expect(revealed(connection)).toEqual({ password: 'of-user', token: 'of-tok' });
  });
});
