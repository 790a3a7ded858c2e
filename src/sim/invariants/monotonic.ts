/**
 * Term, and vote within a term, never go back, restarts included; commit and applied never within
 * one life, and applied <= commit <= last. Raft paper, figure 2 (persistent and volatile state).
 */
import type { Member, Slot } from '../../base/member.js';
import type { Finding } from './types.js';

export interface Standing {
  /** Counts the lives of the slot. */
  readonly life: number;
  readonly term: number;
  readonly vote: Member | null;
  readonly commit: number;
  readonly applied: number;
  readonly lastIndex: number;
}

/** Of the turn before. It is written over: every turn of every member comes here. */
type Kept = { -readonly [Field in Exclude<keyof Standing, 'lastIndex'>]: Standing[Field] };

export class Monotonic {
  static readonly property = 'monotonic';
  readonly #last = new Map<Slot, Kept>();

  stands(slot: Slot, now: Standing): Finding {
    if (now.applied > now.commit) return `${slot} applied ${now.applied} beyond ${now.commit}`;
    if (now.commit > now.lastIndex) return `${slot} committed ${now.commit} of ${now.lastIndex}`;
    const before = this.#last.get(slot);
    if (before === undefined) {
      const { life, term, vote, commit, applied } = now;
      this.#last.set(slot, { life, term, vote, commit, applied });
      return null;
    }
    const back = wentBack(slot, before, now);
    before.life = now.life;
    before.term = now.term;
    before.vote = now.vote;
    before.commit = now.commit;
    before.applied = now.applied;
    return back;
  }

  /** The member restarted from its journal: what it never promised to anybody may be gone. */
  restarted(slot: Slot, durable: { readonly term: number; readonly vote: Member | null }): void {
    const before = this.#last.get(slot);
    if (before === undefined) return;
    before.term = durable.term;
    before.vote = durable.vote;
  }
}

function wentBack(slot: Slot, before: Kept, now: Standing): Finding {
  if (now.term < before.term) return `${slot} went from term ${before.term} to ${now.term}`;
  const revoted = now.term === before.term && before.vote !== null && now.vote !== before.vote;
  if (revoted) return `${slot} voted for ${before.vote} and ${now.vote} in term ${now.term}`;
  if (now.life !== before.life) return null;
  if (now.commit < before.commit) return `${slot} took commit ${before.commit} to ${now.commit}`;
  if (now.applied >= before.applied) return null;
  return `${slot} took applied ${before.applied} to ${now.applied}`;
}
