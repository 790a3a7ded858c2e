/**
 * What a sweep has seen, as named cells: a fault of a kind fell on a member in a role while that
 * member was in a phase. A name is its parts with a space between, so that whatever counts, prints
 * or merges cells needs to know none of them, and further tables of cells need no other place.
 */
import type { Replica } from '../replica/replica.js';
import type { MemoryDisk } from './disk.js';
import type { SimNode } from './node.js';

type Stand =
  | 'down'
  | 'frozen'
  | 'idle'
  /** Its own no-op is not applied yet, so that its mirror is not opened. */
  | 'noopUncommitted'
  /** It waits until it may open again. */
  | 'mirrorClosed'
  | 'openingUnanswered'
  | 'settingUp'
  | 'skipInFlight'
  | 'appendUncommitted'
  | 'appendUnsynced';

export class Coverage {
  readonly #met = new Map<string, number>();

  met(cell: string): void {
    this.#met.set(cell, (this.#met.get(cell) ?? 0) + 1);
  }

  get cells(): Record<string, number> {
    return Object.fromEntries(this.#met);
  }
}

/**
 * `freeze leader skipInFlight`. To be asked before the fault changes what it falls on.
 * @param target  null: a fault of the origin or of all members
 */
export function faultCell(kind: string, target: SimNode | null): string {
  if (target === null) return `${kind} cluster any`;
  const role = target.replica?.log.role ?? 'follower';
  return `${kind} ${role} ${standOf(target)}`;
}

function standOf(node: SimNode): Stand {
  const { replica, disk } = node;
  if (replica === null) return 'down';
  if (node.isFrozen) return 'frozen';
  if (replica.log.role === 'leader') return leaderStand(replica, disk);
  return disk.written.lastIndex > disk.lastIndex ? 'appendUnsynced' : 'idle';
}

function leaderStand(replica: Replica, disk: MemoryDisk): Stand {
  if (!replica.serving) return 'noopUncommitted';
  switch (replica.openingPhase) {
    case null:
      return 'mirrorClosed';
    case 'requested':
      return 'openingUnanswered';
    case 'settingUp':
      return 'settingUp';
    case 'skipping':
      return 'skipInFlight';
    case 'receiving':
      return disk.written.lastIndex > replica.log.commit ? 'appendUncommitted' : 'idle';
  }
}
