/** `lockstep verify` through TLS, with each kind of credentials: let in, or kept out in one line. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nkeys, credsAuthenticator, type ConnectionOptions } from 'nats';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { NatsServer } from '../../src/nats/server.js';
import { lockstep, type Ended } from '../cli/stage.js';
import { Client, onServer, startServer } from '../nats/stage.js';
import { operated } from './jwt.js';
import { addMirror } from './verify-stage.js';

const TLS = join(import.meta.dirname, '../fixtures/tls');
const CERT = `${TLS}/cert.pem`;
const KEY = `${TLS}/key.pem`;
const OTHER = `${TLS}/other-authority.pem`;
const PASSWORD = 'only-for-this-test';
const TOKEN = 'a-token-for-this-test';
const WRONG = 'a-word-that-is-wrong';
const IDENTICAL = 'identical: MIRROR, mirror of ORDERS, up to 10';

/** The client's nkeys come without types. */
interface Nkeys {
  createUser(): { getPublicKey(): string; getSeed(): Uint8Array };
}

function tlsLines(more: string): string {
  return `tls { cert_file: "${CERT}", key_file: "${KEY}", ca_file: "${CERT}", ${more} }`;
}

onServer('lockstep verify: TLS and credentials', () => {
  const dir = mkdtempSync(join(tmpdir(), 'lockstep-'));
  const file = (name: string, text: string): string => {
    writeFileSync(join(dir, name), text, { mode: 0o600 });
    return join(dir, name);
  };
  const user = (nkeys as Nkeys).createUser();
  const seed = new TextDecoder().decode(user.getSeed());
  const nkey = file('user.nk', `${seed}\n`);
  const strangeSeed = new TextDecoder().decode((nkeys as Nkeys).createUser().getSeed());
  const strangeNkey = file('strange.nk', `${strangeSeed}\n`);
  const mode = operated();
  const creds = file('user.creds', mode.creds);
  const strangeCreds = file('strange.creds', mode.strange);
  const inline = `data:;base64,${Buffer.from(mode.creds).toString('base64')}`;
  const secrets = [PASSWORD, WRONG, TOKEN, seed, strangeSeed, inline, ...mode.secrets];
  const context = (name: string, fields: object): string => {
    mkdirSync(join(dir, 'nats/context'), { recursive: true });
    return file(`nats/context/${name}.json`, JSON.stringify(fields));
  };
  context('embedded', { url: '', creds: inline, token: '' });
  context('token', { user: 'nobody', password: WRONG, token: 'env://TOKEN_OF_CONTEXT' });
  let plain: NatsServer;
  let strict: NatsServer;
  let tokened: NatsServer;

  beforeAll(async () => {
    const users = `{ user: full, password: ${PASSWORD} }, { nkey: ${user.getPublicKey()} }`;
    plain = await startServer({ config: `${tlsLines('')}\nauthorization { users: [${users}] }` });
    strict = await startServer({ config: `${tlsLines('verify: true')}\n${mode.config}` });
    tokened = await startServer({ config: `authorization { token: "${TOKEN}" }` });
    const tls = { caFile: CERT, certFile: CERT, keyFile: KEY };
    await fill(tokened, { token: TOKEN });
    await fill(plain, { user: 'full', pass: PASSWORD, tls });
    await fill(strict, { authenticator: credsAuthenticator(Buffer.from(mode.creds)), tls });
  });
  afterAll(async () => {
    await plain[Symbol.asyncDispose]();
    await strict[Symbol.asyncDispose]();
    await tokened[Symbol.asyncDispose]();
    rmSync(dir, { recursive: true });
  });

  async function fill(server: NatsServer, options: ConnectionOptions): Promise<void> {
    await using client = await Client.connect(server, options);
    await client.addStream('ORDERS');
    await client.publish('ORDERS', 10, () => 'orders.a');
    await addMirror(client, 'MIRROR', 'ORDERS');
  }

  /** Its headline or its refusal, the server's address left out; no secret is in any of it. */
  async function said(server: NatsServer, flags: readonly string[], env = {}): Promise<unknown> {
    const args = ['verify', 'MIRROR', '--depth', 'full', '-s', server.url, ...flags];
    const ended = await lockstep(args, undefined, { XDG_CONFIG_HOME: dir, ...env });
    expect(secrets.filter((secret) => shown(ended).includes(secret))).toEqual([]);
    const [headline] = ended.stdout.split('\n');
    return [ended.code, headline, ended.stderr.replaceAll(server.url, 'URL')];
  }

  it.each([
    ['a user and a password', ['--tlsca', CERT, '--user', 'full', '--password', PASSWORD], {}],
    [
      'the same from the environment',
      [],
      { NATS_CA: CERT, NATS_USER: 'full', NATS_PASSWORD: PASSWORD },
    ],
    ['an nkey', ['--tlsca', CERT, '--nkey', nkey], {}],
  ])('let in: %s', async (_, flags, env) => {
    expect(await said(plain, flags, env)).toEqual([0, IDENTICAL, '']);
  });

  const OWN = ['--tlsca', CERT, '--tlscert', CERT, '--tlskey', KEY];
  const [userJwt, userSeed] = mode.secrets as [string, string];
  it.each([
    ['a credentials file', ['--creds', creds], {}],
    ['credentials in a variable, without an end of line', [], { NATS_CREDS: 'env://TEXT' }],
    ['a JWT and its seed', ['--jwt', 'env://JWT', '--seed', file('user.seed', userSeed)], {}],
    ['a context with embedded credentials', ['--context', 'embedded'], {}],
  ])('let in: %s, and a certificate of its own', async (_, flags, env) => {
    const variables = { TEXT: mode.creds.trim(), JWT: userJwt };
    expect(await said(strict, [...OWN, ...flags], { ...variables, ...env })).toEqual([
      ...[0, IDENTICAL, ''],
    ]);
  });

  it('let in: a token in a context, beside a user', async () => {
    const env = { TOKEN_OF_CONTEXT: TOKEN };
    expect(await said(tokened, ['--context', 'token'], env)).toEqual([0, IDENTICAL, '']);
  });

  it('kept out: a wrong token, and whom it was sent with', async () => {
    const flags = ['--token', WRONG, '--user', 'full', '--password', PASSWORD];
    const why = 'the server refuses these credentials (a user and a password and a token)';
    expect(await said(tokened, flags)).toEqual([64, '', `lockstep: URL: ${why}\n`]);
  });

  it.each([
    [
      'a wrong password',
      ['--tlsca', CERT, '--user', 'full', '--password', WRONG],
      'the server refuses these credentials (a user and a password)',
    ],
    [
      'nothing',
      ['--tlsca', CERT],
      'the server wants credentials: --creds, --nkey, --user and --password, or a context',
    ],
    [
      'an nkey that it does not know',
      ['--tlsca', CERT, '--nkey', strangeNkey],
      'the server refuses these credentials (an nkey)',
    ],
    [
      'a wrong authority',
      ['--tlsca', OTHER, '--user', 'full', '--password', PASSWORD],
      'its certificate is not trusted (self-signed certificate): --tlsca names an authority to trust',
    ],
    [
      'no authority',
      ['--user', 'full', '--password', PASSWORD],
      'its certificate is not trusted (self-signed certificate): --tlsca names an authority to trust',
    ],
  ])('kept out: %s', async (_, flags, why) => {
    expect(await said(plain, flags)).toEqual([64, '', `lockstep: URL: ${why}\n`]);
  });

  it.each([
    [
      'credentials of an account that it does not know',
      ['--tlscert', CERT, '--tlskey', KEY, '--creds', strangeCreds],
      'the server refuses these credentials (a credentials file)',
    ],
    [
      'no certificate of its own',
      ['--creds', creds, '--timeout', '1s'],
      'no server answered within 1s; if it wants a certificate of its clients: --tlscert and --tlskey',
    ],
  ])('kept out: %s', async (_, flags, why) => {
    const ended = await said(strict, ['--tlsca', CERT, ...flags]);
    expect(ended).toEqual([64, '', `lockstep: URL: ${why}\n`]);
  });
});

function shown({ stdout, stderr }: Ended): string {
  return stdout + stderr;
}
