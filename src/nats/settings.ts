/**
 * What is given, the environment and a context -> what to connect with. The first of these that
 * has something to say wins, for each setting alone (of credentials: login.ts). A context that is
 * only selected stands back when a server is named: its credentials are for its own servers.
 */
import { LockstepError } from '../base/errors.js';
import { parsePositiveDuration } from '../base/units.js';
import { parseServerUrl, type ConnectionGiven } from '../scenario/connection.js';
import { subjectsOf, type SubjectsGiven } from '../scenario/subjects.js';
import { readContext, selectedContext, type NatsContext } from './contexts.js';
import { variable, type Environment } from './environment.js';
import { pathOf } from './located.js';
import { resolveLogin, type Who } from './login.js';

export interface Settings extends Who {
  /** Without credentials, at least one. */
  readonly servers: readonly string[];
  /** Paths of files. */
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
const TLS = {
  tlsCert: { name: 'NATS_CERT', field: 'cert', what: 'TLS certificate' },
  tlsKey: { name: 'NATS_KEY', field: 'key', what: 'TLS key' },
  tlsCa: { name: 'NATS_CA', field: 'ca', what: 'TLS authority' },
} as const;
/** What asks for no proxy, as in natscli. */
export const NO_PROXY = ['none', 'NONE', '-'];
export const PROXY_REFUSED =
  'lockstep connects without a proxy: forward a port of the server, or leave it out with none';

/**
 * Errors: usage, naming the flag, the variable or the context.
 *
 * @param variables  where env://NAME and $NAME are looked up; `env` has natscli's own settings
 */
export function resolveSettings(
  given: ConnectionGiven,
  env: Environment,
  variables: Environment = env,
): Settings {
  const url = variable(env, 'NATS_URL');
  const environment: ConnectionGiven = url === undefined ? {} : parseServerUrl('NATS_URL', url);
  const named = given.servers?.length ? given.servers : (environment.servers ?? []);
  const context = contextFor(given, env, named.length > 0);
  refuseProxy(given, env, context);
  const contextUrl = context?.text('url');
  const fromContext: ConnectionGiven =
    contextUrl === undefined ? {} : parseServerUrl(`context ${context!.name}: url`, contextUrl);
  const subjects = subjectsOf(given, GIVEN);
  const ofContext = context === null ? {} : subjectsOfContext(context);
  const servers = named.length > 0 ? named : (fromContext.servers ?? []);
  const who = resolveLogin({
    ...{ given, env, context, variables },
    // Credentials in a url are for the servers of that url.
    envUrl: given.servers?.length ? {} : environment,
    contextUrl: named.length > 0 ? {} : fromContext,
  });
  return {
    ...who,
    servers: servers.length > 0 ? servers : [SERVER_DEFAULT],
    ...tlsOf(given, env, context, variables),
    apiPrefix: apiPrefixOf(subjects, ofContext),
    inboxPrefix: subjects.inboxPrefix ?? ofContext.inboxPrefix ?? null,
    timeoutMs: given.timeoutMs ?? timeoutOf(env),
  };
}

/** Of a context alone: flags and environment are for something else. Errors: usage. */
export function settingsOfContext(context: string, env: Environment, timeoutMs?: number): Settings {
  const given = timeoutMs === undefined ? { context } : { context, timeoutMs };
  return resolveSettings(given, { XDG_CONFIG_HOME: env['XDG_CONFIG_HOME'] }, env);
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

/** Connecting past it would reach another server, or none. */
function refuseProxy(given: ConnectionGiven, env: Environment, context: NatsContext | null): void {
  if (given.noProxy === true) return;
  const proxy = variable(env, 'NATS_SOCKS_PROXY');
  if (proxy !== undefined && NO_PROXY.includes(proxy)) return;
  if (proxy !== undefined) throw new LockstepError('usage', `NATS_SOCKS_PROXY: ${PROXY_REFUSED}`);
  if (context?.text('socks_proxy') === undefined) return;
  throw new LockstepError('usage', `context ${context.name}: socks_proxy: ${PROXY_REFUSED}`);
}

function tlsOf(
  given: ConnectionGiven,
  env: Environment,
  context: NatsContext | null,
  variables: Environment,
): Pick<Settings, 'tlsCert' | 'tlsKey' | 'tlsCa' | 'tlsFirst'> {
  const file = (flag: 'tlsCert' | 'tlsKey' | 'tlsCa'): string | null => {
    const { name, field, what } = TLS[flag];
    const own = given[flag];
    if (own !== undefined) return pathOf({ what, text: own }, variables);
    const ofEnv = variable(env, name);
    if (ofEnv !== undefined) return pathOf({ what: name, text: ofEnv }, variables);
    const text = context?.text(field);
    if (text === undefined) return null;
    return pathOf({ what: `context ${context!.name}: ${field}`, text }, variables);
  };
  const tls = {
    tlsCert: file('tlsCert'),
    tlsKey: file('tlsKey'),
    tlsCa: file('tlsCa'),
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
