/**
 * Which of the origin's subjects a mirror takes, and what it calls them. Understood are literal
 * tokens, `$1` and `{{wildcard(1)}}`; with any other function of a transform subjects are not
 * compared, and the report says so. Upstream: subject_transform.go.
 */
import type { MirrorSource, SubjectTransform } from './stream-facts.js';

/** Whether a subject matches one with wildcards. */
export function matches(pattern: string, subject: string): boolean {
  return wildcards(pattern, subject) !== null;
}

/** What stands for each `*`, in order; null: no match. */
function wildcards(pattern: string, subject: string): string[] | null {
  const wanted = pattern.split('.');
  const tokens = subject.split('.');
  const found: string[] = [];
  for (const [at, want] of wanted.entries()) {
    const token = tokens[at];
    if (token === undefined) return null;
    if (want === '>') return at === wanted.length - 1 ? found : null;
    if (want === '*') found.push(token);
    else if (want !== token) return null;
  }
  return wanted.length === tokens.length ? found : null;
}

export class Selection {
  readonly #transforms: readonly SubjectTransform[];
  /** Of what was taken; a source that does not match leaves it as it is. */
  readonly #stored: SubjectTransform | null;

  /** @param mirror  null: not a mirror any more, everything as it is */
  constructor(mirror: Pick<MirrorSource, 'transforms' | 'stored'> | null) {
    this.#transforms = mirror?.transforms ?? [];
    this.#stored = mirror?.stored ?? null;
  }

  /** For a reader: the subjects to select; empty: all. */
  get subjects(): string[] {
    const sources = this.#transforms.map(({ src }) => src);
    return sources.includes('>') ? [] : sources;
  }

  get isAll(): boolean {
    return this.subjects.length === 0;
  }

  /** Whether the mirror keeps every subject as it is. */
  get keepsSubjects(): boolean {
    return this.#rewriting.every(({ dest }) => dest === '');
  }

  selects(subject: string): boolean {
    return this.#transforms.length === 0 || this.#ofSubject(subject) !== undefined;
  }

  /** What the mirror calls it; null: a function that is not understood. */
  rewritten(subject: string): string | null {
    const taken = transformed(subject, this.#ofSubject(subject));
    const stored = this.#stored;
    if (taken === null || stored === null || !matches(stored.src, taken)) return taken;
    return transformed(taken, stored);
  }

  /** The same in bytes, as they are where nothing is rewritten. */
  rewrittenBytes(subject: Uint8Array): Uint8Array | null {
    if (this.keepsSubjects) return subject;
    const rewritten = this.rewritten(Buffer.from(subject).toString());
    return rewritten === null ? null : Buffer.from(rewritten);
  }

  /** Whether `rewritten` knows an answer for all subjects. */
  get isUnderstood(): boolean {
    return this.#rewriting.every(({ dest }) => dest.split('.').every(isUnderstood));
  }

  get #rewriting(): readonly SubjectTransform[] {
    return this.#stored === null ? this.#transforms : [...this.#transforms, this.#stored];
  }

  #ofSubject(subject: string): SubjectTransform | undefined {
    return this.#transforms.find(({ src }) => matches(src, subject));
  }
}

/** Of a subject that it matches; null: a function that is not understood. */
function transformed(subject: string, transform: SubjectTransform | undefined): string | null {
  if (transform === undefined || transform.dest === '') return subject;
  const { src, dest } = transform;
  return rewrite(dest, wildcards(src, subject) ?? [], restOf(src, subject));
}

const WILDCARD = /^(?:\$(\d+)|\{\{\s*wildcard\s*\(\s*(\d+)\s*\)\s*\}\})$/i;

/** What begins with `$` and is no number stands for itself. */
function isUnderstood(token: string): boolean {
  return WILDCARD.test(token) || !token.includes('{{');
}

function rewrite(dest: string, found: readonly string[], rest: string): string | null {
  const tokens: string[] = [];
  for (const token of dest.split('.')) {
    const number = WILDCARD.exec(token);
    if (token === '>') tokens.push(rest);
    else if (number !== null) tokens.push(found[Number(number[1] ?? number[2]) - 1] ?? token);
    else if (isUnderstood(token)) tokens.push(token);
    else return null;
  }
  return tokens.join('.');
}

/** What stands for `>` at the end. */
function restOf(src: string, subject: string): string {
  const tokens = src.split('.');
  return tokens.at(-1) === '>'
    ? subject
        .split('.')
        .slice(tokens.length - 1)
        .join('.')
    : '';
}
