/**
 * How to reach a NATS server, as given in a scenario, an --origin or flags. What is left out comes
 * from the environment or a natscli context (src/nats/settings.ts), where the connection is made.
 * Credentials that were given as text are kept as Secret and never shown again.
 */
import { LockstepError } from '../base/errors.js';
import { Secret } from '../base/secret.js';
import { nearest, refusal } from './words.js';

export interface ConnectionGiven {
  /** Without credentials, such as nats://host:4222; empty or left out: not given. */
  readonly servers?: readonly string[];
  /** Name of a natscli context. */
  readonly context?: string;
  /** The selected context is left alone. */
  readonly noContext?: boolean;
  /** A credentials file, and a file with an nkey seed. */
  readonly creds?: Credential;
  readonly nkey?: Credential;
  /** A user's JWT and its seed; without the seed, a bearer's. */
  readonly jwt?: Credential;
  readonly seed?: Credential;
  readonly user?: string;
  readonly password?: Secret;
  readonly token?: Secret;
  /** Paths of PEM files. */
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly tlsCa?: string;
  /** TLS before the server says anything. */
  readonly tlsFirst?: boolean;
  readonly jsDomain?: string;
  readonly jsApiPrefix?: string;
  readonly inboxPrefix?: string;
  /** A context's proxy is left alone. */
  readonly noProxy?: boolean;
  /** Of one request to the server, and of connecting. */
  readonly timeoutMs?: number;
}

/** Where a credential is, as it was written (src/nats/located.ts); Secret: it may be one itself. */
export type Credential = string | Secret;

export type Credentials = Pick<ConnectionGiven, 'user' | 'password' | 'token'>;

const HIDEABLE = ['creds', 'nkey', 'jwt', 'seed', 'password', 'token'] as const;

/** Secrets as plain text, for the one crossing into the thread that connects. */
export type RevealedSecrets = Readonly<Partial<Record<(typeof HIDEABLE)[number], string>>>;

/** A part of a JWT, of a seed or of a file with either, or text in base64. */
const SECRET =
  /^[Dd][Aa][Tt][Aa]:|eyJ[\w-]{8}|(?<![A-Za-z\d])S[AOU][A-Z2-7]{20}|^[A-Z2-7]{40,}$|-----BEGIN/;

const SCHEMES = ['nats', 'tls'];
const PORT_DEFAULT = '4222';

/**
 * `nats://user:password@a:4222,b/STREAM` -> servers, credentials and what stands behind the host
 * (null: nothing). The scheme may be left out, and stand before each host as in natscli's lists.
 * Errors: usage; credentials are not repeated in it.
 */
export function parseServerUrl(
  where: string,
  text: string,
): Credentials & { readonly servers: readonly string[]; readonly path: string | null } {
  const expected = 'nats://HOST:PORT';
  const shown = withoutCredentials(text);
  const match = /^(?:([A-Za-z][\w+.-]*):\/\/)?([^/?#\s]*)(?:\/([^?#\s]*))?$/.exec(schemeOnce(text));
  if (match === null) throw refusal(where, shown, expected);
  const [, scheme = 'nats', authority = '', path] = match;
  if (!SCHEMES.includes(scheme)) {
    throw refusal(where, shown, `nats://… or tls://…${nearest(scheme, SCHEMES)}`);
  }
  const at = authority.lastIndexOf('@');
  const hosts = authority.slice(at + 1);
  const servers = hosts === '' ? [] : hosts.split(',').map((host) => serverOf(scheme, host));
  if (servers.includes(null)) throw refusal(where, shown, expected);
  const credentials = at < 0 ? {} : credentialsOf(authority.slice(0, at));
  if (credentials === null) throw refusal(where, shown, 'a url with percent-encoded credentials');
  return {
    servers: servers.filter((server) => server !== null),
    ...credentials,
    path: path === undefined || path === '' ? null : path,
  };
}

/** The text without what stands before the last @ of it: safe to show, whatever it is. */
export function withoutCredentials(text: string): string {
  const at = text.lastIndexOf('@');
  if (at < 0) return text;
  const scheme = /^[A-Za-z][\w+.-]*:\/\//.exec(text)?.[0] ?? '';
  return `${scheme}${text.slice(at + 1)}`;
}

/** A user without a password is a token, as natscli has it. */
export function loginOf(user: string, password: string | undefined): Credentials {
  if (password === undefined) return { token: new Secret(user) };
  return { user, password: new Secret(password) };
}

/** Whether text of a user may be a credential itself, not only say where one is. */
export function holdsSecret(text: string): boolean {
  return SECRET.test(text);
}

export function credentialGiven(text: string): Credential {
  return holdsSecret(text) ? new Secret(text) : text;
}

/** A login of a url: its token goes beside whatever was given, its user only where no key was. */
export function withLogin(
  given: ConnectionGiven,
  { user, password, token }: Credentials,
): ConnectionGiven {
  const hasKey = (given.creds ?? given.nkey ?? given.jwt) !== undefined;
  return {
    ...given,
    ...(user === undefined || password === undefined || hasKey ? {} : { user, password }),
    ...(token === undefined ? {} : { token }),
  };
}

/** What a plan's connection hides, as plain text; it goes to one place and is never stored. */
export function revealed(given: ConnectionGiven): RevealedSecrets {
  const hidden = HIDEABLE.map((field) => [field, given[field]] as const);
  return Object.fromEntries(
    hidden.flatMap(([field, value]) => (value instanceof Secret ? [[field, value.reveal()]] : [])),
  );
}

/** A connection that lost its secrets on the way into a thread, whole again. */
export function withSecrets(given: ConnectionGiven, secrets: RevealedSecrets): ConnectionGiven {
  const hidden = Object.entries(secrets).map(([field, text]) => [field, new Secret(text)] as const);
  return { ...given, ...Object.fromEntries(hidden) };
}

/** What flags give over what a scenario gives. Errors: usage, when both name a server. */
export function overlaid(given: ConnectionGiven, flags: ConnectionGiven): ConnectionGiven {
  if ((given.servers ?? []).length > 0 && (flags.servers ?? []).length > 0) {
    const why = 'the origin names its server already; leave it out as in nats:///STREAM';
    throw new LockstepError('usage', `--server: ${why}`);
  }
  return { ...given, ...flags };
}

/** Credentials stand before the first host alone. */
function schemeOnce(text: string): string {
  const scheme = SCHEMES.find((each) => text.startsWith(`${each}://`)) ?? 'nats';
  const [first, ...more] = text.split(`,${scheme}://`);
  return more.some((host) => host.includes('@')) ? text : [first, ...more].join(',');
}

function serverOf(scheme: string, host: string): string | null {
  const match = /^(\[[\da-fA-F:.]+\]|[^\s:[\]]+)(?::(\d{1,5}))?$/.exec(host);
  if (match === null) return null;
  const [, name = '', port = PORT_DEFAULT] = match;
  return Number(port) >= 1 && Number(port) <= 65_535 ? `${scheme}://${name}:${port}` : null;
}

function credentialsOf(text: string): Credentials | null {
  const colon = text.indexOf(':');
  try {
    const user = decodeURIComponent(colon < 0 ? text : text.slice(0, colon));
    const password = colon < 0 ? undefined : decodeURIComponent(text.slice(colon + 1));
    return loginOf(user, password);
  } catch {
    return null;
  }
}
