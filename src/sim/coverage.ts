/** Where the faults of a run fell, as cells of the table of base/cells.ts. */
import { cellName, type PHASES, type Phase } from '../base/cells.js';
import type { Replica } from '../replica/replica.js';
import type { SwarmMoment } from './moments.js';
import type { SimNode } from './node.js';

/** Codes of what a mirror's proposals are refused with. */
const REFUSALS: ReadonlySet<string> = new Set([
  'notLeader',
  'staleTerm',
  'transferring',
  'overrun',
  'writeFailed',
  'mismatch',
]);

type LeaderPhase = (typeof PHASES)['leader'][number];

export class Coverage {
  readonly #met = new Map<string, number>();

  met(cell: string): void {
    this.#met.set(cell, (this.#met.get(cell) ?? 0) + 1);
  }

  get cells(): Record<string, number> {
    return Object.fromEntries(this.#met);
  }
}

/** On whom a fault falls. `struck` null: on the origin, or on several members at once. */
export interface Falls {
  readonly kind: string;
  readonly struck: SimNode | null;
  /** Who leads; null: nobody. */
  readonly leader: SimNode | null;
  /** The moment that the fault waited for. */
  readonly moment?: SwarmMoment | undefined;
}

/** The cells that a fault meets. To be asked before it changes what it falls on. */
export function faultCells({ kind, struck, leader, moment }: Falls): string[] {
  const role = struck === null ? 'cluster' : roleOf(struck);
  const phase = struck === null ? clusterPhase(leader) : phaseOf(struck, leader);
  const cell = cellName({ role, phase, kind });
  return moment === undefined ? [cell] : [cell, cellName({ role, phase: `@${moment}`, kind })];
}

function roleOf({ replica }: SimNode): keyof typeof PHASES {
  if (replica === null) return 'none';
  const { role } = replica.log;
  return role === 'preCandidate' ? 'candidate' : role;
}

function clusterPhase(leader: SimNode | null): Phase {
  return leader === null ? 'leaderless' : phaseOf(leader, leader);
}

function phaseOf(node: SimNode, leader: SimNode | null): Phase {
  const { replica } = node;
  if (replica === null) return 'down';
  if (node.isFrozen) return 'frozen';
  switch (replica.log.role) {
    case 'leader':
      return leaderPhase(node, replica);
    case 'preCandidate':
      return 'preVoting';
    case 'candidate':
      return 'voting';
    case 'follower':
      return followerPhase(node, replica, leader);
  }
}

function leaderPhase({ disk }: SimNode, replica: Replica): LeaderPhase {
  const { raft, mirror } = replica.status();
  if (!replica.serving) return 'noopUncommitted';
  if (raft.transferringTo !== null) return 'transferring';
  switch (replica.openingPhase) {
    case null:
      return REFUSALS.has(mirror?.error?.code ?? '') ? 'rolledBack' : 'mirrorClosed';
    case 'requested':
      return 'opening';
    case 'settingUp':
      return 'settingUp';
    case 'skipping':
      return 'skipping';
    case 'receiving':
      if (disk.written.lastIndex > replica.log.commit) return 'appendUncommitted';
      return disk.hasUnsyncedEntries ? 'appendUnsynced' : 'idle';
  }
}

function followerPhase({ disk }: SimNode, { log }: Replica, leader: SimNode | null): Phase {
  if (disk.hasUnsyncedEntries) return 'appendUnsynced';
  if (log.leader === null) return 'leaderless';
  return log.lastIndex < (leader?.replica?.log.commit ?? 0) ? 'catchingUp' : 'idle';
}
