/** Folders of servers: what a killed owner left is taken away, and nothing else. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { keepFolder, makeFolder, sweep } from '../../src/nats/server-folder.js';

/** An own place for temporary files, and a process that is gone. */
function stage(): { readonly root: string; readonly gone: number } {
  const root = mkdtempSync(join(tmpdir(), 'lockstep-'));
  vi.stubEnv('TMPDIR', root);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(root, { recursive: true });
  });
  return { root, gone: spawnSync(process.execPath, ['-e', '']).pid };
}

function ownerOf(dir: string): Record<string, unknown> {
  return JSON.parse(readFileSync(join(dir, 'owner.json'), 'utf8')) as Record<string, unknown>;
}

it('folder: the first of a process takes away what a killed one left', () => {
  const { root, gone } = stage();
  const ours = makeFolder();
  const left = (name: string, owner: unknown, file = 'server.log'): void => {
    const dir = join(root, `lockstep-nats-${name}`);
    mkdirSync(join(dir, 'store'), { recursive: true });
    writeFileSync(join(dir, file), '');
    if (owner !== undefined) writeFileSync(join(dir, 'owner.json'), JSON.stringify(owner));
  };
  const owner = ownerOf(ours);
  left('gone', { ...owner, pid: gone });
  left('reused', { ...owner, started: '1' });
  left('served', { ...owner, pid: gone }, `nats-server_${process.pid}.ports`);
  left('stopped', { ...owner, pid: gone }, `nats-server_${gone}.ports`);
  left('elsewhere', { ...owner, pid: gone, space: 'another machine' });
  left('kept', undefined);
  left('odd', 'no owner');
  mkdirSync(join(root, 'others-nats-x'));
  const kept = makeFolder();
  keepFolder(kept);
  sweep(root);
  expect(readdirSync(root).sort()).toEqual(
    [
      ...['elsewhere', 'kept', 'odd', 'served'].map((name) => `lockstep-nats-${name}`),
      ...['others-nats-x', basename(ours), basename(kept)],
    ].sort(),
  );
  sweep(join(root, 'nowhere'));
});

it('folder: whoever makes one sweeps first', () => {
  const { root, gone } = stage();
  const owner = { ...ownerOf(makeFolder()), pid: gone };
  const other = join(root, 'other');
  const abandoned = join(other, 'lockstep-nats-gone');
  mkdirSync(abandoned, { recursive: true });
  writeFileSync(join(abandoned, 'owner.json'), JSON.stringify(owner));
  vi.stubEnv('TMPDIR', other);
  const made = basename(makeFolder());
  expect(readdirSync(other)).toEqual([made]);
});

it('folder: no place for it is the fault of whoever named the place', () => {
  const { root } = stage();
  vi.stubEnv('TMPDIR', join(root, 'nowhere'));
  expect(makeFolder).toThrow(
    expect.objectContaining({
      code: 'usage',
      message: expect.stringContaining(
        `TMPDIR: no folder can be made in ${join(root, 'nowhere')}: ENOENT`,
      ) as string,
    }),
  );
});
