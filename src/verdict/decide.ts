/**
 * From reasons to a verdict (design: violated, harness, stalled, inconclusive, uncovered, held).
 */
import type { Reason, Verdict } from './types.js';

const PRECEDENCE: readonly Exclude<Verdict, 'held'>[] = [
  'violated',
  'harness',
  'stalled',
  'inconclusive',
  'uncovered',
];

/** The gravest reason decides; without one the run held. */
export function decide(reasons: readonly Reason[]): Verdict {
  return (
    PRECEDENCE.find((verdict) => reasons.some((reason) => reason.verdict === verdict)) ?? 'held'
  );
}
