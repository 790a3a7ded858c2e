/**
 * One command of a story: its name, and what follows in the order in which it is taken. What is
 * wrong with it, or left over at the end, is said in one line.
 */
import { parseDuration } from '../../src/base/units.js';

export class Command {
  readonly name: string;
  readonly #given = new Map<string, string[]>();
  readonly #words: string[] = [];

  /** @param text  words between spaces; `key=value` may stand anywhere, and more than once */
  constructor(text: string) {
    const [name = '', ...words] = text.split(/ +/);
    this.name = name;
    for (const word of words) {
      const at = word.indexOf('=');
      if (at === -1) this.#words.push(word);
      else this.#give(word.slice(0, at), word.slice(at + 1));
    }
  }

  get more(): boolean {
    return this.#words.length > 0;
  }

  /** The next word. @param what  what it should be, for who left it out */
  word(what: string): string {
    const word = this.#words.shift();
    if (word === undefined) throw new Error(`${this.name}: expected ${what}`);
    return word;
  }

  /** The next word if it is this one. */
  maybe(expected: string): boolean {
    if (this.#words[0] !== expected) return false;
    this.#words.shift();
    return true;
  }

  oneOf<T extends string>(known: readonly T[]): T {
    const word = this.word(known.join(', '));
    const found = known.find((one) => one === word);
    if (found !== undefined) return found;
    throw new Error(`${this.name}: ${word} is none of ${known.join(', ')}`);
  }

  number(): number {
    return this.#numberOf(this.word('a number'));
  }

  /** Numbers and ranges up to the last word: `6 7 9..12`. */
  numbers(): number[] {
    const numbers: number[] = [];
    while (this.more) {
      const [first = '', last = first] = this.word('a number').split('..');
      const end = this.#numberOf(last);
      for (let number = this.#numberOf(first); number <= end; number++) numbers.push(number);
    }
    return numbers;
  }

  milliseconds(): number {
    return parseDuration(this.name, this.word('a duration'));
  }

  /** The rest as a command of its own. */
  rest(): Command {
    const words = this.#words.splice(0);
    if (words.length === 0) throw new Error(`${this.name}: expected a command`);
    return new Command(words.join(' '));
  }

  value(key: string): string | undefined {
    return this.values(key).at(-1);
  }

  values(key: string): string[] {
    const values = this.#given.get(key) ?? [];
    this.#given.delete(key);
    return values;
  }

  valueOf<T extends string>(key: string, known: readonly [T, ...T[]]): T {
    const value = this.value(key) ?? known[0];
    const found = known.find((one) => one === value);
    if (found !== undefined) return found;
    throw new Error(`${this.name}: ${key}=${value} is none of ${known.join(', ')}`);
  }

  numberAt(key: string): number | undefined {
    const value = this.value(key);
    return value === undefined ? undefined : this.#numberOf(value);
  }

  /** Nothing may be left: what is not understood would else be passed over. */
  end(): void {
    const left = [...this.#words, ...this.#given.keys()];
    if (left.length > 0) throw new Error(`${this.name}: ${left.join(' ')} is not understood`);
  }

  #give(key: string, value: string): void {
    this.#given.set(key, [...(this.#given.get(key) ?? []), value]);
  }

  #numberOf(text: string): number {
    if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
    throw new Error(`${this.name}: ${text} is no number`);
  }
}
