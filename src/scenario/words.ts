/** Refusals of what a user wrote: one line each, and "did you mean" when a slip is likely. */
import { closest, distance } from 'fastest-levenshtein';
import { LockstepError } from '../base/errors.js';
import { plain } from '../base/plain.js';

/** What would break a line. */
const BREAKING = /[\p{Cc}\u2028\u2029]/u;
/** Letters of which a word is known by its beginning. */
const BEGINNING = 3;

/** `; did you mean X?` when one of the known words may be meant, else nothing. */
export function nearest(word: string, words: readonly string[]): string {
  const known = meant(word, words);
  return known === undefined ? '' : `; did you mean ${known}?`;
}

/** The known word that is a slip away, has its letters in another order, or begins so. */
export function meant(word: string, words: readonly string[]): string | undefined {
  if (words.length === 0) return undefined;
  const best = closest(word, words);
  const slip = Math.max(1, Math.floor(best.length / 3));
  const isNear = distance(word.toLowerCase(), best.toLowerCase()) <= slip;
  return isNear ? best : words.find((known) => isMixedUp(known, word) || begins(known, word));
}

/**
 * Options of a call, which a compiler may not have checked. Errors: usage, with the first key that
 * is not known.
 */
export function checkKeys(where: string, options: object, known: readonly string[]): void {
  const slip = Object.keys(options).find((key) => !known.includes(key));
  if (slip !== undefined) throw refusal(where, slip, `a known option${nearest(slip, known)}`);
}

function isMixedUp(known: string, word: string): boolean {
  return lettersOf(known) === lettersOf(word);
}

function lettersOf(word: string): string {
  return Array.from(word.toLowerCase()).sort().join('');
}

function begins(known: string, word: string): boolean {
  return word.length >= BEGINNING && known.toLowerCase().startsWith(word.toLowerCase());
}

export function isOneLine(text: string): boolean {
  return !BREAKING.test(text);
}

/** A usage error about a value that nothing is known of, in one line. `where` may be empty. */
export function refusal(where: string, found: unknown, expected: string): LockstepError {
  const shown = typeof found === 'string' ? `"${plain(found)}"` : shapeOf(found);
  const isMissing = where !== '' && found === undefined;
  const message = isMissing ? `missing, expected ${expected}` : `${shown} is not ${expected}`;
  return new LockstepError('usage', where === '' ? message : `${where}: ${message}`, {
    where,
    expected,
  });
}

/** Lists and mappings may be endless, even contain themselves: they are named, not shown. */
function shapeOf(found: unknown): string {
  if (found === undefined || found === null) return 'nothing';
  if (Array.isArray(found)) return found.length === 0 ? 'an empty list' : 'a list';
  if (typeof found === 'object') return 'a mapping';
  const isPrinted = typeof found === 'number' || typeof found === 'boolean';
  return isPrinted ? String(found) : `a ${typeof found}`;
}
