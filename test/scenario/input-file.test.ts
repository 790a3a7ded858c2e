import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { INPUT_BYTES_MAX, SCENARIO_BYTES_MAX } from '../../src/base/limits.js';
import { readInput } from '../../src/scenario/input-file.js';
import { scenarioSource } from '../../src/scenario/parse.js';
import { FIXTURES, planOf, refused } from './stage.js';

const dir = mkdtempSync(join(tmpdir(), 'lockstep-'));
afterAll(() => rmSync(dir, { recursive: true }));

/** A file of holes, as long as is said. */
function hollow(bytes: number): string {
  const path = join(dir, `${bytes}`);
  writeFileSync(path, '');
  truncateSync(path, bytes);
  return path;
}

function refusedScenario(path: string): string {
  return refused(() => scenarioSource(path, readInput)).replace(dir, 'dir');
}

describe('input file: what has no end or no bound is refused before it is read', () => {
  it('a regular file is read whole', () => {
    const path = join(dir, 'text');
    writeFileSync(path, 'größer\n');
    expect(readInput(path)).toBe('größer\n');
  });

  it.runIf(process.platform !== 'win32')('a device, a pipe, a directory', () => {
    const pipe = join(dir, 'pipe');
    execFileSync('mkfifo', [pipe]);
    expect([refusedScenario('/dev/zero'), refusedScenario(pipe), refusedScenario(dir)]).toEqual([
      'scenario: /dev/zero: cannot be read (not a regular file)',
      'scenario: dir/pipe: cannot be read (not a regular file)',
      'scenario: dir: cannot be read (a directory)',
    ]);
  });

  it('a scenario of more than 4 MiB', () => {
    expect(refusedScenario(hollow(SCENARIO_BYTES_MAX + 1))).toBe(
      'scenario: dir/4194305: cannot be read (larger than 4MiB)',
    );
    expect(readInput(hollow(SCENARIO_BYTES_MAX), SCENARIO_BYTES_MAX).length).toBe(4_194_304);
  });

  it('what natscli printed, of more than 64 MiB', () => {
    const gaps = hollow(INPUT_BYTES_MAX + 1);
    const read = (path: string): string => (path === gaps ? readInput(path) : FIXTURES(path));
    const natsGaps = { file: gaps, info: 'ORDERS.info.json' };
    expect(refused(() => planOf({ origin: { natsGaps } }, read)).replace(dir, 'dir')).toBe(
      'test: origin.natsGaps: dir/67108865: cannot be read (larger than 64MiB)',
    );
  });
});
