/** What may be said after so much was read, and no more. */
import { grouped, listed } from '../report/text.js';
import type { ReadFrom } from './reading.js';
import type { Depth } from './result.js';
import type { Sample } from './sampling.js';

const PERCENT = new Intl.NumberFormat('en', { maximumSignificantDigits: 2 });

export interface Reading {
  readonly depth: Depth;
  readonly from: number;
  /** Up to where it was to be read. */
  readonly to: number;
  /** Up to where it was: `to`, unless it ended early; below `from`: nothing was compared. */
  readonly reached: number;
  /** Null: everything was read. */
  readonly sample: Sample | null;
  /** Where a resumed comparison went on; null: it is whole. */
  readonly resumedAt: number | null;
  readonly servers: ReadFrom;
}

export function claimOf(reading: Reading): string {
  const { depth, from, to, reached, sample } = reading;
  if (to < from) return 'there is nothing to compare';
  if (reached < from) return 'nothing was compared';
  if (depth === 'full') return wholeClaim(reading);
  const where = `from ${grouped(from)} to ${grouped(reached)}`;
  // How much was drawn says something of the whole only where all of it was read.
  if (reached < to) return `what was drawn ${where} was asked of both leaders, one by one`;
  const drawn = sample?.drawn ?? null;
  if (drawn === null) return `every sequence ${where} was asked of both leaders, one by one`;
  const part = `${PERCENT.format(drawn.seenPart * 100)} %`;
  const [what, those] =
    drawn.length === 1
      ? ['sequences', 'sequences']
      : [`ranges of ${drawn.length} sequences`, 'ranges'];
  const seen = `a loss that touches ${part} of ${those} is seen with p = 0.95`;
  return `${grouped(drawn.ranges)} ${what} drawn ${where}: ${seen}`;
}

function wholeClaim({ from, reached, resumedAt, servers }: Reading): string {
  const [origin, mirror] = servers;
  const whose =
    origin.length + mirror.length === 0
      ? ''
      : ` (origin on ${whereOf(origin)}, mirror on ${whereOf(mirror)})`;
  const before =
    resumedAt === null ? '' : `; what lies below ${grouped(resumedAt)} was read in an earlier run`;
  const where = `from ${grouped(from)} to ${grouped(reached)}`;
  return `every message ${where} was read on both sides${whose}${before}`;
}

function whereOf(servers: readonly string[]): string {
  return servers.length === 0 ? 'its leader' : listed(servers);
}
