/**
 * When an entry is first committed, a majority holds it durably. Raft paper, section 5.3, with the
 * leader counted only once its own write is done (dissertation, section 10.2.1).
 */
import type { JournalView, Finding } from './types.js';

export class CommittedOnQuorum {
  static readonly property = 'committed on quorum';
  #high = 0;

  /** @param disks  the durable log of every voter */
  committed(index: number, term: number, disks: readonly JournalView[]): Finding {
    if (index <= this.#high) return null;
    this.#high = index;
    let held = 0;
    for (const disk of disks) if (disk.termAt(index) === term) held++;
    if (held * 2 > disks.length) return null;
    return `entry ${index} of term ${term} was committed while ${held} of ${disks.length} held it`;
  }
}
