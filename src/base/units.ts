/**
 * Numbers with units as users write them, and back. A unit that is missing is an error, never a
 * guess; so is a number that the code behind it could not keep exactly.
 */
import { usageError } from './errors.js';

const DURATION_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
const SIZE_BYTES: Readonly<Record<string, number>> = {
  B: 1,
  KiB: 1_024,
  MiB: 1_048_576,
  GiB: 1_073_741_824,
};
/** 500h, below the 2^31-1 ms that a timer holds: a longer one would fire at once. */
const DURATION_MS_MAX = 1_800_000_000;

/** `250ms`, `2s`, `10m`, `1.5s` -> milliseconds, rounded to whole microseconds. */
export function parseDuration(where: string, text: unknown): number {
  const match = typeof text === 'string' ? /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text) : null;
  if (match === null) {
    throw usageError(where, text, 'a duration with its unit, such as 250ms or 2s');
  }
  const ms = Number(match[1]) * DURATION_MS[match[2]!]!;
  if (ms > DURATION_MS_MAX) throw usageError(where, text, 'a duration of at most 500h');
  return Math.round(ms * 1_000) / 1_000;
}

/** As parseDuration; zero is refused. */
export function parsePositiveDuration(where: string, text: unknown): number {
  const ms = parseDuration(where, text);
  if (ms > 0) return ms;
  throw usageError(where, text, 'a duration above zero');
}

/** `20ms`, or `20ms..50ms`: from the one to the other. Milliseconds. */
export function parseDurations(
  where: string,
  text: string,
): { readonly minMs: number; readonly maxMs: number } {
  const [min = '', max = min, ...more] = text.split('..');
  const minMs = parseDuration(where, min);
  const maxMs = parseDuration(where, max);
  if (more.length === 0 && minMs <= maxMs) return { minMs, maxMs };
  throw usageError(where, text, 'a duration, or a range such as 20ms..50ms');
}

/** `0.02` -> in a million. */
export function parseChance(where: string, value: unknown): number {
  const isNumber = /^(?:\d+(?:\.\d+)?|\.\d+)$/.test(String(value));
  const chance = isNumber ? Number(value) : Number.NaN;
  if (chance >= 0 && chance <= 1) return Math.round(chance * 1_000_000);
  const percent = /^(\d+(?:\.\d+)?)%$/.exec(String(value))?.[1];
  const meant = percent === undefined ? '' : `; did you mean ${Number(percent) / 100}?`;
  throw usageError(where, value, `a chance from 0 to 1${meant}`);
}

/** `1.5`, from the one bound to the other; in thousandths at most. */
export function parseFactor(
  where: string,
  value: unknown,
  { min, max }: { readonly min: number; readonly max: number },
): number {
  const factor = /^\d+(?:\.\d{1,3})?$/.test(String(value)) ? Number(value) : Number.NaN;
  if (factor >= min && factor <= max) return factor;
  throw usageError(where, value, `a factor from ${min} to ${max}, such as 1.5`);
}

/** Milliseconds -> the shortest text that parseDuration reads as the same. */
export function formatDuration(ms: number): string {
  return withUnit(ms, DURATION_MS, 'ms');
}

/** `128`, `128B`, `64KiB`, `1MiB` -> bytes. */
export function parseSize(where: string, text: unknown): number {
  const match = /^(\d+)(B|KiB|MiB|GiB)?$/.exec(String(text));
  const bytes = match === null ? Number.NaN : Number(match[1]) * SIZE_BYTES[match[2] ?? 'B']!;
  if (Number.isSafeInteger(bytes)) return bytes;
  throw usageError(where, text, 'a size in bytes, such as 128 or 64KiB');
}

/** Bytes -> the shortest text that parseSize reads as the same. */
export function formatSize(bytes: number): string {
  return withUnit(bytes, SIZE_BYTES, 'B');
}

/** `100000`, `1e6`, `100_000` -> a whole number from min to max. */
export function parseCount(
  where: string,
  text: unknown,
  { min, max = Number.MAX_SAFE_INTEGER }: { readonly min: number; readonly max?: number },
): number {
  const plain = String(text);
  const isNumber = /^\d+(?:_\d+)*(?:\.\d+)?(?:e\+?\d+)?$/i.test(plain);
  const value = isNumber ? Number(plain.replaceAll('_', '')) : Number.NaN;
  if (Number.isSafeInteger(value) && value >= min && value <= max) return value;
  const upTo = max === Number.MAX_SAFE_INTEGER ? '2^53-1' : String(max);
  throw usageError(where, text, `a whole number from ${min} to ${upTo}`);
}

/** Messages a second, whole; not given: null, as fast as the window allows. */
export function parseRate(where: string, rate: unknown): number | null {
  return rate === undefined ? null : parseCount(where, rate, { min: 1, max: 1e9 });
}

/** In the largest unit that leaves a whole number. */
function withUnit(value: number, units: Readonly<Record<string, number>>, least: string): string {
  const fitting = Object.entries(units).filter(([, worth]) => value > 0 && value % worth === 0);
  const [unit, worth] = fitting.at(-1) ?? [least, 1];
  return `${value / worth}${unit}`;
}
