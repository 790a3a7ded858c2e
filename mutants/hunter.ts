/**
 * Entry of a child process: plays drawn seeds on the build in the folder that it is given, base by
 * base, each until a check fails, and prints one line of JSON a base. A process of its own, because
 * a mutant may never come back, or take all memory; and because only so its CPU time is known.
 *
 *     node hunter.js FOLDER SEEDS BASE…
 */
import { pathToFileURL } from 'node:url';
import type * as HasherModule from '../src/base/hasher.js';
import type * as RunModule from '../src/sim/swarm-run.js';
import type * as DrawModule from '../src/sim/swarm.js';
import type { SeedFailure } from '../src/verdict/sweep.js';

/** What became of one base: seeds SEEDS * base + 1 and so on were played, up to the first kill. */
export interface BaseReport {
  readonly base: number;
  readonly seeds: number;
  readonly cpuMs: number;
  /** Null: all seeds held. */
  readonly killed: (SeedFailure & { readonly seed: number }) | null;
}

const [folder = '', seeds = '0', ...bases] = process.argv.slice(2);
const from = (path: string): string => new URL(path, pathToFileURL(`${folder}/`)).href;
const { loadHasher } = (await import(from('src/base/hasher.js'))) as typeof HasherModule;
const { drawSwarm } = (await import(from('src/sim/swarm.js'))) as typeof DrawModule;
const { runSwarm } = (await import(from('src/sim/swarm-run.js'))) as typeof RunModule;

const hasher = await loadHasher();
for (const base of bases.map(Number)) {
  process.stdout.write(`${JSON.stringify(await hunt(base, Number(seeds)))}\n`);
}

async function hunt(base: number, most: number): Promise<BaseReport> {
  const before = process.cpuUsage();
  let played = 0;
  let killed: BaseReport['killed'] = null;
  while (killed === null && played < most) {
    const seed = base * most + ++played;
    const { failure } = await runSwarm(drawSwarm(seed), hasher);
    if (failure !== null) killed = { ...failure, seed };
  }
  const { user, system } = process.cpuUsage(before);
  return { base, seeds: played, cpuMs: (user + system) / 1_000, killed };
}
