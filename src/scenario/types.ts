/**
 * A plan is a scenario after it was parsed, checked and filled with defaults: plain data, all times
 * in milliseconds, all sizes in bytes, every fault with an id. Drivers only ever see plans.
 */
import type { Slot } from '../base/member.js';
import type { SkipEncoding } from '../mirror/types.js';
import type { SeqRange } from '../stream/types.js';
import type { ConnectionGiven } from './connection.js';

export type DriverName = 'threads' | 'sim' | 'nats';
export type ElectionMode = 'conductor' | 'timers' | 'both';

export interface SyntheticOriginPlan {
  readonly kind: 'synthetic';
  readonly messages: number;
  /** Bytes of payload. */
  readonly size: number;
  /** Messages a second; null: as fast as the window allows. */
  readonly rate: number | null;
  /** A gap of `count` sequences follows the `after`-th message; rising, not overlapping. */
  readonly gaps: readonly { readonly after: number; readonly count: number }[];
}

/**
 * Rebuilt from `nats stream info` and `nats stream gaps`: the shape is real, the bodies are not.
 */
export interface RebuiltOriginPlan {
  readonly kind: 'nats-gaps';
  readonly name: string;
  readonly first: number;
  readonly last: number;
  readonly messages: number;
  readonly gaps: readonly SeqRange[];
  readonly size: number;
  readonly rate: number | null;
}

/** A stream on a NATS server, read as it is. It is never written to. */
export interface LiveOriginPlan {
  readonly kind: 'nats';
  readonly stream: string;
  readonly connection: ConnectionGiven;
  /** As fast as the server delivers. */
  readonly rate: null;
}

/** Origins whose content lockstep makes itself. */
export type MadeOriginPlan = SyntheticOriginPlan | RebuiltOriginPlan;
export type OriginPlan = MadeOriginPlan | LiveOriginPlan;

/** A role or a slot; resolved when the fault fires. */
export type Target =
  | { readonly kind: 'leader' }
  | { readonly kind: 'follower' }
  | { readonly kind: 'slot'; readonly slot: Slot };

export type StateTrigger =
  | { readonly kind: 'skipped'; readonly count: number }
  | { readonly kind: 'applied'; readonly count: number }
  | { readonly kind: 'term'; readonly term: number }
  | {
      readonly kind: 'role';
      readonly role: 'leader' | 'candidate' | 'follower';
    };

export type Trigger =
  /** Milliseconds since the first delivery. */
  | { readonly kind: 'time'; readonly atMs: number }
  /** Milliseconds since another fault was installed. */
  | { readonly kind: 'after'; readonly fault: string; readonly delayMs: number }
  | {
      readonly kind: 'state';
      readonly state: StateTrigger;
      readonly withinMs: number;
    };

export type FaultAction =
  | { readonly kind: 'stepDown'; readonly to: Slot | 'best' | null }
  | { readonly kind: 'kill' }
  | { readonly kind: 'freeze'; readonly forMs: number }
  | {
      readonly kind: 'failPropose';
      readonly times: number;
      /** Not notLeader: a leader is only told so when it no longer leads. */
      readonly code: 'overrun' | 'writeFailed';
    }
  /** The origin forgets the live opening and tells nobody. Needs no target. */
  | { readonly kind: 'dropConsumer' };

export type FaultKind = FaultAction['kind'];

export interface FaultPlan {
  readonly id: string;
  readonly action: FaultAction;
  /** Null for faults of the origin. */
  readonly target: Target | null;
  readonly trigger: Trigger;
  /** Drivers that this fault exists on; null: all. */
  readonly on: readonly DriverName[] | null;
}

export interface Plan {
  readonly name: string;
  readonly seed: number;
  readonly replicas: number;
  readonly election: ElectionMode;
  readonly skip: SkipEncoding;
  /** Scales every mirror constant, jitter included; 1 is upstream's. */
  readonly timeScale: number;
  readonly origin: OriginPlan;
  readonly faults: readonly FaultPlan[];
  readonly beyondQuorum: boolean;
  readonly timeLimitMs: number;
  readonly expect: {
    readonly stallAtMostMs: Readonly<Record<DriverName, number>>;
    readonly covered: readonly FaultKind[];
    readonly mirror: 'running' | 'blocked' | 'diverged';
  };
}
