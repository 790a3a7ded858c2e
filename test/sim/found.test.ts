/** Every replay file in scenarios/found comes to what it says. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { playReplay } from '../../src/sim/replay.js';
import { parseReplay } from '../../src/sim/replay-file.js';
import { fateId } from '../../src/sim/transcript.js';
import { hasher } from './stage.js';

const DIR = 'scenarios/found';
const files = readdirSync(DIR).map((name) => `${DIR}/${name}`);

describe('sim: found', () => {
  it('there are some', () => {
    expect(files.length).toBeGreaterThan(0);
  });

  it.each(files)('%s', async (path) => {
    const replay = parseReplay(readFileSync(path, 'utf8'), path);
    expect(replay.about).not.toMatch(/^seed /);
    const { summary } = await playReplay(replay, hasher);
    expect(summary).toMatchObject({ asExpected: true, expected: replay.expect });
    // Its events still happen: a file whose faults miss shows nothing any more.
    const { faults, fates = [] } = replay.plan;
    for (const id of [...faults.map((fault) => fault.id!), ...fates.map(fateId)]) {
      await expect(playReplay(replay, hasher, id)).resolves.toBeDefined();
    }
  });
});
