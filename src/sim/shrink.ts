/**
 * From something that fails to something small that fails alike, until nothing can be left out any
 * more. Knows no clock and no simulation, nor what it shrinks: passes propose candidates, and it
 * asks whether they fail. The same answers and the same number of candidates give the same result.
 */
import { fewestEvents, noneOfAKind } from './shrink-events.js';
import { calmToPlay, lighterToPlay } from './shrink-light.js';
import { REDUCTIONS } from './shrink-plan.js';
import { plainStories } from './shrink-stories.js';
import type { SwarmPlan } from './swarm.js';

export { eventsOf } from './shrink-events.js';

/**
 * `minimal`: no single event can be left out and no reduction still fails; `candidates` and `time`:
 * a limit came first, so that it may be larger than it needs to be.
 */
export type ShrinkEnd = 'minimal' | 'candidates' | 'time';

export interface ShrinkOptions<P> {
  /** Whether a candidate fails of the same property with the same verdict as what is shrunk. */
  readonly fails: (candidate: P) => boolean | Promise<boolean>;
  /** Candidates that are played at most. */
  readonly candidatesMax: number;
  /** Asked before each candidate; true ends early. */
  readonly isOver?: () => boolean;
}

export interface Shrunk<P> {
  readonly plan: P;
  readonly candidates: number;
  readonly end: ShrinkEnd;
}

/** Takes the place of what stands if it fails too. */
export type Attempt<P> = (candidate: P) => Promise<boolean>;

/** Attempts less of something than stands; what is attempted and fails stands from then on. */
export type Pass<P> = (current: () => P, attempt: Attempt<P>) => Promise<void>;

/**
 * What can be made less in one respect: candidates, the boldest first; each of them is simpler than
 * what was given, so that reducing comes to an end.
 */
export type Reduction<P> = (plan: P) => Iterable<P>;

/** Once: they take large steps, and have nothing to take where small ones were taken. */
const LARGE_STEPS: readonly Pass<SwarmPlan>[] = [
  noneOfAKind,
  lighterToPlay,
  fewestEvents,
  plainStories,
  calmToPlay,
];
const SMALL_STEPS: readonly Pass<SwarmPlan>[] = [fewestEvents, ...REDUCTIONS.map(reducing)];

/**
 * Fewer events, weaker events, fewer replicas, less load, a calmer world.
 *
 * @param plan  one that fails
 */
export function shrink(
  plan: SwarmPlan,
  options: ShrinkOptions<SwarmPlan>,
): Promise<Shrunk<SwarmPlan>> {
  return shrinkBy([LARGE_STEPS, SMALL_STEPS], { ...plan, fates: plan.fates ?? [] }, options);
}

/** Every pass again as long as any of them took something away. */
export async function shrinkBy<P>(
  [once, again]: readonly [readonly Pass<P>[], readonly Pass<P>[]],
  failing: P,
  options: ShrinkOptions<P>,
): Promise<Shrunk<P>> {
  const shrinking = new Shrinking(failing, options);
  const ended = (end: ShrinkEnd): Shrunk<P> => {
    return { plan: shrinking.plan, candidates: shrinking.candidates, end };
  };
  try {
    for (const pass of once) await pass(() => shrinking.plan, shrinking.attempt);
    for (let before: P | null = null; before !== shrinking.plan;) {
      before = shrinking.plan;
      for (const pass of again) await pass(() => shrinking.plan, shrinking.attempt);
    }
  } catch (error) {
    if (!(error instanceof LimitReached)) throw error;
    return ended(error.limit);
  }
  return ended('minimal');
}

/** The boldest candidate that still fails is taken, and the reduction asked again. */
export function reducing<P>(reduction: Reduction<P>): Pass<P> {
  return async (current, attempt) => {
    for (let reduced = true; reduced;) {
      reduced = false;
      for (const candidate of reduction(current())) {
        if (!(await attempt(candidate))) continue;
        reduced = true;
        break;
      }
    }
  };
}

/** Unwinds to where the best plan so far is handed out. */
class LimitReached extends Error {
  readonly limit: 'candidates' | 'time';

  constructor(limit: 'candidates' | 'time') {
    super(limit);
    this.limit = limit;
  }
}

class Shrinking<P> {
  plan: P;
  candidates = 0;
  readonly #options: ShrinkOptions<P>;
  /** Plans that did not fail: one comes up again in every round. */
  readonly #passed = new Set<string>();

  constructor(plan: P, options: ShrinkOptions<P>) {
    this.plan = plan;
    this.#options = options;
  }

  readonly attempt: Attempt<P> = async (candidate) => {
    const { fails, candidatesMax, isOver } = this.#options;
    const text = JSON.stringify(candidate);
    if (this.#passed.has(text) || text === JSON.stringify(this.plan)) return false;
    if (this.candidates >= candidatesMax) throw new LimitReached('candidates');
    if (isOver?.() === true) throw new LimitReached('time');
    this.candidates++;
    if (await fails(candidate)) {
      this.plan = candidate;
      return true;
    }
    this.#passed.add(text);
    return false;
  };
}
