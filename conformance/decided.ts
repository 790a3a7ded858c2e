/**
 * Plays a run again whose end tells nothing: the machine was too busy for it, or a fault did not
 * fall, which a busy machine and the winner of an election decide. Again a bounded number of times,
 * and each time is told. What was lost, broken or stalled is never played again.
 */
import type { PlayResult } from '../src/scenario/play.js';

/** Who wins an election is nobody's promise. */
const TRIES_OF_FLAPS = 8;
const TRIES = 3;

/** What a run left open. */
interface Open {
  readonly why: string;
  /** How often it is played at most. */
  readonly tries: number;
}

/** A run that a busy machine kept from an answer; null: it has one. */
export function unknownIn({ summary: { verdict }, reasons }: PlayResult): Open | null {
  const busy = reasons.find(({ text }) => text.startsWith('machine too busy'));
  return verdict === 'inconclusive' && busy ? { why: busy.text, tries: TRIES } : null;
}

/** Also one in which nothing went wrong, and not every fault fell. */
export function openIn(result: PlayResult): Open | null {
  const { verdict, faults } = result.summary;
  if (verdict !== 'held' && verdict !== 'uncovered') return unknownIn(result);
  const missed = faults.find(({ status }) => status !== 'installed');
  if (missed === undefined) return null;
  const { kind, status, reason = 'the run ended first' } = missed;
  const tries = status === 'indeterminate' ? TRIES_OF_FLAPS : TRIES;
  return { why: `${kind} was ${status}: ${reason}`, tries };
}

/** The first run that leaves nothing open, or the last one that is played. */
export async function playDecided<R extends PlayResult>(
  playOnce: () => Promise<R>,
  openOf: (result: R) => Open | null = openIn,
): Promise<R> {
  for (let tries = 1; ; tries++) {
    const result = await playOnce();
    const open = openOf(result);
    if (open === null || tries >= open.tries) return result;
    console.log(`played again: ${open.why}`);
  }
}
