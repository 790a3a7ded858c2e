/** What a soak plays: scenarios drawn from a seed, with a fault every FAULT_EVERY_MS. */
import { createPrng, type Prng } from '../src/base/prng.js';
import type { FaultKind } from '../src/scenario/types.js';

export const FAULT_EVERY_MS = 250;
const RATE = 100;
const MEMBERS = ['leader', 'follower', 'follower:lagging', 'any', 'r2'];
const LINKS = [
  'isolate:leader',
  'from:any',
  'to:follower',
  'minority:with-leader',
  'bridge:leader',
];

type Draw = (prng: Prng) => object;

/** Faults that their cluster outlives, so that they may go on for hours. */
const LASTING: Readonly<Partial<Record<FaultKind, Draw>>> = {
  stepDown: (prng) => ({ stepDown: 'leader', to: pick(prng, 'to', ['best', 'none']) }),
  flap: () => ({ flap: 'leader' }),
  overrun: () => ({ overrun: 'leader' }),
  freeze: (prng) => ({ freeze: pick(prng, 'who', MEMBERS), for: '150ms' }),
  slow: (prng) => ({ slow: pick(prng, 'who', MEMBERS), by: '2ms', for: '150ms' }),
  failPropose: (prng) =>
    prng.chance('by chance', 1, 2)
      ? { failPropose: 'leader', rate: 0.1, for: '100ms' }
      : { failPropose: 'leader', times: 2 },
  partition: (prng) => ({ partition: pick(prng, 'links', LINKS), for: '150ms' }),
  link: (prng) => ({
    ...{ link: pick(prng, 'links', [...LINKS, 'all']), for: '150ms', loss: 0.05, reorder: 0.05 },
    ...{ latency: '1ms..5ms', duplicate: 0.05 },
    between: pick(prng, 'between', ['peers', 'origin', 'all']),
  }),
  dropConsumer: () => ({ dropConsumer: true }),
  refuseOpening: () => ({ refuseOpening: true, times: 1 }),
  loseDeliveries: () => ({ loseDeliveries: true, times: 5 }),
  repeatDeliveries: () => ({ repeatDeliveries: true, times: 20 }),
  stallOrigin: () => ({ stallOrigin: true, for: '100ms' }),
  originDelete: () => ({ originDelete: 'next:20' }),
  originPurge: () => ({ originPurge: 'next:10' }),
  originExpire: () => ({ originExpire: 100 }),
};

/** Raw data of a scenario of this length. With `ends`, one member ends with the last fault. */
export function soakScenario(
  seed: number,
  { forMs, replicas, ends }: SoakShape,
): Record<string, unknown> {
  const prng = createPrng(seed).fork('soak');
  const count = Math.floor(forMs / FAULT_EVERY_MS);
  const kinds = Object.keys(LASTING) as (keyof typeof LASTING)[];
  const faults = Array.from({ length: count }, (_, at) => {
    const draws = prng.fork(String(at));
    const isLast = ends && at === count - 1;
    const fault = isLast ? { kill: 'any' } : LASTING[pick(draws, 'kind', kinds)]!(draws);
    return { ...fault, at: `${(at + 1) * FAULT_EVERY_MS}ms` };
  });
  const messages = Math.ceil(((forMs + FAULT_EVERY_MS) * RATE) / 1_000);
  const gaps = Array.from({ length: Math.floor(messages / 500) }, (_, at) => ({
    after: at * 500 + 250,
    count: 5_000,
  }));
  return {
    ...{ version: 1, name: `soak ${seed}`, seed, replicas },
    mirror: { skip: pick(prng, 'skip', ['entries', 'range']) },
    origin: { synthetic: { messages, size: 32, rate: RATE, gaps } },
    faults,
    // On a busy machine a cluster seldom recovers before the next fault falls.
    expect: { stallAtMost: '60s' },
    timeLimit: `${2 * forMs + 60_000}ms`,
  };
}

export interface SoakShape {
  readonly forMs: number;
  readonly replicas: number;
  readonly ends: boolean;
}

function pick<T>(prng: Prng, label: string, values: readonly T[]): T {
  return values[prng.below(label, values.length)]!;
}
