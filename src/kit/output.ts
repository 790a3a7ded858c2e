/** Files that are left behind: a directory of one's choice, made if need be. */
import { closeSync, existsSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { LockstepError, toErrorData } from '../base/errors.js';

/**
 * Opens a file in a directory that is made if need be. Errors: usage, when it cannot be made or
 * written to.
 */
export function openIn(dir: string, name: string, mode: 'w' | 'a' = 'w'): number {
  try {
    makeDirectory(dir);
    return openSync(join(dir, name), mode);
  } catch (error) {
    const { message } = toErrorData(error);
    throw new LockstepError('usage', `--out-dir: ${dir}: cannot be written to (${message})`);
  }
}

/**
 * Level by level: Node's own recursive mkdir does not come back from file systems that refuse a
 * directory with ENOENT, as /proc does. Somebody else may make the same one at this moment: tests
 * that fail side by side do.
 */
function makeDirectory(dir: string): void {
  if (existsSync(dir)) return;
  const parent = dirname(dir);
  if (parent !== dir) makeDirectory(parent);
  try {
    mkdirSync(dir);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Writes a file line by line, each with its newline. Errors: as openIn. */
export function writeLines(dir: string, name: string, lines: Iterable<string>): string {
  const file = openIn(dir, name);
  try {
    for (const line of lines) writeSync(file, `${line}\n`);
  } finally {
    closeSync(file);
  }
  return join(dir, name);
}
