/** What a verification says, and with which exit code. `schema` rises when a field changes. */
import type { MessagePart } from './record-compare.js';
import type { Example } from './comparison.js';
import type { DifferenceKind, Excuse, Found } from './findings.js';
import type { ObjectFinding } from './objects.js';
import type { StateFacts } from './stream-facts.js';

export type Depth = 'state' | 'sample' | 'full';

export type VerifyResultKind =
  'identical' | 'no difference seen' | 'explained' | 'different' | 'inconclusive' | 'behind';

/** How far the mirror is from its origin's end, never taken from its own word. */
export type BacklogStatus =
  /** It has all that its origin can deliver. */
  | 'caught up'
  /** That, and the origin's last sequences hold no message: they come with the next one. */
  | 'tail gap'
  /** Something is to come, and what was to come before has arrived. */
  | 'keeps up'
  | 'lagging'
  /** Two samples, and its last did not move. */
  | 'stopped'
  | 'stopped: sealed'
  /** Only one sample was taken. */
  | 'pending'
  | 'unknown';

export interface BacklogReport {
  readonly status: BacklogStatus;
  /** Messages that the origin would deliver next; null: not known. */
  readonly messages: number | null;
  /** Milliseconds between the two samples; null: one was taken. */
  readonly watchedMs: number | null;
}

export interface SideReport {
  readonly name: string;
  readonly created: string;
  readonly state: StateFacts;
}

export interface VerifyReport {
  readonly schema: 1;
  readonly result: VerifyResultKind;
  /** Why, where it is not one of the lists below. */
  readonly reason: string | null;
  readonly origin: SideReport;
  /** `reported` is what the mirror says of itself; nothing is concluded from it. */
  readonly mirror: SideReport & {
    readonly reported: { readonly lag: number; readonly error: string | null } | null;
  };
  /**
   * The mirror's last when it began, or what `--to` or an early end left of it: nothing is said
   * of what lies above.
   */
  readonly up_to: number;
  readonly coverage: {
    readonly depth: Depth;
    readonly from: number;
    /** Below `from`: nothing was compared. */
    readonly to: number;
    /** Messages that both have and that were compared. */
    readonly compared: number;
    /** In words: what may be said of what was not read. */
    readonly claim: string;
  };
  readonly backlog: BacklogReport;
  readonly explained: readonly Found<Excuse>[];
  /** The mirror lacks it, and whether one of its limits dropped it cannot be told. */
  readonly unknown: readonly Found<Excuse>[];
  readonly differences: readonly (Found<DifferenceKind> & {
    /** What differs of changed messages, by number of messages. */
    readonly parts?: Readonly<Partial<Record<MessagePart, number>>>;
  })[];
  readonly examples: readonly Example[];
  /** Of an object store: what differs and what is kept, by objects. */
  readonly objects: readonly ObjectFinding[];
  readonly notes: readonly string[];
  /** Server names by side; empty where it is no cluster. */
  readonly replicas: { readonly origin: readonly string[]; readonly mirror: readonly string[] };
  readonly load: { readonly msgs: number; readonly bytes: number; readonly api_calls: number };
}

export function exitOf({ result }: Pick<VerifyReport, 'result'>, strict: boolean): number {
  switch (result) {
    case 'identical':
    case 'no difference seen':
      return 0;
    case 'explained':
      return strict ? 1 : 0;
    case 'different':
      return 1;
    case 'inconclusive':
      return 2;
    case 'behind':
      return 3;
  }
}
