/**
 * What many seeds came to: the report of one, and the summary over all of them. Plain data, so that
 * it crosses threads and files. A summary states what was asked, so that shards can be merged and a
 * reader sees what a verdict stands on.
 */
import { judgeGates, type Cells, type Gate } from './coverage.js';
import { decide } from './decide.js';
import type { Reason, Verdict } from './types.js';

/** Why a seed failed. `property` is an invariant's name, `mirror: …`, `catch-up`, … */
export interface SeedFailure {
  readonly verdict: Exclude<Verdict, 'held'>;
  readonly property: string;
  readonly text: string;
}

export interface SeedReport {
  readonly seed: number;
  /** Null: held. */
  readonly failure: SeedFailure | null;
  readonly simulatedMs: number;
  /** How often each cell of the coverage was met, by its name. */
  readonly cells: Cells;
}

/** What a sweep was asked to do: shards that agree in all but `shard` belong together. */
export interface SweepAsked {
  readonly version: string;
  /** The file as it was given; null: drawn runs. */
  readonly scenario: string | null;
  readonly conditions: 'calm' | 'drawn';
  readonly beyondQuorum: boolean;
  /** What drawn runs were to lean to; null: each draws it. */
  readonly focus: string | null;
  readonly checkDeterminism: boolean;
  readonly first: number;
  /** Null: as many as come until something else ends it. */
  readonly seeds: number | null;
  /** Seeds without a new cell after which enough was seen. */
  readonly untilPlateau: number | null;
  readonly timeLimitMs: number | null;
  /** Cells of the coverage that it has to meet. */
  readonly mustHit: readonly string[];
  /** `3/16`: positions 3, 19, 35, … of the seeds; null: all of them. */
  readonly shard: string | null;
}

/** What ended a sweep. */
export type SweepEnd = 'seeds' | 'plateau' | 'timeLimit' | 'failure' | 'signal';

export interface FailedSeed extends SeedFailure {
  readonly seed: number;
  readonly replay: string;
}

export interface SweepSummary {
  readonly schema: 1;
  readonly verdict: Verdict;
  /** Seeds that were played to their end. */
  readonly seeds: number;
  readonly failed: readonly FailedSeed[];
  readonly seedsPerSecond: number;
  readonly simulatedSeconds: number;
  readonly wallSeconds: number;
  readonly timesRealTime: number;
  readonly coverage: Cells;
  /** What came of `asked.mustHit`, in its order. */
  readonly gates: readonly Gate[];
  readonly ended: SweepEnd;
  readonly asked: SweepAsked;
  /** Of a merged summary: its shards, in order. */
  readonly shards?: readonly ShardSummary[];
  /** Measured on request: the same seeds on one core, then on all. */
  readonly scaling?: readonly { readonly cores: number; readonly seedsPerSecond: number }[];
}

export type ShardSummary = Pick<SweepSummary, 'verdict' | 'seeds' | 'ended' | 'wallSeconds'> & {
  readonly shard: string;
};

/** A finding ends a sweep that is not to go on; a seed that showed nothing does not. */
export function isFinding({ verdict }: SeedFailure): boolean {
  return verdict === 'violated' || verdict === 'stalled' || verdict === 'harness';
}

/** Adds up the reports of a sweep. */
export class SweepTally {
  readonly #replayOf: (seed: number) => string;
  readonly #failed: FailedSeed[] = [];
  readonly #cells = new Map<string, number>();
  #seeds = 0;
  #simulatedMs = 0;
  #withoutNewCell = 0;

  /** @param replayOf  the command that plays a seed again */
  constructor(replayOf: (seed: number) => string) {
    this.#replayOf = replayOf;
  }

  get seeds(): number {
    return this.#seeds;
  }

  get failed(): readonly FailedSeed[] {
    return this.#failed;
  }

  get cells(): number {
    return this.#cells.size;
  }

  get simulatedMs(): number {
    return this.#simulatedMs;
  }

  /** Seeds since the last one that met a cell for the first time. */
  get withoutNewCell(): number {
    return this.#withoutNewCell;
  }

  add({ seed, failure, simulatedMs, cells }: SeedReport): void {
    this.#seeds++;
    this.#simulatedMs += simulatedMs;
    if (failure !== null) this.#failed.push({ seed, ...failure, replay: this.#replayOf(seed) });
    const known = this.#cells.size;
    addCells(this.#cells, cells);
    this.#withoutNewCell = this.#cells.size > known ? 0 : this.#withoutNewCell + 1;
  }

  summary(wallMs: number, ended: SweepEnd, asked: SweepAsked): SweepSummary {
    const coverage = sortedCells(this.#cells);
    const gates = judgeGates(asked.mustHit, coverage);
    return {
      schema: 1,
      verdict: verdictOf(this.#failed, this.#seeds, { ended, asked, gates }),
      seeds: this.#seeds,
      failed: this.#failed,
      ...ratesOf(this.#seeds, this.#simulatedMs, wallMs),
      coverage,
      gates,
      ended,
      asked,
    };
  }
}

/**
 * A time limit ends a sweep as asked only when nothing else was asked for: then as many seeds as
 * fit are enough. Otherwise what was not found may be in what was not played. A shard is not held
 * to gates: what it did not meet another one may have met.
 */
function verdictOf(
  failed: readonly SeedFailure[],
  seeds: number,
  { ended, asked, gates }: Pick<SweepSummary, 'ended' | 'asked' | 'gates'>,
): Verdict {
  const limitWasAim = asked.seeds === null && asked.untilPlateau === null;
  const early = ended === 'signal' || (ended === 'timeLimit' && !limitWasAim);
  const isEnough = !early && seeds > 0;
  return decide([
    ...failed,
    ...(isEnough ? [] : [{ verdict: 'inconclusive', text: 'ended early' } as const]),
    ...(asked.shard === null ? missedGates(gates) : []),
  ]);
}

export function missedGates(gates: readonly Gate[]): Reason[] {
  const missed = gates.filter(({ times }) => times === 0);
  return missed.map(({ mustHit }) => ({ verdict: 'uncovered', text: mustHit }));
}

/** Cells of several seeds or shards in one. */
export function addCells(sum: Map<string, number>, cells: Cells): void {
  for (const [cell, count] of Object.entries(cells)) sum.set(cell, (sum.get(cell) ?? 0) + count);
}

export function sortedCells(cells: ReadonlyMap<string, number>): Record<string, number> {
  return Object.fromEntries([...cells].sort(([one], [other]) => (one < other ? -1 : 1)));
}

export function ratesOf(
  seeds: number,
  simulatedMs: number,
  wallMs: number,
): Pick<SweepSummary, 'seedsPerSecond' | 'simulatedSeconds' | 'wallSeconds' | 'timesRealTime'> {
  return {
    seedsPerSecond: tenths((seeds * 1_000) / wallMs),
    simulatedSeconds: tenths(simulatedMs / 1_000),
    wallSeconds: tenths(wallMs / 1_000),
    timesRealTime: tenths(simulatedMs / wallMs),
  };
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}
