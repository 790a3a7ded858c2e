/**
 * An origin rebuilt from what natscli prints of a real stream: the shape is real, the bodies are
 * made. `nats stream info NAME --json` has first and last; `nats stream gaps NAME --json -f
 * --no-progress` has the gaps, as [first, last] pairs, or `{}` and a sentence when there is none.
 */
import { usageError } from '../base/errors.js';
import { isSeq, seqOrZero } from '../base/seq.js';
import { parseSize } from '../base/units.js';
import type { SeqRange } from '../stream/types.js';
import { parseRate, readText, type ReadFile } from './parse.js';
import type { RebuiltOriginPlan } from './types.js';

export interface RebuildFiles {
  readonly file: string;
  readonly info: string;
  readonly size?: number | string | undefined;
  readonly rate?: number | string | undefined;
}

const SIZE_DEFAULT = 128;

/** Errors: usage, naming the file, what was found in it and what was expected. */
export function rebuildOrigin(
  where: string,
  files: RebuildFiles,
  readFile: ReadFile,
): RebuiltOriginPlan {
  const { name, first, last, messages, deleted } = readInfo(
    files.info,
    readText(where, files.info, readFile),
  );
  const gaps = readGaps(files.file, readText(where, files.file, readFile), { first, last });
  const counted = gaps.reduce((sum, gap) => sum + gap.last - gap.first + 1, 0);
  if (counted !== deleted) {
    const expected = `the ${deleted} deleted sequences that ${files.info} tells of`;
    throw usageError(files.file, `${counted} sequences in gaps`, expected);
  }
  return {
    kind: 'nats-gaps',
    name,
    first,
    last,
    messages,
    gaps,
    size: parseSize(`${where}.size`, files.size ?? SIZE_DEFAULT),
    rate: parseRate(`${where}.rate`, files.rate),
  };
}

function readInfo(
  path: string,
  text: string,
): SeqRange & { readonly name: string; readonly messages: number; readonly deleted: number } {
  const json = parseJson(path, text) as {
    config?: { name?: unknown };
    state?: Record<string, unknown>;
  } | null;
  const name = json?.config?.name;
  const state = json?.state;
  if (typeof name !== 'string' || typeof state !== 'object') {
    throw usageError(path, 'this JSON', 'the output of nats stream info NAME --json');
  }
  const field = (key: string): number => seqOrZero(`${path}: state.${key}`, state[key]);
  const first = field('first_seq');
  const last = field('last_seq');
  const messages = field('messages');
  const deleted = state['num_deleted'] === undefined ? 0 : field('num_deleted');
  if (messages === 0) throw usageError(`${path}: state.messages`, 0, 'a stream with messages');
  if (messages + deleted !== last - first + 1) {
    const found = `${messages} messages and ${deleted} deleted`;
    throw usageError(path, found, `${last - first + 1} sequences from ${first} to ${last}`);
  }
  return { name, first, last, messages, deleted };
}

function readGaps(path: string, text: string, stream: SeqRange): SeqRange[] {
  if (/^\s*\{\s*\}/.test(text)) return [];
  const json = parseJson(path, text);
  if (!Array.isArray(json)) {
    throw usageError(path, 'this JSON', 'the output of nats stream gaps NAME --json');
  }
  const gaps = json.map((pair: unknown, at) => {
    const [first, last] = Array.isArray(pair) ? (pair as unknown[]) : [];
    if (isSeq(first) && isSeq(last) && first <= last) return { first, last };
    throw usageError(`${path}: [${at}]`, pair, 'a pair [first, last] of sequences up to 2^53-1');
  });
  gaps.sort((a, b) => a.first - b.first);
  gaps.forEach((gap, at) => {
    const text = `[${gap.first}, ${gap.last}]`;
    if (gap.first < stream.first || gap.last > stream.last) {
      throw usageError(path, text, `a gap within the stream, ${stream.first} to ${stream.last}`);
    }
    if (at > 0 && gap.first <= gaps[at - 1]!.last) {
      throw usageError(path, text, 'a gap that overlaps no other');
    }
  });
  return gaps;
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw usageError(path, text.slice(0, 20).split('\n')[0], 'JSON');
  }
}
