/**
 * What the main thread and the workers say to each other. Control calls go over comlink and answer
 * with a Reply; what a worker tells unasked goes over its report port.
 */
import type { MessagePort } from 'node:worker_threads';
import type { Reply } from '../base/errors.js';
import type { Member, Slot } from '../base/member.js';
import type { MemberView } from '../election/conductor.js';
import type { ReplicaEvent, ReplicaStatus } from '../replica/types.js';
import type { Arm } from '../scenario/arms.js';
import type { OriginSource, OriginTools } from '../origin/source.js';
import type { RevealedSecrets } from '../scenario/connection.js';
import type { TouchedLinks } from '../scenario/links.js';
import type {
  FaultPlan,
  LiveOriginPlan,
  MemberAction,
  OriginAction,
  OriginPlan,
} from '../scenario/types.js';
import type { SkipEncoding } from '../mirror/types.js';
import type { SeqRange } from '../stream/types.js';
import type { CopyReport, LedgerReport, RecordDigest } from '../verdict/types.js';

export interface ReplicaStart {
  readonly slot: Slot;
  readonly member: Member;
  readonly members: readonly Member[];
  readonly seed: number;
  readonly skip: SkipEncoding;
  readonly timeScale: number;
  readonly timers: boolean;
  readonly arms: readonly Arm[];
  readonly slots: readonly Slot[];
  /** The words of the run's FaultBudget. */
  readonly budget: SharedArrayBuffer;
  readonly tolerated: number;
  readonly beyondQuorum: boolean;
  /** The words of the run's SharedConditions. */
  readonly conditions: SharedArrayBuffer;
  readonly peers: readonly {
    readonly member: Member;
    readonly port: MessagePort;
  }[];
  readonly origin: MessagePort;
  readonly reports: MessagePort;
}

/**
 * Faults that main asks of a member. To kill and to wipe one it ends the worker, slow hosts and
 * clocks are shared words.
 */
export type MemberFault = Exclude<MemberAction, { kind: 'kill' | 'wipe' | 'slow' | 'clockRate' }>;

export interface ReplicaControl {
  start(start: ReplicaStart): Reply<{ readonly threadId: number; readonly file: string }>;
  /** What the peers answer shows in the views that follow on the report port. */
  probe(): Reply<null>;
  campaign(order: { readonly term: number; readonly deadLeader: Member | null }): Reply<null>;
  /** Watches for the state of one more fault. */
  arm(arm: Arm): Reply<null>;
  /** Resolves once the fault is in force; freeze resolves when the member wakes. */
  inject(fault: MemberFault, to: Member | 'best' | null): Reply<null>;
  status(): Reply<ReplicaStatus>;
  report(): Reply<CopyReport>;
  records(range: SeqRange): Reply<readonly RecordDigest[]>;
  lastSeen(): Reply<readonly (readonly [fault: string, progress: number])[]>;
  /** Nothing moves from here on; what is held can still be read. */
  halt(): Reply<null>;
}

/** A source of the world outside: it has something to let go of. */
export interface LiveSource extends OriginSource {
  close(): Promise<void>;
}

/** Opens a live origin and checks that it can be read. Errors: usage, when it cannot. */
export type OpenLive = (plan: LiveOriginPlan, tools: OriginTools) => Promise<LiveSource>;

export interface OriginStart {
  readonly plan: OriginPlan;
  /** A plan's own do not survive the way into a thread. */
  readonly secrets: RevealedSecrets;
  readonly seed: number;
  readonly timeScale: number;
  readonly faults: readonly FaultPlan[];
  readonly conditions: SharedArrayBuffer;
  readonly links: readonly {
    readonly member: Member;
    readonly port: MessagePort;
  }[];
  readonly reports: MessagePort;
}

/** What the origin's thread says of its content once it is built. */
export interface OriginFacts {
  readonly threadId: number;
  readonly last: number;
  readonly messages: number;
  readonly bytes: number;
}

export interface OriginControl {
  start(start: OriginStart): Promise<Reply<OriginFacts>>;
  /** From here on openings are served; rates and time triggers count from the first delivery. */
  serve(): Reply<null>;
  /** One more fault whose state members watch for. */
  arm(arm: Arm): Reply<null>;
  /** False: the fault has no object at this moment. */
  strike(action: OriginAction): Reply<boolean>;
  report(): Reply<LedgerReport>;
  records(range: SeqRange): Reply<readonly RecordDigest[]>;
  /** Nothing moves from here on; what is held can still be read. */
  halt(): Promise<Reply<null>>;
}

/** An event with the time at which it happened in its thread, monotonic milliseconds. */
export interface TimedEvent {
  readonly atMs: number;
  readonly event: ReplicaEvent;
}

/** A point of a member's progress: its store's last sequence at a time. */
export interface ProgressMark {
  readonly atMs: number;
  readonly last: number;
  readonly messages: number;
}

export type ReplicaReport =
  | {
      readonly kind: 'turn';
      readonly view: MemberView | null;
      readonly serving: boolean;
      readonly events: readonly TimedEvent[];
      readonly marks: readonly ProgressMark[];
      /** Milliseconds that the worst tick since the last report came late. */
      readonly lateMs: number;
    }
  | {
      readonly kind: 'fault';
      readonly at: number;
      readonly state: 'installed';
      readonly atMs: number;
      /** What a fault of links took hold of: main takes it back when its time is over. */
      readonly touched: TouchedLinks | null;
    }
  /** Its state was reached; whom it strikes is for main to find. */
  | {
      readonly kind: 'fault';
      readonly at: number;
      readonly state: 'due' | 'healed';
      readonly atMs: number;
    }
  | {
      readonly kind: 'fault';
      readonly at: number;
      readonly state: 'skipped';
      readonly reason: string;
      readonly atMs: number;
    };

export type OriginReport =
  /** Of a fault whose state a member reached. `due`: it had no object at that moment. */
  | {
      readonly kind: 'fault';
      readonly at: number;
      readonly state: 'installed' | 'due';
      readonly atMs: number;
    }
  | { readonly kind: 'firstDelivery'; readonly atMs: number }
  /** Everything that the origin holds was handed out at least once, its sentinel included. */
  | { readonly kind: 'handedOut'; readonly atMs: number }
  | { readonly kind: 'note'; readonly atMs: number; readonly text: string }
  /** Its thread counts as late by so much. */
  | { readonly kind: 'late'; readonly atMs: number; readonly byMs: number };
