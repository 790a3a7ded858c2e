/**
 * The coverage of a sweep for people: for each role and phase how many faults fell there and which
 * have not yet; on request the whole matrix, how often each kind fell in each phase.
 */
import { faultCellOf, PHASES } from '../base/cells.js';
import type { Cells, Gate } from '../verdict/coverage.js';
import { grouped, table } from './text.js';

const WIDTH = 100;
/** Of the kinds that are missing in a phase, so many by name. */
const NAMED_MAX = 3;

type ByKind = Map<string, number>;
type ByPhase = Map<string, ByKind>;

/** One line for a gate that nothing fitted. */
export function missedText({ mustHit, nearest }: Gate): string {
  if (nearest === null) return `${mustHit} was not met; no fault fell at all`;
  const { cell, times } = nearest;
  const often = times === 1 ? 'once' : `${grouped(times)} times`;
  return `${mustHit} was not met; nearest is ${cell}, met ${often}`;
}

export function coverageTable(cells: Cells): string[] {
  const rows: string[][] = [];
  for (const [role, phases] of countsOf(cells)) {
    const kinds = kindsOf(phases);
    for (const [phase, of] of phases) {
      const faults = [...of.values()].reduce((sum, count) => sum + count, 0);
      const missing = kinds.filter((kind) => !of.has(kind));
      rows.push([role, phase, grouped(faults), `${of.size} of ${kinds.length}`, listed(missing)]);
    }
  }
  if (rows.length === 0) return [];
  return table([['role', 'phase', 'faults', 'kinds', 'not yet'], ...rows], new Set([2, 3]));
}

/** A table for each role: kinds in rows, phases in columns, as many side by side as fit. */
export function coverageMatrix(cells: Cells): string[] {
  return [...countsOf(cells)].flatMap(([role, phases]) => {
    const kinds = kindsOf(phases);
    const widest = Math.max(role.length, ...kinds.map((kind) => kind.length));
    return blocksOf([...phases.keys()], WIDTH - widest).flatMap((block) => {
      const rows = kinds.map((kind) => [
        kind,
        ...block.map((phase) => {
          const count = phases.get(phase)!.get(kind);
          return count === undefined ? '-' : grouped(count);
        }),
      ]);
      return [...table([[role, ...block], ...rows], new Set(block.map((_, at) => at + 1))), ''];
    });
  });
}

function kindsOf(phases: ByPhase): string[] {
  return [...new Set([...phases.values()].flatMap((of) => [...of.keys()]))].sort();
}

function listed(kinds: readonly string[]): string {
  const named = kinds.slice(0, NAMED_MAX).join(', ');
  const left = kinds.length - NAMED_MAX;
  return left > 0 ? `${named} and ${left} more` : named;
}

/** Roles and phases in the order in which they are listed; instants behind the phases. */
function countsOf(cells: Cells): Map<string, ByPhase> {
  const counts = new Map<string, ByPhase>();
  for (const [role, phases] of Object.entries(PHASES)) {
    counts.set(role, new Map<string, ByKind>(phases.map((phase) => [phase, new Map()])));
  }
  for (const [name, count] of Object.entries(cells)) {
    const cell = faultCellOf(name);
    if (cell === null) continue;
    const phases = entry(counts, cell.role, (): ByPhase => new Map());
    entry(phases, cell.phase, (): ByKind => new Map()).set(cell.kind, count);
  }
  // Of a role that faults fell on, the phases that none fell into are worth a row.
  for (const [role, phases] of counts) {
    if ([...phases.values()].every((of) => of.size === 0)) counts.delete(role);
  }
  return counts;
}

function entry<V>(map: Map<string, V>, key: string, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

/** Words in rows of at most so many columns, with the two before each. */
function blocksOf(words: readonly string[], columns: number): string[][] {
  const blocks: string[][] = [];
  let left = 0;
  for (const word of words) {
    const wide = word.length + 2;
    if (wide > left) {
      blocks.push([]);
      left = columns;
    }
    blocks.at(-1)!.push(word);
    left -= wide;
  }
  return blocks;
}
