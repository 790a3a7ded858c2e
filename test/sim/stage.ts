/** Plans and runs for the suites on virtual time. */
import { readFileSync } from 'node:fs';
import { loadHasher } from '../../src/base/hasher.js';
import type { ClusterEvent } from '../../src/scenario/driver.js';
import { parseScenario, planScenario } from '../../src/scenario/parse.js';
import { play, type PlayResult } from '../../src/scenario/play.js';
import type { Plan } from '../../src/scenario/types.js';
import { simDriver } from '../../src/sim/driver.js';
import { bodyOf, encodeEvent } from '../../src/verdict/events.js';

export const hasher = await loadHasher();

const read = (path: string): string => readFileSync(path, 'utf8');

export function planOf(scenario: Record<string, unknown>): Plan {
  return planScenario({ version: 1, name: 'a test', ...scenario }, 'test', read);
}

export function planFile(path: string, seed = 1): Plan {
  return { ...parseScenario(read(path), path, read), seed };
}

export interface Played extends PlayResult {
  readonly events: readonly ClusterEvent[];
  /** Every event as a line of the event stream. */
  readonly lines: readonly string[];
}

export async function playOnSim(plan: Plan): Promise<Played> {
  const events: ClusterEvent[] = [];
  const lines: string[] = [];
  const kinds = new Map(plan.faults.map(({ id, action }) => [id, action.kind]));
  const result = await play(plan, {
    driver: simDriver,
    hasher,
    replay: 'lockstep run',
    onEvent: (event) => {
      events.push(event);
      const body = bodyOf(event, kinds);
      if (body !== null) lines.push(encodeEvent(event.atMs, body));
    },
  });
  return { ...result, events, lines };
}
