/** "Did you mean": the nearest of the known words, when it is near enough to be a slip. */
import { closest, distance } from 'fastest-levenshtein';

/** `; did you mean X?`, or nothing. */
export function nearest(word: string, words: readonly string[]): string {
  if (words.length === 0) return '';
  const best = closest(word, words);
  const slip = Math.max(1, Math.floor(best.length / 3));
  return distance(word, best) <= slip ? `; did you mean ${best}?` : '';
}
