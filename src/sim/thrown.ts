/** What is thrown while a simulation runs: by a member's own code, or by the world around it. */
import { toErrorData } from '../base/errors.js';
import type { Slot } from '../base/member.js';
import type { SeedFailure } from '../verdict/sweep.js';

/** A member's own code threw: an assertion of the replica does not hold, or it crashed. */
export class ReplicaThrew extends Error {
  constructor(slot: Slot, error: unknown) {
    super(`${slot}: ${toErrorData(error).message}`);
  }
}

/** A finding about the replica that threw; anything else is a fault of lockstep. */
export function failureOf(error: unknown): SeedFailure {
  const { message: text } = toErrorData(error);
  if (error instanceof ReplicaThrew) {
    return { verdict: 'violated', property: 'replica assertion', text };
  }
  return { verdict: 'harness', property: 'harness', text };
}
