/**
 * lockstep for property tests with fast-check: scenarios to be drawn, shrunk and pinned.
 *
 *     const holds = fc.asyncProperty(scenarioArbitrary(), async (drawn) => { … });
 *     await fc.assert(holds, { examples: pinnedScenarios('test/regressions') });
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { LockstepError, toErrorData, usageError } from '../base/errors.js';
import { parseCount } from '../base/units.js';
import { readInput } from '../scenario/input-file.js';
import { planScenario, scenarioSource } from '../scenario/parse.js';
import { FAULT_KINDS, type FaultText, type Scenario } from '../scenario/schema.js';
import { checkKeys, nearest, refusal } from '../scenario/words.js';
import { FAULTS, type DrawnKind, type FaultDraw } from './faults.js';

export type { DrawnKind } from './faults.js';

export interface ScenarioArbitraryOptions {
  /** Sizes of cluster; default 1, 3 and 5. Shrunk towards the first. */
  readonly replicas?: readonly (1 | 3 | 5 | 7)[];
  /** Kinds of fault; default all that a mirror has to come through. */
  readonly kinds?: readonly DrawnKind[];
  /** Faults of one scenario at most; default 4. */
  readonly faultsMax?: number;
  /** Messages of one scenario at most; default 500, a thousand a second. */
  readonly messagesMax?: number;
  /** Sequences of one gap at most; default 12,000. */
  readonly gapMax?: number;
  /** Goes over what is drawn: a name, a driver's limits, another expectation. */
  readonly fields?: Partial<Omit<Scenario, 'version' | 'origin' | 'faults'>>;
}

const OPTIONS: readonly (keyof ScenarioArbitraryOptions)[] = [
  ...(['replicas', 'kinds', 'faultsMax', 'messagesMax', 'gapMax', 'fields'] as const),
];
const REPLICAS = [1, 3, 5] as const;
const RATE = 1_000;
const SEED_MAX = 0xffff_ffff;
/** Upstream's backoff at the default scale of time, for a few refusals in a row. */
const STALL_AT_MOST = '10s';

/**
 * Valid scenarios as data, for `planScenario`, `test.sweep` or a file. Shrinking leaves out faults,
 * gaps and replicas, and goes towards few messages, early times and short spans. Errors: usage.
 */
export function scenarioArbitrary(options: ScenarioArbitraryOptions = {}): fc.Arbitrary<Scenario> {
  checkKeys('scenarioArbitrary', options, OPTIONS);
  const { replicas = REPLICAS, faultsMax = 4, messagesMax = 500, gapMax = 12_000 } = options;
  const kinds = kindsOf(options.kinds ?? (Object.keys(FAULTS) as DrawnKind[]));
  const draws = kinds.map((kind) => FAULTS[kind]);
  const counts = { min: 1, max: 1e9 };
  const gap = fc.record({
    at: fc.integer({ min: 0, max: parseCount('messagesMax', messagesMax, counts) }),
    count: fc.integer({ min: 1, max: parseCount('gapMax', gapMax, counts) }),
  });
  const most = parseCount('faultsMax', faultsMax, { min: 0, max: 100 });
  checkLeast(replicas, options.fields);
  return fc
    .record({
      seed: fc.integer({ min: 0, max: SEED_MAX }),
      replicas: fc.constantFrom(...replicas),
      skip: fc.constantFrom('entries' as const, 'range' as const),
      messages: fc.integer({ min: 1, max: messagesMax }),
      size: fc.integer({ min: 0, max: 256 }),
      gaps: fc.array(gap, { maxLength: 3 }),
      faults: fc.array(draws.length === 0 ? fc.constant(null) : fc.oneof(...draws), {
        maxLength: draws.length === 0 ? 0 : most,
      }),
    })
    .map((parts) => composed(parts, options.fields))
    .filter(isScenario);
}

/**
 * The scenario files of a folder, by name, as `examples` of fast-check, which runs them before it
 * draws anything. Errors: usage, one line, when the folder or one of its files cannot be read.
 */
export function pinnedScenarios(folder: string): [Scenario][] {
  return namesIn(folder).map((name) => {
    const { raw, where } = scenarioSource(join(folder, name), readInput);
    planScenario(raw, where, readInput);
    return [raw as Scenario];
  });
}

/** What makes the least of all scenarios wrong makes each of them wrong: none would be drawn. */
function checkLeast(replicas: readonly number[], fields: ScenarioArbitraryOptions['fields']): void {
  if (replicas.length === 0) throw refusal('replicas', replicas, 'a list of sizes of a cluster');
  const least = { seed: 1, skip: 'entries', messages: 1, size: 0, gaps: [], faults: [] } as const;
  for (const count of replicas) {
    planScenario(composed({ ...least, replicas: count }, fields), 'scenarioArbitrary', readInput);
  }
}

interface Parts {
  readonly seed: number;
  readonly replicas: number;
  readonly skip: 'entries' | 'range';
  readonly messages: number;
  readonly size: number;
  readonly gaps: readonly { readonly at: number; readonly count: number }[];
  readonly faults: readonly (FaultDraw | null)[];
}

function composed(parts: Parts, fields: ScenarioArbitraryOptions['fields']): Scenario {
  const { seed, replicas, skip, messages, size } = parts;
  const lastMs = Math.max(0, Math.floor((messages / RATE) * 1_000) - 1);
  const gaps = gapsWithin(parts.gaps, messages);
  const faults = parts.faults.flatMap((draw) => (draw === null ? [] : [triggered(draw, lastMs)]));
  return {
    ...{ version: 1 as const, name: 'drawn', seed, replicas, mirror: { skip } },
    origin: { synthetic: { messages, size, rate: RATE, ...(gaps.length > 0 ? { gaps } : {}) } },
    ...(faults.length > 0 ? { faults } : {}),
    expect: { stallAtMost: STALL_AT_MOST },
    ...fields,
  };
}

/** Within the load, or with a state that it passes through. */
function triggered({ text, trigger }: FaultDraw, lastMs: number): FaultText {
  if (trigger.applied !== null) return { ...text, when: { applied: trigger.applied } };
  return { ...text, at: `${Math.min(trigger.atMs, lastMs)}ms` };
}

/** Rising, each at a place of its own. */
function gapsWithin(
  drawn: Parts['gaps'],
  messages: number,
): { readonly after: number; readonly count: number }[] {
  const byPlace = new Map(drawn.map(({ at, count }) => [Math.min(at, messages), count]));
  return [...byPlace]
    .map(([after, count]) => ({ after, count }))
    .sort((one, other) => one.after - other.after);
}

/** What is drawn may ask for more than its cluster tolerates, or name a member that it has not. */
function isScenario(scenario: Scenario): boolean {
  try {
    planScenario(scenario, 'drawn', readInput);
    return true;
  } catch (error) {
    if (error instanceof LockstepError && error.code === 'usage') return false;
    throw error;
  }
}

function kindsOf(kinds: readonly DrawnKind[]): readonly DrawnKind[] {
  for (const kind of kinds) {
    if (Object.hasOwn(FAULTS, kind)) continue;
    const drawn = Object.keys(FAULTS);
    const why = FAULT_KINDS.includes(kind) ? ' that comes out as it went in' : '';
    throw usageError('kinds', kind, `a kind of fault${why}${nearest(kind, drawn)}`);
  }
  return kinds;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => /\.(ya?ml|json)$/.test(name))
      .sort();
  } catch (error) {
    throw usageError('pinned', folder, `a folder of scenarios (${toErrorData(error).message})`);
  }
}
