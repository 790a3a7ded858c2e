/**
 * Throughput and the time of a skip on real worker threads, verification on, then the speed of the
 * simulator: `npm run bench`; with --sim the latter alone, with --quick a small version that only
 * shows that everything still runs. Figures are of this machine; compare them within one run, do
 * not quote them.
 */
import { Bench } from 'tinybench';
import { toErrorData } from '../src/base/errors.js';
import { loadHasher } from '../src/base/hasher.js';
import { planScenario } from '../src/scenario/parse.js';
import type { ClusterEvent } from '../src/scenario/driver.js';
import { play, type PlayResult } from '../src/scenario/play.js';
import { threadsDriver } from '../src/threads/driver.js';
import { EXIT_USAGE } from '../src/verdict/types.js';
import { parseFlags } from './flags.js';
import { median } from './median.js';
import { benchSim } from './sim.js';

const { quick, sim: simOnly } = flags();
const MESSAGES = quick ? 100_000 : 4_000_000;
const GAP = quick ? 100_000 : 1_000_000;
const ITERATIONS = quick ? 2 : 7;

const hasher = await loadHasher();
/** What is none ends the process before anything is measured. */
function flags(): { readonly quick: boolean; readonly sim: boolean } {
  const no = { type: 'boolean', default: false } as const;
  try {
    return parseFlags({ quick: no, sim: no });
  } catch (error) {
    console.error(`bench: ${toErrorData(error).message}`);
    process.exit(EXIT_USAGE);
  }
}

interface Run {
  readonly summary: PlayResult['summary'];
  /** From the first delivery until every replica held everything, milliseconds. */
  readonly deliveredMs: number;
  /** The most memory that the process held meanwhile, MiB. */
  readonly peakMiB: number;
}
const runs = new Map<string, Run[]>();

async function measure(name: string, scenario: Record<string, unknown>): Promise<void> {
  const raw = { version: 1, name, ...scenario };
  const plan = planScenario(raw, name, () => {
    throw new Error('no file is needed');
  });
  let [firstMs, lastMs, peakMiB] = [0, 0, 0];
  const onEvent = (event: ClusterEvent): void => {
    if (event.kind === 'firstDelivery') firstMs = event.atMs;
    if (event.kind === 'progress') lastMs = Math.max(lastMs, event.atMs);
    peakMiB = Math.max(peakMiB, process.memoryUsage.rss() / 1_048_576);
  };
  const result = await play(plan, { driver: threadsDriver, hasher, replay: '', onEvent });
  if (result.summary.verdict !== 'held') {
    throw new Error(`${name}: ${result.reasons.map(({ text }) => text).join('; ')}`);
  }
  const run = { summary: result.summary, deliveredMs: lastMs - firstMs, peakMiB };
  runs.set(name, [...(runs.get(name) ?? []), run]);
}

function skipOf(skip: 'entries' | 'range', count: number): Record<string, unknown> {
  const gaps = [{ after: 1, count }];
  return { mirror: { skip }, origin: { synthetic: { messages: 2, gaps } } };
}

function print(name: string, figure: string): void {
  console.log(`${name.padEnd(13)} ${figure}`);
}

const bench = new Bench({ iterations: ITERATIONS, time: 0, warmup: !quick, warmupIterations: 1 });
bench
  .add('skip entries', () => measure('skip entries', skipOf('entries', GAP)))
  .add('10 x entries', () => measure('10 x entries', skipOf('entries', 10 * GAP)))
  .add('skip range', () => measure('skip range', skipOf('range', GAP)))
  .add('1000 x range', () => measure('1000 x range', skipOf('range', 1_000 * GAP)))
  // Last, so that its memory is not that of the skips.
  .add('mirror', () => measure('mirror', { origin: { synthetic: { messages: MESSAGES } } }));
if (!simOnly) await bench.run();

// A task of tinybench times the whole run, start and comparison included. What mirroring takes goes
// from the opening of the origin until all three replicas hold everything, what a skip takes from
// the first delivery on: the mirror waits for a drawn moment before it opens.
for (const task of simOnly ? [] : bench.tasks) {
  const results = runs.get(task.name) ?? [];
  const rate = median(results.map(({ summary }) => summary.rate.messagesPerSecond));
  const skipMs = median(results.map(({ deliveredMs }) => deliveredMs));
  const peak = Math.max(...results.map(({ peakMiB }) => peakMiB)).toFixed(0);
  const whole = task.result.state === 'completed' ? task.result.latency.p50 : Number.NaN;
  const sequences = results[0]!.summary.skip.sequences!.toLocaleString('en');
  const figure =
    task.name === 'mirror'
      ? `${(rate / 1e6).toFixed(2)} M msgs/s of 128 bytes, ${MESSAGES.toLocaleString('en')} messages`
      : `${skipMs.toFixed(1)} ms for ${sequences} sequences, at most ${peak} MiB`;
  print(task.name, `${figure} (whole run ${whole.toFixed(0)} ms)`);
}

await benchSim({ hasher, quick, print });
