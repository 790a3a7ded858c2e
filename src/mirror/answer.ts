/** Judges the answer to an opening; an origin may say anything (upstream 61e59f526, case E2). */
import { isSeq } from '../base/seq.js';
import type { OriginFrame, OriginIdentity } from './types.js';

export type Answer = Extract<OriginFrame, { type: 'opened' }>;

/** What the mirror held against the answer. */
export interface AnswerContext {
  /** The sequence that the opening asked to start at. */
  readonly startSeq: number;
  readonly storeLast: number;
  /** The origin that was copied so far; null: nothing says which. */
  readonly identity: OriginIdentity | null;
}

/** `malformed`: asking again may help. `diverged`: it never does (rule 12). */
export interface AnswerFault {
  readonly kind: 'malformed' | 'diverged';
  readonly text: string;
}

/** Null when nothing is wrong. An origin that was made again is told before one that errs. */
export function answerFault(answer: Answer, context: AnswerContext): AnswerFault | null {
  const shape = shapeFault(answer);
  if (shape !== null) return { kind: 'malformed', text: shape };
  const other = divergence(answer, context);
  if (other !== null) return { kind: 'diverged', text: other };
  const { startsAfter, last } = answer;
  if (startsAfter < context.startSeq - 1) {
    const text = `the origin starts after ${startsAfter}, asked for ${context.startSeq}`;
    return { kind: 'malformed', text };
  }
  // Else the set-up skip would pass over sequences that the origin has not reached (case F6).
  if (startsAfter > last) {
    return {
      kind: 'malformed',
      text: `the origin starts after ${startsAfter}, its last is ${last}`,
    };
  }
  return null;
}

function shapeFault({ identity, startsAfter, last, pending }: Answer): string | null {
  if (typeof identity?.name !== 'string' || typeof identity.created !== 'bigint') {
    return 'the answer names no stream';
  }
  if (!isSeqOrZero(startsAfter)) return 'the answer has no sequence to start after';
  if (!isSeqOrZero(last)) return 'the answer has no last sequence';
  if (!isSeqOrZero(pending)) return 'the answer has no number of pending messages';
  return null;
}

function divergence({ identity, last }: Answer, context: AnswerContext): string | null {
  const { storeLast, identity: copied } = context;
  if (copied !== null && !sameIdentity(copied, identity)) {
    const found = `${identity.name} created ${identity.created}`;
    return `the origin is ${found}, copied was ${copied.name} created ${copied.created}`;
  }
  if (last < storeLast) return `the origin ends at ${last}, the mirror at ${storeLast}`;
  return null;
}

function isSeqOrZero(value: number): boolean {
  return value === 0 || isSeq(value);
}

export function sameIdentity(a: OriginIdentity, b: OriginIdentity): boolean {
  return a.name === b.name && a.created === b.created;
}
