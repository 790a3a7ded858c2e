/** Scenarios drawn from a seed: some of all faults at drawn moments, within what is tolerated. */
import { ORIGIN_WINDOW_BYTES, UNCOMMITTED_BYTES_MAX } from '../../src/base/limits.js';
import { createPrng, type Prng } from '../../src/base/prng.js';
import { FAULT_KINDS } from '../../src/scenario/schema.js';
import type { FaultKind } from '../../src/scenario/types.js';

/**
 * More than a mirror can be handed while nothing of it is applied: what the leader may hold
 * uncommitted, and the origin's window. Twice that.
 */
const BEYOND_REACH = {
  messages: (2 * (UNCOMMITTED_BYTES_MAX + ORIGIN_WINDOW_BYTES)) / 1_024,
  size: 1_024,
};
const MESSAGES = 20_000;
const RATE = 40_000;
/** Faults fall while there is a load. */
const SPAN = '5ms..400ms';
const MEMBERS = ['leader', 'follower', 'follower:lagging', 'follower:ahead', 'any', 'r2'];
const LINKS = [
  'isolate:leader',
  'from:any',
  'to:follower',
  'minority:with-leader',
  'r1/r2+r3+r4+r5',
  'ring',
  'bridge:leader',
];
/** What ends its member: of five, two may go; one is left for what takes a member away for a while. */
const ENDING: readonly FaultKind[] = ['kill', 'outOfMemory', 'failWrites', 'wipe'];

type Draw = (prng: Prng) => object;

/** Those that members of our own can suffer. */
export const DRAWN_KINDS = FAULT_KINDS.filter(
  (kind) => kind !== 'reload' && kind !== 'metaStepDown',
);

const FAULTS: Readonly<Record<FaultKind, Draw>> = {
  stepDown: (prng) => ({ stepDown: 'leader', to: pick(prng, 'to', ['best', 'none', 'r3']) }),
  flap: () => ({ flap: 'leader' }),
  kill: (prng) => ({ kill: pick(prng, 'who', MEMBERS) }),
  outOfMemory: (prng) => ({ outOfMemory: pick(prng, 'who', MEMBERS) }),
  failWrites: (prng) => ({ failWrites: pick(prng, 'who', MEMBERS) }),
  failSync: (prng) => ({ failSync: pick(prng, 'who', MEMBERS), restartAfter: '100ms' }),
  tornTail: (prng) => ({ tornTail: pick(prng, 'who', MEMBERS), restartAfter: '100ms' }),
  wipe: (prng) => ({ wipe: pick(prng, 'who', MEMBERS) }),
  slowDisk: (prng) => ({ slowDisk: pick(prng, 'who', MEMBERS), by: '10ms', for: '150ms' }),
  clockRate: (prng) => ({
    ...{ clockRate: pick(prng, 'who', MEMBERS), for: '150ms' },
    factor: pick(prng, 'factor', [0.5, 1.5]),
  }),
  overrun: () => ({ overrun: 'leader' }),
  reload: () => ({ reload: 'leader' }),
  metaStepDown: () => ({ metaStepDown: true }),
  freeze: (prng) => ({ freeze: pick(prng, 'who', MEMBERS), for: '150ms' }),
  slow: (prng) => ({ slow: pick(prng, 'who', MEMBERS), by: '2ms', for: '150ms' }),
  failPropose: (prng) =>
    prng.chance('by chance', 1, 2)
      ? { failPropose: 'leader', rate: 0.1, for: '100ms' }
      : { failPropose: 'leader', times: 2, code: 'writeFailed' },
  partition: (prng) => ({ partition: pick(prng, 'links', LINKS), for: '200ms' }),
  link: (prng) => ({
    ...{ link: pick(prng, 'links', [...LINKS, 'all']), for: '200ms', loss: 0.05, reorder: 0.05 },
    ...{ latency: '1ms..5ms', duplicate: 0.05 },
    between: pick(prng, 'between', ['peers', 'origin', 'all']),
  }),
  dropConsumer: () => ({ dropConsumer: true }),
  refuseOpening: () => ({ refuseOpening: true, times: 1 }),
  loseDeliveries: (prng) =>
    prng.chance('by chance', 1, 2)
      ? { loseDeliveries: true, rate: 0.01, for: '100ms' }
      : { loseDeliveries: true, times: 50 },
  repeatDeliveries: () => ({ repeatDeliveries: true, times: 100 }),
  stallOrigin: () => ({ stallOrigin: true, for: '150ms' }),
  originDelete: () => ({ originDelete: 'next:200' }),
  originPurge: () => ({ originPurge: 'next:100' }),
  originExpire: () => ({ originExpire: 1_000 }),
  originRecreate: () => ({ originRecreate: 500 }),
};

/** One of a kind as it is written, without its trigger. */
export function drawFault(kind: FaultKind, prng: Prng): object {
  return FAULTS[kind](prng);
}

/** Raw data of a scenario: five replicas, and so many faults. */
export function mixedScenario(seed: number): Record<string, unknown> {
  const prng = createPrng(seed).fork('mixed');
  const kinds: FaultKind[] = [];
  for (let fault = 0; fault < 7; fault++) {
    const kind = pick(prng, 'kind', DRAWN_KINDS);
    const endings = kinds.filter((known) => ENDING.includes(known)).length;
    if (ENDING.includes(kind) && endings === 1) continue;
    // Each refusal in a row is waited for longer: many of them are a stall that is meant to be.
    if (kind === 'refuseOpening' && kinds.includes(kind)) continue;
    // What takes the name of the origin ends what there is to mirror: it is drawn alone, below.
    if (kind !== 'originRecreate') kinds.push(kind);
  }
  const faults = kinds.map((kind, at) => ({
    ...FAULTS[kind](prng.fork(String(at))),
    ...triggerOf(prng.fork(`trigger ${at}`)),
  }));
  const isLast = prng.chance('recreate', 1, 10);
  // Set off while there is more to come: whoever was handed everything is never told.
  const recreated = { ...FAULTS.originRecreate(prng), when: { applied: 5_000 } };
  return {
    ...{ version: 1, name: `mixed ${seed}`, seed, replicas: 5 },
    mirror: { skip: pick(prng, 'skip', ['entries', 'range']) },
    origin: {
      synthetic: {
        ...(isLast ? BEYOND_REACH : { messages: MESSAGES, rate: RATE }),
        gaps: [{ after: 4_000, count: 25_000 }],
      },
    },
    // Alone: a mirror that came to the end before it, or has no leader just then, is not told.
    faults: isLast ? [recreated] : faults,
    expect: { stallAtMost: '5s', mirror: isLast ? 'diverged' : 'running' },
  };
}

/** A time, or a state that the load passes through; now and then it strikes again. */
function triggerOf(prng: Prng): object {
  switch (prng.below('trigger', 5)) {
    case 0:
      return { when: { skipped: prng.between('skipped', 1, 20_000) } };
    case 1:
      return { when: { applied: prng.between('applied', 1, 10_000) } };
    case 2:
      return { when: { appended: { on: prng.between('on', 1, 5), of: 5 } } };
    case 3:
      return { at: SPAN, every: '30ms..60ms', repeat: 2 };
    default:
      return { at: SPAN };
  }
}

function pick<T>(prng: Prng, label: string, values: readonly T[]): T {
  return values[prng.below(label, values.length)]!;
}
