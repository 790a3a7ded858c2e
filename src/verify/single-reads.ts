/**
 * Single sequences of both streams, each asked of the stream's leader, told to a comparison as a
 * merge would. Never by direct get: there a mirror answers for its origin. Upstream: stream.go,
 * processDirectGetRequest.
 */
import type { JetStreamApi } from '../nats/api.js';
import { ByteRate } from '../nats/byte-rate.js';
import { patiently } from '../nats/patience.js';
import type { SeqRange, StoredMessage } from '../stream/types.js';
import type { MergeSink } from './merge.js';
import type { Selection } from './selection.js';

export interface SingleReads {
  readonly origin: { readonly api: JetStreamApi; readonly stream: string };
  readonly mirror: { readonly api: JetStreamApi; readonly stream: string };
  readonly selection: Selection;
  readonly bytesPerSecond: number | null;
  /** True ends the reading between two steps. */
  readonly pause: () => boolean;
}

export interface SingleLoad {
  messages: number;
  bytes: number;
}

/** Sequences asked for side by side, of each stream. */
const AT_ONCE = 32;

/** Errors: timeout, originRefused. */
export async function readSingly(
  reads: SingleReads,
  ranges: readonly SeqRange[],
  sink: MergeSink,
  load: SingleLoad,
): Promise<'ended' | 'paused'> {
  const rate = new ByteRate(reads.bytesPerSecond);
  const before = load.bytes;
  for (const window of windowsOf(ranges)) {
    if (reads.pause()) return 'paused';
    const pairs = await Promise.all(window.map((seq) => pairAt(reads, seq, load)));
    for (const [at, pair] of pairs.entries()) tell(window[at]!, pair, sink);
    await rate.keep(load.bytes - before);
  }
  return 'ended';
}

type Pair = readonly [origin: StoredMessage | null, mirror: StoredMessage | null];

async function pairAt(
  { origin, mirror, selection }: SingleReads,
  seq: number,
  load: SingleLoad,
): Promise<Pair> {
  const [ofOrigin, ofMirror] = await Promise.all([
    patiently(() => origin.api.messageAt(origin.stream, seq)),
    patiently(() => mirror.api.messageAt(mirror.stream, seq)),
  ]);
  for (const message of [ofOrigin, ofMirror]) {
    if (message === null) continue;
    load.messages++;
    load.bytes += message.subject.length + message.headers.length + message.payload.length;
  }
  const isSelected =
    ofOrigin !== null && selection.selects(Buffer.from(ofOrigin.subject).toString());
  return [isSelected ? ofOrigin : null, ofMirror];
}

function tell(seq: number, [origin, mirror]: Pair, sink: MergeSink): void {
  if (origin !== null && mirror !== null) sink.unlike(0, origin, mirror);
  else if (origin !== null) sink.missing(0, origin);
  else if (mirror !== null) sink.extra(0, mirror);
  sink.passed(seq);
}

function* windowsOf(ranges: readonly SeqRange[]): Generator<number[]> {
  let window: number[] = [];
  for (const { first, last } of ranges) {
    for (let seq = first; seq <= last; seq++) {
      window.push(seq);
      if (window.length < AT_ONCE) continue;
      yield window;
      window = [];
    }
  }
  if (window.length > 0) yield window;
}
