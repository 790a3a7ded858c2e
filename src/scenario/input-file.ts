/**
 * Files that a user names, read whole. What has no end, waits for a writer or would fill the memory
 * is refused before it is opened.
 */
import { readFileSync, statSync } from 'node:fs';
import { INPUT_BYTES_MAX } from '../base/limits.js';
import { formatSize } from '../base/units.js';

/** Throws what the file system throws, or an error whose message says what the file is not. */
export function readInput(path: string, bytesMax = INPUT_BYTES_MAX): string {
  const stats = statSync(path);
  if (stats.isDirectory()) throw new Error('a directory');
  if (!stats.isFile()) throw new Error('not a regular file');
  if (stats.size > bytesMax) throw new Error(`larger than ${formatSize(bytesMax)}`);
  return readFileSync(path, 'utf8');
}
