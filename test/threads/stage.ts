/** Plans and runs for the suites that start real threads. */
import { readFileSync } from 'node:fs';
import { playDecided, unknownIn } from '../../conformance/decided.js';
import { loadHasher } from '../../src/base/hasher.js';
import type { ClusterEvent } from '../../src/scenario/driver.js';
import { planScenario } from '../../src/scenario/parse.js';
import { play, type PlayResult } from '../../src/scenario/play.js';
import type { Plan } from '../../src/scenario/types.js';
import { threadsDriver } from '../../src/threads/driver.js';

const hasher = await loadHasher();

export function planOf(scenario: Record<string, unknown>): Plan {
  const raw = { version: 1, name: 'a test', ...scenario };
  return planScenario(raw, 'test', (path) => readFileSync(path, 'utf8'));
}

export interface Played extends PlayResult {
  readonly events: readonly ClusterEvent[];
}

/** Again, if the machine was too busy to tell what came of it. */
export function playOnThreads(
  scenario: Record<string, unknown>,
  signal?: AbortSignal,
): Promise<Played> {
  const plan = planOf(scenario);
  return playDecided(() => playOnce(plan, signal), unknownIn);
}

/** Again also if one of its faults did not fall. */
export function playUntilFallen(scenario: Record<string, unknown>): Promise<Played> {
  return playPlanUntilFallen(planOf(scenario));
}

export function playPlanUntilFallen(plan: Plan): Promise<Played> {
  return playDecided(() => playOnce(plan));
}

async function playOnce(plan: Plan, signal?: AbortSignal): Promise<Played> {
  const events: ClusterEvent[] = [];
  const result = await play(plan, {
    driver: threadsDriver,
    hasher,
    replay: 'lockstep run',
    onEvent: (event) => {
      events.push(event);
    },
    ...(signal === undefined ? {} : { signal }),
  });
  return { ...result, events };
}
