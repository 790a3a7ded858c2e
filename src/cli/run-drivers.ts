/** Whom `lockstep run` has play a scenario: what --on, --cluster and their like say. */
import { LockstepError, usageError } from '../base/errors.js';
import { driverOf } from '../kit/drivers.js';
import { natsDriverOn } from '../nats/driver.js';
import type { Driver } from '../scenario/driver.js';
import { parseServerUrl, withLogin, type ConnectionGiven } from '../scenario/connection.js';
import { connectionOf, type ConnectionFlags } from './connection-flags.js';

export interface DriverFlags extends ConnectionFlags {
  /** Names of drivers, with a comma. */
  readonly on: string;
  /** A cluster that is there already: its url, or true for the one of the connection's flags. */
  readonly cluster?: string | true;
  readonly allowFaults?: boolean;
  readonly clusterName?: string;
}

/** In the order that they were named. Errors: usage. */
export function driversOf(flags: DriverFlags): Driver[] {
  const names = flags.on.split(',').map((name) => name.trim());
  const drivers = names.map((name) => driverOf('--on', name));
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw usageError('--on', flags.on, 'a list of different drivers');
  if (flags.cluster === undefined) {
    const stray = flags.allowFaults === true ? '--allow-faults' : '--cluster-name';
    if (flags.allowFaults !== true && flags.clusterName === undefined) return drivers;
    throw new LockstepError('usage', `${stray} belongs to --cluster`);
  }
  if (!names.includes('nats')) throw new LockstepError('usage', '--cluster belongs to --on nats');
  return drivers.map((driver) => (driver.name === 'nats' ? theirDriver(flags) : driver));
}

function theirDriver(flags: DriverFlags): Driver {
  const given = connectionOf(flags, process.env);
  return natsDriverOn({
    connection: typeof flags.cluster === 'string' ? served(flags.cluster, given) : given,
    allowFaults: flags.allowFaults === true,
    name: flags.clusterName ?? null,
  });
}

function served(url: string, given: ConnectionGiven): ConnectionGiven {
  const { path, servers, ...login } = parseServerUrl('--cluster', url);
  if (path === null) return { ...withLogin(given, login), servers };
  throw usageError('--cluster', `/${path}`, 'left out: a run makes its own streams');
}
