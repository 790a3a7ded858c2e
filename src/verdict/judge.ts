/**
 * Compares every replica with what the origin handed out. Allowed at a sequence is any content that
 * was handed out there, or a gap if some opening passed over it; nothing else, and all replicas
 * must agree. It compares ranges and block digests first and reads single messages only where those
 * leave a doubt, so that equal copies of any size are judged quickly and in flat memory.
 */
import type { Hasher } from '../base/hasher.js';
import { DIGEST_BLOCK } from '../base/limits.js';
import type { Slot } from '../base/member.js';
import type { IntervalSet } from '../stream/intervals.js';
import type { SeqRange, StreamState } from '../stream/types.js';
import { judgeAgreement } from './agreement.js';
import { copyDigest } from './copy.js';
import { Differences } from './differences.js';
import { contentOf, placeAll, type Misplaced } from './placement.js';
import { intersect, rangesOf, rangesOfBlocks, rangeText, setOf, span, subtract } from './ranges.js';
import type {
  CopyReader,
  CopyReport,
  Difference,
  LedgerReader,
  LedgerReport,
  MessageCounts,
  RecordDigest,
} from './types.js';

/** Blocks that one call of a reader covers. */
const BLOCKS_A_READ = 4;
const DIFFERENCES_MAX = 20;
const MISPLACED_MAX = 65_536;

export interface JudgeTask {
  readonly ledger: LedgerReader;
  /** Every living replica. */
  readonly copies: readonly { readonly slot: Slot; readonly reader: CopyReader }[];
  /** The last sequence that the mirror had to reach. */
  readonly upTo: number;
  readonly hasher: Hasher;
  /** Asked before each read: true once there is no time left. */
  readonly deadline?: () => boolean;
  /** Differences told in words for each replica; all are counted. Default 20. */
  readonly differencesMax?: number;
  /** Misplaced messages of one replica that are looked up in one pass over the origin. */
  readonly misplacedMax?: number;
}

export interface Judgement {
  readonly differences: readonly Difference[];
  /**
   * Sequences by what became of them; one that two replicas lost counts once. `ok` are those that
   * every replica holds as they were handed out; `unknown` were not compared, or have no content
   * to be compared with.
   */
  readonly counts: MessageCounts;
  readonly replicas: readonly (StreamState & { readonly id: Slot; readonly digest: string })[];
  /** False when the deadline came first. */
  readonly complete: boolean;
}

/** The ledger's report, arranged for questions. */
export interface LedgerView {
  readonly reader: LedgerReader;
  readonly report: LedgerReport;
  readonly delivered: IntervalSet;
  readonly digests: ReadonlyMap<number, bigint>;
}

/** One replica's report, arranged for questions. */
export interface CopyView {
  readonly slot: Slot;
  readonly reader: CopyReader;
  readonly report: CopyReport;
  /**
   * Sequences that it says it has a message at; and those up to its end, or upTo, that it has not.
   */
  readonly held: readonly SeqRange[];
  readonly absent: readonly SeqRange[];
  readonly digests: ReadonlyMap<number, bigint>;
}

export interface Comparison {
  readonly ledger: LedgerView;
  readonly upTo: number;
  readonly misplacedMax: number;
  readonly deadline: () => boolean;
  readonly differences: Differences;
}

/** Rejects with what a reader rejects with (timeout, workerExited). */
export async function judge(task: JudgeTask): Promise<Judgement> {
  const comparison: Comparison = {
    ledger: viewLedger(task.ledger, await task.ledger.report()),
    upTo: task.upTo,
    misplacedMax: task.misplacedMax ?? MISPLACED_MAX,
    deadline: task.deadline ?? ((): boolean => false),
    differences: new Differences(task.differencesMax ?? DIFFERENCES_MAX),
  };
  const copies = await Promise.all(
    task.copies.map(async ({ slot, reader }) =>
      viewCopy(slot, reader, await reader.report(), task.upTo),
    ),
  );
  let complete = true;
  for (const copy of copies) {
    judgeState(comparison, copy);
    complete = (await judgeAbsences(comparison, copy)) && complete;
    complete = (await judgeContents(comparison, copy)) && complete;
  }
  complete = (await judgeAgreement(comparison, copies)) && complete;
  const heldByAll = copies.map((copy) => copy.held).reduce(intersectAll, null) ?? [];
  return {
    differences: comparison.differences.list(copies.map((copy) => copy.slot)),
    counts: comparison.differences.counts(heldByAll),
    replicas: copies.map(({ slot, report }) => ({
      id: slot,
      ...report.state,
      digest: copyDigest(report, task.hasher),
    })),
    complete,
  };
}

function intersectAll(
  shared: readonly SeqRange[] | null,
  held: readonly SeqRange[],
): readonly SeqRange[] {
  return shared === null ? held : intersect(shared, held);
}

