/**
 * A batch of skips has one command a sequence and at most 10,000. nats-server pull request 8152.
 */
import { BATCH_COUNT_MAX } from '../../base/limits.js';
import type { Finding } from './types.js';

export class SkipBatches {
  static readonly property = 'skip batches';

  proposed(first: number, last: number, count: number): Finding {
    const batch = `a batch of ${count} skips for ${first} to ${last}`;
    if (count > BATCH_COUNT_MAX) return `${batch}, at most ${BATCH_COUNT_MAX} may be proposed`;
    return count === last - first + 1 ? null : batch;
  }
}
