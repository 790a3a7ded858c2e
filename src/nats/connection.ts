/**
 * Settings -> a connection to a server, or one line that says why there is none. Whoever connects
 * (an origin, a comparison, a driver) comes through here, so that credentials are handled in one
 * place and errors read alike.
 */
import { homedir } from 'node:os';
import { join } from 'node:path';
import {
  connect,
  credsAuthenticator,
  ErrorCode,
  jwtAuthenticator,
  nkeyAuthenticator,
  type ConnectionOptions,
  type NatsConnection,
  type TlsOptions,
} from 'nats';
import { LockstepError } from '../base/errors.js';
import { plain } from '../base/plain.js';
import { formatDuration } from '../base/units.js';
import { readInput } from '../scenario/input-file.js';
import { readText } from '../scenario/source.js';
import { Dials } from './dials.js';
import type { Login, Settings } from './settings.js';

const RECONNECT_WAIT_MS = 100;

/**
 * Once it failed, or the connection is closed, no socket of it is open.
 * Errors: usage, when there is no server, it refuses us, or a file cannot be used.
 */
export async function openConnection(settings: Settings): Promise<NatsConnection> {
  const { servers, timeoutMs, inboxPrefix } = settings;
  const tls = tlsOf(settings);
  const dials = new Dials();
  const options: ConnectionOptions = {
    servers: [...servers],
    name: 'lockstep',
    timeout: timeoutMs,
    maxReconnectAttempts: -1,
    reconnectDelayHandler: () => RECONNECT_WAIT_MS,
    // A server that is starting may refuse for a moment whom it let in before.
    ignoreAuthErrorAbort: true,
    ...loginOptions(settings.login),
    ...(tls === null ? {} : { tls: { ...tls, signal: dials.signal } as TlsOptions }),
    ...(inboxPrefix === null ? {} : { inboxPrefix }),
  };
  try {
    const connection = await dials.run(() => connect(options));
    void connection.closed().then(() => {
      dials.end();
    });
    return connection;
  } catch (error) {
    dials.end();
    throw new LockstepError('usage', `${servers.join(', ')}: ${refusalOf(error, settings)}`);
  }
}

function loginOptions(login: Login): ConnectionOptions {
  switch (login.kind) {
    case 'none':
      return {};
    case 'creds': {
      const text = contentOf('credentials file', login.path);
      if (!text.includes('BEGIN NATS USER JWT')) {
        throw new LockstepError('usage', `${login.path}: not a NATS credentials file`);
      }
      return { authenticator: credsAuthenticator(new TextEncoder().encode(text)) };
    }
    case 'nkey': {
      const seed = /^\s*(S[A-Z2-7]{57})\s*$/m.exec(contentOf('nkey file', login.path))?.[1];
      if (seed === undefined) throw new LockstepError('usage', `${login.path}: holds no nkey seed`);
      return { authenticator: nkeyAuthenticator(new TextEncoder().encode(seed)) };
    }
    case 'password':
      return { user: login.user, pass: login.password.reveal() };
    case 'token':
      return { token: login.token.reveal() };
    case 'jwt': {
      const seed = new TextEncoder().encode(login.seed.reveal());
      return { authenticator: jwtAuthenticator(login.jwt.reveal(), seed) };
    }
  }
}

function tlsOf(settings: Settings): TlsOptions | null {
  const { servers, tlsCert, tlsKey, tlsCa, tlsFirst } = settings;
  const isWanted = tlsFirst || servers.some((server) => server.startsWith('tls:'));
  if (!isWanted && tlsCert === null && tlsCa === null) return null;
  return {
    handshakeFirst: tlsFirst,
    ...(tlsCert === null ? {} : { cert: contentOf('TLS certificate', tlsCert) }),
    ...(tlsKey === null ? {} : { key: contentOf('TLS key', tlsKey) }),
    ...(tlsCa === null ? {} : { ca: contentOf('TLS authority', tlsCa) }),
  };
}

/** Errors: usage, naming the file. */
function contentOf(what: string, path: string): string {
  return readText(what, path.startsWith('~/') ? join(homedir(), path.slice(2)) : path, readInput);
}

/** In our own words where they are known: a client's messages may repeat what it was given. */
function refusalOf(error: unknown, settings: Settings): string {
  const { login, timeoutMs } = settings;
  const { code } = error as { readonly code?: unknown };
  switch (code) {
    case ErrorCode.AuthorizationViolation:
    case ErrorCode.BadAuthentication:
      return login.kind === 'none'
        ? 'the server wants credentials: --creds, --nkey, --user and --password, or a context'
        : `the server refuses these credentials (${LOGINS[login.kind]})`;
    case ErrorCode.AuthenticationExpired:
    case ErrorCode.AccountExpired:
      return 'the credentials have expired';
    case ErrorCode.BadCreds:
      return 'the credentials file holds no user and seed';
    case ErrorCode.ConnectionRefused:
      return 'cannot be reached: connection refused';
    case ErrorCode.Timeout:
    case ErrorCode.ConnectionTimeout:
      return `no server answered within ${formatDuration(timeoutMs)}${hintOf(settings)}`;
    case ErrorCode.ServerOptionNotAvailable:
      return 'the server does not offer TLS';
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'cannot be reached: no such host';
    default: {
      const why = error instanceof Error ? error.message : 'the connection was closed';
      if (/\bSSL\b|:ssl3?_/.test(why)) return 'the server does not answer in TLS';
      const isDistrusted = /self-signed certificate|unable to (verify|get)/.test(why);
      return isDistrusted
        ? `its certificate is not trusted (${plain(why)}): --tlsca names an authority to trust`
        : `cannot be reached (${plain(why)})`;
    }
  }
}

/** A server that wants one goes away after a handshake that succeeds: so it is in TLS 1.3. */
function hintOf(settings: Settings): string {
  const isBare = tlsOf(settings) !== null && settings.tlsCert === null;
  return isBare ? '; if it wants a certificate of its clients: --tlscert and --tlskey' : '';
}

const LOGINS: Readonly<Record<Exclude<Login['kind'], 'none'>, string>> = {
  creds: 'a credentials file',
  nkey: 'an nkey',
  password: 'a user and a password',
  token: 'a token',
  jwt: 'a user JWT',
};
