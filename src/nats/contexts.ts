/**
 * natscli's contexts: named connection settings under $XDG_CONFIG_HOME/nats (default ~/.config).
 * `context.txt` names the selected one, `context/NAME.json` holds each; one may be named by the
 * path of its file, too. They are read, never written. Source: jsm.go 0.5.1, natscontext.
 */
import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { LockstepError } from '../base/errors.js';
import { plain } from '../base/plain.js';
import { readInput } from '../scenario/input-file.js';
import { accountHome, variable, type Environment } from './environment.js';

/** The fields of a context file that say how to connect; natscli writes "" for what is not set. */
export interface NatsContext {
  readonly name: string;
  text(field: ContextText): string | undefined;
  readonly tlsFirst: boolean;
}

const TEXTS = [
  ...(['url', 'token', 'user', 'password', 'creds', 'nkey', 'user_jwt', 'user_seed'] as const),
  ...(['cert', 'key', 'ca', 'jetstream_domain', 'jetstream_api_prefix', 'inbox_prefix'] as const),
  ...(['nsc', 'socks_proxy', 'windows_cert_store'] as const),
] as const;
type ContextText = (typeof TEXTS)[number];

/** Ways to connect that would be passed over silently if they were not refused. */
const UNSUPPORTED = {
  nsc: 'lockstep does not run nsc: `nsc generate creds` writes a file to name as creds',
  windows_cert_store: 'lockstep reads no certificate store: name PEM files as cert, key and ca',
} as const;

/** The name of the selected context; null: none is. */
export function selectedContext(env: Environment): string | null {
  try {
    return readInput(join(configDir(env), 'context.txt')).trim() || null;
  } catch {
    return null;
  }
}

/** Errors: usage, naming the contexts that there are. */
export function readContext(name: string, env: Environment): NatsContext {
  if (name.endsWith('.json') && existsSync(name)) {
    return contextIn(plain(basename(name, '.json')), name);
  }
  const dir = join(configDir(env), 'context');
  const known = namesIn(dir);
  if (known.includes(name)) return contextIn(name, join(dir, `${name}.json`));
  const others = known.length === 0 ? `there are none in ${dir}` : `known: ${known.join(', ')}`;
  throw new LockstepError('usage', `context ${plain(name)} not found; ${others}`);
}

function contextIn(name: string, file: string): NatsContext {
  const fields = fieldsOf(name, file);
  for (const field of TEXTS) checkType(name, field, fields.get(field), 'string');
  checkType(name, 'tls_first', fields.get('tls_first'), 'boolean');
  const context: NatsContext = {
    name,
    text: (field) => {
      const value = fields.get(field);
      return typeof value === 'string' && value !== '' ? value : undefined;
    },
    tlsFirst: fields.get('tls_first') === true,
  };
  for (const [field, why] of Object.entries(UNSUPPORTED)) {
    if (context.text(field as ContextText) === undefined) continue;
    throw new LockstepError('usage', `context ${name}: ${field}: ${why}`);
  }
  return context;
}

/** The value is not repeated: it may be a secret. */
function checkType(name: string, field: string, value: unknown, type: 'string' | 'boolean'): void {
  if (value === undefined || value === null || typeof value === type) return;
  const expected = type === 'string' ? 'text' : 'true or false';
  throw new LockstepError('usage', `context ${name}: ${field} is not ${expected}`);
}

/** By names in small letters: natscli reads others too. */
function fieldsOf(name: string, file: string): ReadonlyMap<string, unknown> {
  try {
    const fields: unknown = JSON.parse(readInput(file));
    if (typeof fields === 'object' && fields !== null && !Array.isArray(fields)) {
      return new Map(Object.entries(fields).map(([key, value]) => [key.toLowerCase(), value]));
    }
  } catch {
    // Said below; what the parser says would repeat a part of the file, and that may be a secret.
  }
  throw new LockstepError('usage', `context ${name}: ${plain(file)} is not a context of natscli`);
}

function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir)
      .filter((file) => file.endsWith('.json'))
      .map((file) => file.slice(0, -'.json'.length))
      .sort();
  } catch {
    return [];
  }
}

function configDir(env: Environment): string {
  return join(variable(env, 'XDG_CONFIG_HOME') ?? join(accountHome(), '.config'), 'nats');
}
