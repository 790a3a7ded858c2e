/**
 * What a test that failed leaves behind: files under `.lockstep`, and the same as artifacts and
 * annotations of vitest, so that its reporters show and keep them.
 */
import { join } from 'node:path';
import { recordArtifact, type TestContext } from 'vitest';
import type { Cluster } from '../kit/cluster.js';
import { writeLines } from '../kit/output.js';
import { eventLines } from '../kit/scenario-replay.js';
import type { ClusterEvent } from '../scenario/driver.js';
import type { Plan } from '../scenario/types.js';

export const ARTIFACTS_DIR = '.lockstep';

const runKey: unique symbol = Symbol('lockstep:run');

/** Of a run that failed in a test. */
interface RunArtifact {
  type: 'lockstep:run';
  driver: string;
  seed: number;
  /** The command that runs it again. */
  replay: string;
  attachments: { contentType: string; path: string }[];
}

declare module 'vitest' {
  interface TestArtifactRegistry {
    [runKey]: RunArtifact;
  }
}

/** Where a run is kept: what is called otherwise goes elsewhere, and overwrites nothing. */
export function folderOf(name: string, ...more: readonly (string | number)[]): string {
  const words = name.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? ['run'];
  return join(ARTIFACTS_DIR, [...words.slice(0, 12), ...more].join('-'));
}

/** Writes the events of a run that failed; returns the file. The same run has the same file. */
export function keepEvents(
  events: readonly ClusterEvent[],
  plan: Pick<Plan, 'name' | 'seed' | 'faults'>,
  driver: string,
): string {
  const dir = folderOf(plan.name, driver, 'seed', plan.seed);
  return writeLines(dir, 'events.ndjson', eventLines(events, plan));
}

export function keepCluster(cluster: Cluster): string {
  const { events, plan, driver } = cluster;
  return keepEvents(events, plan, driver);
}

/** @param paths  files to be kept with the test */
export async function recordRun(
  task: TestContext['task'],
  run: Omit<RunArtifact, 'type' | 'attachments'>,
  paths: readonly string[],
): Promise<void> {
  const attachments = paths.map((path) => ({ contentType: typeOf(path), path }));
  await recordArtifact(task, { type: 'lockstep:run', ...run, attachments });
}

function typeOf(path: string): string {
  if (path.endsWith('.ndjson')) return 'application/x-ndjson';
  return path.endsWith('.json') ? 'application/json' : 'application/yaml';
}
