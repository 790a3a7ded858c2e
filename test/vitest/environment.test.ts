import { availableParallelism } from 'node:os';
import { describe, expect, it } from 'vitest';
import { LockstepError } from '../../src/base/errors.js';
import { askedOf } from '../../src/vitest/environment.js';

const KNOWN =
  'LOCKSTEP_SEED, LOCKSTEP_SEEDS, LOCKSTEP_CORES, LOCKSTEP_ON, LOCKSTEP_TIME_LIMIT, ' +
  'LOCKSTEP_CHECK_DETERMINISM, LOCKSTEP_NATS_SERVER, LOCKSTEP_REQUIRE_NATS';

describe('vitest: environment', () => {
  it('nothing, or nothing in it: the test says all', () => {
    const nothing = {
      ...{ seed: undefined, seeds: undefined, on: undefined, timeLimitMs: undefined },
      ...{ cores: availableParallelism(), checkDeterminism: false, requireNats: false },
    };
    expect(askedOf({})).toEqual(nothing);
    const names = [
      'SEED',
      'SEEDS',
      'CORES',
      'ON',
      'TIME_LIMIT',
      'CHECK_DETERMINISM',
      'REQUIRE_NATS',
    ];
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
        LOCKSTEP_REQUIRE_NATS: 'true',
        LOCKSTEP_NATS_SERVER: 'nats-server',
        LOCKSTEP_NATS_SERVER_2_14_0: 'another one',
        LOCKSTEP_RUNS: '5',
        LOCKSTEPS: 'another name',
      }),
    ).toEqual({
      ...{ seed: 42, seeds: 1_000, cores: 3, on: ['threads', 'sim'] },
      ...{ timeLimitMs: 120_000, checkDeterminism: true, requireNats: true },
    });
  });

  it('a server that is named is required, unless that is denied', () => {
    const named = { LOCKSTEP_NATS_SERVER: 'nats-server' };
    expect(askedOf(named).requireNats).toBe(true);
    expect(askedOf({ ...named, LOCKSTEP_REQUIRE_NATS: '0' }).requireNats).toBe(false);
  });

  it.each([
    ['LOCKSTEP_SEED', 'x', '"x" is not a whole number from 0 to 2^53-1'],
    ['LOCKSTEP_SEEDS', '0', '"0" is not a whole number from 1 to 2^53-1'],
    ['LOCKSTEP_CORES', '257', '"257" is not a whole number from 1 to 256'],
    ['LOCKSTEP_ON', 'sims', '"sims" is not one of threads, sim, nats; did you mean sim?'],
    ['LOCKSTEP_TIME_LIMIT', '5', '"5" is not a duration with its unit, such as 250ms or 2s'],
    ['LOCKSTEP_CHECK_DETERMINISM', 'yes', '"yes" is not one of 1, true, 0, false'],
    ['LOCKSTEP_REQUIRE_NATS', 'yes', '"yes" is not one of 1, true, 0, false'],
    ['LOCKSTEP_SEED', '1\n2', '"1\\u{a}2" is not a whole number from 0 to 2^53-1'],
    ['LOCKSTEP_SEDS', '5', `no variable of lockstep; did you mean LOCKSTEP_SEEDS? (${KNOWN})`],
    ['LOCKSTEP_TOKEN', '', `no variable of lockstep (${KNOWN})`],
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
