/**
 * A password or a token on its way through plans. It is shown as nothing: printed, encoded as JSON
 * or cloned into another thread, it is gone. Whoever needs the text asks for it by name.
 */

const HIDDEN = '(hidden)';

export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return HIDDEN;
  }

  toJSON(): string {
    return HIDDEN;
  }
}
