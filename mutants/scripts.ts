/**
 * The shortest script that is known for a mutant, as a replay file under mutants/scripts: written
 * by hand or left by shrinking. It kills on the mutated build and holds on the build as it is;
 * every hunt plays it.
 */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Compiled, this file lies in dist/mutants. */
const SCRIPTS = new URL('../../mutants/scripts/', import.meta.url);

/** Its text; null: there is none. */
export function scriptOf({ id }: { readonly id: string }): string | null {
  const path = fileURLToPath(new URL(`${id}.json`, SCRIPTS));
  return existsSync(path) ? readFileSync(path, 'utf8') : null;
}
