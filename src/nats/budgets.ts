/**
 * How long a server of a version takes over what a fault leaves behind. A run waits by these, and
 * tells them, so that what is slow by design is not taken for a stall. Upstream: stream.go
 * (sourceHealthCheckInterval, calculateRetryBackoff), raft.go (election time-outs).
 */
import { isAtLeast } from './version.js';

export interface Budget {
  /** A mirror notices that its consumer is lost within this, least and most. */
  readonly lostConsumerMs: readonly [number, number];
  /** One try of an election after a leader was killed takes so long, least and most. */
  readonly electionMs: readonly [number, number];
  /** The first message after a kill comes within this. */
  readonly firstMessageMs: number;
}

/** Before 2.10 a mirror looked once a second and gave up after three of them. */
const OLD: Budget = {
  lostConsumerMs: [3_000, 4_000],
  electionMs: [4_000, 9_000],
  firstMessageMs: 45_000,
};
const TODAY: Budget = { ...OLD, lostConsumerMs: [10_000, 20_000] };

/** @param version  `2.15.2` */
export function budgetOf(version: string): Budget {
  return isAtLeast(version, [2, 10]) ? TODAY : OLD;
}

export function budgetText(version: string): string {
  const { lostConsumerMs, electionMs, firstMessageMs } = budgetOf(version);
  const seconds = ([least, most]: readonly [number, number]): string =>
    `${least / 1_000} to ${most / 1_000} s`;
  return (
    `a lost consumer is noticed in ${seconds(lostConsumerMs)}, a try to elect takes ` +
    `${seconds(electionMs)}, the first message after a kill up to ${firstMessageMs / 1_000} s`
  );
}
