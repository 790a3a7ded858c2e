/** The nats driver: real servers, their own raft and their own mirror, real time. */
import { LockstepError, usageError } from '../base/errors.js';
import { loadHasher } from '../base/hasher.js';
import type { Driver } from '../scenario/driver.js';
import { refuseLive } from '../scenario/origins.js';
import type { Plan } from '../scenario/types.js';
import { cannotOnServers, unseenOnServers } from './cannot.js';
import type { Environment } from './environment.js';
import { DrivenCluster } from './driven-cluster.js';
import { OwnSite } from './own-site.js';
import { findServer } from './server.js';
import { TheirSite, type TheirCluster } from './their-site.js';

/** Replicas that a stream of a server can have. */
const REPLICAS = [1, 3, 5];
/** No server tells of its mirror's own doing; of a cluster of others not even who consumes. */
const UNSEEN = ['skips', 'rollbacks', 'retries'] as const;

/** Why nothing can be played on servers of our own here; null: it can. */
export function lacksServer(env: Environment): string | null {
  if (findServer(env) !== null) return null;
  const named = env['LOCKSTEP_NATS_SERVER'] ?? '';
  if (named !== '') return `LOCKSTEP_NATS_SERVER: ${named} is no program`;
  return 'there is no nats-server: put it on the PATH, or its path into LOCKSTEP_NATS_SERVER';
}

/** On servers that it starts, and ends with the run. */
export const natsDriver: Driver = {
  name: 'nats',
  unseen: UNSEEN,
  cannot: (action, plan) => cannotOnServers(action, plan, 'ours'),
  cannotSee: unseenOnServers,
  check: (plan) => {
    checkPlan(plan);
    const lack = lacksServer(process.env);
    if (lack !== null) throw new LockstepError('usage', lack);
  },
  start: async (plan, onEvent, { signal } = {}) => {
    natsDriver.check?.(plan);
    const hasher = await loadHasher();
    const site = await OwnSite.start(findServer(process.env)!, plan.replicas, signal);
    return DrivenCluster.start({ plan, site, hasher, onEvent, signal });
  },
};

/** On a cluster that is there already: only what its API can be asked for. */
export function natsDriverOn(their: TheirCluster): Driver {
  return {
    name: 'nats',
    unseen: [...UNSEEN, 'openings'],
    cannot: (action, plan) => cannotOnServers(action, plan, 'theirs'),
    cannotSee: unseenOnServers,
    check: checkPlan,
    start: async (plan, onEvent, { signal } = {}) => {
      checkPlan(plan);
      const hasher = await loadHasher();
      const site = await TheirSite.open(their, plan);
      return DrivenCluster.start({ plan, site, hasher, onEvent, signal });
    },
  };
}

/** Errors: usage, when the plan is not one for servers. */
function checkPlan(plan: Plan): void {
  refuseLive('nats', plan);
  if (REPLICAS.includes(plan.replicas)) return;
  throw usageError('replicas', plan.replicas, `one of ${REPLICAS.join(', ')} on nats`);
}
