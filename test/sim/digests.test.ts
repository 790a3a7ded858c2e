/** The kept digests and the script that changes them; CI compares them on every Node. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { playSeed } from '../../src/sim/seeds.js';
import { TraceDigest } from '../../src/sim/trace.js';
import { hasher } from './stage.js';

const FILE = 'test/sim/digests.json';

interface Kept {
  readonly version: string;
  readonly why: string;
  readonly digests: Readonly<Record<string, string>>;
}

function digests(...args: string[]): { code: number | null; stderr: string } {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/digests.js', ...args]);
  return { code: status, stderr: stderr.toString() };
}

describe('sim: digests', () => {
  it('of seeds 1 to 50, all different, with version and reason', () => {
    const kept = JSON.parse(readFileSync(FILE, 'utf8')) as Kept;
    const seeds = Array.from({ length: 50 }, (_, at) => String(at + 1));
    expect(Object.keys(kept.digests)).toEqual(seeds);
    expect(new Set(Object.values(kept.digests)).size).toBe(50);
    expect(Object.values(kept.digests).filter((digest) => !/^[0-9a-f]{16}$/.test(digest))).toEqual(
      [],
    );
    expect(kept.version).toMatch(/^\d+\.\d+\.\d+$/);
    expect(kept.why).not.toBe('');
  });

  it('the same seed -> the same digest; another seed -> another', async () => {
    const digestOf = async (seed: number): Promise<string> => {
      const digest = new TraceDigest(hasher);
      return digest.ended(await playSeed({ kind: 'drawn' }, seed, hasher, digest));
    };
    expect(await digestOf(2)).toBe(await digestOf(2));
    expect(await digestOf(2)).not.toBe(await digestOf(3));
  });

  it.each([[['--write']], [['--write', ' ']], [['--wrote', 'why']], [['--write', 'why', 'not']]])(
    'refused, and nothing written: %j',
    (args) => {
      const before = readFileSync(FILE, 'utf8');
      const { code, stderr } = digests(...args);
      expect({ code, lines: stderr.split('\n').length }).toEqual({ code: 64, lines: 2 });
      expect(stderr).toMatch(/^digests: /);
      expect(readFileSync(FILE, 'utf8')).toBe(before);
    },
  );
});
