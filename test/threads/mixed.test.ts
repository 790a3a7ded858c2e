/**
 * Drawn mixtures of all faults, one after the other in one process: held, and nothing left behind.
 * LOCKSTEP_RUNS says how many; `npm run mixed` asks for 200, over which every kind has to strike
 * that threads can play.
 */
import { readdirSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createPrng } from '../../src/base/prng.js';
import { threadsDriver } from '../../src/threads/driver.js';
import { DRAWN_KINDS, drawFault, mixedScenario } from '../scenario/mixed.js';
import { planOf, playOnThreads } from './stage.js';

const RUNS = Number(process.env['LOCKSTEP_RUNS'] ?? '4');
/** Over so many runs each kind has struck. */
const COVERING = 100;
const WARM_UP = 2;

const LEAST = { replicas: 5, origin: { synthetic: { messages: 1 } } };

/** Of what is drawn: the rest is skipped with a reason. */
function playableKinds(): string[] {
  return DRAWN_KINDS.filter((kind) => {
    const fault = { ...drawFault(kind, createPrng(1)), at: '1ms' };
    const plan = planOf({ ...LEAST, faults: [fault] });
    return threadsDriver.cannot(plan.faults[0]!.action, plan) === null;
  });
}

interface Held {
  readonly threads: number;
  readonly files: number;
  readonly resources: Readonly<Record<string, number>>;
}

/** What this process holds at the moment. */
function held(): Held {
  const resources: Record<string, number> = {};
  for (const name of process.getActiveResourcesInfo()) {
    resources[name] = (resources[name] ?? 0) + 1;
  }
  const count = (path: string): number => readdirSync(path).length;
  const isLinux = process.platform === 'linux';
  return {
    threads: isLinux ? count('/proc/self/task') : 0,
    files: isLinux ? count('/proc/self/fd') : 0,
    resources: { worker: resources['Worker'] ?? 0, port: resources['MessagePort'] ?? 0 },
  };
}

/** Handles are let go of a moment after they were closed. */
async function settled(before: Held): Promise<Held> {
  for (let tries = 0; tries < 50; tries++) {
    const now = held();
    if (now.threads <= before.threads && now.files <= before.files) return now;
    await setTimeout(20);
  }
  return held();
}

describe('threads: mixed faults', () => {
  it(
    'held, run after run; no thread, port or file is left',
    { timeout: 120_000 + RUNS * 6_000 },
    async () => {
      const playable = playableKinds();
      const struck = new Set<string>();
      const failed: unknown[] = [];
      let before: Held | null = null;
      for (let seed = 1; seed <= RUNS; seed++) {
        const { summary, reasons } = await playOnThreads(mixedScenario(seed));
        if (summary.verdict !== 'held') failed.push({ seed, reasons, faults: summary.faults });
        for (const { kind, status } of summary.faults) if (status === 'installed') struck.add(kind);
        if (seed === WARM_UP) before = held();
      }
      expect(failed).toEqual([]);
      const after = await settled(before!);
      expect(after.threads).toBeLessThanOrEqual(before!.threads);
      expect(after.files).toBeLessThanOrEqual(before!.files);
      expect(after.resources).toEqual(before!.resources);
      if (RUNS >= COVERING) {
        expect([...struck].sort()).toEqual(playable.sort());
        console.log(`${RUNS} runs held; struck: ${[...struck].sort().join(', ')}`);
      }
    },
  );
});
