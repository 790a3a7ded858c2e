import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';

describe('cli: broken scenario files', () => {
  it('each is refused in one line with exit code 64 (npm run fuzz: 10,000 of them)', () => {
    const child = spawnSync(process.execPath, ['scripts/fuzz.js', '300'], { encoding: 'utf8' });
    expect(child.stderr).toBe('');
    expect(child.stdout).toMatch(
      /^2\d\d of 300 files were broken: each refused in one line, exit 64\n$/,
    );
    expect(child.status).toBe(0);
  });
});
