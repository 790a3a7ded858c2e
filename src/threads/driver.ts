/** The threads driver: real worker threads on this machine, real time. */
import { cannotAlone, type ClusterEvent, type Driver } from '../scenario/driver.js';
import type { Plan } from '../scenario/types.js';
import { ThreadCluster } from './cluster.js';

export const threadsDriver: Driver = {
  name: 'threads',
  cannot: cannotAlone,
  start: (plan: Plan, onEvent: (event: ClusterEvent) => void) => ThreadCluster.start(plan, onEvent),
};
