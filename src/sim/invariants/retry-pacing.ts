/**
 * A member asks for an opening at most once in 2 s (scaled). nats-server stream.go,
 * sourceConsumerRetryThreshold. Times are of the member's own clock, which it reads in ticks.
 */
import { MIRROR_GATE_MS, TICK_MS } from '../../base/limits.js';
import type { Member } from '../../base/member.js';
import type { Finding } from './types.js';

export class RetryPacing {
  static readonly property = 'retry pacing';
  readonly #gateMs: number;
  readonly #askedMs = new Map<string, number>();

  constructor(timeScale: number) {
    // A tick that came late is followed by one that comes early: they may lie one tick closer.
    this.#gateMs = Math.max(0, MIRROR_GATE_MS * timeScale - 2 * TICK_MS);
  }

  /** @param life  a member that restarted has forgotten when it asked */
  asked(member: Member, life: number, atMs: number): Finding {
    const key = `${member} ${life}`;
    const before = this.#askedMs.get(key);
    this.#askedMs.set(key, atMs);
    if (before === undefined || atMs - before >= this.#gateMs) return null;
    return `${member} asked again after ${Math.round(atMs - before)} ms`;
  }
}
