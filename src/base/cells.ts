/**
 * The cells of the coverage table, by name: a fault of a kind fell on a member in a role while that
 * member was in a phase. `leader:skipping:kill` is such a cell. Whoever counts, merges or keeps
 * cells needs their names alone; names of another form (`excused: …`) are counted beside them.
 */

/** Of who leads and whose mirror may be open. */
const SERVING = [
  'transferring',
  'rolledBack',
  'mirrorClosed',
  'opening',
  'settingUp',
  'skipping',
  'appendUncommitted',
  'appendUnsynced',
  'idle',
] as const;

/**
 * The phases of each role; of several that hold at once the first one counts. An instant that a
 * fault waited for (src/sim/moments.ts) is counted beside the phase that it fell into, as `@voted`.
 *
 * - `none`: the member is dead. `cluster`: the fault struck the origin or several members at once;
 *   then the phase is that of the leader.
 * - `noopUncommitted`: the leader's own no-op is not applied yet, so its mirror is not open.
 *   `transferring`: it hands over. `rolledBack`: a refusal took its cursor back and it waits to
 *   open again. `mirrorClosed`: it waits to open for another reason. `opening`: the origin has not
 *   answered. `settingUp`: skips before its first message. `skipping`: a gap is being skipped.
 *   `appendUncommitted`, `appendUnsynced`: entries are not committed, not durable here.
 * - `catchingUp`: it lacks entries that its leader knows to be committed. `leaderless`: it knows no
 *   leader.
 */
export const PHASES = {
  leader: ['frozen', 'noopUncommitted', ...SERVING],
  candidate: ['frozen', 'preVoting', 'voting'],
  follower: ['frozen', 'appendUnsynced', 'catchingUp', 'leaderless', 'idle'],
  none: ['down'],
  cluster: ['leaderless', 'frozen', ...SERVING],
} as const;

export type CoverageRole = keyof typeof PHASES;
export type Phase = (typeof PHASES)[CoverageRole][number];

export interface FaultCell {
  readonly role: string;
  readonly phase: string;
  readonly kind: string;
}

export function cellName({ role, phase, kind }: FaultCell): string {
  return `${role}:${phase}:${kind}`;
}

/** A cell of a fault, and what fits several: any part may be `*`. */
export const FAULT_CELL = /^(\w+|\*):(@?\w+|\*):(\w+|\*)$/;

/** Null: it is no cell of a fault. */
export function faultCellOf(name: string): FaultCell | null {
  const [, role, phase, kind] = FAULT_CELL.exec(name) ?? [];
  return role === undefined ? null : { role, phase: phase!, kind: kind! };
}

/** An instant that a fault waited for: it has a cell of the phase that it fell into beside it. */
export function isInstant({ phase }: FaultCell): boolean {
  return phase.startsWith('@');
}
