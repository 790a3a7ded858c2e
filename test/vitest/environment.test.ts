import { describe, expect, it } from 'vitest';
import { driversOf, seedOf } from '../../src/vitest/environment.js';

describe('vitest: environment', () => {
  it('LOCKSTEP_SEED: a whole number goes before the test, nothing leaves it its own', () => {
    expect(seedOf({ LOCKSTEP_SEED: '42' })).toBe(42);
    expect([seedOf({}), seedOf({ LOCKSTEP_SEED: '' })]).toEqual([undefined, undefined]);
    expect(() => seedOf({ LOCKSTEP_SEED: 'x' })).toThrow(/^LOCKSTEP_SEED: "x" is not a whole/);
  });

  it('LOCKSTEP_ON: one driver or both; nothing leaves the test its own', () => {
    expect(driversOf({ LOCKSTEP_ON: 'sim' })).toEqual(['sim']);
    expect(driversOf({ LOCKSTEP_ON: 'threads, sim' })).toEqual(['threads', 'sim']);
    expect([driversOf({}), driversOf({ LOCKSTEP_ON: '' })]).toEqual([undefined, undefined]);
    expect(() => driversOf({ LOCKSTEP_ON: 'sims' })).toThrow(
      'LOCKSTEP_ON: "sims" is not one of threads, sim; did you mean sim?',
    );
  });
});
