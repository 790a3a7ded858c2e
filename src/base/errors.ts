/**
 * Every error that leaves a function of lockstep, as one table. Errors cross threads as data, so a
 * code survives comlink; a LockstepError is only made again on the side that throws.
 */

import { inOneLine, plain } from './plain.js';

/** What a caller may do about an error, and whether it knows what happened. */
interface ErrorMeaning {
  /** A sentence for the table in docs/errors.md. */
  readonly meaning: string;
  /** Whether trying the same call again can help. */
  readonly retry: 'never' | 'later' | 'elsewhere';
  /** False when the effect of the call is unknown (it may have happened). */
  readonly outcomeKnown: boolean;
}

export const ERRORS = {
  usage: {
    meaning: 'a flag, a file or a value given by the user is wrong',
    retry: 'never',
    outcomeKnown: true,
  },
  notLeader: { meaning: 'this member does not lead', retry: 'elsewhere', outcomeKnown: true },
  staleTerm: {
    meaning: 'the proposal belongs to another leadership than the current one',
    retry: 'never',
    outcomeKnown: true,
  },
  transferring: {
    meaning: 'the leader is handing over and takes no proposals until that ends',
    retry: 'later',
    outcomeKnown: true,
  },
  overrun: {
    meaning: 'a bound on uncommitted bytes or on the log was reached',
    retry: 'later',
    outcomeKnown: true,
  },
  writeFailed: {
    meaning: 'a journal write failed; the member is out until it restarts',
    retry: 'elsewhere',
    outcomeKnown: true,
  },
  mismatch: {
    meaning: 'a command does not follow the last sequence of the store',
    retry: 'later',
    outcomeKnown: true,
  },
  tooLarge: {
    meaning: 'a message is larger than a mirror can ever store',
    retry: 'never',
    outcomeKnown: true,
  },
  badRecord: {
    meaning: 'bytes that should hold commands do not',
    retry: 'never',
    outcomeKnown: true,
  },
  unsupported: {
    meaning: 'this driver cannot do what was asked',
    retry: 'never',
    outcomeKnown: true,
  },
  overBudget: {
    meaning: 'the fault would break more than the cluster tolerates',
    retry: 'later',
    outcomeKnown: true,
  },
  originRefused: {
    meaning: 'the server of a live origin refused a request',
    retry: 'later',
    outcomeKnown: true,
  },
  timeout: {
    meaning: 'no answer before the deadline',
    retry: 'later',
    outcomeKnown: false,
  },
  workerExited: {
    meaning: 'the worker thread ended before it answered',
    retry: 'elsewhere',
    outcomeKnown: false,
  },
  interrupted: {
    meaning: 'the run was ended by a signal',
    retry: 'later',
    outcomeKnown: false,
  },
  harness: {
    meaning: 'lockstep itself failed; nothing is said about the cluster',
    retry: 'never',
    outcomeKnown: false,
  },
} as const satisfies Record<string, ErrorMeaning>;

export type ErrorCode = keyof typeof ERRORS;

export type ErrorDetail = Readonly<Record<string, string | number | boolean | null>>;

/** An error as a value: what crosses threads and what events carry. */
export interface ErrorData {
  readonly code: ErrorCode;
  readonly message: string;
  readonly detail?: ErrorDetail;
}

export class LockstepError extends Error {
  override readonly name = 'LockstepError';
  readonly code: ErrorCode;
  readonly detail: ErrorDetail | undefined;

  constructor(code: ErrorCode, message: string, detail?: ErrorDetail) {
    super(message);
    this.code = code;
    this.detail = detail;
  }
}

/**
 * A fault in what the user gave: one line that says where, what was found and what was expected.
 *
 * @param where  the flag, file or path, as the user wrote it: `--replicas`, `faults[2].for`
 * @param found  the value, as the user wrote it
 * @param expected  what would have been accepted
 */
export function usageError(where: string, found: unknown, expected: string): LockstepError {
  const shown = typeof found === 'string' ? `"${plain(found)}"` : printable(found);
  const said =
    found === undefined ? `missing, expected ${expected}` : `${shown} is not ${expected}`;
  const text = `${inOneLine(where)}: ${said}`;
  return new LockstepError('usage', text, { where, expected });
}

export function toErrorData(error: unknown): ErrorData {
  if (error instanceof LockstepError) {
    return error.detail === undefined
      ? { code: error.code, message: error.message }
      : { code: error.code, message: error.message, detail: error.detail };
  }
  return { code: 'harness', message: error instanceof Error ? error.message : printable(error) };
}

export function fromErrorData(error: ErrorData): LockstepError {
  return new LockstepError(error.code, error.message, error.detail);
}

/** The answer of anything that crosses a thread: a value or an error, never a rejection. */
export type Reply<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: ErrorData };

/** Asserts what the code itself guarantees; a failure is a fault of lockstep, never of its user. */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new LockstepError('harness', `broken assumption: ${message}`);
}

function printable(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'number') return String(value);
  return JSON.stringify(value) ?? typeof value;
}
