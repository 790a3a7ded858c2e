/**
 * The byte layout of commands: what an origin delivers, what raft entries carry and what a store
 * keeps is one and the same encoding. Little-endian; every record starts at a multiple of 8.
 *
 *     offset size  field
 *          0    4  size of the record in bytes, padding included; a multiple of 8
 *          4    1  kind: 1 message, 2 skip, 3 skipRange, 4 reset, 5 identity
 *          5    1  zero
 *          6    2  message: bytes of subject; else zero
 *          8    8  expected: the store's last sequence that this command follows
 *     message
 *         16    8  timestamp, nanoseconds since 1970, signed
 *         24    4  bytes of headers
 *         28    4  bytes of payload
 *         32       subject, headers, payload, zeros up to the size
 *     skip (16 bytes): passes over expected + 1
 *     skipRange
 *         16    8  count: passes over expected + 1 … expected + count
 *     reset
 *         16    8  first: an empty store passes over expected + 1 … first - 1 and stores nothing
 *     identity
 *         16    8  created, nanoseconds since 1970, signed
 *         24    4  bytes of name
 *         28    4  zero
 *         32       name, zeros up to the size
 *
 * Sequences and counts are unsigned 64-bit on the wire and at most 2^53-1 in value, and no command
 * reaches beyond sequence 2^53-1. Strings are UTF-8. What is said to be zero is not read.
 */
import { LockstepError } from '../base/errors.js';
import { SEQ_MAX } from '../base/limits.js';
import type { StoredMessage } from './types.js';

export const KIND_MESSAGE = 1;
export const KIND_SKIP = 2;
export const KIND_SKIP_RANGE = 3;
export const KIND_RESET = 4;
export const KIND_IDENTITY = 5;

export const SKIP_BYTES = 16;
export const RANGE_BYTES = 24;
export const FIXED_BYTES = 32;

const WORD = 4_294_967_296;
const HIGH_MAX = 0x1f_ffff;
const SUBJECT_BYTES_MAX = 0xffff;

/** A DataView over the same bytes. */
export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Reads an unsigned 64-bit value; throws badRecord above 2^53-1. */
export function readSafe(view: DataView, at: number): number {
  const high = view.getUint32(at + 4, true);
  if (high > HIGH_MAX) throw badRecord(at, 'a number of at most 2^53-1');
  return high * WORD + view.getUint32(at, true);
}

/** Throws badRecord for what is no whole number from 0 to 2^53-1. */
function writeSafe(view: DataView, at: number, value: number): void {
  if (!Number.isSafeInteger(value) || value < 0) throw badRecord(at, 'a number from 0 to 2^53-1');
  view.setUint32(at, value % WORD, true);
  view.setUint32(at + 4, Math.floor(value / WORD), true);
}

/** Size of the record at `at`, padding included: the next one lies behind it. */
export function recordSize(view: DataView, at: number): number {
  return view.getUint32(at, true);
}

export function recordKind(view: DataView, at: number): number {
  return view.getUint8(at + 4);
}

/** The sequence that the command at `at` follows; a message's own is one higher. */
export function expectedOf(view: DataView, at: number): number {
  return readSafe(view, at + 8);
}

/** Of the message at `at`: nanoseconds since 1970. */
export function timestampOf(view: DataView, at: number): bigint {
  return view.getBigInt64(at + 16, true);
}

/** Of the skipRange at `at`: how many sequences it passes over. */
export function countOf(view: DataView, at: number): number {
  return readSafe(view, at + 16);
}

/** Of the reset at `at`: the first sequence that the stream will have. */
export function firstOf(view: DataView, at: number): number {
  return readSafe(view, at + 16);
}

/** Plain arithmetic: 32-bit operators would wrap lengths that add up to more than 2^31. */
function padded(size: number): number {
  return Math.ceil(size / 8) * 8;
}

export function messageSize(subject: number, headers: number, payload: number): number {
  return padded(FIXED_BYTES + subject + headers + payload);
}

export interface MessageFields {
  readonly seq: number;
  readonly timestamp: bigint;
  readonly subject: Uint8Array;
  readonly headers: Uint8Array;
  readonly payload: Uint8Array;
}

/**
 * Writes a message command at `at`; the bytes there must be zero. Returns the offset behind it.
 * Throws tooLarge for a subject of more than 65,535 bytes, badRecord for a sequence that is none.
 */
export function writeMessage(
  bytes: Uint8Array,
  view: DataView,
  at: number,
  message: MessageFields,
): number {
  const { subject, headers, payload } = message;
  if (subject.length > SUBJECT_BYTES_MAX) {
    const found = `a subject of ${subject.length} bytes`;
    throw new LockstepError('tooLarge', `${found}, at most ${SUBJECT_BYTES_MAX} can be stored`);
  }
  const size = messageSize(subject.length, headers.length, payload.length);
  writeHead(view, at, size, KIND_MESSAGE, message.seq - 1);
  view.setUint16(at + 6, subject.length, true);
  view.setBigInt64(at + 16, message.timestamp, true);
  view.setUint32(at + 24, headers.length, true);
  view.setUint32(at + 28, payload.length, true);
  let offset = at + FIXED_BYTES;
  bytes.set(subject, offset);
  offset += subject.length;
  bytes.set(headers, offset);
  offset += headers.length;
  bytes.set(payload, offset);
  return at + size;
}

export function writeSkip(view: DataView, at: number, expected: number): number {
  writeHead(view, at, SKIP_BYTES, KIND_SKIP, expected);
  return at + SKIP_BYTES;
}

export function writeSkipRange(
  view: DataView,
  at: number,
  expected: number,
  count: number,
): number {
  writeHead(view, at, RANGE_BYTES, KIND_SKIP_RANGE, expected);
  writeSafe(view, at + 16, count);
  return at + RANGE_BYTES;
}

