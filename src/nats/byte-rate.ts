/**
 * Keeps a reader to a rate. A server that keeps a consumer to one lets as much go at once as its
 * largest message may have, 1 MiB by default, before it begins (upstream: consumer.go,
 * setRateLimit).
 */
import { setTimeout as sleep } from 'node:timers/promises';

export class ByteRate {
  readonly #bytesPerSecond: number | null;
  readonly #startedMs = performance.now();

  /** @param bytesPerSecond  null: as fast as it can */
  constructor(bytesPerSecond: number | null) {
    this.#bytesPerSecond = bytesPerSecond;
  }

  /** Resolves once so many bytes since the start are no more than the rate allows. */
  async keep(bytes: number): Promise<void> {
    if (this.#bytesPerSecond === null) return;
    const dueMs = (1_000 * bytes) / this.#bytesPerSecond;
    const aheadMs = dueMs - (performance.now() - this.#startedMs);
    if (aheadMs > 0) await sleep(aheadMs);
  }
}
