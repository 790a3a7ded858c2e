/**
 * State Machine Safety: no two members apply different commands at an index. Raft paper, figure 3
 * and section 5.4.3. Compared by running hash, which covers every command before and what came of
 * it.
 */
import type { Member } from '../../base/member.js';
import type { Finding } from './types.js';

export class StateMachineSafety {
  static readonly property = 'state machine safety';
  /** By index. */
  readonly #applied: ({ readonly hash: bigint; readonly by: Member } | undefined)[] = [];

  applied(member: Member, index: number, hash: bigint): Finding {
    const first = (this.#applied[index] ??= { hash, by: member });
    if (first.hash === hash) return null;
    return `${first.by} and ${member} differ in what they applied up to ${index}`;
  }
}
