/** An origin of 2,600 sequences, copies of it as real stores, and readers of both. */
import { loadHasher } from '../../src/base/hasher.js';
import { messageSize, viewOf, writeMessage, writeSkipRange } from '../../src/stream/layout.js';
import { RANGE_BYTES, type MessageFields } from '../../src/stream/layout.js';
import { Store } from '../../src/stream/store.js';
import type { SeqRange } from '../../src/stream/types.js';
import { copyReport } from '../../src/verdict/copy.js';
import { rangesOf } from '../../src/verdict/ranges.js';
import type { CopyReader, LedgerReader, LedgerReport } from '../../src/verdict/types.js';

export const hasher = await loadHasher();

export const GAP: SeqRange = { first: 1501, last: 1600 };
/** The sentinel, too. */
export const LAST = 2600;

export type Messages = Map<number, MessageFields>;

const encoder = new TextEncoder();

export function message(seq: number, payload = `body ${seq}`): MessageFields {
  return {
    seq,
    timestamp: 1_000_000n * BigInt(seq),
    subject: encoder.encode(`orders.${seq % 7}`),
    headers: encoder.encode(seq % 2 === 0 ? `NATS/1.0\r\nN: ${seq}\r\n\r\n` : ''),
    payload: encoder.encode(payload),
  };
}

/** The origin's messages: 1 … 1500 and 1601 … 2600. */
export function originMessages(): Messages {
  const messages: Messages = new Map();
  for (let seq = 1; seq <= LAST; seq++) {
    if (seq < GAP.first || seq > GAP.last) messages.set(seq, message(seq));
  }
  return messages;
}

/** A store that holds these messages, and gaps wherever there is none, up to `last`. */
export function storeOf(messages: Messages, last: number): Store {
  const store = new Store({ hasher });
  const skipTo = (seq: number): void => {
    if (seq <= store.lastSeq) return;
    const bytes = new Uint8Array(RANGE_BYTES);
    writeSkipRange(viewOf(bytes), 0, store.lastSeq, seq - store.lastSeq);
    store.apply(bytes, 1);
  };
  for (const [seq, fields] of [...messages].sort(([one], [other]) => one - other)) {
    skipTo(seq - 1);
    const { subject, headers, payload } = fields;
    const bytes = new Uint8Array(messageSize(subject.length, headers.length, payload.length));
    writeMessage(bytes, viewOf(bytes), 0, { ...fields, seq });
    store.apply(bytes, 1);
  }
  skipTo(last);
  return store;
}

export function readerOf(store: Store): CopyReader {
  return {
    report: () => Promise.resolve(copyReport(store)),
    records: (range) => Promise.resolve(store.partDigests(range)),
  };
}

/** A ledger that delivered every message once and passed over every gap, unless told otherwise. */
export function ledgerOf(messages: Messages, report: Partial<LedgerReport> = {}): LedgerReader {
  const store = storeOf(messages, LAST);
  return {
    report: () =>
      Promise.resolve({
        origin: store.state(),
        sentinel: LAST,
        tailGap: null,
        delivered: rangesOf(messages.keys()),
        passedOver: store.gaps(),
        blocks: store.blockDigests(),
        ...report,
      }),
    records: (range) => Promise.resolve(store.partDigests(range)),
  };
}
