/** The sim driver: the whole cluster in this thread, in virtual time. */
import { loadHasher } from '../base/hasher.js';
import type { Driver } from '../scenario/driver.js';
import { SimCluster } from './cluster.js';

export const simDriver: Driver = {
  name: 'sim',
  cannot: (action, plan) => {
    if (plan.replicas === 1 && action.kind === 'stepDown') {
      return 'a cluster of one has no raft and nobody to hand over to';
    }
    return null;
  },
  start: async (plan, onEvent) => new SimCluster(plan, { hasher: await loadHasher(), onEvent }),
};
