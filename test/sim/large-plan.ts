/** A run with something of everything, and as many fates of messages as one could want. */
import type { Conditions } from '../../src/sim/conditions.js';
import type { LinkFate } from '../../src/sim/fates.js';
import type { SwarmPlan } from '../../src/sim/swarm.js';

export const ROUGH_LINK = {
  delayMinUs: 100,
  delayMaxUs: 1_000,
  lossPerMille: 20,
  duplicatePerMille: 30,
  reorderPerMille: 50,
  reorderMaxUs: 3_000,
};
export const ROUGH: Conditions = {
  peers: ROUGH_LINK,
  origin: ROUGH_LINK,
  control: ROUGH_LINK,
  writeMinUs: 10,
  writeMaxUs: 2_000,
  turnUs: 50,
  driftPerMille: 20,
};

/** Five members, eight faults, three gaps, rough links: something of everything. */
export const LARGE: SwarmPlan = {
  seed: 11,
  replicas: 5,
  election: 'both',
  skip: 'entries',
  timeScale: 0.05,
  origin: {
    kind: 'synthetic',
    messages: 600,
    size: 40,
    rate: 600,
    gaps: [
      { after: 0, count: 7 },
      { after: 200, count: 25_000 },
      { after: 400, count: 300 },
    ],
  },
  conditions: ROUGH,
  faults: [
    { id: 'a', atMs: 100, target: 3, action: { kind: 'kill', restartMs: 90 } },
    { id: 'b', atMs: 200, target: 'leader', action: { kind: 'freeze', forMs: 300 } },
    { id: 'c', atMs: 400, target: 1, action: { kind: 'cutOrigin', forMs: 50 } },
    { id: 'd', atMs: 500, target: 2, action: { kind: 'stepDown', to: 4 } },
    { id: 'e', atMs: 600, target: 0, action: { kind: 'isolate', way: 'both', forMs: 250 } },
    { id: 'f', atMs: 700, target: 'leader', action: { kind: 'dropConsumer' } },
    {
      id: 'g',
      atMs: 800,
      target: 4,
      action: { kind: 'partition', mask: 0b10010, way: 'both', forMs: 200 },
    },
    { id: 'h', atMs: 900, target: 0, action: { kind: 'killAll', restartMs: 640 } },
  ],
  safetyMs: 1_200,
  core: [0, 2, 3, 4],
};

export const FATES: LinkFate[] = Array.from({ length: 300 }, (_, at) => {
  const link = ['r1 to r2', 'r2 to r5', 'origin to r1'][at % 3]!;
  return { link, nth: at + 1, fate: 'overtaken', byUs: 1 + at };
});

export function idsOf({ faults }: SwarmPlan): string {
  return faults.map(({ id }) => id).join(' ');
}
