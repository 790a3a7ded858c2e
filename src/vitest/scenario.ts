/** Plays a scenario file as a test: its events are kept, and told of, if it did not hold. */
import type { TestContext } from 'vitest';
import { loadHasher } from '../base/hasher.js';
import { driverOf, type TestDriver } from '../kit/drivers.js';
import { quoted } from '../report/text.js';
import type { ClusterEvent } from '../scenario/driver.js';
import { readInput } from '../scenario/input-file.js';
import { planScenario, scenarioSource } from '../scenario/parse.js';
import { play, type PlayResult } from '../scenario/play.js';
import { keepEvents, recordRun } from './artifacts.js';
import type { Asked } from './environment.js';
import { turnOf } from './seeds.js';

export async function playFile(
  file: string,
  on: TestDriver,
  asked: Asked,
  { task, signal, annotate }: TestContext,
): Promise<PlayResult> {
  const { raw, where } = scenarioSource(file, readInput);
  const planned = planScenario(raw, where, readInput);
  const plan = { ...planned, seed: (asked.seed ?? planned.seed) + turnOf(task).offset };
  const words = ['lockstep', 'run', file, '--on', on, '--seed', String(plan.seed)];
  const replay = words.map(quoted).join(' ');
  const events: ClusterEvent[] = [];
  const result = await play(plan, {
    ...{ driver: driverOf('on', on), hasher: await loadHasher(), replay, signal },
    onEvent: (event) => events.push(event),
  });
  if (result.summary.verdict !== 'held') {
    const path = keepEvents(events, plan, on);
    await annotate(`replay: ${replay}; events: ${path}`, 'error');
    await recordRun(task, { driver: on, seed: plan.seed, replay }, [path]);
  }
  return result;
}
