/**
 * The seam above a cluster: what a scenario may ask of whoever runs it. A driver turns a plan into
 * a running cluster; `play` drives that one through faults to its end and has it judged.
 */
import type { Slot } from '../base/member.js';
import type { ReplicaEvent } from '../replica/types.js';
import type { CopyReader, LedgerReader, Unseen } from '../verdict/types.js';
import type { Parted } from './links.js';
import type { DriverName, FaultAction, FaultPlan, Plan, StateTrigger } from './types.js';

/** Times are milliseconds of the driver's own clock (real or virtual). */
export type ClusterEvent =
  | {
      readonly kind: 'replica';
      readonly slot: Slot;
      readonly atMs: number;
      readonly event: ReplicaEvent;
    }
  /** A store's last sequence rose to this at that time. */
  | {
      readonly kind: 'progress';
      readonly slot: Slot;
      readonly atMs: number;
      readonly last: number;
      readonly messages: number;
    }
  | {
      readonly kind: 'fault';
      readonly id: string;
      readonly slot: Slot | null;
      readonly state: 'installed' | 'healed' | 'skipped' | 'indeterminate';
      readonly atMs: number;
      readonly reason?: string;
      /** Of a fault of links: whom it parts, and who is left without a majority. */
      readonly links?: Parted;
    }
  /** The state that a fault waits for was reached; whom it strikes is for `inject` to find. */
  | { readonly kind: 'due'; readonly id: string; readonly atMs: number }
  | { readonly kind: 'firstDelivery'; readonly atMs: number }
  | { readonly kind: 'handedOut'; readonly atMs: number }
  /** Something about the origin that whoever reads the run should know, in one line. */
  | { readonly kind: 'note'; readonly atMs: number; readonly text: string }
  /** A host, the origin or main was late by this much with no fault to explain it. */
  | {
      readonly kind: 'late';
      readonly who: string;
      readonly atMs: number;
      readonly byMs: number;
    }
  /** A member ended; `fault` says whether a fault of the scenario did it, `by` which one. */
  | {
      readonly kind: 'exit';
      readonly slot: Slot;
      readonly atMs: number;
      readonly fault: boolean;
      readonly by?: string;
      readonly reason: string;
    }
  /** A property that a driver checks while it runs does not hold. */
  | {
      readonly kind: 'violation';
      readonly property: string;
      readonly slot: Slot | null;
      readonly seq: number | null;
      readonly text: string;
      readonly atMs: number;
    }
  /** lockstep itself failed. */
  | {
      readonly kind: 'harness';
      readonly atMs: number;
      readonly reason: string;
    };

export type FaultEvent = Extract<ClusterEvent, { kind: 'fault' }>;
export type FaultState = FaultEvent['state'];
/** What of a fault event not every one has. */
export type FaultMore = Pick<FaultEvent, 'reason' | 'links'>;

export interface Driver {
  readonly name: DriverName;
  /** Null: this driver can inject it. Else the reason why not. */
  cannot(action: FaultAction, plan: Plan): string | null;
  /** Null, or not given: it sees when this state is reached. Else the reason why not. */
  cannotSee?(state: StateTrigger): string | null;
  /** What it never sees of members: a summary says null there. Not given: it sees everything. */
  readonly unseen?: readonly Unseen[];
  /** Refuses what could not even start, before anything does. Errors: usage. */
  check?(plan: Plan): void;
  /**
   * Starts the cluster with every state trigger armed; nothing is delivered before `serve`. Errors:
   * usage, when the plan asks for what is not there, such as a live origin that cannot be read;
   * interrupted, when the signal came before it stood.
   */
  start(
    plan: Plan,
    onEvent: (event: ClusterEvent) => void,
    options?: StartOptions,
  ): Promise<RunningCluster>;
}

export interface StartOptions {
  /** Faults may be added to the run: what they need is there from the start. */
  readonly takesMore?: boolean;
  /** Cuts the start short; once the cluster stands, whoever plays it ends it. */
  readonly signal?: AbortSignal | undefined;
}

/** Why a fault has no meaning in a cluster of our own members, or of one; null: it has one. */
export function cannotAlone(action: FaultAction, { replicas }: Plan): string | null {
  if (isOfServers(action)) return 'only real servers have that';
  if (replicas > 1) return null;
  switch (action.kind) {
    case 'stepDown':
    case 'flap':
    case 'overrun':
      return 'a cluster of one has no raft and nobody to hand over to';
    case 'partition':
    case 'link':
      return action.between === 'origin' ? null : 'a cluster of one has no peers';
    default:
      return null;
  }
}

/** Whether a fault has a meaning on real servers alone. */
export function isOfServers({ kind }: FaultAction): boolean {
  return kind === 'reload' || kind === 'metaStepDown';
}

export interface ServerPlace {
  /** Of the first server; it asks for no credentials. */
  readonly url: string;
  readonly mirror: { readonly name: string };
}

export interface RunningCluster extends AsyncDisposable {
  /** Milliseconds of the driver's clock. */
  now(): number;
  /** Opens the origin. */
  serve(): Promise<void>;
  /** Resolves after this long on the driver's clock, or earlier when `wake` is called. */
  pause(ms: number): Promise<void>;
  /**
   * Takes one more fault, at the next position of the plan's. If it waits for a state, it is armed
   * when this resolves. What had to be known from the start is skipped.
   */
  add(fault: FaultPlan): Promise<void>;
  /**
   * Injects a fault that is due, by its position in the plan. Its fate comes as an event. False:
   * its target does not exist at this moment (no leader, no opening); try again.
   */
  inject(fault: number): Promise<boolean>;
  /** How long a fault waits for a target that does not exist at its time; not given: 10 s. */
  readonly targetWaitMs?: number;
  /** The run is over: faults that hold members at rest let them go, so that they can be halted. */
  release(): void;
  /** Stops the origin, then every living member: what they hold no longer changes. */
  halt(): Promise<void>;
  /** Slots whose member lives, whether it answers or not. */
  living(): readonly Slot[];
  leader(): Slot | null;
  /** Nobody waits for this fault's state any more. False: it already fired. */
  disarm(fault: number): boolean;
  /** What hosts last saw of the states they wait for, by fault id. */
  lastSeen(): Promise<ReadonlyMap<string, number>>;
  /** Where a client reaches it, and the mirror's stream there; not given: there are no servers. */
  readonly place?: ServerPlace;
  readonly origin: { readonly last: number; readonly messages: number };
  readonly ledger: LedgerReader;
  copy(slot: Slot): CopyReader;
}
