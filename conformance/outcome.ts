/** What one scenario file came to on one driver, as it is kept and compared. */
import { toErrorData } from '../src/base/errors.js';
import type { Hasher } from '../src/base/hasher.js';
import { faultsOn } from '../src/scenario/checks.js';
import type { Driver } from '../src/scenario/driver.js';
import { play, type PlayResult } from '../src/scenario/play.js';
import type { Plan } from '../src/scenario/types.js';
import type { RunSummary, Verdict } from '../src/verdict/types.js';
import { playDecided } from './decided.js';

/** Nothing in it differs from play to play: no times, no counts of elections. */
export type Outcome =
  | { readonly skipped: string }
  | {
      readonly verdict: Verdict;
      /** What every living replica holds at the end, in words; of several, all of them. */
      readonly state: string;
      /** Faults that were installed, of those that this driver has in the file. */
      readonly faults: string;
      /** Of a verdict that is not held. */
      readonly reason?: string;
    };

type State = Omit<RunSummary['replicas'][number], 'id' | 'digest'>;

/** Why this driver cannot play the file as it is; null: it can. */
export function skipReason(plan: Plan, driver: Driver): string | null {
  const faults = faultsOn(plan.faults, driver.name);
  if (faults.length === 0 && plan.faults.length > 0)
    return 'none of its faults is one of this driver';
  for (const { action, trigger, target } of faults) {
    const cannot = driver.cannot(action, plan);
    if (cannot !== null) return `${action.kind}: ${cannot}`;
    const unseen = trigger.kind === 'state' ? driver.cannotSee?.(trigger.state) : null;
    if (typeof unseen === 'string') return `${action.kind} of ${target?.kind ?? 'all'}: ${unseen}`;
  }
  return null;
}

/** Of a plan that nothing keeps the driver from playing. */
export async function playCase(plan: Plan, driver: Driver, hasher: Hasher): Promise<Outcome> {
  try {
    const options = { driver, hasher, replay: '' };
    const result = await playDecided(() => play(plan, options));
    return outcomeOf(result);
  } catch (error) {
    const { code, message } = toErrorData(error);
    if (code === 'usage') return { skipped: message };
    throw error;
  }
}

function outcomeOf({ summary, reasons }: PlayResult): Outcome {
  const { verdict, replicas, faults } = summary;
  const states = new Set(
    replicas.map(({ id: _id, digest: _digest, ...state }) => stateText(state)),
  );
  const installed = faults.filter(({ status }) => status === 'installed').length;
  const reason = reasons.find((each) => each.verdict === verdict)?.text;
  return {
    verdict,
    state: [...states].join('; '),
    faults: `${installed} of ${faults.length}`,
    ...(reason === undefined ? {} : { reason }),
  };
}

export function stateText({ first, last, messages, deleted }: State): string {
  const [from, to, held, gone] = [first, last, messages, deleted].map((n) =>
    n.toLocaleString('en'),
  );
  return `${from} to ${to}, ${held} messages, ${gone} deleted`;
}
