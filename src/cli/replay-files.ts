/** The replay file that a user names. */
import { toErrorData, usageError } from '../base/errors.js';
import { readInput } from '../scenario/input-file.js';
import { parseReplay, type ReplayFile } from '../sim/replay-file.js';

/** Errors: usage, in one line. */
export function readReplay(path: string): ReplayFile {
  let text: string;
  try {
    text = readInput(path);
  } catch (error) {
    throw usageError('replay', path, `a file that can be read (${toErrorData(error).message})`);
  }
  return parseReplay(text, path);
}
