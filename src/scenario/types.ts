/**
 * A plan is a scenario after it was parsed, checked and filled with defaults: plain data, all times
 * in milliseconds, all sizes in bytes, every fault with an id. Drivers only ever see plans.
 */
import type { Slot } from '../base/member.js';
import type { SkipEncoding } from '../mirror/types.js';
import type { SeqRange, StoredMessage, StreamState } from '../stream/types.js';
import type { ConnectionGiven } from './connection.js';
import type { Shape } from './shapes.js';

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

/** Messages that a module of the user's holds, as they are loaded before a cluster starts. */
export interface OwnOriginPlan extends Omit<RebuiltOriginPlan, 'kind'> {
  readonly kind: 'own';
  /** Rising, the sentinel not among them. */
  readonly held: readonly StoredMessage[];
}

/** A module of the user's that was not loaded yet. */
export interface ModuleOriginPlan {
  readonly kind: 'module';
  readonly path: string;
  /** What it is called with. */
  readonly options: unknown;
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

/** Origins whose content lockstep serves itself. */
export type MadeOriginPlan = SyntheticOriginPlan | RebuiltOriginPlan | OwnOriginPlan;
export type OriginPlan = MadeOriginPlan | LiveOriginPlan | ModuleOriginPlan;

/**
 * A role, a predicate or a slot; resolved when the fault fires. `follower` is the first one by slot
 * that is not frozen, `lagging` and `ahead` the one that holds least and most, `any` a living
 * member drawn from the seed.
 */
export type Target =
  | { readonly kind: 'leader' }
  | { readonly kind: 'follower'; readonly which: 'first' | 'lagging' | 'ahead' }
  | { readonly kind: 'any' }
  | { readonly kind: 'slot'; readonly slot: Slot };

/**
 * Links between members that a fault touches. `sides`: every link between two sides, each a list of
 * slots; `minority`: less than half of the members on one side, with the leader or without it;
 * `isolate`: a member and all others, both ways, or only what it sends (`from`) or is sent (`to`);
 * `shape`: members do not agree on who is there; `all`: every link.
 */
export type LinkSelection =
  | { readonly kind: 'sides'; readonly sides: readonly (readonly Slot[])[] }
  | { readonly kind: 'minority'; readonly withLeader: boolean }
  | { readonly kind: 'isolate'; readonly who: Target; readonly way: 'both' | 'from' | 'to' }
  /** `who`: the member that sees both halves of a bridge; null: the one in the middle. */
  | { readonly kind: 'shape'; readonly shape: Shape; readonly who: Target | null }
  | { readonly kind: 'all' };

/** Links to other members, to the origin, or both. */
export type Between = 'peers' | 'origin' | 'all';

/** Of an origin's messages: by sequence, or the next so many that were not handed out yet. */
export type OriginRange = SeqRange | { readonly next: number };

export type StateTrigger =
  | { readonly kind: 'skipped'; readonly count: number }
  | { readonly kind: 'applied'; readonly count: number }
  | { readonly kind: 'term'; readonly term: number }
  | {
      readonly kind: 'role';
      readonly role: 'leader' | 'candidate' | 'follower';
    }
  /** Some batch of this leader is durable on exactly so many members, itself counted. */
  | { readonly kind: 'appended'; readonly on: number; readonly of: number }
  /**
   * `noop`: it was elected, has applied messages before, and its own no-op is not applied yet;
   * `snapshot`: a snapshot is under way.
   */
  | { readonly kind: 'phase'; readonly phase: Phase };

export type Phase = 'noop' | 'snapshot';

export type Trigger =
  /** Milliseconds since the first delivery. */
  | { readonly kind: 'time'; readonly atMs: number }
  /**
   * Milliseconds since another fault was installed, and no earlier than so long after its end if
   * they reach beyond that; with `settled`, since it was decided in any way: the next stroke of a
   * repeated fault.
   */
  | {
      readonly kind: 'after';
      readonly fault: string;
      readonly delayMs: number;
      readonly settled: boolean;
    }
  | {
      readonly kind: 'state';
      readonly state: StateTrigger;
      readonly withinMs: number;
    };

/** How often something is to fail: so many times, or by chance for a while. */
export type Dose =
  { readonly times: number } | { readonly perMillion: number; readonly forMs: number };

/** What ends a member. */
interface Ending {
  /** It comes back from its journal so long after its end; not given: it stays down. */
  readonly restartMs?: number;
}

/** Faults that strike one member. */
export type MemberAction =
  | { readonly kind: 'stepDown'; readonly to: Slot | 'best' | null }
  /** Deposed, and the same member is elected again at once (cases B1, B2). */
  | { readonly kind: 'flap' }
  /**
   * Overrun: once more than so many of its entries are not applied, its next proposal is refused
   * and it steps down, naming nobody (upstream: raft.go isLeaderOverrun).
   */
  | { readonly kind: 'overrun'; readonly entries: number }
  | (Ending & { readonly kind: 'kill' })
  /** Ended by its own memory: on threads for real, elsewhere as `kill`. */
  | (Ending & { readonly kind: 'outOfMemory' })
  /** The next write fails: its incarnation is over. */
  | (Ending & { readonly kind: 'failWrites' })
  /** As failWrites, but what was not synced may or may not be there afterwards. */
  | (Ending & { readonly kind: 'failSync' })
  /** The power goes in the middle of its next write of entries: a part of it is left. */
  | (Ending & { readonly kind: 'tornTail' })
  /** Ended, and its disk lost: it has forgotten its vote and what it acknowledged. */
  | { readonly kind: 'wipe' }
  /** Its writes take so much longer. */
  | { readonly kind: 'slowDisk'; readonly byMs: number; readonly forMs: number }
  /** Its clock runs so many times as fast; 1 is right. */
  | { readonly kind: 'clockRate'; readonly factor: number; readonly forMs: number }
  /** It reads its configuration again: of real servers only. */
  | { readonly kind: 'reload' }
  | { readonly kind: 'freeze'; readonly forMs: number }
  /** Every turn of its host takes so much longer. */
  | { readonly kind: 'slow'; readonly byMs: number; readonly forMs: number }
  | {
      readonly kind: 'failPropose';
      readonly dose: Dose;
      /** Not notLeader: a leader is only told so when it no longer leads. */
      readonly code: 'overrun' | 'writeFailed';
    };

/** What links do meanwhile, beyond what they do anyway. Chances in a million messages. */
export interface LinkTrouble {
  readonly delayMinMs: number;
  readonly delayMaxMs: number;
  readonly lossPerMillion: number;
  readonly duplicatePerMillion: number;
  /** Overtaken by what was sent after it, by up to twice the longest delay. */
  readonly reorderPerMillion: number;
}

/** Faults of links. */
export type LinkAction =
  /** Nothing gets through. */
  | {
      readonly kind: 'partition';
      readonly links: LinkSelection;
      readonly between: Between;
      readonly forMs: number;
    }
  | {
      readonly kind: 'link';
      readonly links: LinkSelection;
      readonly between: Between;
      readonly trouble: LinkTrouble;
      readonly forMs: number;
    };

/** Faults of the origin; nobody is told of any. */
export type OriginAction =
  /** It forgets the live opening. */
  | { readonly kind: 'dropConsumer' }
  /** The next requests to open are refused. */
  | { readonly kind: 'refuseOpening'; readonly dose: Dose }
  /** Deliveries take their numbers and are never sent, or are sent twice. */
  | { readonly kind: 'loseDeliveries'; readonly dose: Dose }
  | { readonly kind: 'repeatDeliveries'; readonly dose: Dose }
  /** Neither deliveries nor answers nor heartbeats. */
  | { readonly kind: 'stallOrigin'; readonly forMs: number }
  | { readonly kind: 'originDelete'; readonly range: OriginRange }
  /** Everything below this sequence goes, or below what follows the next so many. */
  | { readonly kind: 'originPurge'; readonly to: number | { readonly next: number } }
  /** The oldest so many go. */
  | { readonly kind: 'originExpire'; readonly count: number }
  /** Deleted, and made anew under the same name with so many messages. */
  | { readonly kind: 'originRecreate'; readonly messages: number };

/** Faults that change what an origin holds: never one that is not our own. */
export type ContentChange = 'originDelete' | 'originPurge' | 'originExpire' | 'originRecreate';

/** The leader of all that a cluster of servers holds hands over; who leads a stream stays. */
export interface MetaAction {
  readonly kind: 'metaStepDown';
}

export type FaultAction = MemberAction | LinkAction | OriginAction | MetaAction;

export type FaultKind = FaultAction['kind'];

export interface FaultPlan {
  readonly id: string;
  readonly action: FaultAction;
  /** Null for faults of links and of the origin. */
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
    /** What every living replica holds at the end, the sentinel counted; null: not said. */
    readonly state: StreamState | null;
  };
}
