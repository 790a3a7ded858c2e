/** natscli's flags that say how to reach a server, for every command that reaches one. */
import { Option, type Command } from 'commander';
import { LockstepError } from '../base/errors.js';
import { Secret } from '../base/secret.js';
import { parsePositiveDuration } from '../base/units.js';
import { NO_PROXY, PROXY_REFUSED } from '../nats/settings.js';
import {
  credentialGiven,
  holdsSecret,
  loginOf,
  parseServerUrl,
  withLogin,
  type ConnectionGiven,
  type Credentials,
} from '../scenario/connection.js';
import { subjectsOf } from '../scenario/subjects.js';

export interface ConnectionFlags {
  readonly server?: string;
  /** False: --no-context. */
  readonly context?: string | false;
  readonly creds?: string;
  readonly nkey?: string;
  readonly jwt?: string;
  /** `--seed` of natscli, where a command has no seed of its own. */
  readonly userSeed?: string;
  readonly user?: string;
  readonly password?: string;
  readonly token?: string;
  readonly tlscert?: string;
  readonly tlskey?: string;
  readonly tlsca?: string;
  readonly tlsfirst?: boolean;
  /** As nsc writes it. */
  readonly tlsFirst?: boolean;
  readonly socksProxy?: string;
  readonly jsDomain?: string;
  /** Another name of it. */
  readonly domain?: string;
  readonly jsApiPrefix?: string;
  readonly inboxPrefix?: string;
  readonly timeout?: string;
}

const SUBJECT_FLAGS = {
  jsDomain: '--js-domain',
  jsApiPrefix: '--js-api-prefix',
  inboxPrefix: '--inbox-prefix',
};

type Environment = Readonly<Record<string, string | undefined>>;

export function addConnectionFlags(command: Command): Command {
  return command
    .option('-s, --server <url>', 'nats://host:4222 of a live origin (NATS_URL)')
    .option('--context <name>', 'a natscli context, or the file of one (NATS_CONTEXT)')
    .option('--no-context', 'leave the selected context alone')
    .option('--creds <location>', 'a credentials file, file://, env:// or data: (NATS_CREDS)')
    .option('--nkey <location>', 'an nkey seed, in a file or as --creds (NATS_NKEY)')
    .option('--jwt <location>', "a user's JWT, itself or as --creds (NATS_JWT)")
    .option('--user-seed <location>', "its seed, as --jwt: natscli's --seed (NATS_SEED)")
    .option('--user <name>', 'a user, or a token if there is no password (NATS_USER)')
    .option('--password <word>', 'better given as NATS_PASSWORD')
    .option('--token <word>', 'better given as NATS_TOKEN')
    .option('--tlscert <file>', 'a client certificate (NATS_CERT)')
    .option('--tlskey <file>', 'its key (NATS_KEY)')
    .option('--tlsca <file>', 'an authority to trust (NATS_CA)')
    .option('--tlsfirst', 'TLS before the server says anything')
    .addOption(new Option('--tls-first').hideHelp())
    .option('--socks-proxy <none>', "leaves a context's proxy out (NATS_SOCKS_PROXY)")
    .option('--js-domain <name>', 'a JetStream domain')
    .addOption(new Option('--domain <name>').hideHelp())
    .option('--js-api-prefix <subject>', 'instead of $JS.API')
    .option('--inbox-prefix <subject>', 'instead of _INBOX')
    .option('--timeout <duration>', 'of one request; default 5s (NATS_TIMEOUT)');
}

/** What the flags give. Errors: usage. */
export function connectionOf(flags: ConnectionFlags, env: Environment): ConnectionGiven {
  const { server, context, timeout, socksProxy } = flags;
  if (socksProxy !== undefined && !NO_PROXY.includes(socksProxy)) {
    throw new LockstepError('usage', `--socks-proxy: ${PROXY_REFUSED}`);
  }
  const files = {
    tlsCert: flags.tlscert,
    tlsKey: flags.tlskey,
    tlsCa: flags.tlsca,
    tlsFirst: flags.tlsfirst ?? flags.tlsFirst,
  };
  const { servers, ...login } = server === undefined ? {} : serversOf(server);
  return {
    ...withLogin(keysOf(flags), login),
    ...(servers === undefined ? {} : { servers }),
    ...loginGiven(flags, env),
    ...Object.fromEntries(Object.entries(files).filter(([, value]) => value !== undefined)),
    ...subjectsOf({ ...flags, jsDomain: flags.jsDomain ?? flags.domain }, SUBJECT_FLAGS),
    ...(typeof context === 'string' ? { context } : {}),
    ...(context === false ? { noContext: true } : {}),
    ...(socksProxy === undefined ? {} : { noProxy: true }),
    ...(timeout === undefined ? {} : { timeoutMs: parsePositiveDuration('--timeout', timeout) }),
  };
}

/** The words of a command that gives the same again, secrets left out. */
export function connectionWords(flags: ConnectionFlags): string[] {
  const words: [string, string | undefined][] = [
    [
      '--server',
      flags.server === undefined ? undefined : serversOf(flags.server).servers!.join(','),
    ],
    ['--context', typeof flags.context === 'string' ? flags.context : undefined],
    ['--creds', openOf(flags.creds)],
    ['--nkey', openOf(flags.nkey)],
    ['--jwt', openOf(flags.jwt)],
    ['--user-seed', openOf(flags.userSeed)],
    // Without a password it would be a token.
    ['--user', flags.password === undefined ? undefined : flags.user],
    ['--tlscert', flags.tlscert],
    ['--tlskey', flags.tlskey],
    ['--tlsca', flags.tlsca],
    ['--socks-proxy', flags.socksProxy],
    ['--js-domain', flags.jsDomain ?? flags.domain],
    ['--js-api-prefix', flags.jsApiPrefix],
    ['--inbox-prefix', flags.inboxPrefix],
    ['--timeout', flags.timeout],
  ];
  return [
    ...words.flatMap(([flag, value]) => (value === undefined ? [] : [flag, value])),
    ...(flags.context === false ? ['--no-context'] : []),
    ...((flags.tlsfirst ?? flags.tlsFirst) === true ? ['--tlsfirst'] : []),
  ];
}

function serversOf(text: string): Credentials & { readonly servers?: readonly string[] } {
  const { path, ...given } = parseServerUrl('--server', text);
  if (path === null && given.servers.length > 0) return given;
  const why =
    path === null ? 'no host is given' : 'a server has no path; the stream is in --origin';
  throw new LockstepError('usage', `--server: ${why}`);
}

function keysOf({ creds, nkey, jwt, userSeed }: ConnectionFlags): ConnectionGiven {
  const words = Object.entries({ creds, nkey, jwt, seed: userSeed });
  return Object.fromEntries(
    words.flatMap(([key, text]) => (text === undefined ? [] : [[key, credentialGiven(text)]])),
  );
}

/**
 * A user may be in the environment and its password a flag, or the other way round; of a password
 * alone the user may be a context's.
 */
function loginGiven({ user, password, token }: ConnectionFlags, env: Environment): Credentials {
  const given = token === undefined ? {} : { token: new Secret(token) };
  if (user !== undefined) {
    return { ...given, ...loginOf(user, password ?? filled(env['NATS_PASSWORD'])) };
  }
  if (password === undefined) return given;
  const name = filled(env['NATS_USER']);
  return {
    ...given,
    ...(name === undefined ? {} : { user: name }),
    password: new Secret(password),
  };
}

/** Where a credential is; nothing where it may be one itself. */
function openOf(text: string | undefined): string | undefined {
  return text !== undefined && holdsSecret(text) ? undefined : text;
}

function filled(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}
