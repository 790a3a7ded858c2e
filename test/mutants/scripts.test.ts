/** Known scripts of mutants: each kills on its mutated build, twice alike, and holds without it. */
import { existsSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { SWARM_MUTANTS } from '../../mutants/catalogue.js';
import type * as HuntModule from '../../mutants/hunt.js';
import { loadHasher } from '../../src/base/hasher.js';
import { parseReplay, type ReplayFile } from '../../src/sim/replay-file.js';
import { eventsOf } from '../../src/sim/shrink.js';

const fileOf = (id: string): string => `mutants/scripts/${id}.json`;
const scriptOf = (id: string): ReplayFile => parseReplay(readFileSync(fileOf(id), 'utf8'), id);
const SCRIPTED = SWARM_MUTANTS.filter(({ id }) => existsSync(fileOf(id)));
/** Of an election, of a log, of a skip; the command plays all of them. */
const PLAYED = ['M1', 'M7b', 'P1a'];

describe('mutants: scripts', () => {
  it.each(SCRIPTED.map((mutant) => [mutant.id, mutant] as const))(
    '%s: has as many events as the catalogue says, and fails of what kills',
    (id, mutant) => {
      const { plan, failure } = scriptOf(id);
      expect({ events: eventsOf(plan), kills: mutant.fires.includes(failure.property) }).toEqual({
        events: mutant.script,
        kills: true,
      });
    },
  );

  it.each(PLAYED)('%s: twice the same on the mutated build, held without the bug', async (id) => {
    const built = pathToFileURL('dist/mutants/hunt.js').href;
    const { hunt } = (await import(built)) as typeof HuntModule;
    const mutant = SWARM_MUTANTS.find((each) => each.id === id)!;
    const { failure } = scriptOf(id);
    const { signal } = new AbortController();
    const hasher = await loadHasher();
    const none = { bases: 0, seeds: 0, shrinks: 0 };
    const { script, trouble } = await hunt(mutant, { ...none, hasher, patienceMs: 60_000, signal });
    const { failure: found, digests } = script!.replayed;
    expect({ trouble, found, clean: script!.clean }).toEqual({
      trouble: null,
      found: failure,
      clean: null,
    });
    expect(digests[0]).toBe(digests[1]);
  });
});
