/**
 * What natscli writes into contexts, as fixtures of natscli v0.5.1 (`nats context add NAME …` with
 * XDG_CONFIG_HOME at their folder, `--embed` where the name says so), and each form by itself.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { Secret } from '../../src/base/secret.js';
import { accountHome } from '../../src/nats/environment.js';
import { contentOf, locate, pathOf, wordOf, type Bare } from '../../src/nats/located.js';
import { resolveSettings } from '../../src/nats/settings.js';

const NATSCLI = join(import.meta.dirname, '../fixtures/natscli');
const SEED = `SU${'A'.repeat(56)}`;
const JWT = 'eyJ0eXAiOiJKV1QifQ.eyJuYW1lIjoiZml4dHVyZSJ9.c2lnbmVk';
const CREDS = [
  `-----BEGIN NATS USER JWT-----\n${JWT}\n------END NATS USER JWT------\n`,
  `-----BEGIN USER NKEY SEED-----\n${SEED}\n------END USER NKEY SEED------\n`,
].join('\n');
const ENV = {
  XDG_CONFIG_HOME: NATSCLI,
  ...{ KEYS: '/keys', USER_CREDS: CREDS, USER_JWT: JWT, USER_SEED: SEED, ANN: 'of-ann' },
};
const HOME = accountHome();

const dir = mkdtempSync(join(tmpdir(), 'lockstep-'));
afterAll(() => rmSync(dir, { recursive: true }));

/** Everything a login holds, in the open. */
function open(value: unknown): unknown {
  if (value instanceof Secret) return value.reveal();
  if (typeof value !== 'object' || value === null) return value;
  const { what: _what, ...fields } = value as Record<string, unknown>;
  const { kind, text, path } = fields;
  if (kind === 'text') return open(text);
  if (kind === 'file') return { path };
  return Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, open(field)]));
}

function refusal(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    return (error as Error).message;
  }
  return 'nothing';
}

describe("natscli's contexts", () => {
  it.each<[string, object, unknown]>([
    ['plain', { kind: 'none' }, null],
    ['creds-path', { kind: 'creds', at: { path: join(HOME, 'user.creds') } }, null],
    ['creds-variable', { kind: 'creds', at: { path: '/keys/user.creds' } }, null],
    ['creds-file', { kind: 'creds', at: { path: '/keys/user.creds' } }, null],
    ['creds-env', { kind: 'creds', at: CREDS }, null],
    ['creds-embedded', { kind: 'creds', at: CREDS }, null],
    ['nkey-path', { kind: 'nkey', at: { path: 'user.nk' } }, null],
    ['nkey-embedded', { kind: 'nkey', at: `${SEED}\n` }, null],
    ['jwt-itself', { kind: 'jwt', jwt: JWT, seed: SEED }, null],
    ['jwt-env', { kind: 'jwt', jwt: JWT, seed: SEED }, null],
    ['jwt-embedded', { kind: 'jwt', jwt: JWT, seed: SEED }, null],
    ['bearer', { kind: 'jwt', jwt: JWT, seed: null }, null],
    ['user', { kind: 'password', user: 'ann', password: 'of-fixture' }, null],
    ['user-env', { kind: 'password', user: 'ann', password: 'of-ann' }, null],
    ['user-as-token', { kind: 'none' }, 'of-fixture'],
  ])('%s', (context, login, token) => {
    const settings = resolveSettings({ context }, ENV);
    expect([open(settings.login), open(settings.token)]).toEqual([login, token]);
  });

  it('the selected one, and fields that are no credentials', () => {
    expect(resolveSettings({}, ENV)).toMatchObject({
      ...{ servers: ['tls://h:1'], tlsCert: 'user.nk', tlsKey: 'user.nk', tlsCa: 'user.nk' },
      ...{ tlsFirst: true, apiPrefix: '$JS.hub.API', inboxPrefix: '_me' },
    });
    expect(resolveSettings({ context: 'prefixed' }, ENV)).toMatchObject({
      ...{ servers: ['nats://h:1', 'nats://i:2'], apiPrefix: 'acc.API' },
    });
  });

  it('the file of one, by its path', () => {
    const file = join(NATSCLI, 'nats/context/user.json');
    const { login } = resolveSettings({ context: file }, { XDG_CONFIG_HOME: dir });
    expect(open(login)).toEqual({ kind: 'password', user: 'ann', password: 'of-fixture' });
    const env = { XDG_CONFIG_HOME: dir, NATS_CONTEXT: file };
    expect(resolveSettings({}, env).login).toEqual(login);
  });

  it('names of fields in other letters, and null, as natscli reads them', () => {
    const file = join(dir, 'by-hand.json');
    writeFileSync(file, '{ "URL": "nats://h", "User": "ann", "token": null, "new_field": 1 }');
    const { servers, login } = resolveSettings({ context: file }, { XDG_CONFIG_HOME: dir });
    expect([servers, login]).toEqual([
      ['nats://h:4222'],
      { kind: 'password', user: 'ann', password: null },
    ]);
  });

  it.each([
    ['creds-op', 'context creds-op: creds: op:// needs the 1Password CLI, which lockstep does not'],
    ['creds-nsc', 'context creds-nsc: creds: nsc:// needs nsc, which lockstep does not run: name'],
    ['proxy', 'context proxy: socks_proxy: lockstep connects without a proxy: forward a port'],
  ])('refused: %s', (context, message) => {
    const text = refusal(() => resolveSettings({ context }, ENV));
    expect(text).toContain(message);
    expect(text).not.toMatch(/vault|of-proxy|Operator/);
  });

  it('what is not used is not asked for', () => {
    const given = { context: 'creds-op', nkey: '/n' };
    expect(open(resolveSettings(given, ENV).login)).toEqual({ kind: 'nkey', at: { path: '/n' } });
  });
});

