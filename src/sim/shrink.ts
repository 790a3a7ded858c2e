/**
 * From a failing run to a small one that fails alike: fewer events, weaker events, fewer replicas,
 * less load, a calmer world, until nothing can be left out any more. Knows no clock and no
 * simulation: it proposes plans and asks whether they fail. The same answers and the same number of
 * candidates give the same result.
 */
import { fewestEvents } from './shrink-events.js';
import { REDUCTIONS, type Reduction } from './shrink-plan.js';
import type { SwarmPlan } from './swarm.js';

/**
 * `minimal`: no single event can be left out and no reduction still fails; `candidates` and `time`:
 * a limit came first, so that it may be larger than it needs to be.
 */
export type ShrinkEnd = 'minimal' | 'candidates' | 'time';

export interface ShrinkOptions {
  /** Whether a plan fails of the same property with the same verdict as the one that is shrunk. */
  readonly fails: (plan: SwarmPlan) => boolean | Promise<boolean>;
  /** Plans that are played at most. */
  readonly candidatesMax: number;
  /** Asked before each candidate; true ends early. */
  readonly isOver?: () => boolean;
}

export interface Shrunk {
  readonly plan: SwarmPlan;
  readonly candidates: number;
  readonly end: ShrinkEnd;
}

/** Takes the place of the current plan if it fails too. */
export type Attempt = (candidate: SwarmPlan) => Promise<boolean>;

/** Faults and fates of single messages: what a run is said to consist of. */
export function eventsOf({ faults, fates = [] }: SwarmPlan): number {
  return faults.length + fates.length;
}

/** @param plan  one that fails */
export async function shrink(plan: SwarmPlan, options: ShrinkOptions): Promise<Shrunk> {
  const shrinking = new Shrinking(plan, options);
  try {
    await shrinking.toFixpoint();
  } catch (error) {
    if (!(error instanceof LimitReached)) throw error;
    return { plan: shrinking.plan, candidates: shrinking.candidates, end: error.limit };
  }
  return { plan: shrinking.plan, candidates: shrinking.candidates, end: 'minimal' };
}

/** Unwinds to where the best plan so far is handed out. */
class LimitReached extends Error {
  readonly limit: 'candidates' | 'time';

  constructor(limit: 'candidates' | 'time') {
    super(limit);
    this.limit = limit;
  }
}

class Shrinking {
  plan: SwarmPlan;
  candidates = 0;
  readonly #options: ShrinkOptions;
  /** Plans that did not fail: one comes up again in every round. */
  readonly #passed = new Set<string>();

  constructor(plan: SwarmPlan, options: ShrinkOptions) {
    this.plan = { ...plan, fates: plan.fates ?? [] };
    this.#options = options;
  }

  /** Every pass again as long as any of them took something away. */
  async toFixpoint(): Promise<void> {
    for (let before: SwarmPlan | null = null; before !== this.plan;) {
      before = this.plan;
      await fewestEvents(() => this.plan, this.#attempt);
      for (const reduction of REDUCTIONS) await this.#reduce(reduction);
    }
  }

  /** The boldest candidate that still fails is taken, and the reduction asked again. */
  async #reduce(reduction: Reduction): Promise<void> {
    for (let reduced = true; reduced;) {
      reduced = false;
      for (const candidate of reduction(this.plan)) {
        if (!(await this.#attempt(candidate))) continue;
        reduced = true;
        break;
      }
    }
  }

  readonly #attempt: Attempt = async (candidate) => {
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
