/** Flags of a script: what it does not know is one line and exit 64, as everywhere. */
import { parseArgs, type ParseArgsConfig } from 'node:util';
import { LockstepError, toErrorData } from '../src/base/errors.js';
import { inOneLine } from '../src/base/plain.js';

/** Errors: usage. */
export function parseFlags<T extends NonNullable<ParseArgsConfig['options']>>(
  options: T,
): ReturnType<typeof parseArgs<{ options: T }>>['values'] {
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    const expected = Object.keys(options).map((name) => `--${name}`);
    const why = inOneLine(toErrorData(error).message);
    throw new LockstepError('usage', `${why}; there are ${expected.join(', ')}`);
  }
}
