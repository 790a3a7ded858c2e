/** One line on stderr that follows a run, on a terminal only. */
import type { WriteStream } from 'node:tty';
import { printable } from '../report/text.js';
import type { ClusterEvent } from '../scenario/driver.js';

const EVERY_MS = 200;

export class ProgressLine {
  readonly #stream: NodeJS.WriteStream | WriteStream;
  readonly #last = new Map<string, number>();
  #drawnAt = 0;
  #drawn = false;

  constructor(stream: NodeJS.WriteStream | WriteStream) {
    this.#stream = stream;
  }

  event(event: ClusterEvent): void {
    if (!this.#stream.isTTY) return;
    if (event.kind === 'progress') this.#last.set(event.slot, event.last);
    if (event.atMs - this.#drawnAt < EVERY_MS) return;
    this.#drawnAt = event.atMs;
    this.#drawn = true;
    const slots = [...this.#last].sort(([a], [b]) => (a < b ? -1 : 1));
    const text = slots.map(([slot, last]) => `${slot} ${last}`).join('  ');
    this.#stream.write(`\r\u001b[K${text}`);
  }

  /** A line of its own, on a terminal or not. */
  note(text: string): void {
    this.end();
    this.#stream.write(`note: ${printable(text)}\n`);
  }

  end(): void {
    if (this.#drawn) this.#stream.write('\r\u001b[K');
    this.#drawn = false;
  }
}
