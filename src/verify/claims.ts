/** What may be said after so much was read, and no more. */
import type { Sample } from './sampling.js';
import type { Depth } from './result.js';

const PERCENT = new Intl.NumberFormat('en', { maximumSignificantDigits: 2 });

export interface Reading {
  readonly depth: Depth;
  readonly from: number;
  readonly to: number;
  /** Null: everything was read. */
  readonly sample: Sample | null;
  /** Where a resumed comparison went on; null: it is whole. */
  readonly resumedAt: number | null;
  /** Servers that served the two sides; null: not known. */
  readonly servers: readonly [origin: string | null, mirror: string | null];
}

export function claimOf(reading: Reading): string {
  const { depth, from, to, sample } = reading;
  if (to < from) return 'there is nothing to compare';
  if (depth === 'full') return wholeClaim(reading);
  const drawn = sample?.drawn ?? null;
  if (drawn === null) return `sequences ${from} to ${to} were asked of both leaders, one by one`;
  const part = `${PERCENT.format(drawn.seenPart * 100)} %`;
  const [what, those] =
    drawn.length === 1
      ? ['sequences', 'sequences']
      : [`ranges of ${drawn.length} sequences`, 'ranges'];
  const seen = `a loss that touches ${part} of ${those} is seen with p = 0.95`;
  return `${drawn.ranges} ${what} drawn: ${seen}`;
}

function wholeClaim({ from, to, resumedAt, servers }: Reading): string {
  const [origin, mirror] = servers;
  const whose =
    origin === null && mirror === null
      ? ''
      : ` (origin on ${origin ?? 'its leader'}, mirror on ${mirror ?? 'its leader'})`;
  const before =
    resumedAt === null ? '' : `; what lies below ${resumedAt} was read in an earlier run`;
  return `every message from ${from} to ${to} was read on both sides${whose}${before}`;
}
