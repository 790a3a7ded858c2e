import { expect, it } from 'vitest';
import { createPrng } from '../../src/base/prng.js';
import { OriginFaults } from '../../src/origin/faults.js';

it('two faults that refuse openings add up', () => {
  const faults = new OriginFaults(createPrng(1));
  faults.refuse(2, { code: 'overrun', message: 'no room' });
  faults.refuse(1, { code: 'overrun', message: 'no room' });
  const taken = [1, 2, 3, 4].map(() => faults.takeRefusal(0) !== null);
  expect(taken).toEqual([true, true, true, false]);
});

it('refusals that were armed can be taken back', () => {
  const faults = new OriginFaults(createPrng(1));
  faults.refuse(8, { code: 'overrun', message: 'no room' });
  expect(faults.takeRefusal(0)).not.toBeNull();
  faults.refuseNoMore();
  expect(faults.takeRefusal(0)).toBeNull();
  expect(faults.struck).toEqual({ refused: 1, lost: 0, repeated: 0 });
});
