/**
 * Whether replicas agree where the ledger allows more than one outcome: a sequence that one opening
 * delivered and another passed over, or that different content was handed out at. Each replica is
 * compared with the first one.
 */
import { DIGEST_BLOCK } from '../base/limits.js';
import type { SeqRange } from '../stream/types.js';
import type { Comparison, CopyView } from './judge.js';
import { contentOf } from './placement.js';
import { intersect, rangeText, span, subtract } from './ranges.js';

/** False when the deadline came before everything was compared. */
export async function judgeAgreement(
  comparison: Comparison,
  copies: readonly CopyView[],
): Promise<boolean> {
  const [reference, ...others] = copies;
  if (reference === undefined) return true;
  let complete = true;
  for (const copy of others) {
    agreeOnGaps(comparison, reference, copy);
    complete = (await agreeOnContents(comparison, reference, copy)) && complete;
  }
  return complete;
}

function agreeOnGaps(comparison: Comparison, reference: CopyView, copy: CopyView): void {
  const { delivered, passedOver } = comparison.ledger.report;
  const end = Math.min(reference.report.state.last, copy.report.state.last);
  const either = intersect(intersect(delivered, passedOver), span(1, end));
  tell(comparison, intersect(subtract(copy.absent, reference.absent), either), copy, (range) => {
    return `passed over ${rangeText(range)}, which ${reference.slot} holds`;
  });
  tell(comparison, intersect(subtract(reference.absent, copy.absent), either), copy, (range) => {
    return `holds ${rangeText(range)}, which ${reference.slot} passed over`;
  });
}

function tell(
  comparison: Comparison,
  ranges: readonly SeqRange[],
  copy: CopyView,
  text: (range: SeqRange) => string,
): void {
  for (const range of ranges) {
    const { slot } = copy;
    const { first } = range;
    comparison.differences.add({ kind: 'state', replica: slot, seq: first, text: text(range) });
  }
}

/** What is already called a difference is left out: it was told against the ledger. */
async function agreeOnContents(
  comparison: Comparison,
  reference: CopyView,
  copy: CopyView,
): Promise<boolean> {
  const { differences } = comparison;
  for (const [block, digest] of copy.digests) {
    const expected = reference.digests.get(block);
    if (expected === undefined || expected === digest) continue;
    if (comparison.deadline()) return false;
    const range = { first: block * DIGEST_BLOCK + 1, last: (block + 1) * DIGEST_BLOCK };
    const [left, right] = await Promise.all([
      reference.reader.records(range),
      copy.reader.records(range),
    ]);
    const contents = new Map(left.map((record) => [record.seq, contentOf(record)]));
    for (const record of right) {
      const content = contents.get(record.seq) ?? contentOf(record);
      if (content === contentOf(record) || differences.marks(record.seq)) continue;
      const text = `holds another message than ${reference.slot}; both were handed out`;
      differences.add({ kind: 'state', replica: copy.slot, seq: record.seq, text });
    }
  }
  return true;
}
