/**
 * lockstep for tests with vitest: `test` with a cluster of its own for each test, `test.scenario`
 * for scenario files, `test.sweep` for many seeds, and matchers.
 *
 * `test.override('clusterOptions', { on: 'sim', replicas: 5 })` sets the clusters of a suite up.
 */
import {
  expect,
  test as base,
  vi,
  type RunnerTaskResult,
  type TestAPI,
  type TestContext,
} from 'vitest';
import { parseCount, parsePositiveDuration } from '../base/units.js';
import { startCluster, type Cluster, type ClusterOptions } from '../kit/cluster.js';
import { DRIVERS_EVERYWHERE, lacking, type TestDriver } from '../kit/drivers.js';
import type { PlayResult } from '../scenario/play.js';
import { checkKeys } from '../scenario/words.js';
import { keepCluster, recordRun } from './artifacts.js';
import { askedOf } from './environment.js';
import { forgottenIn, watch } from './forgotten.js';
import './matchers.js';
import { replayOf } from './replay.js';
import { playFile } from './scenario.js';
import { compared, groupOf, seeded, turnOf, whyNot } from './seeds.js';
import { failWith, planSweep, sweepTest, type SweepOptions, type SweepScenario } from './sweep.js';

export { expect };
export type { ReceivedMessage, ReceivedOptions } from '../verdict/received.js';
export type { Elected } from './findings.js';
export type { SweepOptions, SweepScenario } from './sweep.js';

export interface ScenarioOptions {
  /** A test for each of them; default: threads and sim. One on nats skips without a nats-server. */
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
/** Of each test on nats that says none itself. */
const NATS_TIMEOUT_MS = 240_000;
const asked = askedOf(process.env);

const clustered = base.extend<Fixtures>({
  clusterOptions: {},
  cluster: async ({ clusterOptions, task, skip }, use) => {
    const turn = turnOf(task);
    const group = groupOf(turn);
    const on = asked.on?.[0] ?? clusterOptions.on ?? 'threads';
    skipWithout(on, skip);
    const why = whyNot(group, asked) ?? (turn.again && on !== 'sim' ? 'only sim repeats' : null);
    skip(why !== null, why ?? '');
    const first = asked.seed ?? parseCount('seed', clusterOptions.seed ?? 1, { min: 0 });
    const seed = first + turn.offset;
    const replay = replayOf(task, on, seed);
    const own = { name: task.name, ...clusterOptions, on, seed, replay };
    await using cluster = await startCluster(own);
    watch(task, cluster.waits);
    await use(cluster);
    const forgotten = forgottenIn(task);
    if (task.result?.state === 'fail') {
      group.failedSeed = seed;
      const path = keepCluster(cluster);
      tellOf(task.result, [...forgotten, `replay: ${replay}`, `events: ${path}`]);
      await recordRun(task, { driver: on, seed, replay }, [path]);
    } else if (forgotten.length > 0) failWith(forgotten);
    else if (asked.checkDeterminism && on === 'sim') compared(group, turn, cluster.events);
  },
});

/** A test on nats skips where there is no nats-server, unless LOCKSTEP_REQUIRE_NATS says so. */
function skipWithout(on: TestDriver, skip: TestContext['skip']): void {
  const lack = lacking(on, process.env);
  skip(lack !== null && !asked.requireNats, lack ?? '');
}

/** Servers take seconds to start and to elect; vitest's own limit would end tests before that. */
function giveTime(on: TestDriver | undefined): void {
  if (on === 'nats') vi.setConfig({ testTimeout: NATS_TIMEOUT_MS });
}

const override = clustered.override.bind(clustered) as (...words: unknown[]) => never;
giveTime(asked.on?.[0]);

/** vitest's own, of the tests that follow; those on nats have more time. */
function overridden(...words: unknown[]): never {
  const [name, options] = words;
  if (name === 'clusterOptions') giveTime((options as ClusterOptions | undefined)?.on);
  return override(...words);
}

/** A test that has failed takes no annotation any more; what is said goes with its first error. */
function tellOf({ errors }: RunnerTaskResult, lines: readonly string[]): void {
  const [error] = errors ?? [];
  if (error === undefined) return;
  const { message, stack } = error;
  // A matcher on the cluster has said them.
  const more = lines.filter((line) => !message.split('\n').includes(line));
  error.message = [message, ...more].join('\n');
  // Some reporters show the one, some the other.
  if (stack !== undefined) error.stack = stack.replace(message, () => error.message);
}

/** Plays a scenario file, a test for each driver, with a time-out of its own. */
function scenarioTests(file: string, options: ScenarioOptions = {}): void {
  checkKeys('test.scenario', options, ['on', 'timeout', 'check']);
  const { on = DRIVERS_EVERYWHERE, timeout = TIMEOUT_DEFAULT, check } = options;
  const limit = { timeout: parsePositiveDuration('timeout', timeout) };
  for (const driver of on) {
    const name = `${file} on ${driver}`;
    if (driver === 'sim' && isSwept() && asked.on?.includes('sim') !== false) {
      sweptTest(name, file);
      continue;
    }
    const each = seeded(base, { ...asked, checkDeterminism: false });
    each(name, limit, async (context: TestContext) => {
      const { task, skip } = context;
      const group = groupOf(turnOf(task));
      skip(asked.on?.includes(driver) === false, `LOCKSTEP_ON is ${asked.on?.join(',') ?? ''}`);
      skipWithout(driver, skip);
      const why = whyNot(group, asked);
      skip(why !== null, why ?? '');
      const result = await playFile(file, driver, asked, context);
      if (result.summary.verdict !== 'held') group.failedSeed = result.summary.seed;
      expect(result).toHaveHeld();
      await check?.(result);
    });
  }
}

/** Whether the environment asks for more than one play of what can be swept. */
function isSwept(): boolean {
  const { seeds, timeLimitMs, checkDeterminism } = asked;
  return seeds !== undefined || timeLimitMs !== undefined || checkDeterminism;
}

/** One test over many seeds in virtual time, with a time-out of its own. */
function sweptTest(name: string, of: SweepScenario, options: SweepOptions = {}): void {
  const plan = planSweep(of, options, asked);
  base(name, { timeout: plan.timeoutMs }, (context) => sweepTest(plan, context));
}

/** vitest's own `test`, with `cluster` and `clusterOptions`, with `scenario` and `sweep`. */
export const test: TestAPI<Fixtures> & {
  readonly scenario: typeof scenarioTests;
  readonly sweep: typeof sweptTest;
} = Object.assign(seeded(Object.assign(clustered, { override: overridden }), asked), {
  scenario: scenarioTests,
  sweep: sweptTest,
});
