/**
 * Every difference is read again from the leaders of both streams before it is reported: a follower
 * may have been behind, a message may have come or gone while the other side was read.
 */
import type { Hasher } from '../base/hasher.js';
import { openReader } from '../nats/stream-reader.js';
import type { SeqRange, StoredMessage } from '../stream/types.js';
import { countOf, setOf } from '../verdict/ranges.js';
import { MirrorComparison } from './comparison.js';
import { merge, type MergeSink } from './merge.js';
import { wayOf } from './reading.js';
import type { Facts, Sides } from './sides.js';
import { readSingly, type SingleLoad } from './single-reads.js';
import { Superseded } from './superseded.js';

export interface RecheckOptions {
  readonly sides: Sides;
  /** As they are now. */
  readonly facts: Facts;
  readonly hasher: Hasher;
  readonly now: () => bigint;
  readonly bytesPerSecond: number | null;
  readonly load: SingleLoad;
  readonly pause: () => boolean;
}

/** Above this, both are read once more from end to end instead of one by one. */
const SINGLY_MAX = 20_000;

/** What is still there of differences at these sequences. Errors: timeout, originRefused. */
export async function recheck(
  options: RecheckOptions,
  ranges: readonly SeqRange[],
): Promise<MirrorComparison> {
  const { facts, sides, hasher, now, bytesPerSecond, load, pause } = options;
  const superseded = new Superseded();
  const comparison = new MirrorComparison({
    ...{ ...facts, hasher, now, isWhole: false },
    onMissing: (message) => {
      if (facts.mirror.maxPerSubject <= 0 || superseded.missing(message)) return;
      comparison.excuse(message.seq, 'unknown');
    },
  });
  if (countOf(ranges) <= SINGLY_MAX) {
    const { selection } = comparison;
    const origin = { api: sides.origin.access.api, stream: sides.origin.stream };
    const mirror = { api: sides.mirror.access.api, stream: sides.mirror.stream };
    const reads = { origin, mirror, selection, bytesPerSecond, pause };
    await readSingly(reads, ranges, comparison, load);
  } else await mergeAgain(options, ranges, comparison);
  comparison.settle();
  await excuseByLaterOnes(options, superseded, comparison);
  return comparison;
}

async function mergeAgain(
  { sides, facts, bytesPerSecond, load, pause }: RecheckOptions,
  ranges: readonly SeqRange[],
  comparison: MirrorComparison,
): Promise<void> {
  const bounds = { from: ranges[0]!.first, to: ranges.at(-1)!.last, bytesPerSecond };
  const { subjects } = comparison.selection;
  await using origin = closing(
    await openReader(sides.origin.access, {
      ...{ stream: sides.origin.stream, ...bounds, subjects, ...wayOf(facts.origin, true) },
    }),
  );
  await using mirror = closing(
    await openReader(sides.mirror.access, {
      ...{ stream: sides.mirror.stream, ...bounds, ...wayOf(facts.mirror, true) },
    }),
  );
  await merge(origin.reader, [mirror.reader], within(ranges, comparison), pause);
  for (const { reader } of [origin, mirror]) {
    load.messages += reader.load.messages;
    load.bytes += reader.load.bytes;
  }
}

/** Tells what lies in the ranges, and nothing else. */
function within(ranges: readonly SeqRange[], sink: MergeSink): MergeSink {
  const set = setOf(ranges);
  const isIn = ({ seq }: StoredMessage): boolean => set.has(seq);
  return {
    wantsAlike: false,
    alike: () => undefined,
    missing: (copy, message) => {
      if (isIn(message)) sink.missing(copy, message);
    },
    extra: (copy, message) => {
      if (isIn(message)) sink.extra(copy, message);
    },
    unlike: (copy, reference, message) => {
      if (isIn(message)) sink.unlike(copy, reference, message);
    },
    passed: (seq) => {
      sink.passed(seq);
    },
    border: () => undefined,
  };
}

/** A limit on messages of one subject drops the older ones: as many later ones have to be there. */
async function excuseByLaterOnes(
  { sides, facts, pause }: RecheckOptions,
  superseded: Superseded,
  comparison: MirrorComparison,
): Promise<void> {
  const { selection } = comparison;
  const atMirror = {
    ...{ api: sides.mirror.access.api, stream: sides.mirror.stream },
    subjectOf: (subject: string) => selection.rewritten(subject) ?? subject,
  };
  const atOrigin = {
    ...{ api: sides.origin.access.api, stream: sides.origin.stream },
    subjectOf: (subject: string) => subject,
  };
  const streams = [
    ...(facts.mirror.retention === 'limits' ? [atMirror] : []),
    ...(facts.origin.retention === 'limits' ? [atOrigin] : []),
  ];
  await superseded.excuse(streams, facts.mirror.maxPerSubject, pause, (seq) => {
    comparison.excuse(seq, 'trimmed');
  });
}

function closing<Reader extends { close(): Promise<void> }>(
  reader: Reader,
): AsyncDisposable & { readonly reader: Reader } {
  return { reader, [Symbol.asyncDispose]: () => reader.close() };
}
