/** Origins for tests: contents in plain memory, and a service whose ledger is written down. */
import { loadHasher } from '../../src/base/hasher.js';
import { OriginContent } from '../../src/origin/content.js';
import { OriginService } from '../../src/origin/service.js';
import type { AddressedFrame } from '../../src/origin/source.js';
import type { Opening } from '../../src/mirror/types.js';
import type { MadeOriginPlan, SyntheticOriginPlan } from '../../src/scenario/types.js';
import { expectedOf, recordSize, viewOf } from '../../src/stream/layout.js';

export const hasher = await loadHasher();

export function synthetic(plan: Partial<SyntheticOriginPlan>): SyntheticOriginPlan {
  return { kind: 'synthetic', messages: 10, size: 16, rate: null, gaps: [], ...plan };
}

export interface Made {
  readonly content: OriginContent;
  /** Sizes that were asked for. */
  readonly segments: Uint8Array[];
}

export function make(plan: MadeOriginPlan, seed = 1): Made {
  const segments: Uint8Array[] = [];
  const allocate = (size: number): Uint8Array => {
    const segment = new Uint8Array(size);
    segments.push(segment);
    return segment;
  };
  return { content: new OriginContent(plan, { seed, hasher, allocate }), segments };
}

/** The sequences of the records in a view. */
export function sequencesOf(bytes: Uint8Array): number[] {
  const view = viewOf(bytes);
  const sequences: number[] = [];
  for (let at = 0; at < bytes.length; at += recordSize(view, at)) {
    sequences.push(expectedOf(view, at) + 1);
  }
  return sequences;
}

export function opening(term: number, generation: number, member = 'r1.1'): Opening {
  return { member, term, generation };
}

export type LedgerLine = readonly ['delivered' | 'passedOver', number, number];

/** Drives a service; what it says and what its ledger was told is drained as plain values. */
export class OriginStage {
  readonly service: OriginService;
  #ledger: LedgerLine[] = [];

  constructor(plan: MadeOriginPlan, options: { readonly timeScale?: number } = {}) {
    this.service = new OriginService(make(plan).content, {
      ledger: {
        delivered: ({ first, last }) => this.#ledger.push(['delivered', first, last]),
        passedOver: ({ first, last }) => this.#ledger.push(['passedOver', first, last]),
      },
      rate: plan.rate,
      timeScale: options.timeScale ?? 1,
    });
  }

  open(opened: Opening, startSeq: number, nowMs = 0): void {
    this.service.command(opened.member, { type: 'open', opening: opened, startSeq }, nowMs);
  }

  close(closed: Opening, nowMs = 0): void {
    this.service.command(closed.member, { type: 'close', opening: closed }, nowMs);
  }

  credit(credited: Opening, deliverySeq: number, nowMs = 0): void {
    const command = { type: 'credit', opening: credited, deliverySeq } as const;
    this.service.command(credited.member, command, nowMs);
  }

  pump(nowMs = 0): unknown[] {
    return this.service.pump(nowMs).map(told);
  }

  drainLedger(): LedgerLine[] {
    const lines = this.#ledger;
    this.#ledger = [];
    return lines;
  }
}

/** A frame with the sequences in the place of the bytes, and the opening as text. */
function told({ to, frame }: AddressedFrame): unknown {
  const { opening: of, ...others } = frame;
  const named = { to, of: `${of.term}.${of.generation}`, ...others };
  return 'bytes' in named ? { ...named, bytes: sequencesOf(named.bytes) } : named;
}
