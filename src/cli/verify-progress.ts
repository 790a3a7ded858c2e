/** Where a verification is, on stderr: a line that follows it on a terminal, else a line in 5 s. */
import { counted, duration, grouped } from '../report/text.js';
import type { VerifyProgress } from '../verify/verify.js';

const LINE_EVERY_MS = 5_000;
const DRAW_EVERY_MS = 200;

export class VerifyProgressLine implements Disposable {
  readonly #stream: NodeJS.WriteStream;
  #startedMs = performance.now();
  #saidMs = this.#startedMs;
  /** Where it began, which is not the start if it was resumed. */
  #begun: number | null = null;
  #next = 0;
  #drawn = false;

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
  }

  tell(progress: VerifyProgress): void {
    const nowMs = performance.now();
    if (progress.next < this.#next) this.#restart(nowMs);
    this.#next = progress.next;
    this.#begun ??= progress.next;
    const isTerminal = this.#stream.isTTY;
    if (nowMs - this.#saidMs < (isTerminal ? DRAW_EVERY_MS : LINE_EVERY_MS)) return;
    this.#saidMs = nowMs;
    this.#drawn = isTerminal;
    const text = progressText(progress, this.#begun, nowMs - this.#startedMs);
    this.#stream.write(isTerminal ? `\r\u001b[K${text}` : `${text}\n`);
  }

  /** Another reading from the start on: the replicas were read, now the origin is. */
  #restart(nowMs: number): void {
    this.#startedMs = nowMs;
    this.#begun = null;
  }

  [Symbol.dispose](): void {
    if (this.#drawn) this.#stream.write('\r\u001b[K');
  }
}

/** Sequence, percent, rate, what is left, differences. */
export function progressText(
  { next, from, to, messages, differences }: VerifyProgress,
  begun: number,
  elapsedMs: number,
): string {
  const size = to - from + 1;
  const done = Math.max(0, next - from);
  const here = Math.max(0, next - Math.max(begun, from));
  const left = to + 1 - Math.max(next, from);
  const eta = here === 0 ? '' : `, about ${duration((elapsedMs / here) * left)} left`;
  const percent = size > 0 ? Math.floor((100 * done) / size) : 100;
  const rate = grouped(Math.round((1_000 * messages) / Math.max(1, elapsedMs)));
  return (
    `sequence ${grouped(Math.max(from, next))} of ${grouped(to)}, ${percent} %, ` +
    `${rate} messages/s read${eta}, ${counted(differences, 'difference')}`
  );
}
