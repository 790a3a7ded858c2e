/**
 * Every applied command, skips as much as messages, had the sequence that it expects to follow or
 * was seen before: none lay beyond. docs/mirror.md, rule 6; nats-server stream.go, processSkipMsg.
 */
import type { Member } from '../../base/member.js';
import type { Finding } from './types.js';

export class AppliedInPlace {
  static readonly property = 'applied in place';

  applied(member: Member, index: number, mismatched: number): Finding {
    if (mismatched === 0) return null;
    return `${member}: ${mismatched} commands of entry ${index} lay beyond the last sequence`;
  }
}
