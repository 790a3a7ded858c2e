/**
 * What an origin's thread drives: something that answers openings, has frames to send and can tell
 * afterwards what it handed out. The service of made content is one; a stream on a server is
 * another. Time is an argument, frames are return values; a source that hears of something by other
 * means calls whoever made it, and is then pumped.
 */
import type { ErrorData } from '../base/errors.js';
import type { Hasher } from '../base/hasher.js';
import type { Member } from '../base/member.js';
import type { OriginCommand, OriginFrame } from '../mirror/types.js';
import type { PartDigests } from '../stream/store.js';
import type { SeqRange } from '../stream/types.js';
import type { LedgerReport } from '../verdict/types.js';

export interface AddressedFrame {
  readonly to: Member;
  readonly frame: OriginFrame;
}

/** Told before anything is handed over. */
export interface LedgerSink {
  delivered(range: SeqRange): void;
  passedOver(range: SeqRange): void;
}

/** A chance, and for how long. */
export interface MeanwhileChance {
  readonly perMillion: number;
  readonly forMs: number;
}

export interface OriginSource {
  /** The last sequence that a mirror has to reach. */
  readonly last: number;
  /** How many messages there were when the source was made, a sentinel counted. */
  readonly messages: number;
  /** When the first delivery of all was made; null before. */
  readonly firstDeliveryMs: number | null;
  /** The highest sequence that was ever handed out; 0 before the first. */
  readonly handedOut: number;
  command(from: Member, command: OriginCommand, nowMs: number): void;
  /** What is to be sent now, in this order. */
  pump(nowMs: number): AddressedFrame[];
  /** When pump has something to say without another command; null: only after one. */
  nextDueMs(nowMs: number): number | null;

  // Faults.

  /** Forgets the live opening and tells nobody. False: there was none. */
  dropConsumer(): boolean;
  refuseNext(count: number, error: ErrorData): void;
  /** For so long each request to open is refused by this chance. */
  refuseByChance(chance: MeanwhileChance, error: ErrorData, nowMs: number): void;
  loseDeliveries(count: number): void;
  repeatDeliveries(count: number): void;
  /** For so long each delivery is lost, or sent twice, by this chance. */
  loseByChance(perMillion: number, forMs: number, nowMs: number): void;
  repeatByChance(perMillion: number, forMs: number, nowMs: number): void;
  stall(ms: number, nowMs: number): void;

  // For the judge, once nothing moves any more.

  /** The ledger's report without what the sink was told. */
  report(): Omit<LedgerReport, 'delivered' | 'passedOver'>;
  /** Messages in the range as they were made, rising; several may share a sequence. */
  records(range: SeqRange): readonly PartDigests[];
}

/** What a source gets from whoever drives it. */
export interface OriginTools {
  readonly hasher: Hasher;
  readonly ledger: LedgerSink;
  /** Zeroed memory that all threads share; what was written to it must never change again. */
  readonly allocate: (size: number) => Uint8Array;
  /** Scales heartbeats. */
  readonly timeScale: number;
  /** Faults by chance are drawn from it. */
  readonly seed: number;
  /** There may be something to pump now. */
  readonly wake: () => void;
  /** Something that whoever reads the run should know, in one line. */
  readonly note: (text: string) => void;
}
