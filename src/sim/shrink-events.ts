/**
 * Fewer events, by delta debugging (Zeller and Hildebrandt, Simplifying and Isolating
 * Failure-Inducing Input, 2002): chunks are left out, all of them at first, then halves, quarters
 * and so on down to single ones, until no single one can go. Where few chunks are asked about, each
 * is left out under several seeds: what is left of a run that failed by the time of a few messages
 * seldom fails at the very same time, and often at another.
 */
import type { LinkFate } from './fates.js';
import type { Attempt } from './shrink.js';
import type { SwarmFault, SwarmPlan } from './swarm.js';

type Event =
  | { readonly kind: 'fault'; readonly fault: SwarmFault }
  | { readonly kind: 'fate'; readonly fate: LinkFate };

/** What of something are its events, and the same with fewer of them. */
export interface Eventful<P, E> {
  readonly eventsIn: (plan: P) => readonly E[];
  readonly withEvents: (plan: P, events: readonly E[]) => P;
  /** The same under the nth other seed, itself for 0; not given: it has no other. */
  readonly reseeded?: (plan: P, nth: number) => P;
}

const SWARM: Eventful<SwarmPlan, Event> = { eventsIn, withEvents, reseeded };

/** Candidates of one size, at least: the fewer chunks, the more seeds for each. */
const TRIES_MIN = 24;

/** Of a drawn run: faults and fates. */
export async function fewestEvents(
  current: () => SwarmPlan,
  attempt: Attempt<SwarmPlan>,
): Promise<void> {
  await fewest(SWARM, current, attempt);
}

/** All fates at once and all faults at once: many a failure needs only one of the two, or none. */
export async function noneOfAKind(
  current: () => SwarmPlan,
  attempt: Attempt<SwarmPlan>,
): Promise<void> {
  await attempt({ ...current(), fates: [] });
  await attempt({ ...current(), faults: [] });
}

/** Faults and fates of single messages: what a run is said to consist of. */
export function eventsOf({ faults, fates = [] }: SwarmPlan): number {
  return faults.length + fates.length;
}

/** The same cluster and events with other draws: delays, writes, time-outs. */
export function reseeded(plan: SwarmPlan, nth: number): SwarmPlan {
  return nth === 0 ? plan : { ...plan, seed: plan.seed + nth };
}

/** @param current  what stands; what is attempted and fails takes its place */
export async function fewest<P, E>(
  of: Eventful<P, E>,
  current: () => P,
  attempt: Attempt<P>,
): Promise<void> {
  let size = of.eventsIn(current()).length;
  while (size >= 1) {
    const removed = await withoutChunks(of, current, attempt, size);
    if (size === 1 && !removed) return;
    size = Math.max(1, Math.min(Math.floor(size / 2), of.eventsIn(current()).length));
  }
}

/** From the last one to the first: what comes late is the likeliest to be of no consequence. */
async function withoutChunks<P, E>(
  { eventsIn, withEvents, reseeded }: Eventful<P, E>,
  current: () => P,
  attempt: Attempt<P>,
  size: number,
): Promise<boolean> {
  let removed = false;
  for (let end = eventsIn(current()).length; end > 0; end -= size) {
    const events = eventsIn(current());
    const left = [...events.slice(0, Math.max(0, end - size)), ...events.slice(end)];
    const less = withEvents(current(), left);
    const chunks = Math.ceil(events.length / size);
    const seeds = reseeded === undefined ? 1 : Math.max(1, Math.floor(TRIES_MIN / chunks));
    for (let nth = 0; nth < seeds; nth++) {
      if (!(await attempt(reseeded?.(less, nth) ?? less))) continue;
      removed = true;
      break;
    }
  }
  return removed;
}

function eventsIn({ faults, fates = [] }: SwarmPlan): Event[] {
  return [
    ...faults.map((fault) => ({ kind: 'fault', fault }) as const),
    ...fates.map((fate) => ({ kind: 'fate', fate }) as const),
  ];
}

function withEvents(plan: SwarmPlan, events: readonly Event[]): SwarmPlan {
  const faults = events.flatMap((event) => (event.kind === 'fault' ? [event.fault] : []));
  const fates = events.flatMap((event) => (event.kind === 'fate' ? [event.fate] : []));
  return { ...plan, faults, fates };
}
