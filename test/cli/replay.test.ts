/** Replay files on disk: written by shrinking, played by the built command line. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { loadHasher } from '../../src/base/hasher.js';
import { readReplay } from '../../src/cli/replay-files.js';
import { withReplays, writeReplay } from '../../src/kit/replay-files.js';
import { CALM } from '../../src/sim/conditions.js';
import { encodeReplay } from '../../src/sim/replay-file.js';
import type { SwarmPlan } from '../../src/sim/swarm.js';
import type { SweepSummary } from '../../src/verdict/sweep.js';

const hasher = await loadHasher();
const dir = mkdtempSync(join(tmpdir(), 'lockstep-'));
afterAll(() => rmSync(dir, { recursive: true }));

/** A message that no mirror can store, and a fault that has nothing to do with it. */
const STALLS: SwarmPlan = {
  seed: 9,
  replicas: 3,
  election: 'timers',
  skip: 'entries',
  timeScale: 0.01,
  origin: { kind: 'synthetic', messages: 90, size: 800, rate: 100, gaps: [] },
  conditions: CALM,
  faults: [{ atMs: 300, target: 'leader', action: { kind: 'dropConsumer' } }],
  safetyMs: 400,
  core: [0, 1, 2],
  tuning: { preVote: true, checkQuorum: true, limits: { recordBytesMax: 100 } },
};
const path = join(dir, 'replay-catch-up-9.json');

function lockstep(...args: string[]): { code: number | null; stdout: string; stderr: string } {
  const child = spawnSync(process.execPath, ['dist/src/cli/main.js', ...args]);
  return { code: child.status, stdout: String(child.stdout), stderr: String(child.stderr) };
}

describe('cli: replay', () => {
  it('shrinking a plan writes a file of it and gives the command', async () => {
    const told: string[] = [];
    const request = { dir, limitMs: 60_000 };
    const command = await writeReplay(STALLS, hasher, request, (text) => told.push(text));
    expect(command).toBe(`lockstep replay ${path}`);
    expect(told).toEqual([
      expect.stringMatching(/^seed 9: shrunk from 1 faults and fates to 0 after \d+ candidates$/),
    ]);
    expect(readReplay(path)).toMatchObject({
      about: 'seed 9: catch-up',
      expect: 'stalled',
      failure: { verdict: 'stalled', property: 'catch-up' },
      shrunk: { from: 1, to: 0, end: 'minimal' },
      plan: { seed: 9, faults: [] },
    });
  });

  it('a limit that is over at once leaves the run as it was, and says so', async () => {
    const told: string[] = [];
    const own = join(dir, 'limit');
    await writeReplay(STALLS, hasher, { dir: own, limitMs: 0 }, (text) => told.push(text));
    expect(told).toEqual([
      'seed 9: shrunk from 1 faults and fates to 1 after 0 candidates, not to the end: --shrink-limit',
    ]);
  });

  it('a seed that does not fail here, or not alike twice, keeps its command', async () => {
    const failed = ['violated', 'harness'].map((verdict, at) => {
      const property = at === 0 ? 'one consumer' : 'determinism';
      return { seed: 3 + at, verdict, property, text: '', replay: `lockstep sweep ${at}` };
    }) as SweepSummary['failed'];
    const asked = { beyondQuorum: false };
    const summary = { verdict: 'violated', failed, asked } as unknown as SweepSummary;
    const told: string[] = [];
    const request = { dir, limitMs: 1_000, scenario: null };
    expect(await withReplays(summary, request, (text) => told.push(text))).toEqual(summary);
    expect(told).toEqual([]);
  });

  it('plays the file: last lines, the verdict and its exit code', () => {
    const { code, stdout } = lockstep('replay', path, '--lines', '3');
    const lines = stdout.trimEnd().split('\n');
    expect(code).toBe(3);
    expect(lines.slice(0, 3)).toEqual([
      'seed 9: catch-up',
      'on sim, seed 9, 1 replica, skip entries',
      '',
    ]);
    expect(lines[3]).toMatch(/^… \d+ lines before these$/);
    expect(lines.slice(4, 7).every((line) => /^ *\d+\.\d{3} {2}\S/.test(line))).toBe(true);
    expect(lines.slice(7)).toEqual([
      '',
      expect.stringMatching(/^stalled: catch-up: not at /),
      `replay: lockstep replay ${path}`,
    ]);
  });

  it('--json: the summary alone; --until: ended before it; --out-dir keeps what was played', () => {
    const kept = join(dir, 'kept');
    const ended = lockstep('replay', path, '--json', '--until', '5', '--out-dir', kept);
    expect(ended).toMatchObject({ code: 2, stderr: '' });
    const summary = JSON.parse(ended.stdout) as unknown;
    expect(summary).toMatchObject({ verdict: 'inconclusive', until: '5', events: 4 });
    const read = (name: string): string => readFileSync(join(kept, name), 'utf8');
    expect(JSON.parse(read('summary.json'))).toEqual(summary);
    expect(read('events.ndjson').trimEnd().split('\n')).toHaveLength(4);
    expect(read('transcript.txt')).toMatch(/^ +\d+\.\d{3} {2}r1 {2}leader, term 1 \(start\)\n/);
  });

  it('a file that says otherwise than the run: both are printed', () => {
    const other = join(dir, 'other.json');
    writeFileSync(other, encodeReplay({ ...readReplay(path), expect: 'held' }));
    const { code, stdout } = lockstep('replay', other, '--lines', '0');
    expect(code).toBe(3);
    expect(stdout).toMatch(/\nstalled: catch-up: .*\nthe file says held\nreplay: /);
  });

  it.each([
    [['replay', 'nofile.json'], /^lockstep: replay: nofile\.json: no such file\n$/],
    [['replay', 'package.json'], /^lockstep: package\.json: "name" is not a known key/],
    [['replay', path, '--until', 'x'], /^lockstep: --until: "x" is not an event of this run: 1 to/],
    [['merge', 'nofile.json'], /^lockstep: merge: nofile\.json: no such file\n$/],
    [
      ['verify', 'M', '--depth', 'full', '--resume', '.'],
      /^lockstep: --resume: \.: cannot be read \(a directory\)\n$/,
    ],
    [['replay', 'a\nb\u001b'], /^lockstep: replay: a\\u\{a\}b\\u\{1b\}: no such file\n$/],
    [['replay', path, '--lines', 'x'], /^lockstep: --lines: "x" is not a whole number/],
    [['replay'], /^lockstep: missing required argument 'file'/],
    [
      ['sweep', '--seeds', '1', '--shrink-limit', '5s'],
      /^lockstep: --shrink-limit belongs to --shrink\n$/,
    ],
    [
      ['sweep', '--seeds', '1', '--shrink', '--shrink-limit', '5'],
      /^lockstep: --shrink-limit: "5" is not a/,
    ],
  ])('refused: %j', (args, says) => {
    const { code, stdout, stderr } = lockstep(...args);
    expect({ code, stdout }).toEqual({ code: 64, stdout: '' });
    expect(stderr).toMatch(says);
    expect(stderr.trimEnd()).not.toContain('\n');
  });
});
