/** The drivers that a caller can name. */
import { usageError } from '../base/errors.js';
import type { Driver } from '../scenario/driver.js';
import type { Environment } from '../nats/environment.js';
import { lacksServer, natsDriver } from '../nats/driver.js';
import { nearest } from '../scenario/words.js';
import { simDriver } from '../sim/driver.js';
import { threadsDriver } from '../threads/driver.js';

const DRIVERS = { threads: threadsDriver, sim: simDriver, nats: natsDriver };

/** What can run a cluster of a test. */
export type TestDriver = keyof typeof DRIVERS;

export const TEST_DRIVERS = Object.keys(DRIVERS) as readonly TestDriver[];

/** Those that need nothing but this machine: what is played where nothing is said. */
export const DRIVERS_EVERYWHERE: readonly TestDriver[] = ['threads', 'sim'];

/** Why a driver cannot play here; null: it can. */
export function lacking(name: TestDriver, environment: Environment): string | null {
  return name === 'nats' ? lacksServer(environment) : null;
}

/** Errors: usage. */
export function driverOf(where: string, name: string): Driver {
  if (Object.hasOwn(DRIVERS, name)) return DRIVERS[name as TestDriver];
  const expected = `one of ${TEST_DRIVERS.join(', ')}${nearest(name, TEST_DRIVERS)}`;
  throw usageError(where, name, expected);
}
