/**
 * Who connects: of flags, environment and context, the nearest that says so. Within one of them
 * natscli's order holds: user, credentials file, nkey, JWT. A password or a seed may come from a
 * nearer one than its user or JWT, and a token goes beside whatever else there is, as in natscli.
 */
import { LockstepError } from '../base/errors.js';
import { Secret } from '../base/secret.js';
import type { ConnectionGiven, Credential, Credentials } from '../scenario/connection.js';
import type { NatsContext } from './contexts.js';
import { variable, type Environment } from './environment.js';
import { locate, type Bare, type Located, type Written } from './located.js';

/** How a client proves who it is. */
export type Login =
  | { readonly kind: 'none' }
  | { readonly kind: 'creds'; readonly at: Located }
  | { readonly kind: 'nkey'; readonly at: Located }
  | { readonly kind: 'password'; readonly user: string; readonly password: Located | null }
  | { readonly kind: 'jwt'; readonly jwt: Located; readonly seed: Located | null };

export interface Who {
  readonly login: Login;
  /** Sent beside the login. */
  readonly token: Located | null;
}

const FIELDS = ['creds', 'nkey', 'jwt', 'seed', 'password', 'token'] as const;
type Field = (typeof FIELDS)[number];

const BARE: Readonly<Record<Field, Bare>> = {
  creds: 'path',
  nkey: 'path',
  jwt: 'shape',
  seed: 'shape',
  password: 'word',
  token: 'word',
};

/** What one source says of it. */
interface Said extends Readonly<Partial<Record<Field, Written>>> {
  readonly user?: string;
}

/** Names of fields that were given by flags, in a scenario or by a test. */
const GIVEN: Readonly<Record<Field, string>> = {
  creds: 'credentials file',
  nkey: 'nkey file',
  jwt: 'user JWT',
  seed: 'user seed',
  password: 'password',
  token: 'token',
};
const VARIABLES: Readonly<Record<Field, string>> = {
  creds: 'NATS_CREDS',
  nkey: 'NATS_NKEY',
  jwt: 'NATS_JWT',
  seed: 'NATS_SEED',
  password: 'NATS_PASSWORD',
  token: 'NATS_TOKEN',
};
const IN_CONTEXT = {
  creds: 'creds',
  nkey: 'nkey',
  jwt: 'user_jwt',
  seed: 'user_seed',
  password: 'password',
  token: 'token',
} as const;

export interface Sources {
  readonly given: ConnectionGiven;
  readonly env: Environment;
  /** A login in NATS_URL; empty when other servers were given: it is for its own. */
  readonly envUrl: Credentials;
  readonly context: NatsContext | null;
  readonly contextUrl: Credentials;
  /** Where env://NAME and $NAME are looked up. */
  readonly variables: Environment;
}

/** Errors: usage, naming what was given, the variable or the context's field. */
export function resolveLogin(sources: Sources): Who {
  const { given, env, envUrl, context, contextUrl, variables } = sources;
  const [flags, environment, ofContext] = [saidGiven(given), saidIn(env), saidBy(context)];
  const said = [flags, environment, ofContext];
  const at = (field: Field, from: readonly Said[] = said): Located | null => {
    const written = from.find((each) => each[field] !== undefined)?.[field];
    return written === undefined ? null : locate(written, BARE[field], variables);
  };
  const loginIn = (source: Said): Login | null => {
    if (source.user !== undefined) {
      return { kind: 'password', user: source.user, password: at('password') };
    }
    if (source.creds !== undefined) return { kind: 'creds', at: at('creds', [source])! };
    if (source.nkey !== undefined) return { kind: 'nkey', at: at('nkey', [source])! };
    if (source.jwt === undefined) return null;
    return { kind: 'jwt', jwt: at('jwt', [source])!, seed: at('seed') };
  };
  const login = loginIn(flags) ??
    loginIn(environment) ??
    loginInUrl(envUrl) ??
    loginIn(ofContext) ??
    loginInUrl(contextUrl) ?? { kind: 'none' };
  refuseStray(given, login);
  return { login, token: at('token') ?? tokenInUrl(envUrl) ?? tokenInUrl(contextUrl) };
}

/** What would be passed over silently. */
function refuseStray({ password, seed }: ConnectionGiven, { kind }: Login): void {
  if (password !== undefined && kind !== 'password') {
    throw stray('--password', '--user, NATS_USER or a context with a user');
  }
  if (seed !== undefined && kind !== 'jwt') {
    throw stray('--user-seed', '--jwt, NATS_JWT or a context with a JWT');
  }
}

function stray(flag: string, needed: string): LockstepError {
  return new LockstepError('usage', `${flag}: given without ${needed}`);
}

function saidGiven(given: ConnectionGiven): Said {
  const { user } = given;
  const written = writtenIn(GIVEN, (field) => plainOf(given[field]));
  return user === undefined ? written : { ...written, user };
}

/** A user without a password is a token, as natscli has it of flags and variables. */
function saidIn(env: Environment): Said {
  const user = variable(env, 'NATS_USER');
  const written = writtenIn(VARIABLES, (field) => variable(env, VARIABLES[field]));
  if (user === undefined) return written;
  if (written.password !== undefined) return { ...written, user };
  return { ...written, token: { what: 'NATS_USER', text: user } };
}

/** There a user without a password is one whose password is empty. */
function saidBy(context: NatsContext | null): Said {
  if (context === null) return {};
  const user = context.text('user');
  const written = writtenIn(
    IN_CONTEXT,
    (field) => context.text(IN_CONTEXT[field]),
    `context ${context.name}: `,
  );
  return user === undefined ? written : { ...written, user };
}

function writtenIn(
  names: Readonly<Record<Field, string>>,
  textOf: (field: Field) => string | undefined,
  where = '',
): Said {
  const found = FIELDS.map((field) => [field, textOf(field)] as const);
  return Object.fromEntries(
    found.flatMap(([field, text]) =>
      text === undefined ? [] : [[field, { what: `${where}${names[field]}`, text }]],
    ),
  );
}

function plainOf(credential: Credential | undefined): string | undefined {
  return credential instanceof Secret ? credential.reveal() : credential;
}

/** What a url says is itself, whatever it looks like. */
function loginInUrl({ user, password }: Credentials): Login | null {
  if (user === undefined || password === undefined) return null;
  return { kind: 'password', user, password: { kind: 'text', what: 'url', text: password } };
}

function tokenInUrl({ token }: Credentials): Located | null {
  return token === undefined ? null : { kind: 'text', what: 'url', text: token };
}
