/**
 * A copy of the build with the edits of one mutant, in a folder of its own under the system's
 * temporary folder. It has the layout of dist/ (src/, workers/), the packages by a link, and for
 * named tests the tests themselves: their imports of ../../src then mean the mutated build.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LockstepError } from '../src/base/errors.js';
import type { Edit } from './types.js';

/** Compiled, this file lies in dist/mutants. */
const DIST = fileURLToPath(new URL('..', import.meta.url));
const ROOT = join(DIST, '..');

export class MutatedBuild {
  readonly root: string;

  /** Errors: harness, when an edit's text is not in its file exactly once. */
  constructor(edits: readonly Edit[]) {
    this.root = mkdtempSync(join(tmpdir(), 'lockstep-mutant-'));
    try {
      for (const folder of ['src', 'workers']) this.#copy(DIST, folder);
      this.#copy(ROOT, 'package.json');
      symlinkSync(join(ROOT, 'node_modules'), join(this.root, 'node_modules'));
      for (const { file, find, replace } of edits) this.#edit(file, find, replace);
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  /** Adds the tests and what they read. */
  addTests(): void {
    for (const path of ['test', 'scenarios', 'vitest.config.ts', 'README.md']) {
      this.#copy(ROOT, path);
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true });
  }

  #copy(from: string, path: string): void {
    cpSync(join(from, path), join(this.root, path), { recursive: true });
  }

  #edit(file: string, find: string, replace: string): void {
    const path = join(this.root, file);
    const text = readFileSync(path, 'utf8');
    const times = text.split(find).length - 1;
    if (times !== 1) {
      const where = `dist/${file} has this text ${times} times, expected once`;
      throw new LockstepError('harness', `${where}: ${find}`);
    }
    writeFileSync(
      path,
      text.replace(find, () => replace),
    );
  }
}
