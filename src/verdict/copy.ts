/**
 * One replica's side of the comparison, as values: what its store holds, and one digest of all of
 * it that two replicas share only when they hold the same.
 */
import { digestText, type Hasher } from '../base/hasher.js';
import type { Store } from '../stream/store.js';
import type { CopyReport } from './types.js';

export function copyReport(store: Pick<Store, 'state' | 'gaps' | 'blockDigests'>): CopyReport {
  return { state: store.state(), gaps: store.gaps(), blocks: store.blockDigests() };
}

/**
 * xxh64 over first, last, the gaps and the block digests of a copy, 16 hexadecimal digits. Numbers
 * are hashed as 64-bit little-endian floats, block digests as 64-bit integers.
 */
export function copyDigest(report: CopyReport, hasher: Hasher): string {
  const { state, gaps, blocks } = report;
  const numbers = new DataView(new ArrayBuffer(8 * (2 + 2 * gaps.length)));
  numbers.setFloat64(0, state.first, true);
  numbers.setFloat64(8, state.last, true);
  for (const [at, gap] of gaps.entries()) {
    numbers.setFloat64(16 + 16 * at, gap.first, true);
    numbers.setFloat64(24 + 16 * at, gap.last, true);
  }
  const stream = hasher.stream64();
  stream.update(new Uint8Array(numbers.buffer));
  const pair = new DataView(new ArrayBuffer(16));
  const pairBytes = new Uint8Array(pair.buffer);
  for (const [at, block] of blocks.blocks.entries()) {
    pair.setFloat64(0, block, true);
    pair.setBigUint64(8, blocks.digests[at]!, true);
    stream.update(pairBytes);
  }
  return digestText(stream.digest());
}
