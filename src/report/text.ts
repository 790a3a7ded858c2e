/** How numbers, times and names read in a report for people. */
import type { SeqRange } from '../stream/types.js';

/** Characters of the longest title of a section. */
const SECTION = 9;

/** `1234567` as `1,234,567`. */
export function grouped(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** `1 seed`, `2,000 seeds`. */
export function counted(count: number, thing: string): string {
  return `${grouped(count)} ${thing}${count === 1 ? '' : 's'}`;
}

/** Milliseconds as `12 ms`, `1.3 s` or `2 min 5 s`. */
export function duration(ms: number): string {
  if (ms <= -1_000) return `-${duration(-ms)}`;
  if (ms < 1_000) return `${trimmed(ms)} ms`;
  if (ms < 59_950) return `${trimmed(ms / 1_000)} s`;
  const seconds = Math.round(ms / 1_000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

function trimmed(value: number): string {
  return String(Math.round(value * 10) / 10);
}

/** Control characters, also those that turn the direction of text, as escapes. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (found) => {
    const code = found.codePointAt(0)!.toString(16);
    return code.length <= 2 ? `\\x${code.padStart(2, '0')}` : `\\u{${code}}`;
  });
}

/** Columns wide enough for their cells; those of `right` are aligned to the right. */
export function table(rows: readonly (readonly string[])[], right: ReadonlySet<number>): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length);
  }
  return rows.map((row) =>
    row
      .map((cell, at) => (right.has(at) ? cell.padStart(widths[at]!) : cell.padEnd(widths[at]!)))
      .join('  ')
      .trimEnd(),
  );
}

/** `5`, or `1,000 to 2,000`. */
export function groupedRange({ first, last }: SeqRange): string {
  return first === last ? grouped(first) : `${grouped(first)} to ${grouped(last)}`;
}

/** Lines under one title, which stands before the first of them. */
export function section(title: string, texts: readonly string[]): string[] {
  return texts.map((text, at) => `${(at === 0 ? title : '').padEnd(SECTION)} ${text}`);
}

/** A word of a command, for a shell. */
export function quoted(word: string): string {
  return /^[\w./:=,+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** `n1`, `n1 and n2`, `n1, n2 and n3`. */
export function listed(words: readonly string[]): string {
  if (words.length < 2) return words.join('');
  return `${words.slice(0, -1).join(', ')} and ${words.at(-1)!}`;
}
