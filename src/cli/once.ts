/** A flag that has one value is given once: of two, one would go unseen. */
import type { Command } from 'commander';
import { LockstepError } from '../base/errors.js';

/** Of every command: what flags that gather values do with them is theirs. */
export function refuseTwice(command: Command): void {
  for (const sub of command.commands) refuseTwice(sub);
  for (const option of command.options) {
    if (option.isBoolean() || option.parseArg !== undefined) continue;
    let isGiven = false;
    option.argParser((value) => {
      // Not the values: they may be secrets.
      if (isGiven) throw new LockstepError('usage', `${option.long ?? option.flags}: given twice`);
      isGiven = true;
      return value;
    });
  }
}
