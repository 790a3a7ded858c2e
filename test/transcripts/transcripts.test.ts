/**
 * Every story in this folder is played and comes out as it stands. With UPDATE=1 in the environment
 * what came of the commands is written anew; commands and comments stay.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { retold } from './story.js';

const DIR = 'test/transcripts';
const names = readdirSync(DIR).filter((name) => name.endsWith('.txt'));

describe('transcripts', () => {
  it('there are some', () => {
    expect(names.length).toBeGreaterThan(30);
  });

  it.each(names)('%s', (name) => {
    const path = `${DIR}/${name}`;
    const text = readFileSync(path, 'utf8');
    expect(text, 'says what it shows, and its source').toMatch(/^# .*(\n# .*)*\n# Source: .+\n/);
    const told = retold(text, path);
    if (process.env['UPDATE'] === '1') writeFileSync(path, told);
    else expect(told).toBe(text);
  });
});

describe('transcripts: a story that is not understood', () => {
  it.each([
    ['kill r1', 'a story begins with cluster or mirror, not with kill'],
    ['cluster three', 'cluster: three is no number'],
    ['cluster 3 skip=none', 'cluster: skip=none is none of entries, range'],
    ['cluster 3 size=1', 'cluster: size is not understood'],
    ['mirror\nwave', 'no command of a mirror: wave'],
    ['mirror\nwait', 'wait: expected a duration'],
    ['mirror\nwait 2', 'wait: "2" is not a duration with its unit, such as 250ms or 2s'],
    ['cluster 3\nwave r1', 'no command of a cluster: wave'],
    ['cluster 3\nelect r4', 'elect: r4 is none of r1, r2, r3'],
    ['cluster 3\nstep-down r1 to r4', 'step-down: r4 is none of best, r1, r2, r3'],
    ['cluster 3\nkill r1\nelect r1', 'elect: r1 is dead'],
    ['cluster 3\nelect r1 r2', 'elect: r2 is not understood'],
    ['cluster 3\nuntil r1 serves', 'until: not within 10 s'],
    ['cluster 3\nwhen r1 skipped 1', 'when: expected a command'],
  ])('%j', (text, expected) => {
    const line = text.split('\n').length;
    expect(() => retold(text, 'a.txt')).toThrow(`a.txt:${line}: ${expected}`);
  });

  it('what came of its commands is not read', () => {
    const story = '# One.\nmirror last=5\nstatus\n';
    const told = retold(story, 'a.txt');
    expect(told).not.toBe(story);
    expect(retold(told.replace(/^ .*$/m, '  something else'), 'a.txt')).toBe(told);
  });
});
