/** What servers of a version can do, and how long they take. */
import { expect, it } from 'vitest';
import { budgetOf } from '../../src/nats/budgets.js';
import { isAtLeast, TELLS_MIRRORS } from '../../src/nats/version.js';

it.each([
  ['2.9.10', false, [3_000, 4_000]],
  ['2.10.0', false, [10_000, 20_000]],
  ['2.11.9', false, [10_000, 20_000]],
  ['2.12.0-RC.1', true, [10_000, 20_000]],
  ['2.15.2', true, [10_000, 20_000]],
  ['3.0.0', true, [10_000, 20_000]],
])('%s', (version, tells, lostConsumerMs) => {
  expect(isAtLeast(version, TELLS_MIRRORS)).toBe(tells);
  expect(budgetOf(version).lostConsumerMs).toEqual(lostConsumerMs);
});
