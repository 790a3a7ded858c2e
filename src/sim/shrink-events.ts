/**
 * Fewer events, by delta debugging (Zeller and Hildebrandt, Simplifying and Isolating
 * Failure-Inducing Input, 2002): chunks are left out, all of them at first, then halves, quarters
 * and so on down to single ones, until no single one can go.
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
}

const SWARM: Eventful<SwarmPlan, Event> = { eventsIn, withEvents };

/** Of a drawn run: faults and fates. */
export async function fewestEvents(
  current: () => SwarmPlan,
  attempt: Attempt<SwarmPlan>,
): Promise<void> {
  // All fates at once and all faults at once: many a failure needs only one of the two.
  await attempt(withEvents(current(), eventsIn(current()).filter(isFault)));
  await fewest(SWARM, current, attempt);
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
  { eventsIn, withEvents }: Eventful<P, E>,
  current: () => P,
  attempt: Attempt<P>,
  size: number,
): Promise<boolean> {
  let removed = false;
  for (let end = eventsIn(current()).length; end > 0; end -= size) {
    const events = eventsIn(current());
    const left = [...events.slice(0, Math.max(0, end - size)), ...events.slice(end)];
    if (await attempt(withEvents(current(), left))) removed = true;
  }
  return removed;
}

function eventsIn({ faults, fates = [] }: SwarmPlan): Event[] {
  return [
    ...faults.map((fault) => ({ kind: 'fault', fault }) as const),
    ...fates.map((fate) => ({ kind: 'fate', fate }) as const),
  ];
}

function isFault(event: Event): boolean {
  return event.kind === 'fault';
}

function withEvents(plan: SwarmPlan, events: readonly Event[]): SwarmPlan {
  const faults = events.flatMap((event) => (event.kind === 'fault' ? [event.fault] : []));
  const fates = events.flatMap((event) => (event.kind === 'fate' ? [event.fate] : []));
  return { ...plan, faults, fates };
}
