/**
 * What is given, the environment and a context -> what to connect with. The first of these that
 * has something to say wins, for each setting alone; credentials are one setting. A context that is
 * only selected stands back when a server is named: its credentials are for its own servers.
 */
import { LockstepError } from '../base/errors.js';
import { Secret } from '../base/secret.js';
import { parsePositiveDuration } from '../base/units.js';
import { loginOf, parseServerUrl, type ConnectionGiven } from '../scenario/connection.js';
import { subjectsOf, type SubjectsGiven } from '../scenario/subjects.js';
import { readContext, selectedContext, type Environment, type NatsContext } from './contexts.js';

/** How a client proves who it is. Paths are those of files. */
export type Login =
  | { readonly kind: 'none' }
  | { readonly kind: 'creds'; readonly path: string }
  | { readonly kind: 'nkey'; readonly path: string }
  | { readonly kind: 'password'; readonly user: string; readonly password: Secret }
  | { readonly kind: 'token'; readonly token: Secret }
  | { readonly kind: 'jwt'; readonly jwt: Secret; readonly seed: Secret };

export interface Settings {
  /** Without credentials, at least one. */
  readonly servers: readonly string[];
  readonly login: Login;
  readonly tlsCert: string | null;
  readonly tlsKey: string | null;
  readonly tlsCa: string | null;
  readonly tlsFirst: boolean;
  /** Of JetStream's API, such as $JS.API or $JS.hub.API. */
  readonly apiPrefix: string;
  readonly inboxPrefix: string | null;
  readonly timeoutMs: number;
}

const SERVER_DEFAULT = 'nats://127.0.0.1:4222';
const TIMEOUT_DEFAULT_MS = 5_000;
/** Flags and files were refused by their own names before; this is for plans made by hand. */
const GIVEN = {
  jsDomain: 'JetStream domain',
  jsApiPrefix: 'JetStream API prefix',
  inboxPrefix: 'inbox prefix',
};
const NONE: Login = { kind: 'none' };

/** Errors: usage, naming the flag, the variable or the context. */
export function resolveSettings(given: ConnectionGiven, env: Environment): Settings {
  const url = variable(env, 'NATS_URL');
  const environment: ConnectionGiven = url === undefined ? {} : parseServerUrl('NATS_URL', url);
  const named = given.servers?.length ? given.servers : (environment.servers ?? []);
  const context = contextFor(given, env, named.length > 0);
  const contextUrl = context?.text('url');
  const fromContext: ConnectionGiven =
    contextUrl === undefined ? {} : parseServerUrl(`context ${context!.name}: url`, contextUrl);
  const subjects = subjectsOf(given, GIVEN);
  const ofContext = context === null ? {} : subjectsOfContext(context);
  const servers = named.length > 0 ? named : (fromContext.servers ?? []);
  const logins = [
    loginGiven(given),
    loginGiven(fromEnvironment(env)),
    // Credentials in a url are for the servers of that url.
    given.servers?.length ? NONE : loginGiven(environment),
    context === null ? NONE : loginOfContext(context),
    named.length > 0 ? NONE : loginGiven(fromContext),
  ];
  return {
    servers: servers.length > 0 ? servers : [SERVER_DEFAULT],
    login: logins.find(({ kind }) => kind !== 'none') ?? NONE,
    ...tlsOf(given, env, context),
    apiPrefix: apiPrefixOf(subjects, ofContext),
    inboxPrefix: subjects.inboxPrefix ?? ofContext.inboxPrefix ?? null,
    timeoutMs: given.timeoutMs ?? timeoutOf(env),
  };
}

function contextFor(
  given: ConnectionGiven,
  env: Environment,
  serverNamed: boolean,
): NatsContext | null {
  const named =
    given.context ?? (given.noContext === true ? undefined : variable(env, 'NATS_CONTEXT'));
  if (named !== undefined) return readContext(named, env);
  if (given.noContext === true || serverNamed) return null;
  const selected = selectedContext(env);
  return selected === null ? null : readContext(selected, env);
}

