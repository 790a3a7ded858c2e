/** Origins and faults as written on the command line -> the same raw data as in a scenario file. */
import { LockstepError, usageError } from '../base/errors.js';
import { parseServerUrl, withoutCredentials, type Credentials } from './connection.js';
import { FAULT_KEYS, FAULT_KINDS, type FaultText, type Scenario } from './schema.js';
import { isOneLine, nearest, refusal } from './words.js';

/** The kinds first: they are what a line begins with. */
const FAULT_WORDS = [...new Set([...FAULT_KINDS, ...FAULT_KEYS])];
/** Faults that need no value. */
const ALONE: readonly string[] = [
  'metaStepDown',
  'dropConsumer',
  'refuseOpening',
  'loseDeliveries',
  'repeatDeliveries',
  'stallOrigin',
];
const SYNTHETIC_WORDS = ['messages', 'size', 'gap', 'rate'];

/** `stepDown=leader,when=skipped:10000,within=30s`; `dropConsumer` stands alone. Errors: usage. */
export function faultLine(line: string): FaultText {
  const fault: Record<string, unknown> = {};
  for (const [key, value] of fields('--fault', line, FAULT_WORDS, ALONE)) {
    if (key === 'when') fault[key] = stateOf(value);
    else if (key === 'on') fault[key] = value.split('+');
    else if (ALONE.includes(key)) fault[key] = value === '' ? true : value;
    else fault[key] = value;
  }
  return fault;
}

/**
 * `synthetic:messages=1e6,gap=40000+25000`, `nats-gaps:FILE,info=FILE` or `nats://HOST/STREAM`.
 * Credentials of a url are left out: originCredentials has them. Errors: usage.
 */
export function originLine(source: string): Scenario['origin'] {
  const colon = source.indexOf(':');
  const kind = colon < 0 ? source : source.slice(0, colon);
  const rest = colon < 0 ? '' : source.slice(colon + 1);
  if (kind === 'synthetic') return { synthetic: syntheticOf(rest) };
  if (kind === 'nats-gaps') return { natsGaps: natsGapsOf(rest) };
  if (isUrl(source)) return { nats: natsOf(source) };
  const meant = nearest(kind, ['synthetic', 'nats-gaps', 'nats']);
  const expected = `synthetic:…, nats-gaps:… or nats://HOST:PORT/STREAM${meant}`;
  throw refusal('--origin', withoutCredentials(source), expected);
}

/** The user, password or token of an --origin that is a url. */
export function originCredentials(source: string): Credentials {
  if (!isUrl(source)) return {};
  const { servers: _servers, path: _path, ...credentials } = parseServerUrl('--origin', source);
  return credentials;
}

function isUrl(source: string): boolean {
  return /^(nats|tls):\/\//.test(source);
}

function natsOf(source: string): NonNullable<Scenario['origin']['nats']> {
  const { servers, path } = parseServerUrl('--origin', source);
  const shown = withoutCredentials(source);
  if (path === null)
    throw refusal('--origin', shown, 'a url with a stream: nats://HOST:PORT/STREAM');
  const stream = decoded(path);
  if (stream === null) throw refusal('--origin', shown, 'a url');
  return servers.length === 0
    ? { stream }
    : { url: servers.join(',').replaceAll(/,\w+:\/\//g, ','), stream };
}

function decoded(path: string): string | null {
  try {
    return decodeURIComponent(path);
  } catch {
    return null;
  }
}

function syntheticOf(text: string): NonNullable<Scenario['origin']['synthetic']> {
  const given = fields('--origin', text, SYNTHETIC_WORDS, [], ['gap']);
  const gaps = given.filter(([key]) => key === 'gap').map(([, value]) => gapOf(value));
  const { messages, size, rate } = Object.fromEntries(given) as Record<string, string | undefined>;
  if (messages === undefined) throw usageError('--origin', text, 'given with messages=N');
  return { messages, size, rate, gaps };
}

function gapOf(value: string): { readonly after: string; readonly count: string } {
  const [after, count, ...more] = value.split('+');
  if (after !== undefined && count !== undefined && more.length === 0) return { after, count };
  throw usageError('--origin gap', value, 'AFTER+COUNT, such as 40000+25000');
}

function natsGapsOf(text: string): NonNullable<Scenario['origin']['natsGaps']> {
  const [file = '', ...rest] = text.split(',');
  const given = fields('--origin', rest.join(','), ['info', 'size', 'rate']);
  const { info, size, rate } = Object.fromEntries(given) as Record<string, string | undefined>;
  if (file !== '' && info !== undefined) return { file, info, size, rate };
  const why = 'gaps tell neither first nor last';
  throw new LockstepError('usage', `--origin nats-gaps: FILE,info=FILE is required: ${why}`);
}

/**
 * `skipped:10000`, `appended:2/3` -> the mapping of a scenario file. Which states there are, its
 * schema says.
 */
function stateOf(value: string): Readonly<Record<string, unknown>> {
  const [state = '', limit, ...more] = value.split(':');
  if (limit !== undefined && more.length === 0) {
    const [on, of, ...further] = limit.split('/');
    return { [state]: of === undefined || further.length > 0 ? limit : { on, of } };
  }
  throw usageError('--fault when', value, 'STATE:VALUE, such as skipped:10000');
}

/**
 * `key=value,…` -> pairs.
 *
 * @param alone  keys that may stand without a value; it is then empty
 * @param repeatable  keys that may be given more than once
 */
function fields(
  flag: string,
  text: string,
  known: readonly string[],
  alone: readonly string[] = [],
  repeatable: readonly string[] = [],
): [string, string][] {
  if (!isOneLine(text)) throw refusal(flag, text, 'text in one line');
  if (text === '') return [];
  const seen = new Set<string>();
  return text.split(',').map((part) => {
    const at = part.indexOf('=');
    const key = at < 0 ? part : part.slice(0, at);
    if (!known.includes(key)) throw unknown(flag, key, known);
    if (at < 0 && !alone.includes(key)) throw usageError(flag, part, `${key}=VALUE`);
    if (seen.has(key) && !repeatable.includes(key)) throw usageError(flag, key, 'given once only');
    seen.add(key);
    return [key, at < 0 ? '' : part.slice(at + 1)];
  });
}

/** All words are shown only to whoever is near none of them. */
function unknown(flag: string, key: string, known: readonly string[]): LockstepError {
  const meant = nearest(key, known);
  return refusal(flag, key, `a known word${meant === '' ? ` (${known.join(', ')})` : meant}`);
}
