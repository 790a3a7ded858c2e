/**
 * lockstep for tests with vitest: `test` with a cluster of its own for each test, `test.scenario`
 * for scenario files, and matchers.
 *
 * `test.override('clusterOptions', { on: 'sim', replicas: 5 })` sets the clusters of a suite up.
 */
import { readFileSync } from 'node:fs';
import { expect, test as base, type TestAPI, type TestContext } from 'vitest';
import { loadHasher } from '../base/hasher.js';
import { parsePositiveDuration } from '../base/units.js';
import { startCluster, type Cluster, type ClusterOptions } from '../kit/cluster.js';
import { driverOf, TEST_DRIVERS, type TestDriver } from '../kit/drivers.js';
import { quoted } from '../report/text.js';
import { planScenario, scenarioSource } from '../scenario/parse.js';
import { play, type PlayResult } from '../scenario/play.js';
import { driversOf, seedOf } from './environment.js';
import './matchers.js';
import { replayOf } from './replay.js';

export { expect };
export type { Elected } from './findings.js';

export interface ScenarioOptions {
  /** A test for each of them; default: all. */
  readonly on?: readonly TestDriver[];
  /** Of each test; default 2m. */
  readonly timeout?: string;
  /** What else must be true of the run, which has to have held. */
  readonly check?: (result: PlayResult) => void | Promise<void>;
}

export interface Fixtures {
  /** What the cluster of each test is started with. */
  readonly clusterOptions: ClusterOptions;
  /** A cluster of its own for each test that takes it, closed whatever happens. */
  readonly cluster: Cluster;
}

const TIMEOUT_DEFAULT = '2m';
const read = (path: string): string => readFileSync(path, 'utf8');

const clustered = base.extend<Fixtures>({
  clusterOptions: {},
  cluster: async ({ clusterOptions, task }, use) => {
    const on = driversOf(process.env)?.[0] ?? clusterOptions.on ?? 'threads';
    const seed = seedOf(process.env) ?? clusterOptions.seed ?? 1;
    const replay = replayOf(task, on, seed);
    await using cluster = await startCluster({
      name: task.name,
      ...clusterOptions,
      on,
      seed,
      replay,
    });
    await use(cluster);
  },
});

/** Plays a scenario file, a test for each driver, with a time-out of its own. */
function scenarioTests(file: string, options: ScenarioOptions = {}): void {
  const { on = TEST_DRIVERS, timeout = TIMEOUT_DEFAULT, check } = options;
  const asked = driversOf(process.env);
  const limit = { timeout: parsePositiveDuration('timeout', timeout) };
  for (const driver of on) {
    base(`${file} on ${driver}`, limit, async (context) => {
      context.skip(asked?.includes(driver) === false, `LOCKSTEP_ON is ${asked?.join(',') ?? ''}`);
      const result = await playFile(file, driver, context);
      expect(result).toHaveHeld();
      await check?.(result);
    });
  }
}

async function playFile(
  file: string,
  on: TestDriver,
  { signal }: TestContext,
): Promise<PlayResult> {
  const { raw, where } = scenarioSource(file, read);
  const planned = planScenario(raw, where, read);
  const plan = { ...planned, seed: seedOf(process.env) ?? planned.seed };
  const words = ['lockstep', 'run', file, '--on', on, '--seed', String(plan.seed)];
  const replay = words.map(quoted).join(' ');
  return play(plan, { driver: driverOf('on', on), hasher: await loadHasher(), replay, signal });
}

/** vitest's own `test`, with `cluster` and `clusterOptions`, and with `test.scenario`. */
export const test: TestAPI<Fixtures> & { readonly scenario: typeof scenarioTests } = Object.assign(
  clustered,
  { scenario: scenarioTests },
);
