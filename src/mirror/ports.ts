/**
 * What surrounds a mirror: how it proposes, what it may read of its own store, where bytes come
 * from. Everything is synchronous.
 */
import type { MirrorEvent, OriginIdentity } from './types.js';

/** Why a proposal was refused. `mismatch` is of the direct path only: there the store judges. */
export type ProposalRefusal =
  'notLeader' | 'staleTerm' | 'transferring' | 'overrun' | 'writeFailed' | 'mismatch';

export type ProposalResult =
  { readonly accepted: true } | { readonly accepted: false; readonly code: ProposalRefusal };

export interface ProposalBatch {
  readonly count: number;
  readonly bytes: Uint8Array;
}

export type ProposalKind = Extract<MirrorEvent, { kind: 'propose' }>['what'];

/** A batch, and the sequences that it covers. An identity covers none: both are the last one. */
export interface Proposal extends ProposalBatch {
  readonly what: ProposalKind;
  readonly first: number;
  readonly last: number;
}

/** The store's readings are of applied state, never of what was only accepted. */
export interface MirrorPorts {
  /** All or nothing. Accepted means queued and no more: it may vanish with the leadership. */
  propose(term: number, batch: ProposalBatch, what: ProposalKind): ProposalResult;
  /** Bytes that a proposal may have now. To wait for room is no refusal. */
  room(): number;
  storeLast(): number;
  storeMessages(): number;
  storeIdentity(): OriginIdentity | null;
  /** Zeroed bytes, 8-byte aligned, never handed out again. */
  allocate(size: number): Uint8Array;
}
