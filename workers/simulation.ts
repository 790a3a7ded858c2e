/** Entry of a sweep's thread: plays the seeds of a task, one after the other, and reports. */
import { loadHasher } from '../src/base/hasher.js';
import { runSeed, type SwarmReport } from '../src/sim/swarm-run.js';
import type { SweepTask } from '../src/sim/sweep.js';

const hasher = await loadHasher();

export default async function simulate({ first, seeds }: SweepTask): Promise<SwarmReport[]> {
  const reports: SwarmReport[] = [];
  for (let seed = first; seed < first + seeds; seed++) reports.push(await runSeed(seed, hasher));
  return reports;
}
