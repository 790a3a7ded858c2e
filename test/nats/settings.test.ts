import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { Secret } from '../../src/base/secret.js';
import type { Located } from '../../src/nats/located.js';
import { resolveSettings, settingsOfContext } from '../../src/nats/settings.js';
import {
  parseServerUrl,
  revealed,
  withSecrets,
  type ConnectionGiven,
} from '../../src/scenario/connection.js';

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
context('old-nsc', { url: '', nsc: 'nsc://Operator/Account/User' });
context('store', { url: 'nats://p', windows_cert_store: 'user', windows_cert_match: 'x' });
context('number', { url: 'nats://p', user: 'ann', password: 1 });
context('truth', { url: 'nats://p', tls_first: 'of-prod' });
context('list', []);
writeFileSync(join(home, 'nats', 'context.txt'), 'prod\n');

/** What is taken from where, to compare: `file /s.creds`, `of-prod`. */
function shown(located: unknown): unknown {
  if (typeof located !== 'object' || located === null) return located;
  const { kind, ...rest } = located as Located;
  if ('path' in rest) return `${kind} ${rest.path}`;
  return rest.text.reveal();
}

function told({ login, token, ...rest }: ReturnType<typeof resolveSettings>): unknown {
  const { kind, ...fields } = login;
  const words = Object.entries(fields).map(([key, value]: [string, unknown]) => [
    key,
    shown(value),
  ]);
  return { ...rest, login: { kind, ...Object.fromEntries(words) }, token: shown(token) };
}

function settings(given: ConnectionGiven, env: Record<string, string> = NONE): unknown {
  return told(resolveSettings(given, env));
}

function refused(given: ConnectionGiven, env: Record<string, string> = NONE): string {
  try {
    resolveSettings(given, env);
  } catch (error) {
    return (error as Error).message;
  }
  return 'nothing';
}

function who(given: ConnectionGiven, env: Record<string, string> = NONE): unknown {
  const { login, token } = settings(given, env) as Record<string, object | null>;
  return { ...login, token };
}

