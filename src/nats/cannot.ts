/** What real servers cannot be made to suffer, and why; told before a run starts. */
import type { FaultAction, FaultKind, Plan, StateTrigger } from '../scenario/types.js';

/** Whose servers a run is played on. */
export type Whose = 'ours' | 'theirs';

const NO_DISK = 'nothing makes the disk of one server fail or slow down';

const WHY_NOT: Readonly<Partial<Record<FaultKind, string>>> = {
  flap: 'a server that steps down names another, and nothing makes it win at once',
  overrun: "the bound of a server's log is its own",
  outOfMemory: 'the memory of a server has no limit of its own; kill looks the same from outside',
  failWrites: NO_DISK,
  failSync: NO_DISK,
  tornTail: NO_DISK,
  slowDisk: NO_DISK,
  clockRate: 'a server has the clock of its machine',
  slow: 'nothing slows one server down; freeze stops it for a while',
  failPropose: "a server's proposals cannot be refused from outside",
  link: 'routes are TCP: nothing is lost, doubled or overtaken on them; partition holds them',
  refuseOpening: 'a server refuses no consumer of a mirror on demand',
  loseDeliveries: 'what one server sends another comes, or the route ends',
  repeatDeliveries: 'what one server sends another comes once',
};

/** Kinds that need the process of a server. */
const OF_PROCESSES: readonly FaultKind[] = [
  'kill',
  'wipe',
  'freeze',
  'reload',
  'partition',
  'stallOrigin',
];

const NOT_HANDED_OUT = 'what was not handed out yet is not known of a server; name sequences';

/** Null: it can be injected. */
export function cannotOnServers(action: FaultAction, plan: Plan, whose: Whose): string | null {
  const { kind } = action;
  const never = WHY_NOT[kind];
  if (never !== undefined) return never;
  if (whose === 'theirs' && OF_PROCESSES.includes(kind)) {
    return 'these servers were not started by lockstep: only their API can be asked';
  }
  if (whose === 'theirs' && kind === 'metaStepDown') return 'it takes the system account';
  switch (action.kind) {
    case 'stepDown':
      if (plan.replicas === 1) return 'a stream of one replica has nobody to hand over to';
      return action.to === null ? 'a server that steps down always names another' : null;
    case 'partition':
      return plan.replicas === 1 && action.between !== 'origin'
        ? 'a stream of one replica has no peers'
        : null;
    case 'dropConsumer':
      return whose === 'theirs' && plan.replicas === 1
        ? 'an origin of one replica has nobody to hand over to: its leader keeps the consumer'
        : null;
    case 'originDelete':
      return 'next' in action.range ? NOT_HANDED_OUT : null;
    case 'originPurge':
      return typeof action.to === 'number' ? null : NOT_HANDED_OUT;
    default:
      return null;
  }
}

/** Why a state is never met: servers do not show it. Null: they do. */
export function unseenOnServers(state: StateTrigger): string | null {
  switch (state.kind) {
    case 'skipped':
      return 'a server does not tell how far a skip came';
    case 'appended':
      return 'a server does not tell on how many others an entry is';
    case 'phase':
      return 'a server does not tell in which phase it is';
    default:
      return null;
  }
}
