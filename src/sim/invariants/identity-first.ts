/**
 * What a store holds is some stream's: its identity is applied before anything moves its last
 * sequence, or nobody could tell a stream that took the name later. docs/mirror.md, rule 12.
 */
import type { Member } from '../../base/member.js';
import type { Finding } from './types.js';

export class IdentityFirst {
  static readonly property = 'identity first';

  stands(member: Member, last: number, isIdentified: boolean): Finding {
    if (last === 0 || isIdentified) return null;
    return `${member} is at ${last} and knows of no stream that it copies`;
  }
}