const DEFAULTS = {
  ...{ servers: ['nats://127.0.0.1:4222'], login: { kind: 'none' }, token: null },
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
      ...{ servers: ['tls://stage:4443'], login: { kind: 'creds', at: 'file /s.creds' } },
      ...{ tlsCert: '/c', tlsKey: '/k', tlsCa: '/a', tlsFirst: true },
      ...{ apiPrefix: '$JS.hub.API', inboxPrefix: '_me', timeoutMs: 5_000 },
      token: null,
    };
    expect(settings({ context: 'stage' }, HOME)).toEqual(expected);
    expect(settings({}, { ...HOME, NATS_CONTEXT: 'stage' })).toEqual(expected);
  });

  it('a proxy that is asked to be left out', () => {
    const proxied = { ...DEFAULTS, servers: ['nats://p:4222'] };
    expect(settings({ context: 'proxied', noProxy: true }, HOME)).toEqual(proxied);
    expect(settings({ context: 'proxied' }, { ...HOME, NATS_SOCKS_PROXY: 'none' })).toEqual(
      proxied,
    );
  });

  it('every variable, and flags over them', () => {
    const env = {
      ...{ ...NONE, NATS_URL: 'nats://u:p%40@a,b:5', NATS_CREDS: '/e.creds', NATS_TIMEOUT: '2s' },
      ...{ NATS_CERT: '/c', NATS_KEY: '/k', NATS_CA: '/a', NATS_NKEY: '' },
    };
    const expected = {
      ...{ ...DEFAULTS, servers: ['nats://a:4222', 'nats://b:5'], timeoutMs: 2_000 },
      ...{
        tlsCert: '/c',
        tlsKey: '/k',
        tlsCa: '/a',
        login: { kind: 'creds', at: 'file /e.creds' },
      },
    };
    expect(settings({}, env)).toEqual(expected);
    const given = { nkey: '/n', timeoutMs: 9, tlsCa: '/other', jsApiPrefix: 'JS.acc.API.' };
    expect(settings(given, env)).toEqual({
      ...{ ...expected, login: { kind: 'nkey', at: 'file /n' }, timeoutMs: 9, tlsCa: '/other' },
      apiPrefix: 'JS.acc.API',
    });
  });

  it('users, passwords and tokens', () => {
    const url = { ...NONE, NATS_URL: 'nats://u:p%40@a' };
    expect(who({}, url)).toEqual({ kind: 'password', user: 'u', password: 'p@', token: null });
    expect(who({}, { ...NONE, NATS_URL: 'nats://tok@a' })).toEqual({ kind: 'none', token: 'tok' });
    expect(who({}, { ...NONE, NATS_USER: 'tok' })).toEqual({ kind: 'none', token: 'tok' });
    expect(who({}, { ...NONE, NATS_TOKEN: 'tok' })).toEqual({ kind: 'none', token: 'tok' });
    // As natscli has it: the user that is a token goes before the token.
    expect(who({}, { ...NONE, NATS_TOKEN: 't', NATS_USER: 'u' })).toEqual({
      ...{ kind: 'none', token: 'u' },
    });
    const env = { ...url, NATS_USER: 'v', NATS_PASSWORD: 'w' };
    expect(who({}, env)).toEqual({ kind: 'password', user: 'v', password: 'w', token: null });
    // Those of a url are for its own servers, and its password is for its own user.
    expect(who({ servers: ['nats://other:1'] }, url)).toEqual({ kind: 'none', token: null });
    expect(who({}, { ...url, NATS_PASSWORD: 'w' })).toMatchObject({ password: 'p@' });
  });

  it('one source: a user before creds, an nkey and a JWT', () => {
    const key = { NATS_NKEY: '/n', NATS_JWT: '/j', NATS_SEED: '/s' };
    const env = { ...NONE, ...key, NATS_CREDS: '/c', NATS_USER: 'u', NATS_PASSWORD: 'p' };
    expect(who({}, env)).toMatchObject({ kind: 'password' });
    expect(who({}, { ...env, NATS_USER: '' })).toMatchObject({ kind: 'creds' });
    expect(who({}, { ...NONE, ...key })).toMatchObject({ kind: 'nkey' });
    expect(who({}, { ...NONE, NATS_JWT: '/j', NATS_SEED: '/s' })).toEqual({
      ...{ kind: 'jwt', jwt: 'file /j', seed: 'file /s', token: null },
    });
    expect(who({}, { ...NONE, NATS_JWT: '/j' })).toMatchObject({ kind: 'jwt', seed: null });
  });

  it('the nearest source that says who; passwords, seeds and tokens field by field', () => {
    const prod = { ...HOME, NATS_CONTEXT: 'prod' };
    expect(who({ creds: '/g' }, { ...NONE, NATS_USER: 'u', NATS_PASSWORD: 'p' })).toEqual({
      ...{ kind: 'creds', at: 'file /g', token: null },
    });
    expect(who({}, { ...prod, NATS_CREDS: '/e' })).toMatchObject({ kind: 'creds' });
    expect(who({}, { ...prod, NATS_PASSWORD: 'other' })).toMatchObject({
      ...{ user: 'ann', password: 'other' },
    });
    expect(who({ password: new Secret('given') }, { ...prod, NATS_PASSWORD: 'x' })).toMatchObject({
      ...{ user: 'ann', password: 'given' },
    });
    expect(who({ seed: '/g' }, { ...NONE, NATS_JWT: '/j', NATS_SEED: '/s' })).toMatchObject({
      ...{ jwt: 'file /j', seed: 'file /g' },
    });
    const token = { ...prod, NATS_TOKEN: 'beside' };
    expect(who({}, token)).toMatchObject({ user: 'ann', token: 'beside' });
    expect(who({ token: new Secret('given') }, token)).toMatchObject({ token: 'given' });
  });

  it('a context alone: without flags and environment, but with its variables', () => {
    context('by-name', { url: 'nats://h', user: 'ann', password: 'env://NATS_PASSWORD' });
    const env = { ...HOME, NATS_URL: 'nats://x', NATS_CREDS: '/x', NATS_PASSWORD: 'of-ann' };
    expect(told(settingsOfContext('by-name', env, 9))).toEqual({
      ...{ ...DEFAULTS, servers: ['nats://h:4222'], timeoutMs: 9 },
      login: { kind: 'password', user: 'ann', password: 'of-ann' },
    });
    rmSync(join(home, 'nats', 'context', 'by-name.json'));
  });

  it.each<[string, ConnectionGiven, Record<string, string>, string]>([
    [
      'a slip',
      { context: 'prdo' },
      HOME,
      'context prdo not found; known: broken, lines, list, number, old-nsc, prod, proxied, split, ' +
        'stage, store, truth, wild',
    ],
    ['a path', { context: '../context/prod' }, HOME, 'context ../context/prod not found; known:'],
    ['none at all', { context: 'x' }, NONE, 'context x not found; there are none'],
    ['no JSON', { context: 'broken' }, HOME, 'is not a context of natscli'],
    ['a proxy', { context: 'proxied' }, HOME, 'context proxied: socks_proxy: lockstep connects'],
    [
      'a proxy by the environment',
      {},
      { ...NONE, NATS_SOCKS_PROXY: 'socks5://of-url@h' },
      'NATS_SOCKS_PROXY: lockstep connects without a proxy',
    ],
    ['nsc, as it was written once', { context: 'old-nsc' }, HOME, 'old-nsc: nsc: lockstep does'],
    ['a store', { context: 'store' }, HOME, 'context store: windows_cert_store: lockstep reads no'],
    ['a number', { context: 'number' }, HOME, 'context number: password is not text'],
    ['no truth', { context: 'truth' }, HOME, 'context truth: tls_first is not true or false'],
    ['a list', { context: 'list' }, HOME, 'is not a context of natscli'],
    ['no user', { password: new Secret('of-prod') }, NONE, '--password: given without --user'],
    ['no JWT', { seed: '/s' }, NONE, '--user-seed: given without --jwt'],
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
    const keys = { creds: new Secret('of-c'), jwt: new Secret('of-j'), nkey: '/n' };
    expect(revealed(keys)).toEqual({ creds: 'of-c', jwt: 'of-j' });
    const crossed = withSecrets(structuredClone(keys), revealed(keys));
    expect(revealed(crossed)).toEqual(revealed(keys));
    expect(crossed.nkey).toBe('/n');
  });
});
