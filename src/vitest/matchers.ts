/**
 * Matchers on a run that was played, or on a cluster, which is then played to its end and judged
 * first. A failing one says what speaks against it, the reasons of the verdict, driver and seed,
 * and the command that plays the run again.
 */
import { expect, type MatcherResult } from 'vitest';
import { Cluster } from '../kit/cluster.js';
import { keepCluster } from './artifacts.js';
import { loadHasher } from '../base/hasher.js';
import { grouped, printable } from '../report/text.js';
import type { PlayResult } from '../scenario/run.js';
import { judgeReceived, type ReceivedMessage, type ReceivedOptions } from '../verdict/received.js';
import type { LedgerReader } from '../verdict/types.js';
import {
  brokenInvariants,
  electionFaults,
  lateRecoveries,
  losses,
  mirrorFaults,
  notHeld,
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

type Question<A extends unknown[]> = (result: PlayResult, ...asked: A) => string[];

function matcher<A extends unknown[]>(name: string, question: Question<A>) {
  return (received: unknown, ...asked: A): MatcherResult => {
    if (received instanceof Cluster) {
      return received.verify().then((result) => {
        const against = question(result, ...asked);
        const kept = against.length === 0 ? [] : [`events: ${keepCluster(received)}`];
        return answer(name, result, against, kept);
      });
    }
    if (!isResult(received)) {
      throw new TypeError(`${name} takes the result of a play, or a cluster`);
    }
    return answer(name, received, question(received, ...asked));
  };
}

function answer(
  name: string,
  result: PlayResult,
  against: readonly string[],
  kept: readonly string[] = [],
) {
  const pass = against.length === 0;
  return {
    pass,
    message: () =>
      [`${name}: ${pass ? 'it does' : 'failed'}`, ...told(result, against), ...kept].join('\n'),
  };
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

async function toMatchLedger(
  received: unknown,
  ledger: LedgerReader | readonly ReceivedMessage[],
  options?: ReceivedOptions,
): Promise<Awaited<MatcherResult>> {
  if (!Array.isArray(received)) {
    throw new TypeError('toMatchLedger takes what was received, as a list of { seq | id, body }');
  }
  const messages = received as readonly ReceivedMessage[];
  const { counts, named } = await judgeReceived(messages, ledger, await loadHasher(), options);
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
