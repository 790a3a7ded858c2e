/** Sequences at the borders: 1 … 2^53-1, never NaN, never a fraction. */
import { usageError } from './errors.js';
import { SEQ_MAX } from './limits.js';

export function isSeq(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 1;
}

/** A sequence or zero ("before the first"); anything else is a usage error naming `where`. */
export function seqOrZero(where: string, value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw usageError(where, value, `a sequence from 0 to ${SEQ_MAX}`);
}
