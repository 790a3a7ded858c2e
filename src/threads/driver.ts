/** The threads driver: real worker threads on this machine, real time. */
import type { ClusterEvent, Driver } from '../scenario/driver.js';
import type { FaultAction, Plan } from '../scenario/types.js';
import { ThreadCluster } from './cluster.js';

export const threadsDriver: Driver = {
  name: 'threads',
  cannot: (action: FaultAction, plan: Plan) => {
    if (plan.replicas === 1 && action.kind === 'stepDown') {
      return 'a cluster of one has no raft and nobody to hand over to';
    }
    return null;
  },
  start: (plan: Plan, onEvent: (event: ClusterEvent) => void) => ThreadCluster.start(plan, onEvent),
};
