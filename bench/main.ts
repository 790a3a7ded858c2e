/**
 * Throughput and the time of a skip on real worker threads, verification on, then the speed of the
 * simulator: `npm run bench`; with --sim the latter alone, with --quick a small version that only
 * shows that everything still runs. Figures are of this machine; compare them within one run, do
 * not quote them.
 */
import { Bench } from 'tinybench';
import { loadHasher } from '../src/base/hasher.js';
import { planScenario } from '../src/scenario/parse.js';
import { play, type PlayResult } from '../src/scenario/play.js';
import { threadsDriver } from '../src/threads/driver.js';
import { median } from './median.js';
import { benchSim } from './sim.js';

const quick = process.argv.includes('--quick');
const simOnly = process.argv.includes('--sim');
const MESSAGES = quick ? 100_000 : 4_000_000;
const GAP = quick ? 100_000 : 1_000_000;
const ITERATIONS = quick ? 2 : 7;

const hasher = await loadHasher();
const runs = new Map<string, PlayResult[]>();

async function measure(name: string, scenario: Record<string, unknown>): Promise<void> {
  const raw = { version: 1, name, ...scenario };
  const plan = planScenario(raw, name, () => {
    throw new Error('no file is needed');
  });
  const result = await play(plan, { driver: threadsDriver, hasher, replay: '' });
  if (result.summary.verdict !== 'held') {
    throw new Error(`${name}: ${result.reasons.map(({ text }) => text).join('; ')}`);
  }
  runs.set(name, [...(runs.get(name) ?? []), result]);
}

function skipOf(skip: 'entries' | 'range'): Record<string, unknown> {
  const gaps = [{ after: 1, count: GAP }];
  return { mirror: { skip }, origin: { synthetic: { messages: 2, gaps } } };
}

function print(name: string, figure: string): void {
  console.log(`${name.padEnd(13)} ${figure}`);
}

const bench = new Bench({ iterations: ITERATIONS, time: 0, warmup: !quick, warmupIterations: 1 });
bench
  .add('mirror', () => measure('mirror', { origin: { synthetic: { messages: MESSAGES } } }))
  .add('skip entries', () => measure('skip entries', skipOf('entries')))
  .add('skip range', () => measure('skip range', skipOf('range')));
if (!simOnly) await bench.run();

// A task of tinybench times the whole run, start and comparison included; the run's own clock goes
// from the first delivery until all three replicas had everything.
for (const task of simOnly ? [] : bench.tasks) {
  const results = runs.get(task.name) ?? [];
  const elapsed = median(results.map(({ summary }) => summary.elapsedMs));
  const rate = median(results.map(({ summary }) => summary.rate.messagesPerSecond));
  const whole = task.result.state === 'completed' ? task.result.latency.p50 : Number.NaN;
  const figure =
    task.name === 'mirror'
      ? `${(rate / 1e6).toFixed(2)} M msgs/s of 128 bytes, ${MESSAGES.toLocaleString('en')} messages`
      : `${elapsed.toFixed(1)} ms for ${GAP.toLocaleString('en')} sequences`;
  print(task.name, `${figure} (whole run ${whole.toFixed(0)} ms)`);
}

await benchSim({ hasher, quick, print });