export function writeReset(view: DataView, at: number, expected: number, first: number): number {
  writeHead(view, at, RANGE_BYTES, KIND_RESET, expected);
  writeSafe(view, at + 16, first);
  return at + RANGE_BYTES;
}

export function identitySize(name: Uint8Array): number {
  return padded(FIXED_BYTES + name.length);
}

export function writeIdentity(
  bytes: Uint8Array,
  view: DataView,
  at: number,
  identity: {
    readonly expected: number;
    readonly name: Uint8Array;
    readonly created: bigint;
  },
): number {
  const size = identitySize(identity.name);
  writeHead(view, at, size, KIND_IDENTITY, identity.expected);
  view.setBigInt64(at + 16, identity.created, true);
  view.setUint32(at + 24, identity.name.length, true);
  bytes.set(identity.name, at + FIXED_BYTES);
  return at + size;
}

function writeHead(view: DataView, at: number, size: number, kind: number, expected: number): void {
  view.setUint32(at, size, true);
  view.setUint8(at + 4, kind);
  writeSafe(view, at + 8, expected);
}

export function badRecord(at: number, expected: string): LockstepError {
  return new LockstepError('badRecord', `record at byte ${at}: expected ${expected}`, {
    at,
    expected,
  });
}

/**
 * Checks that `bytes` hold exactly `count` well-formed commands; throws badRecord otherwise. What
 * crosses a border is checked once; behind it, walks trust sizes.
 */
export function validateBatch(bytes: Uint8Array, count: number): void {
  const view = viewOf(bytes);
  let at = 0;
  for (let number = 0; number < count; number++) at += validateRecord(view, at);
  if (at !== bytes.length) throw badRecord(at, 'the end of the batch');
}

/**
 * Checks that `bytes` hold exactly `count` message commands whose sequences rise; throws badRecord
 * otherwise. What an origin delivers is checked so, once, by the leader.
 */
export function validateMessages(bytes: Uint8Array, count: number): void {
  const view = viewOf(bytes);
  let at = 0;
  let previous = -1;
  for (let number = 0; number < count; number++) {
    const size = validateRecord(view, at);
    if (recordKind(view, at) !== KIND_MESSAGE) throw badRecord(at + 4, 'a message');
    const expected = expectedOf(view, at);
    if (expected <= previous) throw badRecord(at + 8, 'a sequence above the one before');
    previous = expected;
    at += size;
  }
  if (at !== bytes.length) throw badRecord(at, 'the end of the batch');
}

/** Size of the record at `at`; throws badRecord when it is malformed. */
function validateRecord(view: DataView, at: number): number {
  const left = view.byteLength - at;
  if (left < SKIP_BYTES) throw badRecord(at, 'another record');
  const size = recordSize(view, at);
  const kind = recordKind(view, at);
  if (size > left) throw badRecord(at, 'a size that fits the batch');
  if (size !== sizeFrom(view, at, kind, size)) throw badRecord(at, `a size that fits kind ${kind}`);
  validateReach(view, at, kind);
  return size;
}

/** The size that the record's kind and lengths ask for. Lengths beyond `size` are not read. */
function sizeFrom(view: DataView, at: number, kind: number, size: number): number {
  if (kind === KIND_SKIP) return SKIP_BYTES;
  if (kind === KIND_SKIP_RANGE || kind === KIND_RESET) return RANGE_BYTES;
  if (kind !== KIND_MESSAGE && kind !== KIND_IDENTITY) {
    throw badRecord(at + 4, 'a kind from 1 to 5');
  }
  if (size < FIXED_BYTES) return FIXED_BYTES;
  const variable = view.getUint32(at + 24, true);
  if (kind === KIND_IDENTITY) return padded(FIXED_BYTES + variable);
  return messageSize(view.getUint16(at + 6, true), variable, view.getUint32(at + 28, true));
}

/** Throws badRecord when the command would take a store beyond sequence 2^53-1. */
function validateReach(view: DataView, at: number, kind: number): void {
  const room = SEQ_MAX - expectedOf(view, at);
  if (kind === KIND_SKIP_RANGE && countOf(view, at) > room) {
    throw badRecord(at + 16, 'a range that ends at 2^53-1 or before');
  }
  if (kind === KIND_RESET && firstOf(view, at) === 0) throw badRecord(at + 16, 'a first sequence');
  if ((kind === KIND_MESSAGE || kind === KIND_SKIP) && room === 0) {
    throw badRecord(at + 8, 'a sequence of at most 2^53-1');
  }
}

/** The parts of the message record at `at`, as views. Sequence and sizes are trusted. */
export function readMessage(bytes: Uint8Array, at: number): StoredMessage {
  const view = viewOf(bytes);
  const subject = at + FIXED_BYTES;
  const headers = subject + view.getUint16(at + 6, true);
  const payload = headers + view.getUint32(at + 24, true);
  return {
    seq: expectedOf(view, at) + 1,
    timestamp: timestampOf(view, at),
    subject: bytes.subarray(subject, headers),
    headers: bytes.subarray(headers, payload),
    payload: bytes.subarray(payload, payload + view.getUint32(at + 28, true)),
  };
}

/** The identity command at `at`: the name as UTF-8 bytes. */
export function readIdentity(
  bytes: Uint8Array,
  at: number,
): { readonly name: Uint8Array; readonly created: bigint } {
  const view = viewOf(bytes);
  const name = at + FIXED_BYTES;
  return {
    name: bytes.subarray(name, name + view.getUint32(at + 24, true)),
    created: view.getBigInt64(at + 16, true),
  };
}
