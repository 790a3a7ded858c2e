/**
 * natscli's contexts: named connection settings under $XDG_CONFIG_HOME/nats (default ~/.config).
 * `context.txt` names the selected one, `context/NAME.json` holds each. They are read, never
 * written.
 */
import { readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { LockstepError } from '../base/errors.js';
import { plain } from '../base/plain.js';
import { readInput } from '../scenario/input-file.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The fields of a context file that say how to connect; natscli writes "" for what is not set. */
export interface NatsContext {
  readonly name: string;
  text(field: ContextText): string | undefined;
  readonly tlsFirst: boolean;
}

type ContextText =
  | 'url'
  | 'token'
  | 'user'
  | 'password'
  | 'creds'
  | 'nkey'
  | 'cert'
  | 'key'
  | 'ca'
  | 'jetstream_domain'
  | 'jetstream_api_prefix'
  | 'inbox_prefix'
  | 'user_jwt'
  | 'user_seed'
  | 'nsc'
  | 'socks_proxy';

/** Ways to connect that would be passed over silently if they were not refused. */
const UNSUPPORTED = ['nsc', 'socks_proxy'] as const;

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
  const dir = join(configDir(env), 'context');
  const known = namesIn(dir);
  if (!known.includes(name)) {
    const others = known.length === 0 ? `there are none in ${dir}` : `known: ${known.join(', ')}`;
    const text = `context ${plain(name)} not found; ${others}`;
    throw new LockstepError('usage', text);
  }
  const fields = fieldsOf(name, join(dir, `${name}.json`));
  const context: NatsContext = {
    name,
    text: (field) => {
      const value = fields[field];
      return typeof value === 'string' && value !== '' ? value : undefined;
    },
    tlsFirst: fields['tls_first'] === true,
  };
  for (const field of UNSUPPORTED) {
    if (context.text(field) === undefined) continue;
    throw new LockstepError('usage', `context ${name}: ${field} is not supported by lockstep`);
  }
  return context;
}

function fieldsOf(name: string, file: string): Readonly<Record<string, unknown>> {
  try {
    const fields: unknown = JSON.parse(readInput(file));
    if (typeof fields === 'object' && fields !== null) return fields as Record<string, unknown>;
  } catch {
    // Said below; what the parser says would repeat a part of the file, and that may be a secret.
  }
  throw new LockstepError('usage', `context ${name}: ${file} is not a context of natscli`);
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
  const base = env['XDG_CONFIG_HOME'];
  return join(base !== undefined && base !== '' ? base : join(homedir(), '.config'), 'nats');
}
