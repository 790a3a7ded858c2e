/** natscli's flags that say how to reach a server, for every command that reaches one. */
import type { Command } from 'commander';
import { LockstepError } from '../base/errors.js';
import { Secret } from '../base/secret.js';
import { parsePositiveDuration } from '../base/units.js';
import { loginOf, parseServerUrl, type ConnectionGiven } from '../scenario/connection.js';
import { subjectsOf } from '../scenario/subjects.js';

export interface ConnectionFlags {
  readonly server?: string;
  /** False: --no-context. */
  readonly context?: string | false;
  readonly creds?: string;
  readonly nkey?: string;
  readonly user?: string;
  readonly password?: string;
  readonly tlscert?: string;
  readonly tlskey?: string;
  readonly tlsca?: string;
  readonly tlsfirst?: boolean;
  readonly jsDomain?: string;
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
    .option('--context <name>', 'a natscli context (NATS_CONTEXT)')
    .option('--no-context', 'leave the selected context alone')
    .option('--creds <file>', 'a credentials file (NATS_CREDS)')
    .option('--nkey <file>', 'a file with an nkey seed (NATS_NKEY)')
    .option('--user <name>', 'a user, or a token if there is no password (NATS_USER)')
    .option('--password <word>', 'better given as NATS_PASSWORD')
    .option('--tlscert <file>', 'a client certificate (NATS_CERT)')
    .option('--tlskey <file>', 'its key (NATS_KEY)')
    .option('--tlsca <file>', 'an authority to trust (NATS_CA)')
    .option('--tlsfirst', 'TLS before the server says anything')
    .option('--js-domain <name>', 'a JetStream domain')
    .option('--js-api-prefix <subject>', 'instead of $JS.API')
    .option('--inbox-prefix <subject>', 'instead of _INBOX')
    .option('--timeout <duration>', 'of one request; default 5s (NATS_TIMEOUT)');
}

/** What the flags give. Errors: usage. */
export function connectionOf(flags: ConnectionFlags, env: Environment): ConnectionGiven {
  const { server, context, timeout } = flags;
  const files = {
    creds: flags.creds,
    nkey: flags.nkey,
    tlsCert: flags.tlscert,
    tlsKey: flags.tlskey,
    tlsCa: flags.tlsca,
    tlsFirst: flags.tlsfirst,
  };
  return {
    ...(server === undefined ? {} : serversOf(server)),
    ...loginGiven(flags, env),
    ...Object.fromEntries(Object.entries(files).filter(([, value]) => value !== undefined)),
    ...subjectsOf(flags, SUBJECT_FLAGS),
    ...(typeof context === 'string' ? { context } : {}),
    ...(context === false ? { noContext: true } : {}),
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
    ['--creds', flags.creds],
    ['--nkey', flags.nkey],
    // Without a password it would be a token.
    ['--user', flags.password === undefined ? undefined : flags.user],
    ['--tlscert', flags.tlscert],
    ['--tlskey', flags.tlskey],
    ['--tlsca', flags.tlsca],
    ['--js-domain', flags.jsDomain],
    ['--js-api-prefix', flags.jsApiPrefix],
    ['--inbox-prefix', flags.inboxPrefix],
    ['--timeout', flags.timeout],
  ];
  return [
    ...words.flatMap(([flag, value]) => (value === undefined ? [] : [flag, value])),
    ...(flags.context === false ? ['--no-context'] : []),
    ...(flags.tlsfirst === true ? ['--tlsfirst'] : []),
  ];
}

function serversOf(text: string): ConnectionGiven {
  const { path, ...given } = parseServerUrl('--server', text);
  if (path === null && given.servers.length > 0) return given;
  const why =
    path === null ? 'no host is given' : 'a server has no path; the stream is in --origin';
  throw new LockstepError('usage', `--server: ${why}`);
}

/** A user may be in the environment and its password a flag, or the other way round. */
function loginGiven({ user, password }: ConnectionFlags, env: Environment): ConnectionGiven {
  if (user !== undefined) return loginOf(user, password ?? filled(env['NATS_PASSWORD']));
  if (password === undefined) return {};
  const name = filled(env['NATS_USER']);
  if (name !== undefined) return { user: name, password: new Secret(password) };
  throw new LockstepError('usage', '--password: given without --user');
}

function filled(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}
