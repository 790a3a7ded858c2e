/** Where a run on servers takes place: who holds which slot, and how each of them is looked at. */
import type { Slot } from '../base/member.js';
import type { RunNames } from './driven-origin.js';
import type { NatsCluster } from './cluster.js';
import type { MemberSight } from './observer.js';
import type { Settings } from './settings.js';

export interface Site extends AsyncDisposable {
  /** Of the servers: `2.15.2`. */
  readonly version: string;
  readonly names: RunNames;
  /** For whoever publishes, reads and asks for changes of streams. */
  readonly settings: Settings;
  /** What goes into the configurations of both streams: how many replicas, and where. */
  readonly placing: {
    readonly origin: Readonly<Record<string, unknown>>;
    readonly mirror: Readonly<Record<string, unknown>>;
  };
  /** The processes; null: they are not ours. */
  readonly servers: NatsCluster | null;
  /** Name of the server that holds the origin; null: it is wherever its cluster put it. */
  readonly originServer: string | null;
  /** Whether `openings` says anything. */
  readonly tellsOpenings: boolean;
  /** What whoever runs it should read before anything happens, line by line. */
  readonly remarks: readonly string[];
  /** A stream of the run was made here. */
  made(stream: string): void;
  /** Both streams were made: from here on it is known who holds them. */
  placed(): Promise<void>;
  /** Why no fault may strike at this moment; null: one may. */
  refuses(): Promise<string | null>;
  /** The leader of all of JetStream hands over. Errors: timeout, originRefused. */
  stepDownMeta(): Promise<void>;
  /** Name of the server that holds a slot's copy. */
  serverOf(slot: Slot): string;
  /** Looks at one member; null: it says nothing. */
  look(slot: Slot): Promise<MemberSight | null>;
  /** Names of the mirror's consumers at its origin; null: nobody says. */
  openings(): Promise<readonly string[] | null>;
  /** Logs stay when the site is closed. */
  keep(): void;
}
