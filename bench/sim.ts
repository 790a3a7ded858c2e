/**
 * How fast virtual time is: seeds of the default sweep, the same seeds on one thread and on two, the
 * default scenario, and scenarios under rising load. Every run has to hold. Rates are of processor time, which other
 * work on the machine disturbs less than the clock; the gain of a second core is a ratio of clocks.
 */
import { availableParallelism } from 'node:os';
import type { Hasher } from '../src/base/hasher.js';
import type { RaftLimits } from '../src/raft/raft.js';
import { planScenario } from '../src/scenario/parse.js';
import { play } from '../src/scenario/play.js';
import { simDriver } from '../src/sim/driver.js';
import { runSeed } from '../src/sim/seeds.js';
import { runSwarm } from '../src/sim/swarm-run.js';
import { drawSwarm, type SwarmPlan } from '../src/sim/swarm.js';
import { sweep } from '../src/sim/sweep.js';
import { median } from './median.js';

const SUBJECT = { kind: 'drawn' } as const;
const DEFAULT_MS = 10_000;
const DEFAULT_ORIGIN = {
  kind: 'synthetic',
  messages: 2_000,
  size: 128,
  gaps: [
    { after: 500, count: 300 },
    { after: 1_200, count: 10_001 },
  ],
} as const;
/** Messages a second of a scenario, and its virtual seconds. */
const LOADS = [
  { rate: 1, seconds: 100 },
  { rate: 100, seconds: 20 },
  { rate: 1_000, seconds: 5 },
  { rate: 40_000, seconds: 2 },
];

export interface SimBenchOptions {
  readonly hasher: Hasher;
  readonly quick: boolean;
  readonly print: (name: string, figure: string) => void;
}

export async function benchSim({ hasher, quick, print }: SimBenchOptions): Promise<void> {
  const seeds = quick ? 8 : 200;
  const rounds = quick ? 1 : 5;
  print('seeds', await seedsACore(seeds, rounds, hasher));
  if (availableParallelism() > 1) print('two cores', await secondCore(2 * seeds, rounds));
  for (const load of ['paced', 'bursts'] as const) {
    print(`default, ${load}`, await defaultScenario(quick ? 2 : 60, rounds, { hasher, load }));
  }
  for (const load of quick ? LOADS.map(({ rate }) => ({ rate, seconds: 0.1 })) : LOADS) {
    const name = `${load.rate.toLocaleString('en')} msgs/s`;
    print(name, await scenarioUnder(load, rounds, hasher));
  }
}

/** Runs until it was run once without being measured, then so many times. */
async function measured(rounds: number, run: () => Promise<number>): Promise<number> {
  await run();
  const found: number[] = [];
  for (let round = 0; round < rounds; round++) found.push(await run());
  return median(found);
}

async function seedsACore(seeds: number, rounds: number, hasher: Hasher): Promise<string> {
  let simulatedMs = 0;
  const cpuMs = await measured(rounds, async () => {
    simulatedMs = 0;
    const before = process.cpuUsage();
    for (let seed = 1; seed <= seeds; seed++) {
      const report = await runSeed(SUBJECT, seed, hasher);
      if (report.failure !== null) throw new Error(`seed ${seed}: ${report.failure.text}`);
      simulatedMs += report.simulatedMs;
    }
    return cpuMsSince(before);
  });
  const rate = ((seeds * 1_000) / cpuMs).toFixed(0);
  return `${rate} seeds/s a core, ${(simulatedMs / cpuMs).toFixed(0)} x real time`;
}

/**
 * A seed of the default scenario: three replicas, 10 virtual seconds in which anything may break,
 * 2,000 messages over all of them, two gaps; conditions, time-outs and faults as the seed draws
 * them, bounds as they are by default.
 * `paced`: 200 messages a second, each on its own; `bursts`: 100 at once every half second.
 */
function drawDefault(seed: number, load: 'paced' | 'bursts'): SwarmPlan {
  const drawn = drawSwarm(seed, { focus: 'mixed', replicas: 3 });
  const { preVote, checkQuorum, limits } = drawn.tuning!;
  const { electionTicksMin, electionTicksMax, heartbeatTicks } = limits as RaftLimits;
  const stretch = DEFAULT_MS / drawn.safetyMs;
  return {
    ...drawn,
    safetyMs: DEFAULT_MS,
    tuning: {
      preVote,
      checkQuorum,
      limits: { electionTicksMin, electionTicksMax, heartbeatTicks },
    },
    origin: { ...DEFAULT_ORIGIN, rate: load === 'paced' ? 200 : null },
    load: {
      heldBack: 10,
      burst: load === 'paced' ? null : { messages: 100, everyMs: 500 },
      sizeMax: DEFAULT_ORIGIN.size,
      headersEvery: 8,
    },
    faults: drawn.faults.map((fault) => ({ ...fault, atMs: Math.floor(fault.atMs * stretch) })),
  };
}

async function defaultScenario(
  seeds: number,
  rounds: number,
  { hasher, load }: { readonly hasher: Hasher; readonly load: 'paced' | 'bursts' },
): Promise<string> {
  let simulatedMs = 0;
  const cpuMs = await measured(rounds, async () => {
    simulatedMs = 0;
    const before = process.cpuUsage();
    for (let seed = 1; seed <= seeds; seed++) {
      const report = await runSwarm(drawDefault(seed, load), hasher);
      if (report.failure !== null) throw new Error(`seed ${seed}: ${report.failure.text}`);
      simulatedMs += report.simulatedMs;
    }
    return cpuMsSince(before);
  });
  const rate = ((seeds * 1_000) / cpuMs).toFixed(0);
  return `${rate} seeds/s a core, ${(simulatedMs / cpuMs).toFixed(0)} x real time`;
}

/** Threads start cold, as those of a sweep do. */
async function secondCore(seeds: number, rounds: number): Promise<string> {
  const clockMs = async (cores: number): Promise<number> => {
    const began = performance.now();
    const numbers = Array.from({ length: seeds }, (_, at) => at + 1);
    await sweep({ subject: SUBJECT, seeds: numbers, cores, onReport: () => true });
    return performance.now() - began;
  };
  const gain = await measured(rounds, async () => (await clockMs(1)) / (await clockMs(2)));
  return `${gain.toFixed(2)} x the seeds/s of one, threads started anew`;
}

async function scenarioUnder(
  { rate, seconds }: (typeof LOADS)[number],
  rounds: number,
  hasher: Hasher,
): Promise<string> {
  const origin = { synthetic: { messages: Math.max(2, rate * seconds), rate } };
  const name = `${rate} messages a second`;
  const plan = planScenario({ version: 1, name, origin }, name, () => {
    throw new Error('no file is needed');
  });
  const times = await measured(rounds, async () => {
    const before = process.cpuUsage();
    const { summary, reasons } = await play(plan, { driver: simDriver, hasher, replay: '' });
    if (summary.verdict !== 'held') throw new Error(reasons.map(({ text }) => text).join('; '));
    return summary.elapsedMs / cpuMsSince(before);
  });
  return `${times.toFixed(times < 10 ? 1 : 0)} x real time, three replicas, ${seconds} virtual s`;
}

/** Of all threads of this process. */
function cpuMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
