/** Origins and faults as written on the command line -> the same raw data as in a scenario file. */
import { LockstepError, usageError } from '../base/errors.js';
import type { FaultText, Scenario } from './schema.js';
import { nearest } from './words.js';

const FAULT_WORDS = [
  ...['stepDown', 'kill', 'freeze', 'failPropose', 'dropConsumer'],
  ...['id', 'to', 'for', 'times', 'code', 'at', 'when', 'within', 'after', 'delay', 'on'],
];
const SYNTHETIC_WORDS = ['messages', 'size', 'gap', 'rate'];

/** `stepDown=leader,when=skipped:10000,within=30s` */
export function faultLine(line: string): FaultText {
  const fault: Record<string, unknown> = {};
  for (const [key, value] of pairs('--fault', line, FAULT_WORDS)) {
    if (fault[key] !== undefined) throw usageError('--fault', key, 'given once');
    if (key === 'when') fault[key] = stateOf(value);
    else if (key === 'on') fault[key] = value.split('+');
    else if (key === 'dropConsumer') fault[key] = value === 'origin' ? value : value === 'true';
    else fault[key] = value;
  }
  return fault;
}

/** `synthetic:messages=1e6,size=128,gap=40000+25000` or `nats-gaps:FILE,info=FILE`. */
export function originLine(source: string): Scenario['origin'] {
  const colon = source.indexOf(':');
  const kind = source.slice(0, Math.max(0, colon));
  const rest = source.slice(colon + 1);
  if (kind === 'synthetic') return { synthetic: syntheticOf(rest) };
  if (kind === 'nats-gaps') return { natsGaps: natsGapsOf(rest) };
  const expected = `synthetic:… or nats-gaps:…${nearest(kind, ['synthetic', 'nats-gaps'])}`;
  throw usageError('--origin', source, expected);
}

function syntheticOf(text: string): NonNullable<Scenario['origin']['synthetic']> {
  const fields: Record<string, string> = {};
  const gaps: { after: string; count: string }[] = [];
  for (const [key, value] of pairs('--origin', text, SYNTHETIC_WORDS)) {
    if (key !== 'gap') fields[key] = value;
    else {
      const [after, count, ...more] = value.split('+');
      if (after === undefined || count === undefined || more.length > 0) {
        throw usageError('--origin gap', value, 'AFTER+COUNT, such as 40000+25000');
      }
      gaps.push({ after, count });
    }
  }
  const { messages, ...others } = fields;
  if (messages === undefined) throw usageError('--origin', text, 'given with messages=N');
  return { messages, ...others, gaps };
}

function natsGapsOf(text: string): NonNullable<Scenario['origin']['natsGaps']> {
  const [file = '', ...rest] = text.split(',');
  const fields = new Map(pairs('--origin', rest.join(','), ['info', 'size', 'rate']));
  const info = fields.get('info');
  if (file === '' || info === undefined) {
    const line = '--origin nats-gaps: info=FILE is required: gaps tell neither first nor last';
    throw new LockstepError('usage', line);
  }
  return { file, info, size: fields.get('size'), rate: fields.get('rate') };
}

function stateOf(value: string): Record<string, string> {
  const [state = '', count, ...more] = value.split(':');
  if (count === undefined || more.length > 0) {
    throw usageError('--fault when', value, 'STATE:VALUE, such as skipped:10000');
  }
  return { [state]: count };
}

function pairs(flag: string, text: string, known: readonly string[]): [string, string][] {
  if (text === '') return [];
  return text.split(',').map((part) => {
    const at = part.indexOf('=');
    const key = at < 0 ? part : part.slice(0, at);
    if (!known.includes(key)) {
      throw usageError(flag, key, `one of ${known.join(', ')}${nearest(key, known)}`);
    }
    if (at < 0) throw usageError(flag, part, `${key}=VALUE`);
    return [key, part.slice(at + 1)];
  });
}
