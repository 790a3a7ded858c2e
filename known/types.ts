/** A case whose answer is known: what to do to real servers, and what they and verify then say. */
import type { NatsCluster } from '../src/nats/cluster.js';
import type { Session } from './session.js';

/** Lines of versions that the cases tell apart. */
export const SERIES = ['2.9', '2.14', '2.15'] as const;
export type Series = (typeof SERIES)[number];

/** What a replica holds: `{first,last,messages,deleted}`. */
export type StateText = `{${number},${number},${number},${number}}`;

/** What `lockstep verify` says: words of its JSON. */
export interface Said {
  readonly result: string;
  /** `missing 1..1`, `kept 5..5`: kinds with the sequences that they span, differences first. */
  readonly found: readonly string[];
  readonly backlog: string;
}

/** What is right to see on a series of versions. */
export interface Known {
  /** Of every replica; null: it varies. */
  readonly state: StateText | null;
  readonly said: Pick<Said, 'result'> & Partial<Said>;
}

/** Right on all of them. */
export function everywhere(known: Known): Record<Series, Known> {
  return { '2.9': known, '2.14': known, '2.15': known };
}

export interface Stage {
  readonly cluster: NatsCluster;
  readonly session: Session;
  readonly series: Series;
  /**
   * Waits until every replica of a stream holds this, or the time is over; what is there then is
   * looked at later.
   */
  readonly rest: (stream: string, state: StateText, withinMs?: number) => Promise<void>;
}

export interface KnownCase {
  /** Of the public catalogue where it has one. */
  readonly id: string;
  readonly title: string;
  /** What a reader of the table may wonder about. */
  readonly note?: string;
  /** A mirror, or with `replicas` any stream. */
  readonly stream: string;
  /** Reads every replica of the stream. */
  readonly replicas?: boolean;
  /** It ends processes, so it is played when no other case is. */
  readonly disturbs?: boolean;
  /** By series; a text says why it is not played there. */
  readonly known: Readonly<Record<Series, Known | string>>;
  /** Makes the streams and waits until they rest. */
  readonly play: (stage: Stage) => Promise<void>;
}
