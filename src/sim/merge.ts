/**
 * One summary from those of all shards of a sweep. What does not belong together, comes twice or
 * is missing is refused: a verdict over a part would read as one over the whole.
 */
import * as z from 'zod';
import { FAULT_CELL } from '../base/cells.js';
import { LockstepError, toErrorData, usageError } from '../base/errors.js';
import { issueError } from '../scenario/issues.js';
import { readText, type ReadFile } from '../scenario/source.js';
import { judgeGates } from '../verdict/coverage.js';
import { decide } from '../verdict/decide.js';
import {
  addCells,
  missedGates,
  ratesOf,
  sortedCells,
  type ShardSummary,
  type SweepAsked,
  type SweepEnd,
  type SweepSummary,
} from '../verdict/sweep.js';
import type { Verdict } from '../verdict/types.js';
import { FOCUSES } from './swarm-focus.js';

const count = z.int('a whole number from 0 to 2^53-1').min(0);
const figure = z.number('a number').min(0);
const failing = z.enum(['violated', 'inconclusive', 'stalled', 'uncovered', 'harness']);
const ends = z.enum(['seeds', 'plateau', 'timeLimit', 'failure', 'signal']);

const askedSchema = z.strictObject({
  version: z.string(),
  scenario: z.string().nullable(),
  conditions: z.enum(['calm', 'drawn']),
  beyondQuorum: z.boolean(),
  focus: z.enum(FOCUSES).nullable(),
  checkDeterminism: z.boolean(),
  first: count,
  seeds: count.nullable(),
  untilPlateau: count.nullable(),
  timeLimitMs: figure.nullable(),
  mustHit: z.array(z.string().regex(FAULT_CELL, 'a cell such as leader:skipping:kill')),
  shard: z
    .string('a shard such as 3/16')
    .regex(/^[1-9]\d{0,3}\/[1-9]\d{0,3}$/, 'a shard such as 3/16'),
});

const summarySchema = z.strictObject({
  schema: z.literal(1),
  verdict: z.enum(['held', ...failing.options]),
  seeds: count,
  failed: z.array(
    z.strictObject({
      seed: count,
      verdict: failing,
      property: z.string(),
      text: z.string(),
      replay: z.string(),
    }),
  ),
  seedsPerSecond: figure,
  simulatedSeconds: figure,
  wallSeconds: figure,
  timesRealTime: figure,
  coverage: z.record(z.string(), count),
  gates: z.array(
    z.strictObject({
      mustHit: z.string(),
      times: count,
      nearest: z.strictObject({ cell: z.string(), times: count }).nullable(),
    }),
  ),
  ended: ends,
  asked: askedSchema,
  scaling: z.array(z.strictObject({ cores: count, seedsPerSecond: figure })).optional(),
});

type ShardFile = z.infer<typeof summarySchema> & { readonly path: string };

/** Gravest first. */
const ENDS: readonly SweepEnd[] = ['signal', 'failure', 'timeLimit', 'plateau', 'seeds'];

/**
 * Errors: usage, with the file that is wrong.
 */
export function mergeShards(paths: readonly string[], read: ReadFile): SweepSummary {
  const files = paths.map((path) => shardFile(path, read));
  for (const file of files) agree(files[0]!, file);
  const shards = inOrder(files);
  const cells = new Map<string, number>();
  for (const { coverage } of shards) addCells(cells, coverage);
  const sum = (of: (file: ShardFile) => number): number =>
    shards.reduce((total, file) => total + of(file), 0);
  const seeds = sum((file) => file.seeds);
  const simulatedMs = sum((file) => file.simulatedSeconds) * 1_000;
  const wallMs = Math.max(...shards.map((file) => file.wallSeconds)) * 1_000;
  const coverage = sortedCells(cells);
  const gates = judgeGates(shards[0]!.asked.mustHit, coverage);
  return {
    schema: 1,
    verdict: decide([...shards.flatMap(reasonOf), ...missedGates(gates)]),
    seeds,
    failed: shards.flatMap(({ failed }) => failed).sort((one, other) => one.seed - other.seed),
    ...ratesOf(seeds, simulatedMs, wallMs),
    coverage,
    gates,
    ended: ENDS.find((end) => shards.some(({ ended }) => ended === end))!,
    asked: { ...shards[0]!.asked, shard: null },
    shards: shards.map(shardOf),
  };
}

function shardFile(path: string, read: ReadFile): ShardFile {
  const text = readText('merge', path, read);
  let raw: unknown;
  try {
    if (text.trim() === '') throw new Error('the file is empty');
    raw = JSON.parse(text);
  } catch (error) {
    throw new LockstepError('usage', `${path}: ${toErrorData(error).message}`);
  }
  if (typeof raw !== 'object' || raw === null || !('asked' in raw)) {
    throw new LockstepError('usage', `${path}: not the summary of a shard of a sweep`);
  }
  const { asked } = raw as { readonly asked: { readonly shard?: unknown } | null };
  if (asked?.shard === null) {
    throw new LockstepError('usage', `${path}: the summary of a whole sweep, not of one shard`);
  }
  const parsed = summarySchema.safeParse(raw);
  if (parsed.success) return { ...parsed.data, path };
  const { message } = issueError(parsed.error.issues, raw, summarySchema);
  throw new LockstepError('usage', `${path}: ${message}`);
}

/** Both are of one sweep: asked the same, and split in the same way. */
function agree(one: ShardFile, other: ShardFile): void {
  const asked = (file: ShardFile): Record<string, unknown> => {
    const shard = `one of ${splitOf(file).of}`;
    return { ...file.asked, shard } satisfies SweepAsked & { shard: string };
  };
  const wanted = asked(one);
  for (const [key, value] of Object.entries(asked(other))) {
    if (JSON.stringify(value) === JSON.stringify(wanted[key])) continue;
    const expected = `${JSON.stringify(wanted[key])} as in ${one.path}`;
    throw usageError(`${other.path}: asked.${key}`, value, expected);
  }
}

/** Every shard once. */
function inOrder(files: readonly ShardFile[]): ShardFile[] {
  const { of } = splitOf(files[0]!);
  const shards = Array<ShardFile | undefined>(of).fill(undefined);
  for (const file of files) {
    const { index } = splitOf(file);
    const before = shards[index - 1];
    if (before !== undefined) {
      const text = `${file.path}: shard ${file.asked.shard} is in ${before.path} already`;
      throw new LockstepError('usage', text);
    }
    shards[index - 1] = file;
  }
  const missing = shards.flatMap((file, at) => (file === undefined ? [`${at + 1}/${of}`] : []));
  if (missing.length === 0) return shards as ShardFile[];
  throw new LockstepError('usage', `merge: no file is given of shard ${missing.join(', ')}`);
}

function splitOf({ path, asked }: ShardFile): { readonly index: number; readonly of: number } {
  const [index = 0, of = 0] = asked.shard.split('/').map(Number);
  if (index <= of) return { index, of };
  throw usageError(`${path}: asked.shard`, asked.shard, 'a shard such as 3/16');
}

function shardOf({
  asked: { shard },
  verdict,
  seeds,
  ended,
  wallSeconds,
}: ShardFile): ShardSummary {
  return { shard, verdict, seeds, ended, wallSeconds };
}

function reasonOf({ asked, verdict }: ShardFile): { verdict: Failing; text: string }[] {
  return verdict === 'held' ? [] : [{ verdict, text: `shard ${asked.shard}` }];
}

type Failing = Exclude<Verdict, 'held'>;
