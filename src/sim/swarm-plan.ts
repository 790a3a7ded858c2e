/**
 * A drawn run as data: everything that decides what happens in it, plain and serialisable, so that
 * a file can state it and a run can be repeated, changed and shrunk.
 */
import type { SyntheticOriginPlan } from '../scenario/types.js';
import type { Falsehood } from './conductor-faults.js';
import type { Conditions } from './conditions.js';
import type { LinkFate } from './fates.js';
import type { AnswerFault, DeliveryFault } from './frame-faults.js';
import type { SwarmMoment } from './moments.js';
import type { WorldPlan } from './node.js';
import type { Shape } from '../scenario/shapes.js';

/**
 * Who is hit: whoever leads when it falls, or the member at this position. Where a moment is waited
 * for, `leader` is whoever reaches it.
 */
export type SwarmTarget = 'leader' | number;

export type SwarmAction =
  | {
      readonly kind: 'failPropose';
      readonly times: number;
      readonly code: 'overrun' | 'writeFailed';
    }
  | { readonly kind: 'dropConsumer' }
  // Members.
  | { readonly kind: 'stepDown'; readonly to: 'best' | number | null }
  /** Steps down and campaigns at once: deposed, and the same member elected again. */
  | { readonly kind: 'flap' }
  /** With more than so many entries not applied it is overrun: it steps down, naming nobody. */
  | { readonly kind: 'overrun'; readonly entries: number }
  | { readonly kind: 'freeze'; readonly forMs: number }
  /** Its clock runs so much faster, of 1,000; slower, when it is negative. */
  | { readonly kind: 'clockRate'; readonly byPerMille: number; readonly forMs: number }
  /** Comes back from its disk after this long. */
  | { readonly kind: 'kill'; readonly restartMs: number }
  /** Every member at once. */
  | { readonly kind: 'killAll'; readonly restartMs: number }
  /** Loses its disk, its vote with it, and so stays down; not more than the cluster tolerates. */
  | { readonly kind: 'wipe' }
  // Disks.
  /** Writes are refused from here on; the member is killed later and comes back. */
  | { readonly kind: 'failWrite'; readonly restartMs: number }
  /** As failWrite, but what was not synced may be there when it comes back. */
  | { readonly kind: 'failSync'; readonly restartMs: number }
  /** It dies in the middle of its next write of entries, a part of it is left; it comes back. */
  | { readonly kind: 'tornTail'; readonly restartMs: number }
  | { readonly kind: 'slowDisk'; readonly writeUs: number; readonly forMs: number }
  // The network.
  /** Cut off from all others: both ways, or in one direction only. */
  | { readonly kind: 'isolate'; readonly way: 'both' | 'in' | 'out'; readonly forMs: number }
  /** The members in the mask on one side; `out`: what they say does not reach the others. */
  | {
      readonly kind: 'partition';
      readonly mask: number;
      readonly way: 'both' | 'out';
      readonly forMs: number;
    }
  /** Members do not agree on who is there. */
  | {
      readonly kind: 'topology';
      readonly shape: Shape;
      readonly shift: number;
      readonly forMs: number;
    }
  /** Its links hold everything for so long and then let it go at once. */
  | { readonly kind: 'clog'; readonly way: 'both' | 'in' | 'out'; readonly forMs: number }
  /** The next messages on each link to its peers come once more, long after. */
  | { readonly kind: 'echo'; readonly times: number; readonly afterMs: number }
  // The conductor.
  /** What it hears of the member is not true. */
  | { readonly kind: 'falsify'; readonly how: Falsehood; readonly forMs: number }
  /** It orders the member to campaign although its leader is well. */
  | { readonly kind: 'misorder' }
  // The origin.
  | { readonly kind: 'cutOrigin'; readonly forMs: number }
  | { readonly kind: 'clogOrigin'; readonly forMs: number }
  | { readonly kind: 'refuseOpening'; readonly times: number }
  | { readonly kind: 'spoilAnswer'; readonly how: AnswerFault; readonly times: number }
  | { readonly kind: 'spoilDelivery'; readonly how: DeliveryFault; readonly times: number }
  /** Answers leave so much later than what follows them. */
  | { readonly kind: 'delayAnswer'; readonly times: number; readonly byMs: number }
  | { readonly kind: 'loseDeliveries'; readonly times: number }
  | { readonly kind: 'repeatDeliveries'; readonly times: number }
  | { readonly kind: 'stallOrigin'; readonly forMs: number }
  /** Messages of these sequences that exist by now are deleted; from 1 on, that is a purge. */
  | { readonly kind: 'delete'; readonly first: number; readonly last: number }
  /** The oldest messages go, so many at a time, again and again. */
  | {
      readonly kind: 'expire';
      readonly count: number;
      readonly times: number;
      readonly everyMs: number;
    }
  /** Another stream takes the origin's name. */
  | { readonly kind: 'recreate'; readonly messages: number };

export type SwarmKind = SwarmAction['kind'];

export interface SwarmFault {
  /** How a replay file calls it; not given: `f` and its position from 1. */
  readonly id?: string;
  /** Milliseconds since the start. */
  readonly atMs: number;
  /** From then on it waits for this moment, until the end of the first phase. */
  readonly when?: SwarmMoment;
  readonly target: SwarmTarget;
  readonly action: SwarmAction;
}

/** What events and files call a fault. @param at  its position in the plan */
export function faultId({ id }: SwarmFault, at: number): string {
  return id ?? `f${at + 1}`;
}

export interface SwarmPlan extends WorldPlan {
  readonly origin: SyntheticOriginPlan;
  readonly conditions: Conditions;
  /** Rising by time. */
  readonly faults: readonly SwarmFault[];
  /** What becomes of single messages until the core is healed, beside what links draw. */
  readonly fates?: readonly LinkFate[];
  /** How long anything may break. */
  readonly safetyMs: number;
  /** After it: positions that are healed and owe progress; the others stay cut off. */
  readonly core: readonly number[];
  /** How long after healing what was held back is published; 0 by default. */
  readonly sentinelAfterMs?: number;
  /** More may break than the cluster tolerates: nobody is healed and no progress is owed. */
  readonly beyondQuorum?: boolean;
}

/** Members that may be lost for good while a majority is left. */
export function toleratedOf(replicas: number): number {
  return Math.floor((replicas - 1) / 2);
}
