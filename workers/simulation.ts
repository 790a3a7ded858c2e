/** Entry of a sweep's thread: plays the seeds of a task, one after the other, and reports. */
import { loadHasher } from '../src/base/hasher.js';
import { playSeed, runSeed } from '../src/sim/seeds.js';
import type { SeedOutcome, SweepTask } from '../src/sim/sweep.js';
import { Trace } from '../src/sim/trace.js';

const hasher = await loadHasher();

export default async function simulate({ subject, seeds, traced }: SweepTask) {
  const outcomes: SeedOutcome[] = [];
  for (const seed of seeds) {
    if (!traced) {
      outcomes.push({ report: await runSeed(subject, seed, hasher), trace: null });
      continue;
    }
    const trace = new Trace();
    const report = await playSeed(subject, seed, hasher, trace);
    outcomes.push({ report, trace: trace.ended(report) });
  }
  return outcomes;
}
