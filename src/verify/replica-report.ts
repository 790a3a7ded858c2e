/** What is said of the replicas of one stream. `schema` rises when a field changes. */
import type { SeqRange } from '../stream/types.js';
import type { Findings, Found } from './findings.js';
import type { MessagePart } from './record-compare.js';
import { contentsOf, kindOf, NONE, UNREAD, type Pattern } from './replica-comparison.js';
import type { ReplicaExcuse } from './replica-facts.js';
import type { StateFacts } from './stream-facts.js';

export type ReplicasResult = 'identical' | 'explained' | 'different' | 'inconclusive';

/** One replica, by the name of its server. */
export interface ReplicaReport {
  readonly leader: boolean;
  readonly current: boolean;
  /** What was read of it. */
  readonly read: 'whole' | 'part' | 'none';
  readonly messages: number;
  readonly bytes: number;
  /** Why it was not read to the end; null: it was. */
  readonly reason: string | null;
}

/** Sequences at which the replicas disagree in one and the same way. */
export interface Disagreement extends SeqRange {
  /** `missing`: some lack what others hold alike; `changed`: contents differ. */
  readonly kind: 'missing' | 'changed';
  /** Servers by what they hold: those of one list hold the same. */
  readonly holding: readonly (readonly string[])[];
  readonly lacking: readonly string[];
  /** Servers that were not read there. */
  readonly unread: readonly string[];
  readonly count: number;
  readonly ranges: readonly SeqRange[];
}

/** A sequence at which replicas of a mirror disagree: who holds what the origin holds. */
export interface AgainstOrigin {
  readonly seq: number;
  /** False: the origin holds it no longer, or the mirror does not take it. */
  readonly held_by_origin: boolean;
  readonly like_origin: readonly string[];
  readonly unlike_origin: readonly string[];
}

export interface ReplicasReport {
  readonly schema: 1;
  readonly result: ReplicasResult;
  /** Why it is inconclusive; null: it is not. */
  readonly reason: string | null;
  readonly stream: { readonly name: string; readonly created: string; readonly state: StateFacts };
  /** As `coverage.to`: nothing is said of what lies above. */
  readonly up_to: number;
  readonly coverage: {
    readonly depth: 'full';
    readonly from: number;
    /** Up to where two of them or more were read; below `from`: nothing was. */
    readonly to: number;
    /** Sequences that at least one of them holds. */
    readonly compared: number;
    /** In words. */
    readonly claim: string;
  };
  readonly replicas: Readonly<Record<string, ReplicaReport>>;
  readonly differences: readonly Disagreement[];
  /** Of a mirror: the first differences held against its origin. */
  readonly against_origin: readonly AgainstOrigin[];
  /** Parts of contents that differ, by number of sequences. */
  readonly parts: Readonly<Partial<Record<MessagePart, number>>>;
  readonly explained: readonly Found<ReplicaExcuse>[];
  /** Lacking on a replica that is not current. */
  readonly behind: readonly Disagreement[];
  /** Differences that could not be read a second time. */
  readonly unconfirmed: readonly SeqRange[];
  readonly load: { readonly msgs: number; readonly bytes: number; readonly api_calls: number };
}

/** Patterns by the names of servers, in order of sequence. */
export function disagreements(
  found: Findings<Pattern>,
  servers: readonly string[],
): Disagreement[] {
  return found
    .all()
    .map(({ kind: pattern, ranges, ...bounds }) => ({
      kind: kindOf(pattern),
      holding: contentsOf(pattern).map((content) => serversWith(pattern, content, servers)),
      lacking: serversWith(pattern, NONE, servers),
      unread: serversWith(pattern, UNREAD, servers),
      ...bounds,
      ranges: ranges ?? [],
    }))
    .sort((one, other) => one.first - other.first);
}

function serversWith(pattern: Pattern, mark: string, servers: readonly string[]): string[] {
  return servers.filter((_server, at) => pattern[at] === mark);
}
