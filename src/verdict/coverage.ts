/** What a sweep has to meet: gates on the cells of its coverage (base/cells.ts). */
import { faultCellOf, isInstant, type FaultCell } from '../base/cells.js';

/** A part of a gate that any word fits; an instant, which has a phase beside it, only by name. */
export const ANY = '*';

/** How often each cell was met, by its name. */
export type Cells = Readonly<Record<string, number>>;

/** A demand on a sweep, and what came of it. */
export interface Gate {
  /** As it was asked for: `leader:skipping:kill`, or with `*` for a part. */
  readonly mustHit: string;
  /** Faults that fell into a cell that it fits. */
  readonly times: number;
  /** Of a gate that nothing fitted: the cell that comes nearest; null: no fault fell. */
  readonly nearest: { readonly cell: string; readonly times: number } | null;
}

export function judgeGates(mustHit: readonly string[], cells: Cells): Gate[] {
  return mustHit.map((each) => {
    const wanted = faultCellOf(each)!;
    let times = 0;
    for (const [name, count] of Object.entries(cells)) {
      const met = faultCellOf(name);
      if (met !== null && likeness(wanted, met) === ALIKE) times += count;
    }
    return { mustHit: each, times, nearest: times > 0 ? null : nearestOf(wanted, cells) };
  });
}

/** A phase that is missed is found soonest from the same fault in another one. */
const WEIGHTS = { kind: 4, role: 2, phase: 1 } as const;
const ALIKE = WEIGHTS.kind + WEIGHTS.role + WEIGHTS.phase;

function likeness(wanted: FaultCell, met: FaultCell): number {
  const of = (part: keyof FaultCell): number =>
    wanted[part] === met[part] || (wanted[part] === ANY && !(part === 'phase' && isInstant(met)))
      ? WEIGHTS[part]
      : 0;
  return of('kind') + of('role') + of('phase');
}

function nearestOf(wanted: FaultCell, cells: Cells): Gate['nearest'] {
  let best: Gate['nearest'] = null;
  let most = -1;
  for (const [cell, times] of Object.entries(cells)) {
    const met = faultCellOf(cell);
    if (met === null) continue;
    const alike = likeness(wanted, met);
    if (alike < most || (alike === most && times <= best!.times)) continue;
    best = { cell, times };
    most = alike;
  }
  return best;
}
