/** The replay file that a user names. */
import { readInput } from '../scenario/input-file.js';
import { readText } from '../scenario/source.js';
import { parseReplay, type ReplayFile } from '../sim/replay-file.js';

/** Errors: usage, in one line. */
export function readReplay(path: string): ReplayFile {
  return parseReplay(readText('replay', path, readInput), path);
}
