/**
 * A member asks for an opening at most once in 2 s (scaled), not while an earlier one is open or
 * asked for, and after set-ups that failed in a row only once 10 s for each of them are over, 120 s
 * at most. nats-server stream.go, sourceConsumerRetryThreshold, setupMirrorConsumer and
 * calculateRetryBackoff. Times are of the member's own clock, which it reads in ticks.
 */
import { MIRROR_GATE_MS, TICK_MS } from '../../base/limits.js';
import type { Member } from '../../base/member.js';
import type { MirrorCause } from '../../mirror/types.js';
import type { Finding } from './types.js';

/** What ends an opening before its set-up did. */
export const SETUP_FAILURES: ReadonlySet<MirrorCause> = new Set([
  'createRefused',
  'createTimeout',
  'malformedAnswer',
  'setupSkipRefused',
  'identityRefused',
]);

/** Stated here again: a rule that followed the product's own constants could not fail. */
const BACKOFF_MS = 10_000;
const BACKOFF_MAX_MS = 120_000;
/** A tick that came late is followed by one that comes early: they may lie one tick closer. */
const TICKED_MS = 2 * TICK_MS;

interface Failed {
  readonly times: number;
  readonly untilMs: number;
}

export class RetryPacing {
  static readonly property = 'retry pacing';
  readonly #timeScale: number;
  readonly #gateMs: number;
  readonly #askedMs = new Map<string, number>();
  readonly #inFlight = new Set<string>();
  readonly #failed = new Map<Member, Failed>();

  constructor(timeScale: number) {
    this.#timeScale = timeScale;
    this.#gateMs = Math.max(0, MIRROR_GATE_MS * timeScale - TICKED_MS);
  }

  /** Another role, another life: what failed before is forgotten. */
  role(member: Member): void {
    this.#failed.delete(member);
  }

  /** @param life  a member that restarted has forgotten when it asked */
  asked(member: Member, life: number, atMs: number): Finding {
    const key = `${member} ${life}`;
    const before = this.#askedMs.get(key);
    this.#askedMs.set(key, atMs);
    if (this.#inFlight.has(key)) return `${member} asked again while an opening was in flight`;
    this.#inFlight.add(key);
    const failed = this.#failed.get(member);
    if (failed !== undefined && atMs < failed.untilMs) {
      const early = Math.round(failed.untilMs - atMs);
      return `${member} asked again ${early} ms early after ${failed.times} failed set-ups`;
    }
    if (before === undefined || atMs - before >= this.#gateMs) return null;
    return `${member} asked again after ${Math.round(atMs - before)} ms`;
  }

  /** The origin's answer was taken: if more has to be set up, that may fail anew. */
  opened(member: Member): void {
    this.#failed.delete(member);
  }

  /** The member closed its opening. */
  closed(member: Member, life: number, cause: MirrorCause | undefined, atMs: number): void {
    this.#inFlight.delete(`${member} ${life}`);
    if (cause === undefined || !SETUP_FAILURES.has(cause)) return;
    const times = (this.#failed.get(member)?.times ?? 0) + 1;
    const backoffMs = Math.min(BACKOFF_MS * times, BACKOFF_MAX_MS) * this.#timeScale;
    this.#failed.set(member, { times, untilMs: atMs + backoffMs - TICKED_MS });
  }

  /** It plans nothing: what was refused concerns its leadership, and is no failure to set up. */
  waits(member: Member): void {
    this.#failed.delete(member);
  }
}
