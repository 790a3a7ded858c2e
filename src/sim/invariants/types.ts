/** What the invariants look at. Each says what is wrong in one line, or null. */
import type { Message } from '../../raft/types.js';

/** A log by its terms; indices start at 1. */
export interface JournalView {
  readonly lastIndex: number;
  /** Undefined beyond the last. */
  termAt(index: number): number | undefined;
}

export type Finding = string | null;

/** Whether its sender is in the term that it names: a pre-vote, and the grant of one, is not. */
export function isInItsTerm(message: Message): boolean {
  if (message.type === 'vote') return !message.pre;
  return message.type !== 'voteReply' || !message.pre || !message.granted;
}
