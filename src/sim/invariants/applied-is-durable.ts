/**
 * A member applies only what its own disk holds: what it has shown to anybody is there after a
 * crash. docs/mirror.md; etcd async_storage_writes_append_aba_race (a write that completes late
 * proves nothing for the entry that replaced the written one).
 */
import type { Member } from '../../base/member.js';
import type { Finding, JournalView } from './types.js';

export class AppliedIsDurable {
  static readonly property = 'applied is durable';

  /** @param disk  what is durable at this moment */
  applied(member: Member, index: number, term: number, disk: JournalView): Finding {
    const held = disk.termAt(index);
    if (held === term) return null;
    const holds = held === undefined ? `ends at ${disk.lastIndex}` : `has one of term ${held}`;
    return `${member} applied entry ${index} of term ${term}, its disk ${holds}`;
  }
}
