/** Refusals of what a user wrote: one line each, and "did you mean" when a slip is likely. */
import { closest, distance } from 'fastest-levenshtein';
import { LockstepError } from '../base/errors.js';

const SHOWN_MAX = 120;
/** What would break a line. */
const BREAKING = /[\p{Cc}\u2028\u2029]/u;
/** That, and what hides in a line or turns its direction. */
const UNSEEN = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** `; did you mean X?` when a known word is near enough to be meant, else nothing. */
export function nearest(word: string, words: readonly string[]): string {
  if (words.length === 0) return '';
  const best = closest(word, words);
  const slip = Math.max(1, Math.floor(best.length / 3));
  const near = distance(word.toLowerCase(), best.toLowerCase()) <= slip;
  return near ? `; did you mean ${best}?` : '';
}

export function isOneLine(text: string): boolean {
  return !BREAKING.test(text);
}

/** Text in one line of bounded length, what cannot be seen as escapes. */
export function plain(text: string): string {
  const cut = text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text;
  return cut.replace(UNSEEN, (found) => {
    return `\\u{${found.codePointAt(0)!.toString(16)}}`;
  });
}

/** A usage error about a value that nothing is known of, in one line. `where` may be empty. */
export function refusal(where: string, found: unknown, expected: string): LockstepError {
  const shown = typeof found === 'string' ? `"${plain(found)}"` : shapeOf(found);
  const message = `${shown} is not ${expected}`;
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
