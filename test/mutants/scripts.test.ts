/** Known scripts of mutants: each kills on its mutated build, twice alike, and holds without it. */
import { pathToFileURL } from 'node:url';
import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { SWARM_MUTANTS } from '../../mutants/catalogue.js';
import type * as HuntModule from '../../mutants/hunt.js';
import type * as ScriptsModule from '../../mutants/scripts.js';
import { loadHasher } from '../../src/base/hasher.js';
import { parseReplay } from '../../src/sim/replay-file.js';

const built = async <T>(file: string): Promise<T> =>
  (await import(pathToFileURL(`dist/mutants/${file}`).href)) as T;
const { scriptOf } = await built<typeof ScriptsModule>('scripts.js');
const idsIn = (folder: string): string[] =>
  readdirSync(`mutants/scripts/${folder}`).map((name) => name.replace(/\.json$/, ''));
/** Of an election, of a log, of a skip; the command plays all of them. */
const PLAYED = ['M1', 'M10', 'P1a'];

describe('mutants: scripts', () => {
  it('every swept mutant has one, by hand or shrunk', () => {
    const ids = [...idsIn('by-hand'), ...idsIn('shrunk')].sort();
    expect(ids).toEqual(SWARM_MUTANTS.map(({ id }) => id).sort());
  });

  it.each(SWARM_MUTANTS.map((mutant) => [mutant.id, mutant] as const))(
    '%s: fails of what kills',
    (id, mutant) => {
      const { failure } = parseReplay(scriptOf(mutant)!.text, id);
      expect(mutant.fires).toContain(failure.property);
    },
  );

  it.each(PLAYED)('%s: kills twice alike, its parts do not, held without the bug', async (id) => {
    const { hunt } = await built<typeof HuntModule>('hunt.js');
    const mutant = SWARM_MUTANTS.find((each) => each.id === id)!;
    const { failure } = parseReplay(scriptOf(mutant)!.text, id);
    const { signal } = new AbortController();
    const hasher = await loadHasher();
    const none = { bases: 0, seeds: 0, shrinks: 0, parts: 2 };
    const { script, trouble } = await hunt(mutant, { ...none, hasher, patienceMs: 60_000, signal });
    const { replayed, clean, byHand, parts } = script!;
    expect({ trouble, found: replayed.failure, clean, byHand, parts }).toEqual({
      trouble: null,
      found: failure,
      clean: null,
      byHand: true,
      parts: { played: 2, killed: 0 },
    });
    expect(replayed.digests[0]).toBe(replayed.digests[1]);
  });
});
