/**
 * A batch of skips has one command a sequence and at most 10,000. nats-server pull request 8152.
 */
import type { Finding } from './types.js';

/** Stated here again: a rule that followed the product's own constant could not fail. */
const SKIPS_MAX = 10_000;

export class SkipBatches {
  static readonly property = 'skip batches';

  proposed(first: number, last: number, count: number): Finding {
    const batch = `a batch of ${count} skips for ${first} to ${last}`;
    if (count > SKIPS_MAX) return `${batch}, at most ${SKIPS_MAX} may be proposed`;
    return count === last - first + 1 ? null : batch;
  }
}
