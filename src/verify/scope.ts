/** Which sequences a verification is about: what was asked for, as far as there is something. */
import { LockstepError } from '../base/errors.js';
import type { SeqRange } from '../stream/types.js';
import type { Facts } from './sides.js';
import type { VerifyRequest } from './verify.js';

/** Errors: usage, when nothing lies between them. */
export function scopeOf({ from, to, resume }: VerifyRequest, { origin, mirror }: Facts): SeqRange {
  if (resume !== null) return { first: resume.from, last: resume.upTo };
  const { first_seq, last_seq } = mirror.state;
  const lowest = Math.max(1, Math.min(origin.state.first_seq, first_seq));
  const first = Math.max(from ?? lowest, lowest);
  const last = Math.min(to ?? last_seq, last_seq);
  if (from !== null && from > last_seq) {
    const text = `--from: ${from} lies above the last of ${mirror.name}, ${last_seq}`;
    throw new LockstepError('usage', text);
  }
  return { first, last };
}
