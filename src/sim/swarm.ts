/**
 * A whole run drawn from one seed: size of the cluster, load and gaps, encoding of skips, links,
 * disks, clocks, bounds and a list of faults. Each draw has its own label, so that one draw more or
 * less does not move the others. Which kinds of fault may come is drawn too (swarm testing: Groce
 * et al., ISSTA 2012): runs without a kind reach states that it would have hidden.
 */
import { createPrng, type OnDraw, type Prng } from '../base/prng.js';
import type { SyntheticOriginPlan } from '../scenario/types.js';
import type { Conditions, LinkConditions } from './conditions.js';
import type { LoadShape, Tuning } from './node.js';
import { drawFaults } from './swarm-draws.js';
import { FOCUS_DRAWS, LEANINGS, type Leaning, type SwarmFocus } from './swarm-focus.js';
import type { SwarmPlan } from './swarm-plan.js';

export { faultId, toleratedOf } from './swarm-plan.js';
export type { SwarmAction, SwarmFault, SwarmKind, SwarmPlan, SwarmTarget } from './swarm-plan.js';

export interface DrawOptions {
  readonly onDraw?: OnDraw | undefined;
  /** More faults than the cluster tolerates, and no phase in which it owes progress. */
  readonly beyondQuorum?: boolean;
  /** What the run leans to; not given: drawn. */
  readonly focus?: SwarmFocus | undefined;
  /** Not given: drawn. */
  readonly replicas?: number;
}

const SAFETY_MS_MIN = 500;
const SAFETY_MS_MAX = 3_000;
const GAP_COUNTS = [1, 7, 300, 9_999, 10_000, 10_001, 20_000, 25_000];
/** Where a batch takes few skips, a large gap is as many entries and shows nothing more. */
const SMALL_GAP_COUNTS = [1, 7, 60, 300];
const BATCH_COUNTS = [1, 2, 7, 100, 10_000];
const SMALL_BATCH = 1_000;
/** Of a message with its subject, headers and padding, beside its payload. */
const RECORD_EXTRA_BYTES = 88;

export function drawSwarm(seed: number, options: DrawOptions = {}): SwarmPlan {
  const { beyondQuorum = false, onDraw } = options;
  const prng = createPrng(seed, onDraw).fork('swarm');
  const drawn = pick(prng, 'focus', FOCUS_DRAWS);
  // What breaks more than is tolerated leans to that alone.
  const leaning = LEANINGS[options.focus ?? (beyondQuorum ? 'mixed' : drawn)];
  const replicas = options.replicas ?? pick(prng, 'replicas', leaning.replicas);
  const safetyMs = prng.between('safety', SAFETY_MS_MIN, SAFETY_MS_MAX);
  const size = prng.between('size', 0, 256);
  const sizeMax = size + pick(prng, 'sizes', [0, 0, 100, 1_000, 8_000]);
  const tuning = drawTuning(prng.fork('tuning'), sizeMax, leaning);
  const skipsMost = tuning.limits.batchCountMax ?? SMALL_BATCH;
  const gapCounts = skipsMost < SMALL_BATCH ? SMALL_GAP_COUNTS : GAP_COUNTS;
  const origin = drawOrigin(prng.fork('origin'), { safetyMs, size, gapCounts, leaning });
  return {
    seed,
    replicas,
    election: pick(prng, 'election', leaning.elections),
    skip: pick(prng, 'skip', ['entries', 'range']),
    timeScale: pick(prng, 'time scale', [0.01, 0.05]),
    origin,
    load: drawLoad(prng.fork('load'), origin, sizeMax),
    tuning,
    conditions: drawConditions(prng.fork('conditions'), leaning),
    faults: drawFaults(prng.fork('faults'), { replicas, safetyMs, origin, beyondQuorum, leaning }),
    safetyMs,
    core: drawCore(prng.fork('core'), replicas),
    sentinelAfterMs: prng.between('sentinel', 0, 300),
    beyondQuorum,
  };
}

function drawOrigin(
  prng: Prng,
  of: {
    readonly safetyMs: number;
    readonly size: number;
    readonly gapCounts: readonly number[];
    readonly leaning: Leaning;
  },
): SyntheticOriginPlan {
  const messages = prng.between('messages', 20, 2_000);
  const gaps: { after: number; count: number }[] = [];
  const { gapsMin, gapsMax, floods } = of.leaning;
  const wanted = prng.between('gaps', gapsMin, gapsMax);
  let after = 0;
  for (let gap = 0; gap < wanted; gap++) {
    after += prng.between('after', gap === 0 ? 0 : 1, Math.max(1, Math.floor(messages / 3)));
    if (after > messages) break;
    gaps.push({ after, count: pick(prng, 'count', of.gapCounts) });
  }
  // Most runs deliver over the whole phase, so that faults fall into a load.
  const paced = Math.max(1, Math.floor((messages * 1_100) / of.safetyMs));
  const rate = prng.chance('flood', floods, 20) ? null : paced;
  return { kind: 'synthetic', messages, size: of.size, rate, gaps };
}

