/**
 * An origin of the user's own: a module that holds its messages, loaded before a cluster starts.
 * From there on it is an origin like those that are made here: windows, rates, every fault.
 */
import { existsSync, writeSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { LockstepError, toErrorData, usageError } from '../base/errors.js';
import { RECORD_BYTES_MAX, SEQ_MAX } from '../base/limits.js';
import { plain } from '../base/plain.js';
import { isSeq } from '../base/seq.js';
import { formatDuration, formatSize } from '../base/units.js';
import type { SeqRange, StoredMessage } from '../stream/types.js';
import { EXIT_USAGE } from '../verdict/types.js';
import { isStreamName } from './subjects.js';
import type { ModuleOriginPlan, OwnOriginPlan, Plan } from './types.js';
import { checkKeys, refusal } from './words.js';

/** One message of an origin. Text is UTF-8. */
export interface OwnMessage {
  /** Rising, 1 … 2^53-2; what is left out between two of them is a gap. */
  readonly seq: number;
  readonly subject: string;
  readonly body: string | Uint8Array;
  /** As NATS has them, `NATS/1.0\r\nName: value\r\n\r\n`; default none. */
  readonly headers?: string | Uint8Array;
  /** Nanoseconds since 1970; default rising from 2026 on. */
  readonly timestamp?: bigint;
}

/** What the module's default export returns. */
export interface OwnOrigin {
  /** Of the stream: a name without spaces, dots and wildcards. */
  readonly name: string;
  readonly messages: Iterable<OwnMessage>;
}

/**
 * The default export of the module: the same options give the same messages, or a run could not be
 * played again.
 *
 * @param options  `origin.module.options` of the scenario
 */
export type OpenOwnOrigin = (options: unknown) => OwnOrigin | Promise<OwnOrigin>;

const ORIGIN_KEYS: readonly string[] = ['name', 'messages'];
const MESSAGE_KEYS: readonly string[] = ['seq', 'subject', 'body', 'headers', 'timestamp'];
/** Subject, headers and layout always fit beside it. */
const BODY_MAX = RECORD_BYTES_MAX / 2;
/** What a message that does not say carries: 2026-01-01T00:00:00Z, and so much a sequence. */
const CREATED_NS = 1_767_225_600_000_000_000n;
const APART_NS = 500n;
const ENCODER = new TextEncoder();

/** What a module may take before it is refused. */
export interface OwnLimits {
  /** Milliseconds, for its stream to be there. */
  readonly withinMs: number;
  readonly messages: number;
  /** Of subjects, headers and bodies. */
  readonly bytes: number;
}

/**
 * Messages are held as objects: some 650 bytes of heap each, whatever is in them, so that as many
 * as this still fit the heap that Node has by itself, and what is in them the memory of a machine.
 */
const LIMITS: OwnLimits = { withinMs: 30_000, messages: 2_000_000, bytes: 4 * 1024 ** 3 };

/** The plan with its origin loaded, if that is a module. Errors: usage, one line. */
export async function loaded(plan: Plan, limits = LIMITS): Promise<Plan> {
  const { origin } = plan;
  return origin.kind === 'module' ? { ...plan, origin: await load(origin, limits) } : plan;
}

async function load(
  { path, options, rate }: ModuleOriginPlan,
  limits: OwnLimits,
): Promise<OwnOriginPlan> {
  const where = `origin.module: ${plain(path)}`;
  const file = resolve(path);
  if (!existsSync(file)) throw new LockstepError('usage', `${where}: no such file`);
  const own = await watched(where, limits, () => opened(file, options));
  const { name, messages } = (own ?? {}) as Partial<OwnOrigin>;
  if (typeof name !== 'string' || typeof messages?.[Symbol.iterator] !== 'function') {
    const expected = 'a module whose default export returns { name, messages }';
    throw usageError('origin.module', path, expected);
  }
  // A rate, say, is the scenario's to set; here it would do nothing.
  checkKeys(where, own as object, ORIGIN_KEYS);
  if (!isStreamName(name)) throw refusal(`${where}: name`, name, 'a name of a stream');
  const held = await watched(where, limits, () => read(where, messages, limits));
  return { kind: 'own', name, rate, held, ...shapeOf(where, held) };
}

async function opened(file: string, options: unknown): Promise<unknown> {
  const module = (await import(pathToFileURL(file).href)) as { default?: unknown };
  if (typeof module.default !== 'function') return undefined;
  return (module.default as OpenOwnOrigin)(options);
}

/**
 * Runs what is the user's. Whatever it does instead of giving something is said in one line: it
 * throws, it never answers, it ends the process.
 */
async function watched<T>(
  where: string,
  { withinMs }: OwnLimits,
  call: () => T | Promise<T>,
): Promise<T> {
  const onExit = (code: number): void => {
    writeSync(process.stderr.fd, `lockstep: ${where}: it ended the process (exit code ${code})\n`);
    process.exitCode = EXIT_USAGE;
  };
  process.once('exit', onExit);
  let timer: NodeJS.Timeout | undefined;
  // It also keeps a process that nothing else keeps.
  const late = new Promise<never>((_, reject) => {
    const text = `${where}: gave no stream within ${formatDuration(withinMs)}`;
    timer = setTimeout(() => reject(new LockstepError('usage', text)), withinMs);
  });
  try {
    return await Promise.race([call(), late]);
  } catch (error) {
    if (error instanceof LockstepError) throw error;
    if ((error as NodeJS.ErrnoException | null)?.code === 'ERR_UNKNOWN_FILE_EXTENSION') {
      const text = 'this Node runs JavaScript only: name the module that it is compiled to';
      throw new LockstepError('usage', `${where}: ${text}`);
    }
    throw new LockstepError('usage', `${where}: it failed (${plain(toErrorData(error).message)})`);
  } finally {
    clearTimeout(timer);
    process.off('exit', onExit);
  }
}

/** Nobody knows how many there will be: a generator may have no end. */
function read(
  where: string,
  messages: Iterable<OwnMessage>,
  { messages: most, bytes: bytesMost }: OwnLimits,
): readonly StoredMessage[] {
  const held: StoredMessage[] = [];
  let bytes = 0;
  const allowed = `${most.toLocaleString('en')} messages and ${formatSize(bytesMost)}`;
  for (const message of messages) {
    const stored = storedOf(`${where}: messages[${held.length}]`, message);
    bytes += stored.subject.length + stored.headers.length + stored.payload.length;
    if (held.push(stored) <= most && bytes <= bytesMost) continue;
    const text = `${where}: messages has no end, or too many: an origin of a module holds at most`;
    throw new LockstepError('usage', `${text} ${allowed}`);
  }
  return held;
}

function storedOf(where: string, message: OwnMessage): StoredMessage {
  if (typeof message !== 'object' || message === null) throw refusal(where, message, 'a message');
  // A slip such as `header` would leave out what the other side then holds without it.
  checkKeys(where, message, MESSAGE_KEYS);
  const { seq, subject, body, headers = '', timestamp } = message;
  if (!isSeq(seq) || seq >= SEQ_MAX) throw refusal(`${where}.seq`, seq, 'a sequence below 2^53-1');
  if (typeof subject !== 'string' || !/^[^\s.]+(\.[^\s.]+)*$/.test(subject)) {
    throw refusal(`${where}.subject`, subject, 'a subject such as orders.new');
  }
  const payload = bytesOf(`${where}.body`, body);
  return {
    ...{ seq, payload, subject: ENCODER.encode(subject) },
    headers: bytesOf(`${where}.headers`, headers),
    timestamp: timestampOf(`${where}.timestamp`, timestamp, seq),
  };
}

function timestampOf(where: string, value: unknown, seq: number): bigint {
  if (value === undefined) return CREATED_NS + BigInt(seq) * APART_NS;
  // What has more bits would come out as another time.
  if (typeof value === 'bigint' && BigInt.asIntN(64, value) === value) return value;
  const found = typeof value === 'bigint' ? `${value}n` : value;
  throw refusal(where, found, 'nanoseconds since 1970, a bigint of 64 bits');
}

function bytesOf(where: string, value: unknown): Uint8Array {
  const bytes = typeof value === 'string' ? ENCODER.encode(value) : value;
  if (!(bytes instanceof Uint8Array)) throw refusal(where, value, 'text or bytes');
  if (bytes.length <= BODY_MAX) return bytes;
  throw usageError(where, `${bytes.length} bytes`, `at most ${formatSize(BODY_MAX)}`);
}

function shapeOf(
  where: string,
  held: readonly StoredMessage[],
): Pick<OwnOriginPlan, 'first' | 'last' | 'messages' | 'gaps' | 'size'> {
  const [first] = held;
  if (first === undefined) throw usageError(where, 'no message', 'at least one message');
  const gaps: SeqRange[] = [];
  let size = 0;
  for (const [at, { seq, payload }] of held.entries()) {
    size = Math.max(size, payload.length);
    if (at === 0) continue;
    const before = held[at - 1]!.seq;
    if (seq <= before) throw usageError(`${where}: messages[${at}].seq`, seq, `above ${before}`);
    if (seq > before + 1) gaps.push({ first: before + 1, last: seq - 1 });
  }
  return { first: first.seq, last: held.at(-1)!.seq, messages: held.length, gaps, size };
}
