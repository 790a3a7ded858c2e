/**
 * What the environment asks of every test: LOCKSTEP_SEED and LOCKSTEP_ON go before what a test
 * says, so that one can be played again; LOCKSTEP_SEEDS plays each under so many seeds.
 */
import { availableParallelism } from 'node:os';
import { LockstepError, usageError } from '../base/errors.js';
import { parseCount, parsePositiveDuration } from '../base/units.js';
import { driverOf, type TestDriver } from '../kit/drivers.js';
import { checkVariables, switchIn, type Environment } from '../kit/environment.js';

export interface Asked {
  /** The first one. Undefined: the test's own. */
  readonly seed: number | undefined;
  /** How many. Undefined: the test's own. */
  readonly seeds: number | undefined;
  /** Threads that play seeds. */
  readonly cores: number;
  /** Undefined: the test's own. */
  readonly on: readonly TestDriver[] | undefined;
  /** For the seeds of one test. Undefined: the test's own. */
  readonly timeLimitMs: number | undefined;
  /** Tests on nats fail where there is no nats-server. */
  readonly requireNats: boolean;
  /** Each seed is played twice and has to be the same. */
  readonly checkDeterminism: boolean;
}

const CORES_MAX = 256;

/** Errors: usage, one line and no trace: a test runner prints both. */
export function askedOf(environment: Environment): Asked {
  try {
    return parse(environment);
  } catch (error) {
    if (error instanceof LockstepError) error.stack = `${error.name}: ${error.message}`;
    throw error;
  }
}

function parse(environment: Environment): Asked {
  const given = <T>(name: string, read: (name: string, text: string) => T): T | undefined => {
    const text = environment[name];
    return text === undefined || text === '' ? undefined : read(name, text);
  };
  checkVariables(environment);
  const seed = given('LOCKSTEP_SEED', (name, text) => parseCount(name, text, { min: 0 }));
  const seeds = given('LOCKSTEP_SEEDS', (name, text) => parseCount(name, text, { min: 1 }));
  const cores = given('LOCKSTEP_CORES', (name, text) =>
    parseCount(name, text, { min: 1, max: CORES_MAX }),
  );
  if (seed !== undefined && seed > Number.MAX_SAFE_INTEGER - ((seeds ?? 1) - 1)) {
    throw usageError('LOCKSTEP_SEED', seed, 'a first seed that leaves the last below 2^53');
  }
  // Who names a server wants it: that it is none must not pass for a test that was skipped.
  const named = given('LOCKSTEP_NATS_SERVER', () => true);
  return {
    seed,
    seeds,
    cores: cores ?? availableParallelism(),
    on: given('LOCKSTEP_ON', driversIn),
    timeLimitMs: given('LOCKSTEP_TIME_LIMIT', parsePositiveDuration),
    requireNats: given('LOCKSTEP_REQUIRE_NATS', switchIn) ?? named ?? false,
    checkDeterminism: given('LOCKSTEP_CHECK_DETERMINISM', switchIn) ?? false,
  };
}

/** `threads`, `sim`, or both, with a comma. */
function driversIn(name: string, text: string): readonly TestDriver[] {
  return text.split(',').map((word) => driverOf(name, word.trim()).name);
}
