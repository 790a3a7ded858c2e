/**
 * Sweeps that have seen enough while the answer of another thread is on its way: run as a process,
 * which an error that nobody takes ends.
 */
import { seedsOf, sweep } from '../../../dist/src/sim/sweep.js';

const ROUNDS = 40;

for (let round = 0; round < ROUNDS; round++) {
  await sweep({
    subject: { kind: 'drawn' },
    cores: 2,
    seeds: seedsOf(1, null, null),
    worker: new URL('broken.js', import.meta.url),
    onReport: ({ seed }) => seed < 7,
  });
}
