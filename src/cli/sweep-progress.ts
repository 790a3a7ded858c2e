/**
 * How a sweep goes, on stderr: a terminal has one line that is redrawn, a file one every 5 s. What
 * failed is named once, above it: nobody waits for the end of a long sweep to hear of it.
 */
import { grouped, printable } from '../report/text.js';
import type { SweepTally } from '../verdict/sweep.js';

const REDRAW_MS = 200;
const LINE_MS = 5_000;

export class SweepProgress implements Disposable {
  readonly #stream: NodeJS.WriteStream;
  readonly #tally: SweepTally;
  readonly #wanted: string;
  readonly #startedAt = performance.now();
  readonly #timer: NodeJS.Timeout;
  /** Of the failed seeds, how many were named. */
  #named = 0;

  /** @param seeds  how many in all shards; null: it is not known */
  constructor(stream: NodeJS.WriteStream, tally: SweepTally, seeds: number | null, shards: number) {
    this.#stream = stream;
    this.#tally = tally;
    this.#wanted = seeds === null ? '' : ` of ${grouped(Math.ceil(seeds / shards))}`;
    this.#timer = setInterval(() => this.#draw(), stream.isTTY ? REDRAW_MS : LINE_MS);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    if (this.#stream.isTTY) this.#stream.write('\r\u001b[K');
  }

  #draw(): void {
    const erase = this.#stream.isTTY ? '\r\u001b[K' : '';
    const { failed } = this.#tally;
    for (const { seed, property, text } of failed.slice(this.#named)) {
      this.#stream.write(`${erase}seed ${seed} failed: ${printable(`${property}: ${text}`)}\n`);
    }
    this.#named = failed.length;
    const text = progressText(this.#tally, this.#wanted, performance.now() - this.#startedAt);
    this.#stream.write(this.#stream.isTTY ? `${erase}${text}` : `${text}\n`);
  }
}

export function progressText(tally: SweepTally, wanted: string, wallMs: number): string {
  const { seeds, simulatedMs, cells, failed } = tally;
  const rate = Math.round((seeds * 10_000) / wallMs) / 10;
  return [
    `${grouped(seeds)}${wanted} seeds`,
    `${rate} seeds/s`,
    `${grouped(Math.round(simulatedMs / 1_000))} virtual seconds`,
    `${cells} cells`,
    `${failed.length} failed`,
  ].join(', ');
}
