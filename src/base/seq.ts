/** Sequences at the borders: 1 … 2^53-1, never NaN, never a fraction. */

export function isSeq(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 1;
}