function viewLedger(reader: LedgerReader, report: LedgerReport): LedgerView {
  const { delivered, blocks } = report;
  return { reader, report, delivered: setOf(delivered), digests: byBlock(blocks) };
}

function viewCopy(slot: Slot, reader: CopyReader, report: CopyReport, upTo: number): CopyView {
  const { state, gaps, blocks } = report;
  const held = state.messages === 0 ? [] : subtract(span(state.first, state.last), gaps);
  const absent = subtract(span(1, Math.max(state.last, upTo)), held);
  return { slot, reader, report, held, absent, digests: byBlock(blocks) };
}

function byBlock(blocks: CopyReport['blocks']): Map<number, bigint> {
  const digests = new Map<number, bigint>();
  for (const [at, block] of blocks.blocks.entries()) digests.set(block, blocks.digests[at]!);
  return digests;
}

/** Whether the state is what the copy's own messages and gaps make, and ends where it should. */
function judgeState(comparison: Comparison, copy: CopyView): void {
  const { differences, upTo, ledger } = comparison;
  const { first, last, messages, deleted } = copy.report.state;
  const add = (seq: number, text: string): void => {
    differences.add({ kind: 'state', replica: copy.slot, seq, text });
  };
  // What a live origin got after it was read is delivered like everything else.
  const end = Math.max(upTo, ledger.report.origin.last, ledger.report.delivered.at(-1)?.last ?? 0);
  if (last < upTo) add(last + 1, `ends at ${last}; the mirror had to reach ${upTo}`);
  if (last > end) add(end + 1, `ends at ${last}; the origin ends at ${end}`);
  const gapCount = setOf(copy.report.gaps).count;
  const heldCount = setOf(copy.held).count;
  if (messages !== heldCount || deleted !== gapCount) {
    add(
      first,
      `says ${messages} messages and ${deleted} deleted; ` +
        `first ${first}, last ${last} and its gaps make ${heldCount} and ${gapCount}`,
    );
  }
  const firstHeld = copy.held[0]?.first ?? first;
  if (firstHeld !== first) add(first, `says first ${first}; its first message is ${firstHeld}`);
}

/** Sequences without a message: each must have been passed over by some opening. */
async function judgeAbsences(comparison: Comparison, copy: CopyView): Promise<boolean> {
  const { ledger, differences, upTo } = comparison;
  const { passedOver, delivered, origin } = ledger.report;
  const wrong = subtract(copy.absent, passedOver);
  for (const range of intersect(wrong, delivered)) addLost(differences, copy, range);

  // Neither delivered nor passed over: lost where the origin had a message all the same. What lies
  // before its first was never there, and beyond upTo nobody promised to watch.
  const owed = intersect(subtract(wrong, delivered), span(Math.max(1, origin.first), upTo));
  const doubtful = setOf(owed);
  const blocks = [...ledger.digests.keys()].filter((block) => meets(doubtful, block));
  const lost: number[] = [];
  for (const range of rangesOfBlocks(blocks, BLOCKS_A_READ)) {
    if (comparison.deadline()) return false;
    for (const { seq } of await ledger.reader.records(range)) {
      if (doubtful.has(seq)) lost.push(seq);
    }
  }
  const lostRanges = rangesOf(lost);
  for (const range of lostRanges) addLost(differences, copy, range);
  const skipped = intersect(subtract(owed, lostRanges), span(1, copy.report.state.last));
  for (const range of skipped) {
    const text = `passed over ${rangeText(range)}, which no opening did`;
    differences.add({ kind: 'state', replica: copy.slot, seq: range.first, text });
  }
  return true;
}

function addLost(differences: Differences, copy: CopyView, range: SeqRange): void {
  const reached = range.first <= copy.report.state.last;
  const text = reached ? 'the origin has a message here; it is a gap' : 'was never stored';
  differences.addRange('lost', copy.slot, range, text);
}

function meets(set: IntervalSet, block: number): boolean {
  return set.intersects(block * DIGEST_BLOCK + 1, (block + 1) * DIGEST_BLOCK);
}

/**
 * Sequences with a message. A block whose digest is the origin's holds exactly the origin's
 * messages in their places; it is sound if all of them were delivered. The others are read.
 */
