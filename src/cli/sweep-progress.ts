/** How a sweep goes, on stderr: a terminal has one line that is redrawn, a file one every 5 s. */
import { grouped } from '../report/text.js';
import type { SweepTally } from '../verdict/sweep.js';

const REDRAW_MS = 200;
const LINE_MS = 5_000;

export class SweepProgress implements Disposable {
  readonly #stream: NodeJS.WriteStream;
  readonly #tally: SweepTally;
  readonly #wanted: string;
  readonly #startedAt = performance.now();
  readonly #timer: NodeJS.Timeout;

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
    const text = progressText(this.#tally, this.#wanted, performance.now() - this.#startedAt);
    this.#stream.write(this.#stream.isTTY ? `\r\u001b[K${text}` : `${text}\n`);
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
