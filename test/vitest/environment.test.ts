import { availableParallelism } from 'node:os';
import { describe, expect, it } from 'vitest';
import { LockstepError } from '../../src/base/errors.js';
import { askedOf } from '../../src/vitest/environment.js';

describe('vitest: environment', () => {
  it('nothing, or nothing in it: the test says all', () => {
    const nothing = {
      ...{ seed: undefined, seeds: undefined, on: undefined, timeLimitMs: undefined },
      ...{ cores: availableParallelism(), checkDeterminism: false },
    };
    expect(askedOf({})).toEqual(nothing);
    const names = ['SEED', 'SEEDS', 'CORES', 'ON', 'TIME_LIMIT', 'CHECK_DETERMINISM'];
    expect(askedOf(Object.fromEntries(names.map((name) => [`LOCKSTEP_${name}`, ''])))).toEqual(
      nothing,
    );
  });

  it('everything', () => {
    expect(
      askedOf({
        LOCKSTEP_SEED: '42',
        LOCKSTEP_SEEDS: '1e3',
        LOCKSTEP_CORES: '3',
        LOCKSTEP_ON: 'threads, sim',
        LOCKSTEP_TIME_LIMIT: '2m',
        LOCKSTEP_CHECK_DETERMINISM: '1',
      }),
    ).toEqual({
      ...{ seed: 42, seeds: 1_000, cores: 3, on: ['threads', 'sim'] },
      ...{ timeLimitMs: 120_000, checkDeterminism: true },
    });
  });

  it.each([
    ['LOCKSTEP_SEED', 'x', '"x" is not a whole number from 0 to 2^53-1'],
    ['LOCKSTEP_SEEDS', '0', '"0" is not a whole number from 1 to 2^53-1'],
    ['LOCKSTEP_CORES', '257', '"257" is not a whole number from 1 to 256'],
    ['LOCKSTEP_ON', 'sims', '"sims" is not one of threads, sim, nats; did you mean sim?'],
    ['LOCKSTEP_TIME_LIMIT', '5', '"5" is not a duration with its unit, such as 250ms or 2s'],
    ['LOCKSTEP_CHECK_DETERMINISM', 'yes', '"yes" is not one of 1, true, 0, false'],
  ])('refused in one line, without a trace: %s=%s', (name, text, why) => {
    let thrown: unknown;
    try {
      askedOf({ [name]: text });
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(LockstepError);
    expect((thrown as LockstepError).stack).toBe(`LockstepError: ${name}: ${why}`);
  });

  it('a first seed leaves room for the others', () => {
    const last = String(Number.MAX_SAFE_INTEGER);
    expect(askedOf({ LOCKSTEP_SEED: last }).seed).toBe(Number.MAX_SAFE_INTEGER);
    expect(() => askedOf({ LOCKSTEP_SEED: last, LOCKSTEP_SEEDS: '2' })).toThrow(
      `LOCKSTEP_SEED: ${last} is not a first seed that leaves the last below 2^53`,
    );
  });
});
