/**
 * Matchers on a run that was played, or on a cluster, which is then played to its end and judged
 * first. A failing one says what speaks against it, the reasons of the verdict, driver and seed,
 * and the command that plays the run again. What was not checked fails with `not`, too.
 */
import { expect, type MatcherResult, type MatcherState } from 'vitest';
import { Cluster } from '../kit/cluster.js';
import { keepCluster } from './artifacts.js';
import { awaitable } from './forgotten.js';
import { loadHasher } from '../base/hasher.js';
import { grouped, printable } from '../report/text.js';
import type { PlayResult } from '../scenario/run.js';
import { checkKeys, refusal } from '../scenario/words.js';
import { judgeReceived, type ReceivedMessage, type ReceivedOptions } from '../verdict/received.js';
import type { LedgerReader } from '../verdict/types.js';
import {
  brokenInvariants,
  electionFaults,
  lateRecoveries,
  losses,
  mirrorFaults,
  notHeld,
  type Answer,
  type Elected,
} from './findings.js';

/** A cluster is judged first: its matchers are waited for. */
type Judged<T> = T extends Cluster ? Promise<void> : undefined;

declare module 'vitest' {
  // The shape of vitest's own declaration, which it is merged with.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  interface Matchers<T = any> {
    /** The verdict is held: nothing lost, no stall, all that was demanded happened. */
    toHaveHeld: () => Judged<T>;
    /** No property of raft was broken, as far as the driver watches them: all of them on sim. */
    toHoldRaftInvariants: () => Judged<T>;
    /** Every message that was handed out is on every living replica. */
    toHaveLostNothing: () => Judged<T>;
    /** Every living replica is the origin: content, order, gaps and last sequence. */
    toMirrorExactly: () => Judged<T>;
    /** The longest stall, and the time from each fault until all had caught up, are no longer. */
    toRecoverWithin: (duration: string) => Judged<T>;
    /** Who was elected and how often; without anything, anybody. */
    toHaveElected: (expected?: Elected) => Judged<T>;
    /**
     * What was received is what was handed out: `{ seq | id, body }[]` against a cluster's ledger,
     * or against what was published, each message once and in order.
     */
    toMatchLedger: (
      ledger: LedgerReader | readonly ReceivedMessage[],
      options?: ReceivedOptions,
    ) => Promise<void>;
  }
}

type Question<A extends unknown[]> = (result: PlayResult, ...asked: A) => Answer;

function matcher<A extends unknown[]>(name: string, question: Question<A>) {
  return function (this: MatcherState, received: unknown, ...asked: A): MatcherResult {
    if (received instanceof Cluster) {
      const judged = received.verify().then((result) => {
        const found = question(result, ...asked);
        const kept = passes(found) ? [] : [`events: ${keepCluster(received)}`];
        return answer(name, result, found, kept);
      });
      return awaitable(name, this.task, judged);
    }
    if (!isResult(received)) {
      throw new TypeError(`${name} takes the result of a play, or a cluster`);
    }
    return answer(name, received, question(received, ...asked));
  };
}

function passes({ against, unknown }: Answer): boolean {
  return against.length === 0 && unknown.length === 0;
}

function answer(
  name: string,
  result: PlayResult,
  found: Answer,
  kept: readonly string[] = [],
): Awaited<MatcherResult> {
  const text = (how: string, lines: readonly string[]): string =>
    [`${name}: ${how}`, ...told(result, lines), ...kept].join('\n');
  const { against, unknown } = found;
  if (against.length > 0) {
    return { pass: false, message: () => text('failed', [...against, ...unknown]) };
  }
  // Whatever was expected, and with `not`: nobody knows.
  if (unknown.length > 0) throw new Error(text('it cannot be told', unknown));
  return { pass: true, message: () => text('it does', []) };
}

function told({ summary, reasons }: PlayResult, against: readonly string[]): string[] {
  const { driver, seed, verdict, replay } = summary;
  const others = reasons
    .map((reason) => `${reason.verdict}: ${reason.text}`)
    .filter((text) => !against.includes(text));
  return [
    ...against.map((line) => `  ${printable(line)}`),
    `on ${driver}, seed ${seed}: ${verdict}`,
    ...others.map((line) => `  ${printable(line)}`),
    ...(replay === '' ? [] : [`replay: ${printable(replay)}`]),
  ];
}

function toMatchLedger(
  this: MatcherState,
  received: unknown,
  ledger: LedgerReader | readonly ReceivedMessage[],
  options?: ReceivedOptions,
): MatcherResult {
  return awaitable('toMatchLedger', this.task, compared(received, ledger, options));
}

async function compared(
  received: unknown,
  ledger: LedgerReader | readonly ReceivedMessage[],
  options: ReceivedOptions = {},
): Promise<Awaited<MatcherResult>> {
  if (!Array.isArray(received)) {
    throw new TypeError('toMatchLedger takes what was received, as a list of { seq | id, body }');
  }
  if (!Array.isArray(ledger) && typeof (ledger as Partial<LedgerReader>)?.report !== 'function') {
    throw new TypeError('toMatchLedger compares with cluster.ledger, or a list of what was sent');
  }
  checkKeys('toMatchLedger', options, ['duplicates']);
  const { duplicates } = options;
  if (duplicates !== undefined && duplicates !== 'allowed') {
    throw refusal('toMatchLedger: duplicates', duplicates, 'the word allowed');
  }
  const messages = received as readonly ReceivedMessage[];
  const { counts, named } = await judgeReceived(messages, ledger, await loadHasher(), options);
  if (!Array.isArray(ledger) && Object.values(counts).every((count) => count === 0)) {
    throw new Error('toMatchLedger: it cannot be told\n  nothing was handed out');
  }
  const told = Object.entries(counts).map(([kind, count]) => `${grouped(count)} ${kind}`);
  const pass = named.length === 0;
  const lines = named.map((line) => `  ${printable(line)}`);
  const head = `toMatchLedger: ${pass ? 'it does' : 'failed'}: ${told.join(', ')}`;
  return { pass, message: () => [head, ...lines].join('\n') };
}

function isResult(received: unknown): received is PlayResult {
  const known: readonly (keyof PlayResult)[] = ['summary', 'reasons', 'differences', 'timeline'];
  return typeof received === 'object' && received !== null && known.every((key) => key in received);
}

expect.extend({
  toHaveHeld: matcher('toHaveHeld', notHeld),
  toHoldRaftInvariants: matcher('toHoldRaftInvariants', brokenInvariants),
  toHaveLostNothing: matcher('toHaveLostNothing', losses),
  toMirrorExactly: matcher('toMirrorExactly', mirrorFaults),
  toRecoverWithin: matcher('toRecoverWithin', lateRecoveries),
  toHaveElected: matcher('toHaveElected', electionFaults),
  toMatchLedger,
});
