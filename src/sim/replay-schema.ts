/**
 * The plan inside a replay file, field by field: what a drawn run consists of, all of it stated.
 * Times are milliseconds (`…Ms`) and microseconds (`…Us`), members are positions from 0 or slots.
 */
import * as z from 'zod';
import type { Conditions, LinkConditions } from './conditions.js';
import type { LinkFate } from './fates.js';
import type { LoadShape, Tuning } from './node.js';
import { ANSWER_FAULTS, DELIVERY_FAULTS, FALSEHOODS, MOMENTS } from './swarm-draws.js';
import type { SwarmAction, SwarmFault, SwarmPlan } from './swarm-plan.js';

const REPLICAS_MAX = 9;
/** Longer than any run: a larger number is a slip. */
const TIME_MAX = 1e12;

function whole(min: number, max = Number.MAX_SAFE_INTEGER): z.ZodNumber {
  const expected = max === Number.MAX_SAFE_INTEGER ? '2^53-1' : String(max);
  const text = `a whole number from ${min} to ${expected}`;
  return z.number(text).int(text).min(min, text).max(max, text);
}

const line = z.string().regex(/^[^\p{Cc}\u2028\u2029]+$/u);
const count = whole(1, 1e9);
const perMille = whole(0, 1_000);
const timeUs = whole(0, TIME_MAX);
const position = whole(0, REPLICAS_MAX - 1);
const timeMs = z
  .number('milliseconds')
  .min(0, 'milliseconds from 0')
  .max(TIME_MAX, 'milliseconds up to 1e12');

const link: z.ZodType<LinkConditions> = z.strictObject({
  delayMinUs: timeUs,
  delayMaxUs: timeUs,
  lossPerMille: perMille,
  duplicatePerMille: perMille,
  reorderPerMille: perMille,
  reorderMaxUs: timeUs,
});

const conditions: z.ZodType<Conditions> = z.strictObject({
  peers: link,
  origin: link,
  control: link,
  writeMinUs: timeUs,
  writeMaxUs: timeUs,
  turnUs: timeUs,
  driftPerMille: whole(0, 500),
});

const forMs = timeMs;
const restartMs = timeMs;
const times = count;
const way = z.enum(['both', 'in', 'out']);

/** A kind of fault with its parameters. */
function kindOf<K extends string, S extends z.core.$ZodLooseShape>(kind: K, shape: S) {
  return z.strictObject({ kind: z.literal(kind), ...shape });
}

const action: z.ZodType<SwarmAction> = z.discriminatedUnion(
  'kind',
  [
    kindOf('failPropose', { times, code: z.enum(['overrun', 'writeFailed']) }),
    kindOf('dropConsumer', {}),
    kindOf('stepDown', {
      to: z.union([z.literal('best'), z.null(), position], 'best, null or a position'),
    }),
    kindOf('flap', {}),
    kindOf('overrun', { entries: whole(0) }),
    kindOf('freeze', { forMs }),
    kindOf('clockRate', { byPerMille: whole(-900, 9_000), forMs }),
    kindOf('kill', { restartMs }),
    kindOf('killAll', { restartMs }),
    kindOf('wipe', {}),
    kindOf('failWrite', { restartMs }),
    kindOf('failSync', { restartMs }),
    kindOf('tornTail', { restartMs }),
    kindOf('slowDisk', { writeUs: timeUs, forMs }),
    kindOf('isolate', { way, forMs }),
    kindOf('partition', { mask: whole(0, 511), way: z.enum(['both', 'out']), forMs }),
    kindOf('topology', { shape: z.enum(['ring', 'bridge', 'spurs']), shift: position, forMs }),
    kindOf('clog', { way, forMs }),
    kindOf('echo', { times, afterMs: timeMs }),
    kindOf('falsify', { how: z.enum(FALSEHOODS), forMs }),
    kindOf('misorder', {}),
    kindOf('cutOrigin', { forMs }),
    kindOf('clogOrigin', { forMs }),
    kindOf('refuseOpening', { times }),
    kindOf('spoilAnswer', { how: z.enum(ANSWER_FAULTS), times }),
    kindOf('spoilDelivery', { how: z.enum(DELIVERY_FAULTS), times }),
    kindOf('delayAnswer', { times, byMs: timeMs }),
    kindOf('loseDeliveries', { times }),
    kindOf('repeatDeliveries', { times }),
    kindOf('stallOrigin', { forMs }),
    kindOf('delete', { first: whole(1), last: whole(1) }),
    kindOf('expire', { count, times, everyMs: timeMs }),
    kindOf('recreate', { messages: count }),
  ],
  'a kind of fault',
);

const fault: z.ZodType<SwarmFault> = z.strictObject({
  id: line.exactOptional(),
  atMs: timeMs,
  when: z.enum(MOMENTS).exactOptional(),
  target: z.union([z.literal('leader'), position], 'leader or a position'),
  action,
});

const fate: z.ZodType<LinkFate> = z.strictObject({
  link: z
    .string()
    .regex(/^(r[1-9]|origin|conductor) to (r[1-9]|origin|conductor)$/, 'a link such as r1 to r2'),
  nth: whole(1),
  fate: z.enum(['lost', 'doubled', 'overtaken']),
  byUs: timeUs,
});

const tuning: z.ZodType<Tuning> = z.strictObject({
  preVote: z.boolean(),
  checkQuorum: z.boolean(),
  limits: z.strictObject({
    heartbeatTicks: count.exactOptional(),
    electionTicksMin: count.exactOptional(),
    electionTicksMax: count.exactOptional(),
    inflightAppendsMax: count.exactOptional(),
    inflightBytesMax: count.exactOptional(),
    appendBytesMax: count.exactOptional(),
    uncommittedBytesMax: count.exactOptional(),
    logEntriesMax: count.exactOptional(),
    batchCountMax: count.exactOptional(),
    batchBytesMax: count.exactOptional(),
    recordBytesMax: count.exactOptional(),
  }),
  window: z.strictObject({ messages: count, bytes: count, recordBytes: count }).exactOptional(),
});

const load: z.ZodType<LoadShape> = z.strictObject({
  heldBack: whole(0, 1e9),
  burst: z.union([z.null(), z.strictObject({ messages: count, everyMs: timeMs })]),
  sizeMax: whole(0, 1e9),
  headersEvery: count,
});

export const swarmPlanSchema: z.ZodType<SwarmPlan> = z.strictObject({
  seed: whole(0),
  replicas: whole(1, REPLICAS_MAX),
  election: z.enum(['conductor', 'timers', 'both']),
  skip: z.enum(['entries', 'range']),
  timeScale: z.number('a number').min(0.001, 'a number from 0.001').max(10, 'a number up to 10'),
  tuning: tuning.exactOptional(),
  load: load.exactOptional(),
  origin: z.strictObject({
    kind: z.literal('synthetic'),
    messages: count,
    size: whole(0, 1e9),
    rate: z.union([z.null(), count], 'messages a second, or null'),
    gaps: z.array(z.strictObject({ after: whole(0, 1e9), count })),
  }),
  conditions,
  faults: z.array(fault),
  fates: z.array(fate).exactOptional(),
  safetyMs: timeMs,
  core: z.array(position),
  sentinelAfterMs: timeMs.exactOptional(),
  beyondQuorum: z.boolean().exactOptional(),
});
