/** Entry of a sweep's thread: plays the seed of a task and reports. */
import { loadHasher } from '../src/base/hasher.js';
import { playSeed, runSeed } from '../src/sim/seeds.js';
import type { SeedOutcome, SweepTask } from '../src/sim/sweep.js';
import { Trace } from '../src/sim/trace.js';

const hasher = await loadHasher();

export default async function simulate({ subject, seed, traced }: SweepTask): Promise<SeedOutcome> {
  if (!traced) return { report: await runSeed(subject, seed, hasher), trace: null };
  const trace = new Trace();
  const report = await playSeed(subject, seed, hasher, trace);
  return { report, trace: trace.ended(report) };
}
