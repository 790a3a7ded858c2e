/** Numbers with units as users write them. A unit that is missing is an error, never a guess. */
import { LockstepError, usageError } from './errors.js';

const DURATION_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
const SIZE_BYTES: Readonly<Record<string, number>> = {
  B: 1,
  KiB: 1_024,
  MiB: 1_048_576,
  GiB: 1_073_741_824,
};

/** `250ms`, `2s`, `10m`, `1.5s` -> milliseconds. */
export function parseDuration(where: string, text: unknown): number {
  const match = typeof text === 'string' ? /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text) : null;
  if (match === null)
    throw usageError(where, text, 'a duration with its unit, such as 250ms or 2s');
  return Number(match[1]) * DURATION_MS[match[2]!]!;
}

/** `128`, `128B`, `64KiB`, `1MiB` -> bytes. */
export function parseSize(where: string, text: unknown): number {
  const match = /^(\d+)(B|KiB|MiB|GiB)?$/.exec(String(text));
  const bytes = match === null ? Number.NaN : Number(match[1]) * SIZE_BYTES[match[2] ?? 'B']!;
  if (Number.isSafeInteger(bytes)) return bytes;
  throw usageError(where, text, 'a size in bytes, such as 128 or 64KiB');
}

/** `100000`, `1e6`, `100_000` -> a whole number from min to max. */
export function parseCount(
  where: string,
  text: unknown,
  { min, max = Number.MAX_SAFE_INTEGER }: { readonly min: number; readonly max?: number },
): number {
  const plain = String(text).replaceAll('_', '');
  const value = /^\d+(?:\.\d+)?(?:e\d+)?$/i.test(plain) ? Number(plain) : Number.NaN;
  if (Number.isSafeInteger(value) && value >= min && value <= max) return value;
  const upTo = max === Number.MAX_SAFE_INTEGER ? '2^53-1' : String(max);
  throw usageError(where, text, `a whole number from ${min} to ${upTo}`);
}

/** `word`, when it is one of the words; the error names the nearest. */
export function oneOf<T extends string>(where: string, word: unknown, words: readonly T[]): T {
  const found = words.find((known) => known === word);
  if (found !== undefined) return found;
  throw usageError(where, word, `one of ${words.join(', ')}`);
}

export function isUsage(error: unknown): error is LockstepError {
  return error instanceof LockstepError && error.code === 'usage';
}
