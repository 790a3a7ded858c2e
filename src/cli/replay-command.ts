/** The command that plays a run again, quoted for a shell; credentials are left out of it. */
import { quoted } from '../report/text.js';
import { withoutCredentials } from '../scenario/connection.js';
import { connectionWords } from './connection-flags.js';
import type { RunFlags } from './run.js';

export function replayCommand(scenario: string | undefined, flags: RunFlags, seed: number): string {
  const words = ['lockstep', 'run'];
  if (scenario !== undefined) words.push(scenario);
  const add = (flag: string, value: string | undefined): void => {
    if (value !== undefined) words.push(flag, value);
  };
  if (flags.on !== 'threads') add('--on', flags.on);
  add('--origin', flags.origin === undefined ? undefined : withoutCredentials(flags.origin));
  if (typeof flags.cluster === 'string') add('--cluster', withoutCredentials(flags.cluster));
  else if (flags.cluster === true) words.push('--cluster');
  words.push(...connectionWords(flags));
  if (flags.allowFaults === true) words.push('--allow-faults');
  add('--cluster-name', flags.clusterName);
  add('--replicas', flags.replicas);
  add('--skip', flags.skip);
  for (const line of flags.fault ?? []) add('--fault', line);
  add('--election', flags.election);
  add('--time-scale', flags.timeScale);
  add('--time-limit', flags.timeLimit);
  if (flags.beyondQuorum === true) words.push('--beyond-quorum');
  add('--seed', String(seed));
  return words.map(quoted).join(' ');
}
