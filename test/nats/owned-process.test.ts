/** A process of ours that could outlive us. */
import type { spawn } from 'node:child_process';
import { type SpawnOptions } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { OwnedProcess } from '../../src/nats/owned-process.js';

vi.mock('node:child_process', async (actual) => {
  const real = await actual<{ readonly spawn: typeof spawn }>();
  const withoutShell = (file: string, args: string[], options: SpawnOptions): unknown =>
    real.spawn(file === '/bin/sh' ? '/nowhere/sh' : file, args, options);
  return { ...real, spawn: withoutShell };
});

it('owned process: one that cannot be watched is ended, and says why', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'lockstep-'));
  const owned = new OwnedProcess('sleep', ['60'], join(dir, 'log'));
  await owned.gone;
  expect(owned.ended).toBe('was ended, since it cannot be watched: spawn /nowhere/sh ENOENT');
  rmSync(dir, { recursive: true });
});
