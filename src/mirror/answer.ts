/** Checks of the answer to an opening; an origin may say anything (upstream 61e59f526). */
import { isSeq } from '../base/seq.js';
import type { OriginFrame } from './types.js';

/** What is wrong with the answer, in one line; null when nothing is. */
export function answerFault(
  answer: Extract<OriginFrame, { type: 'opened' }>,
  startSeq: number,
): string | null {
  const { identity, startsAfter, last, pending } = answer;
  if (typeof identity?.name !== 'string' || typeof identity.created !== 'bigint') {
    return 'the answer names no stream';
  }
  if (startsAfter !== 0 && !isSeq(startsAfter)) return 'the answer has no sequence to start after';
  if (last !== 0 && !isSeq(last)) return 'the answer has no last sequence';
  if (pending !== 0 && !isSeq(pending)) return 'the answer has no number of pending messages';
  if (startsAfter < startSeq - 1) {
    return `the origin starts after ${startsAfter}, asked for ${startSeq}`;
  }
  return null;
}
