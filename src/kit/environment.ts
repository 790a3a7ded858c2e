/** The variables of the environment that lockstep knows: any other of its names is a slip. */
import { LockstepError, usageError } from '../base/errors.js';
import { plain } from '../base/plain.js';
import { meant } from '../scenario/words.js';

export type Environment = Readonly<Record<string, string | undefined>>;

const PREFIX = 'LOCKSTEP_';
const NAMES = [
  ...['SEED', 'SEEDS', 'CORES', 'ON', 'TIME_LIMIT', 'CHECK_DETERMINISM'],
  ...['NATS_SERVER', 'REQUIRE_NATS'],
];
/** Of the suites of lockstep itself: how often they play, and servers of other versions. */
const OF_OUR_SUITES = /^(RUNS|NATS_SERVER_\d+(_\d+)*)$/;

/** Errors: usage, naming the variable that is not known. */
export function checkVariables(environment: Environment): void {
  const names = Object.keys(environment)
    .filter((name) => name.startsWith(PREFIX))
    .map((name) => name.slice(PREFIX.length));
  const slip = names.find((name) => !NAMES.includes(name) && !OF_OUR_SUITES.test(name));
  if (slip === undefined) return;
  const near = meant(slip, NAMES);
  const hint = near === undefined ? '' : `; did you mean ${PREFIX}${near}?`;
  const known = NAMES.map((name) => PREFIX + name).join(', ');
  const text = `${plain(PREFIX + slip)}: no variable of lockstep${hint} (${known})`;
  throw new LockstepError('usage', text);
}

/** Errors: usage. */
export function switchIn(name: string, text: string): boolean {
  if (text === '1' || text === 'true') return true;
  if (text === '0' || text === 'false') return false;
  throw usageError(name, text, 'one of 1, true, 0, false');
}