/** Of what is not paced, half comes in bursts. */
function drawLoad(prng: Prng, { messages, rate }: SyntheticOriginPlan, sizeMax: number): LoadShape {
  const bursts = rate === null && prng.chance('bursts', 1, 2);
  const burst = {
    messages: prng.between('burst', 1, Math.ceil(messages / 4)),
    everyMs: prng.between('every', 5, 300),
  };
  return {
    heldBack: prng.between('held back', 1, 15),
    burst: bursts ? burst : null,
    sizeMax,
    headersEvery: pick(prng, 'headers', [1, 8, 8, 1_000_000]),
  };
}

/** Some runs have bounds so small that they are met all the time. */
function drawTuning(prng: Prng, sizeMax: number, leaning: Leaning): Tuning {
  const electionTicksMin = pick(prng, 'election', leaning.electionTicks);
  const timing = {
    electionTicksMin,
    electionTicksMax: 2 * electionTicksMin,
    heartbeatTicks: Math.max(1, Math.floor(electionTicksMin / 4)),
  };
  const checks = {
    preVote: !prng.chance('no pre-vote', 1, 6),
    checkQuorum: !prng.chance('no check-quorum', 1, 6),
  };
  if (!prng.chance('tight', leaning.tight, 20)) return { ...checks, limits: timing };
  const recordBytesMax = sizeMax + RECORD_EXTRA_BYTES;
  const batchBytesMax = recordBytesMax * pick(prng, 'batch bytes', leaning.batchRecords);
  return {
    ...checks,
    limits: {
      ...timing,
      recordBytesMax,
      batchBytesMax,
      batchCountMax: pick(prng, 'batch', BATCH_COUNTS),
      uncommittedBytesMax: batchBytesMax * pick(prng, 'uncommitted', leaning.uncommittedBatches),
      inflightAppendsMax: pick(prng, 'inflight', [1, 2, 8, 64]),
      inflightBytesMax: batchBytesMax * pick(prng, 'inflight bytes', [1, 4]),
      appendBytesMax: pick(prng, 'append', [1, batchBytesMax, 10 * batchBytesMax]),
    },
    window: {
      messages: pick(prng, 'window', [1, 5, 64, 65_536]),
      bytes: recordBytesMax * pick(prng, 'window bytes', [1, 3, 50]),
      recordBytes: recordBytesMax,
    },
  };
}

export function drawConditions(prng: Prng, { links } = LEANINGS.mixed): Conditions {
  return {
    peers: drawLink(prng.fork('peers'), links),
    origin: drawLink(prng.fork('origin'), LEANINGS.mixed.links),
    control: drawLink(prng.fork('control'), LEANINGS.mixed.links),
    writeMinUs: 10,
    writeMaxUs: pick(prng, 'write', [50, 500, 5_000, 20_000]),
    turnUs: pick(prng, 'turn', [5, 20, 200]),
    driftPerMille: pick(prng, 'drift', [0, 0, 20, 100]),
  };
}

function drawLink(prng: Prng, links: Leaning['links']): LinkConditions {
  const delayMinUs = pick(prng, 'delay', [20, 100, 1_000]);
  return {
    delayMinUs,
    delayMaxUs: delayMinUs * pick(prng, 'spread', [1, 2, 10]),
    lossPerMille: pick(prng, 'loss', [0, 0, 1, 10, 50]),
    duplicatePerMille: pick(prng, 'duplicate', links.duplicate),
    reorderPerMille: pick(prng, 'reorder', links.reorder),
    reorderMaxUs: pick(prng, 'overtaken', links.overtakenUs),
  };
}

/** All members in most runs, else a majority. */
function drawCore(prng: Prng, replicas: number): number[] {
  const positions = Array.from({ length: replicas }, (_, at) => at);
  if (!prng.chance('some stay out', 1, 3)) return positions;
  for (let out = prng.between('out', 1, Math.max(1, Math.ceil(replicas / 2) - 1)); out > 0; out--) {
    if ((positions.length - 1) * 2 <= replicas) break;
    positions.splice(prng.below('who', positions.length), 1);
  }
  return positions;
}

function pick<T>(prng: Prng, label: string, values: readonly T[]): T {
  return values[prng.below(label, values.length)]!;
}
