/** The threads driver: real worker threads on this machine, real time. */
import { cannotAlone, type Driver } from '../scenario/driver.js';
import { restartMsOf } from '../scenario/budget.js';
import type { FaultAction, Plan } from '../scenario/types.js';
import { ThreadCluster } from './cluster.js';

/** Journals are in memory here: they have no disk, and end with their thread. */
const OF_JOURNALS = 'comes with the durable journal';

function cannot(action: FaultAction, plan: Plan): string | null {
  switch (action.kind) {
    case 'failSync':
    case 'tornTail':
    case 'slowDisk':
      return OF_JOURNALS;
    default:
      return restartMsOf(action) === null ? cannotAlone(action, plan) : OF_JOURNALS;
  }
}

export const threadsDriver: Driver = {
  name: 'threads',
  cannot,
  start: (plan, onEvent, { takesMore } = {}) => ThreadCluster.start(plan, onEvent, takesMore),
};
