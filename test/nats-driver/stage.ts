/** Scenarios on real servers. Without a nats-server their suites skip, with the reason. */
import { describe, expect, it } from 'vitest';
import { loadHasher } from '../../src/base/hasher.js';
import { lacksServer, natsDriver } from '../../src/nats/driver.js';
import type { ClusterEvent } from '../../src/scenario/driver.js';
import { planScenario } from '../../src/scenario/parse.js';
import { play, type PlayResult } from '../../src/scenario/play.js';

const lack = lacksServer(process.env);

/** A suite on servers of its own. */
export function onServers(title: string, suite: () => void): void {
  if (lack === null || process.env['LOCKSTEP_REQUIRE_NATS'] === '1') describe(title, suite);
  else {
    describe(title, () => {
      it.skip(lack, () => undefined);
    });
  }
}

export interface Played extends PlayResult {
  readonly events: readonly ClusterEvent[];
}

/** Plays a scenario as a file would hold it. */
export async function played(raw: Readonly<Record<string, unknown>>): Promise<Played> {
  const plan = planScenario({ version: 1, name: 'a test', ...raw }, 'test', () => '');
  const events: ClusterEvent[] = [];
  const options = { driver: natsDriver, hasher: await loadHasher(), replay: '' };
  const result = await play(plan, { ...options, onEvent: (event) => events.push(event) });
  return { ...result, events };
}

/** Every replica of three ended with exactly this. */
export function expectState(
  { summary }: PlayResult,
  state: { first: number; last: number; messages: number; deleted: number },
  ids: readonly string[] = ['r1', 'r2', 'r3'],
): void {
  const [digest] = summary.replicas.map((replica) => replica.digest);
  expect(summary.replicas).toEqual(ids.map((id) => ({ id, ...state, digest })));
}
