/** What a sweep must have seen: cells of its coverage, checked before it begins. */
import { faultCellOf, PHASES } from '../base/cells.js';
import { usageError } from '../base/errors.js';
import { nearest } from '../scenario/words.js';
import { ANY } from '../verdict/coverage.js';
import type { SweepSubject } from './seeds.js';
import { KINDS, MOMENTS } from './swarm-draws.js';

const EXPECTED = 'a role, a phase and a kind of fault, such as leader:skipping:kill';

/**
 * Gates of a sweep as `role:phase:kind`, any part of which may be `*`. A part that no run of this
 * sweep can meet is refused, or the gate would only be missed at its end.
 *
 * @param where  the flag or the path, as the user wrote it
 * Errors: usage.
 */
export function checkMustHit(
  where: string,
  mustHit: readonly string[],
  subject: SweepSubject,
): readonly string[] {
  for (const gate of mustHit) {
    const cell = faultCellOf(gate);
    if (cell === null) throw usageError(where, gate, EXPECTED);
    known(where, cell.role, 'a role', Object.keys(PHASES));
    known(where, cell.phase, `a phase of ${cell.role}`, phasesOf(cell.role, subject));
    known(where, cell.kind, 'a fault of this sweep', kindsOf(subject));
  }
  return mustHit;
}

function known(where: string, word: string, what: string, words: readonly string[]): void {
  if (word === ANY || words.includes(word)) return;
  throw usageError(where, word, `${what}${nearest(word, words)}`);
}

/** Only faults of drawn runs wait for moments. */
function phasesOf(role: string, { kind }: SweepSubject): readonly string[] {
  const roles = Object.entries(PHASES).filter(([each]) => role === ANY || role === each);
  const phases: readonly string[] = roles.flatMap(([, words]) => words);
  const instants = kind === 'drawn' ? MOMENTS.map((moment) => `@${moment}`) : [];
  return [...new Set([...phases, ...instants])];
}

function kindsOf(subject: SweepSubject): readonly string[] {
  return subject.kind === 'drawn' ? KINDS : subject.plan.faults.map(({ action }) => action.kind);
}
