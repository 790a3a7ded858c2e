/**
 * The shape of a real stream, from what natscli prints of it. `nats stream info NAME --json` has
 * first and last; `nats stream gaps NAME --json -f --no-progress` has the gaps, as [first, last]
 * pairs, or `{}` and a sentence when there is none.
 */
import { usageError } from '../base/errors.js';
import { SEQ_MAX } from '../base/limits.js';
import { isSeq } from '../base/seq.js';
import type { SeqRange } from '../stream/types.js';
import type { RebuiltOriginPlan } from './types.js';
import { isStreamName } from './subjects.js';
import { refusal } from './words.js';

/** A file's name, for errors, and what is in it. */
export interface NamedText {
  readonly path: string;
  readonly text: string;
}

export type RebuiltShape = Pick<RebuiltOriginPlan, 'name' | 'first' | 'last' | 'messages' | 'gaps'>;

interface StreamInfo extends SeqRange {
  readonly name: string;
  readonly messages: number;
  readonly deleted: number;
}

/** Errors: usage, naming the file, what was found in it and what was expected. */
export function rebuildOrigin(info: NamedText, gaps: NamedText): RebuiltShape {
  const { name, first, last, messages, deleted } = readInfo(info);
  const ranges = readGaps(gaps, { first, last });
  const counted = ranges.reduce((sum, gap) => sum + gap.last - gap.first + 1, 0);
  if (counted !== deleted) {
    const expected = `the ${deleted} deleted sequences that ${info.path} tells of`;
    throw usageError(gaps.path, `${counted} sequences in gaps`, expected);
  }
  return { name, first, last, messages, gaps: ranges };
}

function readInfo(file: NamedText): StreamInfo {
  const { path } = file;
  const json = parseJson(file);
  const name = fieldOf(fieldOf(json, 'config'), 'name');
  const state = fieldOf(json, 'state');
  if (typeof name !== 'string' || typeof state !== 'object' || state === null) {
    throw refusal(path, json, 'the output of nats stream info NAME --json');
  }
  // It goes into reports and file names.
  if (!isStreamName(name)) throw refusal(`${path}: config.name`, name, 'a name');
  const field = (key: string): number => {
    const value = fieldOf(state, key);
    if (value === 0 || isSeq(value)) return value;
    throw refusal(`${path}: state.${key}`, value, 'a whole number from 0 to 2^53-1');
  };
  const first = field('first_seq');
  const last = field('last_seq');
  const messages = field('messages');
  const deleted = fieldOf(state, 'num_deleted') === undefined ? 0 : field('num_deleted');
  if (messages === 0) throw usageError(`${path}: state.messages`, 0, 'a stream with messages');
  if (last === SEQ_MAX) {
    throw usageError(`${path}: state.last_seq`, last, 'below 2^53-1, where a sentinel follows');
  }
  if (first === 0 || messages + deleted !== last - first + 1) {
    const found = `${messages} messages and ${deleted} deleted`;
    throw usageError(path, found, `what ${first} to ${last} have room for`);
  }
  return { name, first, last, messages, deleted };
}

/** Rising, apart from each other or touching. The first sequence of a stream is a message. */
function readGaps(file: NamedText, stream: SeqRange): SeqRange[] {
  const { path, text } = file;
  if (/^\s*\{\s*\}/.test(text)) return [];
  const json = parseJson(file);
  if (!Array.isArray(json)) {
    throw refusal(path, json, 'the output of nats stream gaps NAME --json');
  }
  const gaps = json.map((pair: unknown, at) => {
    const [first, last, ...more] = Array.isArray(pair) ? (pair as unknown[]) : [];
    if (more.length === 0 && isSeq(first) && isSeq(last) && first <= last) return { first, last };
    const isFlat = Array.isArray(pair) && pair.every((value) => typeof value !== 'object');
    const shown = isFlat ? JSON.stringify(pair) : pair;
    throw refusal(`${path}: [${at}]`, shown, 'a pair [first, last] of sequences up to 2^53-1');
  });
  gaps.sort((a, b) => a.first - b.first);
  gaps.forEach((gap, at) => {
    const found = `[${gap.first}, ${gap.last}]`;
    if (gap.first <= stream.first || gap.last > stream.last) {
      throw usageError(path, found, `a gap within the stream, ${stream.first} to ${stream.last}`);
    }
    if (at > 0 && gap.first <= gaps[at - 1]!.last) {
      throw usageError(path, found, 'a gap that overlaps no other');
    }
  });
  return gaps;
}

function fieldOf(json: unknown, key: string): unknown {
  if (typeof json !== 'object' || json === null) return undefined;
  return (json as Readonly<Record<string, unknown>>)[key];
}

function parseJson({ path, text }: NamedText): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw refusal(path, text, 'JSON');
  }
}
