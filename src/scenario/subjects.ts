/**
 * Subjects of NATS as users give them. They stand in lines of the protocol between spaces, so what
 * could end one, or mean more than itself, is refused at the border: in flags, files and contexts.
 */
import { refusal } from './words.js';

/** Without what ends a word of the protocol, what cannot be seen, dots and wildcards. */
const TOKEN = /^[^\p{C}\p{Z}\s.*>]+$/u;
/** As long as the server lets a name be; with the rest of a request it stays within one line. */
const LENGTH_MAX = 255;
/** What the server refuses in the name of a stream besides. */
const PATH = /[/\\]/;

/** What a connection takes of subjects. */
export interface SubjectsGiven {
  readonly jsDomain?: string | undefined;
  readonly jsApiPrefix?: string | undefined;
  readonly inboxPrefix?: string | undefined;
}

/** The same without what was not given, and prefixes without a dot behind them. Errors: usage. */
export function subjectsOf(
  given: SubjectsGiven,
  where: Readonly<Record<keyof SubjectsGiven, string>>,
): { readonly [Field in keyof SubjectsGiven]?: string } {
  const { jsDomain, jsApiPrefix, inboxPrefix } = given;
  return {
    ...(jsDomain === undefined ? {} : { jsDomain: subjectToken(where.jsDomain, jsDomain) }),
    ...(jsApiPrefix === undefined
      ? {}
      : { jsApiPrefix: subjectPrefix(where.jsApiPrefix, jsApiPrefix) }),
    ...(inboxPrefix === undefined
      ? {}
      : { inboxPrefix: subjectPrefix(where.inboxPrefix, inboxPrefix) }),
  };
}

export function isStreamName(text: string): boolean {
  return isShort(text) && TOKEN.test(text) && !PATH.test(text);
}

function subjectToken(where: string, text: string): string {
  if (isShort(text) && TOKEN.test(text)) return text;
  throw refused(where, text, 'one word of a subject: no space, dot or wildcard');
}

function subjectPrefix(where: string, text: string): string {
  const prefix = text.replace(/\.$/, '');
  if (isShort(prefix) && prefix.split('.').every((token) => TOKEN.test(token))) return prefix;
  throw refused(where, text, 'a prefix of subjects such as a.b: no space, empty word or wildcard');
}

function isShort(text: string): boolean {
  return text.length <= LENGTH_MAX;
}

function refused(where: string, text: string, expected: string): Error {
  return refusal(where, text, isShort(text) ? expected : `at most ${LENGTH_MAX} letters long`);
}
