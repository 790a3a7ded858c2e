/**
 * What one seed of a sweep is: a run drawn from it as a whole, or a given scenario whose time-outs,
 * links and disks it draws. A seed that fails is played again before anybody hears of it.
 */
import type { Hasher } from '../base/hasher.js';
import { createPrng } from '../base/prng.js';
import type { ClusterEvent, Driver } from '../scenario/driver.js';
import { play } from '../scenario/play.js';
import type { Plan } from '../scenario/types.js';
import type { SeedFailure, SeedReport } from '../verdict/sweep.js';
import { CALM } from './conditions.js';
import { Coverage } from './coverage.js';
import { simDriverWith } from './driver.js';
import { drawConditions, drawSwarm } from './swarm.js';
import type { SwarmFocus } from './swarm-focus.js';
import { runSwarm } from './swarm-run.js';
import { firstDifference, Trace, type Witness } from './trace.js';

/** What the seeds of a sweep are played on; plain data. */
export type SweepSubject =
  | {
      readonly kind: 'drawn';
      readonly beyondQuorum?: boolean;
      /** Not given: each seed draws it. */
      readonly focus?: SwarmFocus | undefined;
    }
  | { readonly kind: 'scenario'; readonly plan: Plan; readonly conditions: 'calm' | 'drawn' };

/** Plays a seed and, if it fails, twice more: what does not come again is a fault of lockstep. */
export async function runSeed(
  subject: SweepSubject,
  seed: number,
  hasher: Hasher,
): Promise<SeedReport> {
  const report = await playSeed(subject, seed, hasher);
  if (report.failure === null) return report;
  const [again, once] = [new Trace(), new Trace()];
  const second = await playSeed(subject, seed, hasher, again);
  const third = await playSeed(subject, seed, hasher, once);
  const difference = firstDifference(again.ended(second), once.ended(third));
  if (difference !== null) return { ...report, failure: notTheSame(difference) };
  if (second.failure?.text === report.failure.text) return report;
  const texts = `${report.failure.text}, or ${second.failure?.text ?? 'held'}`;
  return { ...report, failure: notTheSame(texts) };
}

export function notTheSame(difference: string): SeedFailure {
  const text = `not the same twice: ${difference}`;
  return { verdict: 'harness', property: 'determinism', text };
}

/** @param witness  sees every event and draw */
export async function playSeed(
  subject: SweepSubject,
  seed: number,
  hasher: Hasher,
  witness?: Witness,
): Promise<SeedReport> {
  if (subject.kind === 'scenario') return playScenario(subject, seed, hasher, witness);
  const { beyondQuorum = false, focus } = subject;
  const plan = drawSwarm(seed, { beyondQuorum, focus, onDraw: witness?.onDraw });
  return runSwarm(plan, hasher, witness?.onEvent, witness);
}

async function playScenario(
  { plan, conditions }: Extract<SweepSubject, { kind: 'scenario' }>,
  seed: number,
  hasher: Hasher,
  witness: Witness | undefined,
): Promise<SeedReport> {
  const coverage = new Coverage();
  const drawn = createPrng(seed, witness?.onDraw).fork('conditions');
  let violation: SeedFailure | null = null;
  let simulatedMs = 0;
  const onEvent = (event: ClusterEvent): void => {
    witness?.onEvent(event);
    simulatedMs = event.atMs;
    if (event.kind !== 'violation') return;
    violation ??= { verdict: 'violated', property: event.property, text: event.text };
  };
  const driver: Driver = simDriverWith({
    hasher,
    conditions: conditions === 'calm' ? CALM : drawConditions(drawn),
    taps: witness,
    onFault: (cell) => coverage.met(cell),
  });
  const result = await play({ ...plan, seed }, { driver, hasher, replay: '', onEvent });
  const { verdict } = result.summary;
  const [difference] = result.differences;
  const reason = result.reasons.find((each) => each.verdict === verdict);
  let failure: SeedFailure | null = null;
  if (verdict !== 'held') {
    const property = difference === undefined ? verdict : `mirror: ${difference.kind}`;
    failure = violation ?? { verdict, property, text: reason?.text ?? verdict };
  }
  return { seed, failure, simulatedMs, cells: coverage.cells };
}
