/**
 * The shortest script that is known for a mutant, as a replay file: by-hand/ holds those that were
 * thought out, whose parts do not kill any more; shrunk/ what shrinking a drawn run left. Each
 * kills on the mutated build and holds on the build as it is; every hunt plays it.
 */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface KnownScript {
  /** Of the replay file. */
  readonly text: string;
  readonly byHand: boolean;
}

/** Compiled, this file lies in dist/mutants. */
const SCRIPTS = new URL('../../mutants/scripts/', import.meta.url);

/** Null: there is none. */
export function scriptOf({ id }: { readonly id: string }): KnownScript | null {
  const byHand = textOf(`by-hand/${id}.json`);
  if (byHand !== null) return { text: byHand, byHand: true };
  const shrunk = textOf(`shrunk/${id}.json`);
  return shrunk === null ? null : { text: shrunk, byHand: false };
}

function textOf(file: string): string | null {
  const path = fileURLToPath(new URL(file, SCRIPTS));
  return existsSync(path) ? readFileSync(path, 'utf8') : null;
}
