/** The drivers that a caller can name. */
import { usageError } from '../base/errors.js';
import type { Driver } from '../scenario/driver.js';
import { nearest } from '../scenario/words.js';
import { simDriver } from '../sim/driver.js';
import { threadsDriver } from '../threads/driver.js';

const DRIVERS = { threads: threadsDriver, sim: simDriver };

/** What can run a cluster of a test; nats is no driver yet. */
export type TestDriver = keyof typeof DRIVERS;

export const TEST_DRIVERS = Object.keys(DRIVERS) as readonly TestDriver[];

/** Errors: usage. */
export function driverOf(where: string, name: string): Driver {
  if (Object.hasOwn(DRIVERS, name)) return DRIVERS[name as TestDriver];
  const expected = `one of ${TEST_DRIVERS.join(', ')}${nearest(name, TEST_DRIVERS)}`;
  throw usageError(where, name, expected);
}