async function judgeContents(comparison: Comparison, copy: CopyView): Promise<boolean> {
  const { ledger } = comparison;
  const blocks = [...copy.digests.keys()];
  const bare = subtract(copy.held, rangesOfBlocks(blocks, Infinity));
  judgeBare(comparison, copy, bare);
  const undelivered = setOf(subtract(copy.held, ledger.report.delivered));
  const doubtful = blocks.filter(
    (block) => copy.digests.get(block) !== ledger.digests.get(block) || meets(undelivered, block),
  );
  let misplaced: Misplaced[] = [];
  let complete = true;
  for (const range of rangesOfBlocks(doubtful, BLOCKS_A_READ)) {
    if (comparison.deadline()) {
      complete = false;
      for (const unread of intersect(copy.held, [range])) comparison.differences.unknown(unread);
      continue;
    }
    misplaced.push(...(await judgeRange(comparison, copy, range)));
    if (misplaced.length < comparison.misplacedMax) continue;
    complete = (await place(comparison, copy, misplaced)) && complete;
    misplaced = [];
  }
  return (await place(comparison, copy, misplaced)) && complete;
}

async function place(
  comparison: Comparison,
  copy: CopyView,
  misplaced: readonly Misplaced[],
): Promise<boolean> {
  if (misplaced.length === 0) return true;
  const { ledger, deadline, differences } = comparison;
  const found = await placeAll({
    replica: copy.slot,
    misplaced,
    ranges: rangesOfBlocks(ledger.digests.keys(), BLOCKS_A_READ),
    ledger: ledger.reader,
    copy: copy.reader,
    deadline,
  });
  for (const difference of found.differences) differences.add(difference);
  return found.complete;
}

/** Sequences that a copy counts as held without a record to show for them. */
function judgeBare(comparison: Comparison, copy: CopyView, bare: readonly SeqRange[]): void {
  const { ledger, differences } = comparison;
  for (const range of subtract(bare, ledger.report.passedOver)) {
    differences.addRange('lost', copy.slot, range, 'counted as held; no message is there');
  }
  for (const range of intersect(bare, ledger.report.passedOver)) {
    const text = `${rangeText(range)}: neither a message nor passed over`;
    differences.add({ kind: 'state', replica: copy.slot, seq: range.first, text });
  }
}

/** Compares message by message; returns those with content that does not belong where it is. */
async function judgeRange(
  comparison: Comparison,
  copy: CopyView,
  range: SeqRange,
): Promise<Misplaced[]> {
  const [made, found] = await Promise.all([
    comparison.ledger.reader.records(range),
    copy.reader.records(range),
  ]);
  const held = intersect(copy.held, [range]);
  const records = rangesOf(found.map((record) => record.seq));
  judgeBare(comparison, copy, subtract(held, records));
  const surplus = subtract(records, held);
  for (const { first } of surplus) {
    const text = 'a message is there; its state says that there is none';
    comparison.differences.add({ kind: 'state', replica: copy.slot, seq: first, text });
  }
  const counted = setOf(held);
  const misplaced: Misplaced[] = [];
  let at = 0;
  for (const record of found) {
    while (at < made.length && made[at]!.seq < record.seq) at++;
    if (!counted.has(record.seq)) continue;
    const message = judgeRecord(comparison, record, atSeq(made, at, record.seq));
    if (message !== null) misplaced.push(message);
  }
  return misplaced;
}

function atSeq(made: readonly RecordDigest[], from: number, seq: number): RecordDigest[] {
  const same: RecordDigest[] = [];
  for (let at = from; made[at]?.seq === seq; at++) same.push(made[at]!);
  return same;
}

function judgeRecord(
  comparison: Comparison,
  record: RecordDigest,
  allowed: readonly RecordDigest[],
): Misplaced | null {
  const { ledger, differences, upTo } = comparison;
  const { seq } = record;
  const content = contentOf(record);
  if (!ledger.delivered.has(seq)) {
    if (seq <= upTo || seq > ledger.report.origin.last) {
      return { seq, content, otherwise: { kind: 'phantom', text: phantomText(ledger, seq) } };
    }
    differences.unknown({ first: seq, last: seq });
    return null;
  }
  if (allowed.length === 0) {
    differences.unknown({ first: seq, last: seq });
    return null;
  }
  if (allowed.some((made) => contentOf(made) === content)) return null;
  return { seq, content, otherwise: { kind: 'corrupt', text: partsText(record, allowed) } };
}

function phantomText(ledger: LedgerView, seq: number): string {
  const { first, last } = ledger.report.origin;
  if (seq > last) return `a message beyond the end of the origin, ${last}`;
  if (seq < first) return `a message before the first of the origin, ${first}`;
  return 'a message that was never handed out';
}

const PARTS = ['timestamp', 'subject', 'headers', 'payload'] as const;

/** Names the parts that differ from the handed-out message that is most like this one. */
function partsText(record: RecordDigest, allowed: readonly RecordDigest[]): string {
  const differing = allowed
    .map((made) => PARTS.filter((part) => made[part] !== record[part]))
    .reduce((fewest, parts) => (parts.length < fewest.length ? parts : fewest));
  return `differs in ${differing.join(', ')}`;
}
