/**
 * Two messages against each other, as records of src/stream/layout.ts. A mirror keeps sequence,
 * time, subject, headers and payload; of headers it drops those that were conditions of publishing.
 * Upstream: stream.go, processInboundMirrorMsg.
 */
import { readMessage, recordSize, viewOf } from '../stream/layout.js';
import type { StoredMessage } from '../stream/types.js';

export type MessagePart = 'time' | 'subject' | 'headers' | 'payload';

/** Records side by side, and one of them that is looked at. */
export interface RecordCursor {
  readonly bytes: Buffer;
  readonly view: DataView;
  readonly at: number;
}

/** What a store adds to subject, headers and payload. Upstream: filestore.go, fileStoreMsgSize. */
const RECORD_EXTRA = 64;
const DROPPED = /^Nats-(Expected|Batch)-/i;
const CRLF = '\r\n';

/** Whether two records are the same, bit for bit. Nothing is allocated. */
export function sameRecord(one: RecordCursor, other: RecordCursor): boolean {
  const size = recordSize(one.view, one.at);
  if (size !== recordSize(other.view, other.at)) return false;
  const { bytes, at } = other;
  return one.bytes.compare(bytes, at, at + size, one.at, one.at + size) === 0;
}

export function messageAt({ bytes, at }: RecordCursor): StoredMessage {
  return readMessage(bytes, at);
}

/** A cursor at the start of these records. */
export function cursorOf(bytes: Uint8Array): RecordCursor {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return { bytes: buffer, view: viewOf(bytes), at: 0 };
}

/**
 * What a mirror's message has different from the origin's; empty: nothing that matters.
 *
 * @param subject  what the mirror should have for the origin's subject; null: not known
 */
export function differingParts(
  origin: StoredMessage,
  mirror: StoredMessage,
  subject: Uint8Array | null,
): MessagePart[] {
  const parts: MessagePart[] = [];
  if (origin.timestamp !== mirror.timestamp) parts.push('time');
  if (subject !== null && !sameSubject(subject, mirror.subject)) parts.push('subject');
  if (!sameHeaders(origin.headers, mirror.headers)) parts.push('headers');
  if (Buffer.compare(origin.payload, mirror.payload) !== 0) parts.push('payload');
  return parts;
}

/** Those in which something differs. */
export function partsSeen(
  parts: Readonly<Record<MessagePart, number>>,
): Partial<Record<MessagePart, number>> {
  return Object.fromEntries(Object.entries(parts).filter(([, count]) => count > 0));
}

/** In JSON, which answers to requests are, this stands for whatever is no UTF-8. */
const REPLACED = '\u{fffd}';

/** Bit for bit, as far as both came as they are. */
function sameSubject(one: Uint8Array, other: Uint8Array): boolean {
  if (Buffer.compare(one, other) === 0) return true;
  const [text, otherText] = [Buffer.from(one).toString(), Buffer.from(other).toString()];
  const isReplaced = [one, other].some((bytes) => Buffer.from(bytes).includes(REPLACED));
  return isReplaced && text === otherText;
}

/** Whether a subject can be asked for: requests are JSON too. */
export function isAskable(subject: string): boolean {
  return !subject.includes(REPLACED);
}

/** Alike but for what a mirror drops. */
export function sameHeaders(one: Uint8Array, other: Uint8Array): boolean {
  if (Buffer.compare(one, other) === 0) return true;
  return mirroredHeaders(one) === mirroredHeaders(other);
}

/** The lines that a mirror keeps; none: empty, as of a message without headers. */
function mirroredHeaders(headers: Uint8Array): string {
  // One character a byte: what is no UTF-8 must not become alike.
  const [version = '', ...lines] = Buffer.from(headers).toString('latin1').split(CRLF);
  const kept = lines.filter((line) => line !== '' && !DROPPED.test(line));
  return kept.length === 0 && /^NATS\/1\.0\s*$/.test(version) ? '' : [version, ...kept].join(CRLF);
}

/** The first value of a header; null: there is none. */
export function headerOf(headers: Uint8Array, name: string): string | null {
  for (const line of Buffer.from(headers).toString('latin1').split(CRLF)) {
    const colon = line.indexOf(':');
    if (colon > 0 && line.slice(0, colon).toLowerCase() === name.toLowerCase()) {
      return line.slice(colon + 1).trim();
    }
  }
  return null;
}

/** Bytes that a store takes for it, about. */
export function storedBytes({ subject, headers, payload }: StoredMessage): number {
  return subject.length + headers.length + payload.length + RECORD_EXTRA;
}
