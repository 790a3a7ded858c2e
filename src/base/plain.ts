/** Text of unknown origin, fit for one line of an error. */

const SHOWN_MAX = 120;
/** What breaks a line, hides in it or turns its direction. */
const UNSEEN = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** In one line, what cannot be seen as escapes. */
export function inOneLine(text: string): string {
  return text.replace(UNSEEN, (found) => `\\u{${found.codePointAt(0)!.toString(16)}}`);
}

/** That, of bounded length. */
export function plain(text: string): string {
  return inOneLine(text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text);
}
