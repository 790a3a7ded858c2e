/**
 * Settings -> a connection to a server, or one line that says why there is none. Whoever connects
 * (an origin, a comparison, a driver) comes through here, so that credentials are handled in one
 * place and errors read alike.
 */
import {
  connect,
  credsAuthenticator,
  ErrorCode,
  jwtAuthenticator,
  nkeyAuthenticator,
  tokenAuthenticator,
  usernamePasswordAuthenticator,
  type Authenticator,
  type ConnectionOptions,
  type NatsConnection,
  type TlsOptions,
} from 'nats';
import { LockstepError } from '../base/errors.js';
import { plain } from '../base/plain.js';
import { formatDuration } from '../base/units.js';
import { Dials } from './dials.js';
import { contentOf, shownOf, wordOf, type Located } from './located.js';
import type { Login } from './login.js';
import type { Settings } from './settings.js';

const RECONNECT_WAIT_MS = 100;
const JWT = /^eyJ[\w-]*\.[\w-]+\.[\w-]+$/;

/**
 * Once it failed, or the connection is closed, no socket of it is open.
 * Errors: usage, when there is no server, it refuses us, or a file cannot be used.
 */
export async function openConnection(settings: Settings): Promise<NatsConnection> {
  const { servers, timeoutMs, inboxPrefix } = settings;
  const tls = tlsOf(settings);
  const authenticator = authenticatorsOf(settings);
  const dials = new Dials();
  const options: ConnectionOptions = {
    servers: [...servers],
    name: 'lockstep',
    timeout: timeoutMs,
    maxReconnectAttempts: -1,
    reconnectDelayHandler: () => RECONNECT_WAIT_MS,
    // A server that is starting may refuse for a moment whom it let in before.
    ignoreAuthErrorAbort: true,
    ...(authenticator.length === 0 ? {} : { authenticator }),
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

/** What they say is sent together; the server takes what it knows. Errors: usage. */
function authenticatorsOf({ login, token }: Settings): Authenticator[] {
  const own = authenticatorOf(login);
  return [
    ...(own === null ? [] : [own]),
    ...(token === null ? [] : [tokenAuthenticator(wordOf(token))]),
  ];
}

function authenticatorOf(login: Login): Authenticator | null {
  switch (login.kind) {
    case 'none':
      return null;
    case 'creds': {
      const text = contentOf(login.at);
      if (!text.includes('BEGIN NATS USER JWT')) {
        throw new LockstepError('usage', `${shownOf(login.at)}: not a NATS credentials file`);
      }
      // The client wants line ends of its own kind, and one behind the last line.
      return credsAuthenticator(bytesOf(`${text.replaceAll('\r\n', '\n')}\n`));
    }
    case 'nkey':
      return nkeyAuthenticator(bytesOf(seedIn(login.at, 'nkey seed')));
    case 'password': {
      const { user, password } = login;
      return usernamePasswordAuthenticator(user, password === null ? '' : wordOf(password));
    }
    case 'jwt': {
      const jwt = wordOf(login.jwt).trim();
      if (!JWT.test(jwt)) throw new LockstepError('usage', `${shownOf(login.jwt)}: holds no JWT`);
      const seed = login.seed === null ? undefined : bytesOf(seedIn(login.seed, 'seed of a user'));
      return jwtAuthenticator(jwt, seed);
    }
  }
}

/** Errors: usage, naming the file or what was given, never its text. */
function seedIn(located: Located, what: string): string {
  const seed = /^\s*(S[A-Z2-7]{57})\s*$/m.exec(contentOf(located))?.[1];
  if (seed !== undefined) return seed;
  throw new LockstepError('usage', `${shownOf(located)}: holds no ${what}`);
}

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function tlsOf(settings: Settings): TlsOptions | null {
  const { servers, tlsCert, tlsKey, tlsCa, tlsFirst } = settings;
  const isWanted = tlsFirst || servers.some((server) => server.startsWith('tls:'));
  if (!isWanted && tlsCert === null && tlsCa === null) return null;
  return {
    handshakeFirst: tlsFirst,
    ...(tlsCert === null ? {} : { cert: fileOf('TLS certificate', tlsCert) }),
    ...(tlsKey === null ? {} : { key: fileOf('TLS key', tlsKey) }),
    ...(tlsCa === null ? {} : { ca: fileOf('TLS authority', tlsCa) }),
  };
}

function fileOf(what: string, path: string): string {
  return contentOf({ kind: 'file', what, path });
}

/** In our own words where they are known: a client's messages may repeat what it was given. */
function refusalOf(error: unknown, settings: Settings): string {
  const { timeoutMs } = settings;
  const { code } = error as { readonly code?: unknown };
  switch (code) {
    case ErrorCode.AuthorizationViolation:
    case ErrorCode.BadAuthentication:
      return refusalOfLogin(settings);
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

function refusalOfLogin({ login, token }: Settings): string {
  const sent = [
    ...(login.kind === 'none' ? [] : [LOGINS[login.kind]]),
    ...(token === null ? [] : ['a token']),
  ];
  return sent.length === 0
    ? 'the server wants credentials: --creds, --nkey, --user and --password, or a context'
    : `the server refuses these credentials (${sent.join(' and ')})`;
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
  jwt: 'a user JWT',
};
