import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { SWARM_MUTANTS, TESTED_MUTANTS, WAITING_MUTANTS } from '../../mutants/catalogue.js';

const EDITED = [...SWARM_MUTANTS, ...TESTED_MUTANTS];

describe('mutants: catalogue', () => {
  it('no two have the same id', () => {
    const ids = [...EDITED, ...WAITING_MUTANTS].map(({ id }) => id);
    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
  });

  it('what an edit looks for is in the build exactly once', () => {
    const faults = EDITED.flatMap(({ id, edits }) =>
      edits.flatMap(({ file, find }) => {
        const times = readFileSync(`dist/${file}`, 'utf8').split(find).length - 1;
        return times === 1 ? [] : [`${id}: dist/${file} has it ${times} times: ${find}`];
      }),
    );
    expect(faults).toEqual([]);
  });

  it('what a test kills names a test with that title', () => {
    const directed = SWARM_MUTANTS.flatMap(({ id, directed: test }) =>
      test === undefined ? [] : [{ id, ...test }],
    );
    const nameless = [...TESTED_MUTANTS, ...directed].filter(
      ({ test, titled }) => !readFileSync(test, 'utf8').includes(titled),
    );
    expect(nameless.map(({ id }) => id)).toEqual([]);
  });
});
