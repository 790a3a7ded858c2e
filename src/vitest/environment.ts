/**
 * What the environment asks of every test, so that one can be played again: LOCKSTEP_SEED and
 * LOCKSTEP_ON go before what the test says.
 */
import { parseCount } from '../base/units.js';
import { driverOf, type TestDriver } from '../kit/drivers.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Undefined: the test's own. Errors: usage. */
export function seedOf(environment: Environment): number | undefined {
  const text = environment['LOCKSTEP_SEED'];
  return text === undefined || text === ''
    ? undefined
    : parseCount('LOCKSTEP_SEED', text, { min: 0 });
}

/** `threads`, `sim`, or both, with a comma. Undefined: the test's own. Errors: usage. */
export function driversOf(environment: Environment): readonly TestDriver[] | undefined {
  const text = environment['LOCKSTEP_ON'];
  if (text === undefined || text === '') return undefined;
  return text.split(',').map((name) => driverOf('LOCKSTEP_ON', name.trim()).name as TestDriver);
}
