/**
 * Journal writes as bytes, as far as a crash may tear them: a write is one record that states its
 * term and vote and one record for each entry, and every record begins with its size and a
 * checksum. By these, what a power cut leaves of a record is told from a whole one and dropped.
 *
 *     offset size  field
 *          0    4  size of the record in bytes
 *          4    8  xxh64 of what follows
 *         12    1  kind: 1 state, 2 noop, 3 batch, 4 config
 *         13    8  term
 *     state
 *         21       vote: UTF-8, nothing when there is none
 *     entry
 *         21    8  index
 *         29    4  commands
 *         33       bytes
 */
import type { Hasher } from '../base/hasher.js';
import type { Member } from '../base/member.js';
import type { Entry, Persist } from '../raft/types.js';

/** What was read back of a write: nothing, its term and vote, or these and its first entries. */
export interface Remains {
  readonly state: { readonly term: number; readonly vote: Member | null } | null;
  readonly entries: readonly Entry[];
  /** Something lies behind the last whole record. */
  readonly isTorn: boolean;
}

const HEAD = 12;
const STATE_BYTES = 21;
/** Of the record of an entry, with nothing in it. */
export const ENTRY_BYTES_MIN = 33;
const KIND_STATE = 1;
const ENTRY_KINDS = ['noop', 'batch', 'config'] as const;

/** The records of a write, one behind the other. */
export function encodeWrite({ term, vote, entries }: Persist, hasher: Hasher): Uint8Array {
  const records = [stateRecord(term, vote), ...entries.map(entryRecord)];
  const bytes = new Uint8Array(records.reduce((sum, record) => sum + record.length, 0));
  let at = 0;
  for (const record of records) {
    const view = new DataView(record.buffer);
    view.setUint32(0, record.length, true);
    view.setBigUint64(4, hasher.hash64(record.subarray(HEAD)), true);
    bytes.set(record, at);
    at += record.length;
  }
  return bytes;
}

/** Reads up to the first record that is not whole. */
export function decodeWrite(bytes: Uint8Array, hasher: Hasher): Remains {
  let state: Remains['state'] = null;
  const entries: Entry[] = [];
  let at = 0;
  let record = recordAt(bytes, at, hasher);
  while (record !== null) {
    const view = new DataView(record.buffer, record.byteOffset, record.length);
    const kind = view.getUint8(12);
    const term = readNumber(view, 13);
    if (kind === KIND_STATE) {
      const vote = new TextDecoder().decode(record.subarray(STATE_BYTES));
      state = { term, vote: vote === '' ? null : vote };
    } else entries.push(entryOf(record, view, { kind, term }));
    at += record.length;
    record = recordAt(bytes, at, hasher);
  }
  return { state, entries, isTorn: at < bytes.length };
}

/** Null: none begins there, or not all of it is there as it was written. */
function recordAt(bytes: Uint8Array, at: number, hasher: Hasher): Uint8Array | null {
  if (at + STATE_BYTES > bytes.length) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset + at);
  const size = view.getUint32(0, true);
  if (size < STATE_BYTES || at + size > bytes.length) return null;
  const record = bytes.subarray(at, at + size);
  return hasher.hash64(record.subarray(HEAD)) === view.getBigUint64(4, true) ? record : null;
}

function stateRecord(term: number, vote: Member | null): Uint8Array<ArrayBuffer> {
  const name = new TextEncoder().encode(vote ?? '');
  const record = new Uint8Array(STATE_BYTES + name.length);
  const view = new DataView(record.buffer);
  view.setUint8(12, KIND_STATE);
  view.setFloat64(13, term, true);
  record.set(name, STATE_BYTES);
  return record;
}

function entryRecord({ term, index, kind, count, bytes }: Entry): Uint8Array<ArrayBuffer> {
  const record = new Uint8Array(ENTRY_BYTES_MIN + bytes.length);
  const view = new DataView(record.buffer);
  view.setUint8(12, KIND_STATE + 1 + ENTRY_KINDS.indexOf(kind));
  view.setFloat64(13, term, true);
  view.setFloat64(21, index, true);
  view.setUint32(29, count, true);
  record.set(bytes, ENTRY_BYTES_MIN);
  return record;
}

function entryOf(
  record: Uint8Array,
  view: DataView,
  { kind, term }: { readonly kind: number; readonly term: number },
): Entry {
  return {
    term,
    index: readNumber(view, 21),
    kind: ENTRY_KINDS[kind - KIND_STATE - 1]!,
    count: view.getUint32(29, true),
    bytes: record.slice(ENTRY_BYTES_MIN),
  };
}

function readNumber(view: DataView, at: number): number {
  return view.getFloat64(at, true);
}
