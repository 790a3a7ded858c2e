/**
 * What drawn runs lean to. Most are mixed: anything may come. Some narrow the draws to one part of
 * the product and strike it again and again, because what takes three faults of the right kinds in
 * a row seldom comes up where thirty kinds may fall (swarm testing: Groce et al., ISSTA 2012).
 */
import type { Plan } from '../scenario/types.js';
import type { SwarmMoment } from './moments.js';
import type { SwarmKind } from './swarm-plan.js';

/**
 * `skips`: gaps, refusals and changes of leader in the middle of a skip, on all of its paths.
 * `elections`: short time-outs without a conductor, votes that come late and twice.
 * `logs`: leaders cut off with entries that nobody has, and appends that come late and twice.
 */
export const FOCUSES = ['mixed', 'skips', 'elections', 'logs'] as const;
export type SwarmFocus = (typeof FOCUSES)[number];

/** Values to pick from, unless something else is said. A value that stands twice comes twice. */
export interface Leaning {
  readonly replicas: readonly number[];
  readonly elections: readonly Plan['election'][];
  readonly electionTicks: readonly number[];
  /** Kinds of fault that may come, each with its chance, of 20, to be part of a run. */
  readonly chances: Readonly<Partial<Record<SwarmKind, number>>>;
  readonly faultsMax: number;
  /** Of 20 faults, how many wait for a moment; and for which. */
  readonly waits: number;
  readonly moments: readonly SwarmMoment[];
  readonly gapsMin: number;
  readonly gapsMax: number;
  /** Of 20 runs, how many have bounds so small that they are met all the time; how small. */
  readonly tight: number;
  readonly batchRecords: readonly number[];
  readonly uncommittedBatches: readonly number[];
  /** Of 20 runs, how many have everything to deliver at once. */
  readonly floods: number;
  readonly links: {
    readonly duplicate: readonly number[];
    readonly reorder: readonly number[];
    readonly overtakenUs: readonly number[];
  };
}

const MIXED: Leaning = {
  replicas: [1, 2, 3, 3, 3, 3, 4, 5, 5, 5, 6, 7],
  elections: ['both', 'both', 'timers', 'conductor'],
  electionTicks: [10, 20, 20, 30],
  chances: {
    stepDown: 10,
    flap: 10,
    kill: 10,
    killAll: 10,
    wipe: 4,
    overrun: 10,
    freeze: 10,
    clockRate: 8,
    failWrite: 10,
    failSync: 10,
    tornTail: 10,
    slowDisk: 10,
    isolate: 10,
    partition: 10,
    topology: 10,
    clog: 10,
    echo: 10,
    falsify: 10,
    misorder: 10,
    failPropose: 10,
    dropConsumer: 10,
    cutOrigin: 10,
    clogOrigin: 10,
    refuseOpening: 8,
    spoilAnswer: 8,
    spoilDelivery: 8,
    delayAnswer: 8,
    loseDeliveries: 10,
    repeatDeliveries: 10,
    stallOrigin: 10,
    delete: 10,
    expire: 10,
    // It ends the mirror: whatever comes after it finds less.
    recreate: 1,
  },
  faultsMax: 14,
  waits: 10,
  moments: [
    'gapMet',
    'skipInFlight',
    'elected',
    'transferred',
    'noopUncommitted',
    'deposed',
    'transferSent',
    'campaigning',
    'voted',
    'acknowledged',
    'appendUnsynced',
    'openingRequested',
  ],
  gapsMin: 0,
  gapsMax: 3,
  tight: 10,
  batchRecords: [1, 2, 10, 200],
  uncommittedBatches: [1, 2, 10],
  floods: 8,
  links: {
    duplicate: [0, 0, 10, 50],
    reorder: [0, 0, 10, 100],
    overtakenUs: [500, 5_000, 50_000],
  },
};

const SKIPS: Leaning = {
  ...MIXED,
  replicas: [1, 1, 2, 3, 3, 3, 5],
  chances: {
    failPropose: 18,
    stepDown: 12,
    flap: 12,
    overrun: 14,
    kill: 10,
    slowDisk: 8,
    isolate: 6,
    dropConsumer: 12,
    cutOrigin: 8,
    refuseOpening: 6,
    delayAnswer: 6,
    loseDeliveries: 8,
    repeatDeliveries: 8,
    delete: 12,
    expire: 8,
  },
  waits: 15,
  moments: [
    ...(['gapMet', 'gapMet', 'gapMet', 'gapMet', 'skipInFlight', 'skipInFlight'] as const),
    ...(['noopUncommitted', 'openingRequested'] as const),
  ],
  gapsMin: 2,
  gapsMax: 6,
};

const ELECTIONS: Leaning = {
  ...MIXED,
  replicas: [3, 3, 4, 5, 5, 5, 7],
  elections: ['timers', 'timers', 'both'],
  electionTicks: [5, 5, 10],
  chances: {
    kill: 14,
    killAll: 8,
    isolate: 14,
    partition: 14,
    topology: 10,
    clog: 14,
    echo: 16,
    misorder: 14,
    stepDown: 12,
    flap: 12,
    freeze: 12,
    clockRate: 14,
    slowDisk: 8,
  },
  faultsMax: 24,
  moments: [
    ...(['campaigning', 'campaigning', 'voted', 'voted', 'elected', 'elected'] as const),
    ...(['noopUncommitted', 'deposed', 'transferSent', 'transferred'] as const),
  ],
  links: {
    duplicate: [10, 100, 300],
    reorder: [10, 100, 300],
    overtakenUs: [5_000, 50_000, 200_000],
  },
};

const LOGS: Leaning = {
  ...MIXED,
  replicas: [3, 3, 3, 4, 5, 5],
  electionTicks: [5, 10, 20],
  chances: {
    isolate: 16,
    partition: 12,
    clog: 14,
    echo: 14,
    flap: 14,
    stepDown: 14,
    overrun: 8,
    kill: 12,
    slowDisk: 14,
    failWrite: 8,
    failSync: 8,
    tornTail: 14,
    freeze: 10,
    misorder: 12,
  },
  faultsMax: 24,
  moments: [
    ...(['elected', 'elected', 'noopUncommitted', 'noopUncommitted', 'deposed'] as const),
    ...(['acknowledged', 'appendUnsynced', 'campaigning', 'transferred'] as const),
  ],
  tight: 16,
  batchRecords: [1, 1, 2, 10],
  uncommittedBatches: [10, 100],
  floods: 12,
  links: {
    duplicate: [0, 50, 200],
    reorder: [0, 50, 200],
    overtakenUs: [5_000, 50_000, 200_000],
  },
};

export const LEANINGS: Readonly<Record<SwarmFocus, Leaning>> = {
  mixed: MIXED,
  skips: SKIPS,
  elections: ELECTIONS,
  logs: LOGS,
};

/** Of a run for which none is asked: half are mixed. */
export const FOCUS_DRAWS: readonly SwarmFocus[] = [
  ...(['mixed', 'mixed', 'mixed'] as const),
  ...(['skips', 'elections', 'logs'] as const),
];
