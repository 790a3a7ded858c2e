/**
 * Drawn mixtures of all faults, one after the other in one process: held, and nothing left behind.
 * LOCKSTEP_RUNS says how many; `npm run mixed` asks for 200, over which every kind has to strike
 * that threads can play.
 */
import { readdirSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createPrng } from '../../src/base/prng.js';
import { threadsDriver } from '../../src/threads/driver.js';
import { DRAWN_KINDS, drawFault, mixedScenario } from '../scenario/mixed.js';
import { planOf, playOnThreads } from './stage.js';

const RUNS = Number(process.env['LOCKSTEP_RUNS'] ?? '4');
/** Over so many runs each kind has struck. */
const COVERING = 100;
const WARM_UP = 2;
/** Looks at what is held that have to be alike, and that are taken at most. */
const ALIKE = 10;
const LOOKS_MAX = 500;

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

/** The same once nothing of it changes: handles are let go of a moment after they were closed. */
async function settled(): Promise<Held> {
  let now = held();
  for (let alike = 0, looks = 0; alike < ALIKE && looks < LOOKS_MAX; looks++) {
    await setTimeout(20);
    const before = now;
    now = held();
    alike = isDeepStrictEqual(now, before) ? alike + 1 : 0;
  }
  return now;
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
        if (seed === WARM_UP) before = await settled();
      }
      expect(failed).toEqual([]);
      const after = await settled();
      expect(after.threads).toBeLessThanOrEqual(before!.threads);
      expect(after.files).toBeLessThanOrEqual(before!.files);
      expect(after.resources['worker']).toBeLessThanOrEqual(before!.resources['worker']!);
      expect(after.resources['port']).toBeLessThanOrEqual(before!.resources['port']!);
      if (RUNS >= COVERING) {
        expect([...struck].sort()).toEqual(playable.sort());
        console.log(`${RUNS} runs held; struck: ${[...struck].sort().join(', ')}`);
      }
    },
  );
});
