/** The follower's side of AppendEntries (section 5.3) and the voter's log check (section 5.4.1). */
import { invariant } from '../base/errors.js';
import type { Durability } from './durability.js';
import type { Log } from './log.js';
import type { AppendRequest, VoteRequest } from './types.js';

export type AppendOutcome =
  | { readonly accepted: true; readonly matched: number }
  | {
      readonly accepted: false;
      readonly hintIndex: number;
      readonly hintTerm: number;
    };

/**
 * Takes in what a leader sent: checks that the logs match at prevIndex, removes a conflicting tail,
 * appends what is new. A reordered, shorter append removes nothing. `matched` is the last index that
 * this very message proved equal to the leader's log, never our own last.
 */
export function appendEntries(
  log: Log,
  commit: number,
  durability: Durability,
  request: AppendRequest,
): AppendOutcome {
  const matched = request.prevIndex + request.entries.length;
  if (matched <= commit) return { accepted: true, matched: commit };
  if (request.prevIndex > commit && log.termAt(request.prevIndex) !== request.prevTerm) {
    return refusal(log, request);
  }
  for (const entry of request.entries) {
    if (entry.index <= commit) continue;
    const term = log.termAt(entry.index);
    if (term === entry.term) continue;
    if (term !== undefined) {
      invariant(entry.index > commit, `committed entry ${entry.index} is not truncated`);
      log.truncateFrom(entry.index);
      durability.truncatedFrom(entry.index);
    }
    log.append(entry);
  }
  return { accepted: true, matched };
}

/** The last entry of ours that may match: at or below prevIndex, of a term not above prevTerm. */
function refusal(log: Log, { prevIndex, prevTerm }: AppendRequest): AppendOutcome {
  const hintIndex = log.lastAtMost(prevIndex, prevTerm);
  return { accepted: false, hintIndex, hintTerm: log.termAt(hintIndex)! };
}

/** Section 5.4.1: the later last term wins, then the longer log. */
export function logIsUpToDate(log: Log, { lastIndex, lastTerm }: VoteRequest): boolean {
  return lastTerm > log.lastTerm || (lastTerm === log.lastTerm && lastIndex >= log.lastIndex);
}