function fromEnvironment(env: Environment): ConnectionGiven {
  const creds = variable(env, 'NATS_CREDS');
  const nkey = variable(env, 'NATS_NKEY');
  const user = variable(env, 'NATS_USER');
  return {
    ...(creds === undefined ? {} : { creds }),
    ...(nkey === undefined ? {} : { nkey }),
    ...(user === undefined ? {} : loginOf(user, variable(env, 'NATS_PASSWORD'))),
  };
}

/** Files go before words, as in natscli. */
function loginGiven(given: ConnectionGiven): Login {
  const { creds, nkey, user, password, token } = given;
  if (creds !== undefined) return { kind: 'creds', path: creds };
  if (nkey !== undefined) return { kind: 'nkey', path: nkey };
  if (user !== undefined && password !== undefined) return { kind: 'password', user, password };
  return token === undefined ? NONE : { kind: 'token', token };
}

function loginOfContext(context: NatsContext): Login {
  const creds = context.text('creds');
  const nkey = context.text('nkey');
  const user = context.text('user');
  const token = context.text('token');
  const login = loginGiven({
    ...(creds === undefined ? {} : { creds }),
    ...(nkey === undefined ? {} : { nkey }),
    ...(token === undefined ? {} : { token: new Secret(token) }),
    ...(user === undefined ? {} : loginOf(user, context.text('password'))),
  });
  const jwt = context.text('user_jwt');
  const seed = context.text('user_seed');
  if (login.kind !== 'none' || jwt === undefined || seed === undefined) return login;
  return { kind: 'jwt', jwt: new Secret(jwt), seed: new Secret(seed) };
}

function tlsOf(
  given: ConnectionGiven,
  env: Environment,
  context: NatsContext | null,
): Pick<Settings, 'tlsCert' | 'tlsKey' | 'tlsCa' | 'tlsFirst'> {
  const tls = {
    tlsCert: given.tlsCert ?? variable(env, 'NATS_CERT') ?? context?.text('cert') ?? null,
    tlsKey: given.tlsKey ?? variable(env, 'NATS_KEY') ?? context?.text('key') ?? null,
    tlsCa: given.tlsCa ?? variable(env, 'NATS_CA') ?? context?.text('ca') ?? null,
    tlsFirst: given.tlsFirst ?? context?.tlsFirst ?? false,
  };
  if ((tls.tlsCert === null) === (tls.tlsKey === null)) return tls;
  const missing = tls.tlsCert === null ? 'certificate' : 'key';
  throw new LockstepError('usage', `TLS: a ${missing} is missing: they belong together`);
}

function subjectsOfContext(context: NatsContext): SubjectsGiven {
  const where = `context ${context.name}: `;
  return subjectsOf(
    {
      jsDomain: context.text('jetstream_domain'),
      jsApiPrefix: context.text('jetstream_api_prefix'),
      inboxPrefix: context.text('inbox_prefix'),
    },
    {
      jsDomain: `${where}jetstream_domain`,
      jsApiPrefix: `${where}jetstream_api_prefix`,
      inboxPrefix: `${where}inbox_prefix`,
    },
  );
}

function apiPrefixOf({ jsDomain, jsApiPrefix }: SubjectsGiven, context: SubjectsGiven): string {
  if (jsDomain !== undefined && jsApiPrefix !== undefined) {
    throw new LockstepError('usage', 'a JetStream domain and an API prefix: give one of them');
  }
  if (jsApiPrefix !== undefined) return jsApiPrefix;
  if (jsDomain !== undefined) return `$JS.${jsDomain}.API`;
  if (context.jsApiPrefix !== undefined) return context.jsApiPrefix;
  return context.jsDomain === undefined ? '$JS.API' : `$JS.${context.jsDomain}.API`;
}

function timeoutOf(env: Environment): number {
  const text = variable(env, 'NATS_TIMEOUT');
  return text === undefined ? TIMEOUT_DEFAULT_MS : parsePositiveDuration('NATS_TIMEOUT', text);
}

/** Empty is not set. */
function variable(env: Environment, name: string): string | undefined {
  const value = env[name];
  return value === '' ? undefined : value;
}
