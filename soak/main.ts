/**
 * Real threads under random faults for a long time: `npm run soak -- --for 10m`. First one cluster
 * for two thirds of it, so that what a running cluster leaks adds up; then run after run, for what
 * closing leaves behind. Nothing may be lost, and memory and handles have to stay flat. It has to
 * be started with --expose-gc and with probe.js preloaded into every thread.
 */
import { setTimeout } from 'node:timers/promises';
import { parseFlags } from '../bench/flags.js';
import { toErrorData } from '../src/base/errors.js';
import { loadHasher } from '../src/base/hasher.js';
import { parseCount, parsePositiveDuration } from '../src/base/units.js';
import { duration } from '../src/report/text.js';
import type { ClusterEvent } from '../src/scenario/driver.js';
import { planScenario } from '../src/scenario/parse.js';
import { play, type PlayResult } from '../src/scenario/play.js';
import { threadsDriver } from '../src/threads/driver.js';
import { decide } from '../src/verdict/decide.js';
import { EXIT } from '../src/verdict/types.js';
import { FAULT_EVERY_MS, soakScenario, type SoakShape } from './faults.js';
import { flatnessOf, SAMPLES_MIN, type Between, type Flatness } from './flat.js';
import { growthOf, reasonsOf, renderPart, type SoakPart } from './report.js';
import { Sampler, type Series } from './sampler.js';

const SAMPLES = 90;
const SAMPLE_EVERY_MIN_MS = 600;
const RUN_MS = 1_000;
/** What a run closed is let go of a moment later. */
const SETTLED_MS = 200;

const hasher = await loadHasher();

function playSoak(
  seed: number,
  shape: SoakShape,
  signal: AbortSignal,
  onEvent: (event: ClusterEvent) => void = () => undefined,
): Promise<PlayResult> {
  const plan = planScenario(soakScenario(seed, shape), 'soak', () => {
    throw new Error('no file is needed');
  });
  const replay = `npm run soak -- --seed ${seed}`;
  return play(plan, { driver: threadsDriver, hasher, replay, signal, onEvent });
}

/** Measured from the first delivery until everything was handed out. */
async function oneCluster(seed: number, forMs: number, signal: AbortSignal): Promise<SoakPart> {
  using sampler = new Sampler();
  let samples = 0;
  let timer: NodeJS.Timeout | undefined;
  const measure = async (): Promise<void> => {
    await sampler.sample(true);
    samples++;
  };
  const everyMs = Math.max(SAMPLE_EVERY_MIN_MS, forMs / SAMPLES);
  const shape = { forMs, replicas: 5, ends: false };
  const result = await playSoak(seed, shape, signal, ({ kind }) => {
    if (kind === 'firstDelivery') timer = setInterval(() => void measure(), everyMs);
    if (kind === 'handedOut') clearInterval(timer);
  });
  clearInterval(timer);
  const { messages } = result.summary;
  // Between the middles of the first and the last third.
  const between = {
    messages: (messages.ok * 2) / 3,
    faults: ((forMs / FAULT_EVERY_MS) * 2) / 3,
  };
  return partOf(`one cluster of 5 replicas for ${duration(forMs)}`, [result], {
    measured: measuredOf(sampler.series, between),
    samples,
  });
}

async function runAfterRun(seed: number, forMs: number, signal: AbortSignal): Promise<SoakPart> {
  using sampler = new Sampler();
  const results: PlayResult[] = [];
  const untilMs = performance.now() + forMs;
  const isOver = (): boolean => performance.now() >= untilMs && results.length >= SAMPLES_MIN;
  for (let at = 1; !isOver() && !signal.aborted; at++) {
    const replicas = at % 2 === 0 ? 3 : 5;
    const result = await playSoak(seed + at, { forMs: RUN_MS, replicas, ends: true }, signal);
    results.push(result);
    await setTimeout(SETTLED_MS);
    await sampler.sample(false);
  }
  const runs = results.length;
  return partOf(`${runs} runs, one after the other, for ${duration(forMs)}`, results, {
    measured: measuredOf(sampler.series, { messages: 0, faults: 0 }),
    samples: runs,
  });
}

function measuredOf(series: Series, between: Between): Flatness[] {
  const names = [...series.keys()].sort();
  return names.flatMap((name) => flatnessOf(name, series.get(name)!, between) ?? []);
}

function partOf(
  title: string,
  results: readonly PlayResult[],
  { measured, samples }: { readonly measured: readonly Flatness[]; readonly samples: number },
): SoakPart {
  const struck = new Map<string, number>();
  for (const { summary } of results) {
    for (const { kind, status } of summary.faults) {
      const name = status === 'installed' ? kind : `${kind} (${status})`;
      struck.set(name, (struck.get(name) ?? 0) + 1);
    }
  }
  const sum = (of: (result: PlayResult) => number): number =>
    results.reduce((total, result) => total + of(result), 0);
  return {
    title,
    reasons: [...results.flatMap(reasonsOf), ...growthOf(measured, samples)],
    messages: sum(({ summary }) => summary.messages.ok),
    elections: sum(({ summary }) => summary.leadership.elections),
    longestStallMs: Math.max(0, ...results.map(({ summary }) => summary.stallMs)),
    struck,
    measured,
  };
}

async function main(): Promise<number> {
  const values = parseFlags({
    for: { type: 'string', default: '1m' },
    seed: { type: 'string', default: '1' },
  });
  const forMs = parsePositiveDuration('--for', values.for);
  const seed = parseCount('--seed', values.seed, { min: 0 });
  const ending = new AbortController();
  const end = (): void => ending.abort();
  process.once('SIGINT', end).once('SIGTERM', end);
  console.log(`soak for ${duration(forMs)}, seed ${seed}, a fault every ${FAULT_EVERY_MS} ms\n`);
  const long = await oneCluster(seed, (forMs * 2) / 3, ending.signal);
  console.log(renderPart(long));
  const many = await runAfterRun(seed, forMs / 3, ending.signal);
  console.log(renderPart(many));
  const verdict = decide([...long.reasons, ...many.reasons]);
  console.log(`${verdict}${verdict === 'held' ? ': nothing lost, memory and handles flat' : ''}`);
  return EXIT[verdict];
}

try {
  process.exitCode = await main();
} catch (error) {
  const { code, message } = toErrorData(error);
  console.error(`soak: ${message}`);
  process.exitCode = code === 'usage' ? 64 : 70;
}
