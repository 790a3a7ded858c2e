/** The sim driver: the whole cluster in this thread, in virtual time. */
import { loadHasher, type Hasher } from '../base/hasher.js';
import { cannotAlone, type Driver } from '../scenario/driver.js';
import { SimCluster, type SimOptions } from './cluster.js';

export const simDriver: Driver = simDriverWith({});

/** On links and disks of one's own, with eyes on draws and on where faults fall. */
export function simDriverWith(options: SimOptions & { readonly hasher?: Hasher }): Driver {
  return {
    name: 'sim',
    cannot: cannotAlone,
    start: async (plan, onEvent) => {
      const hasher = options.hasher ?? (await loadHasher());
      return new SimCluster(plan, { ...options, hasher, onEvent });
    },
  };
}
