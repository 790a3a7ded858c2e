/** Every case, in the order of the table. */
import { CONFIGURED_CASES } from './cases-configured.js';
import { ORIGIN_CASES } from './cases-origin.js';
import { REPLICA_CASES } from './cases-replicas.js';
import { SKIP_CASES } from './cases-skips.js';
import type { KnownCase } from './types.js';

export const CASES: readonly KnownCase[] = [
  ...[...SKIP_CASES, ...ORIGIN_CASES, ...CONFIGURED_CASES, ...REPLICA_CASES],
];