describe('where a credential is', () => {
  const at = (text: string, bare: Bare = 'path'): unknown =>
    open(locate({ what: 'X', text }, bare, ENV));

  it.each<[string, Bare, unknown]>([
    ['/a/b', 'path', { path: '/a/b' }],
    ['a b.creds', 'path', { path: 'a b.creds' }],
    ['C:\\a', 'path', { path: 'C:\\a' }],
    ['FILE://a', 'path', { path: 'a' }],
    ['file://~/a', 'path', { path: join(HOME, 'a') }],
    ['~', 'path', { path: HOME }],
    ['~other/a', 'path', { path: '~other/a' }],
    ['${KEYS}x/$KEYS/$NONE$', 'path', { path: '/keysx//keys/$' }],
    ['env://ANN', 'word', 'of-ann'],
    ['Env://ANN', 'path', 'of-ann'],
    ['data:text/plain;base64,YQo=', 'path', 'a\n'],
    ['data:text/plain; base64,YQo=', 'word', 'a'],
    ['a:b', 'word', 'a:b'],
    ['http://x', 'word', 'http://x'],
    ['$ANN', 'word', '$ANN'],
    [JWT, 'shape', JWT],
    ['user.jwt', 'shape', { path: 'user.jwt' }],
    [`/keys/${SEED}.nk`, 'path', { path: `/keys/${SEED}.nk` }],
  ])('%s as a %s', (text, bare, expected) => {
    expect(at(text, bare)).toEqual(expected);
  });

  it.each<[string, Bare, string]>([
    ['env://', 'path', 'X: a variable is written as env://NAME'],
    ['env:ANN', 'path', 'X: a variable is written as env://NAME'],
    ['env://MISSING', 'word', 'X: env://MISSING: the variable is not set'],
    ['env://toString', 'word', 'X: env://toString: the variable is not set'],
    ['data:,of-X', 'path', 'X: data: is not data:;base64, and text in base64'],
    ['data:;base64', 'path', 'X: data: is not data:;base64, and text in base64'],
    ['data:;base64,b2Y', 'word', 'X: data: is not data:;base64, and text in base64'],
    ['data:;base64,of-X', 'word', 'X: data: is not data:;base64, and text in base64'],
    ['file:a', 'path', 'X: file: is not taken here, only PATH or file://PATH'],
    ['vault://of-X', 'path', 'X: vault: is not taken here, only PATH or file://PATH'],
    [SEED, 'path', 'X: a credential itself is not taken here: name a file, file://PATH or'],
    [JWT, 'path', 'X: a credential itself is not taken here: name a file, file://PATH or'],
    [SEED.slice(1), 'path', 'X: a credential itself is not taken here'],
    [SEED.slice(1, -9), 'shape', 'X: not a whole one'],
    [JWT.slice(0, -9), 'shape', 'X: not a whole one, and no file, file://PATH or env://NAME'],
  ])('refused: %s as a %s', (text, bare, message) => {
    const said = refusal(() => contentOf(locate({ what: 'X', text }, bare, ENV)));
    expect(said).toContain(message);
    expect(said).not.toMatch(/of-X|eyJ|AAAA/);
  });

  it('TLS: files alone', () => {
    expect(pathOf({ what: 'X', text: 'file://$KEYS/c' }, ENV)).toBe('/keys/c');
    const text = refusal(() => pathOf({ what: 'NATS_CERT', text: 'data:;base64,b2Y=' }, ENV));
    expect(text).toBe('NATS_CERT: data: is not taken here, only PATH or file://PATH');
  });

  it('a file of one line is read without the end of it', () => {
    const path = join(dir, 'word');
    writeFileSync(path, 'of-file\r\n');
    const located = locate({ what: 'X', text: `file://${path}` }, 'word', {});
    expect(wordOf(located)).toBe('of-file');
    expect(refusal(() => wordOf(locate({ what: 'X', text: `${dir}/no` }, 'path', {})))).toBe(
      `X: ${dir}/no: no such file`,
    );
  });

  it('home is that of the account, whatever HOME says', () => {
    const before = process.env['HOME'];
    process.env['HOME'] = '/elsewhere';
    try {
      expect([homedir(), accountHome()]).toEqual(['/elsewhere', userInfo().homedir]);
    } finally {
      process.env['HOME'] = before;
    }
  });
});
