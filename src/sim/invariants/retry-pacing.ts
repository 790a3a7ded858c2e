/**
 * A member asks for an opening at most once in 2 s (scaled), and not while an earlier one is open
 * or asked for. nats-server stream.go, sourceConsumerRetryThreshold and setupMirrorConsumer. Times
 * are of the member's own clock, which it reads in ticks.
 */
import { MIRROR_GATE_MS, TICK_MS } from '../../base/limits.js';
import type { Member } from '../../base/member.js';
import type { Finding } from './types.js';

export class RetryPacing {
  static readonly property = 'retry pacing';
  readonly #gateMs: number;
  readonly #askedMs = new Map<string, number>();
  readonly #inFlight = new Set<string>();

  constructor(timeScale: number) {
    // A tick that came late is followed by one that comes early: they may lie one tick closer.
    this.#gateMs = Math.max(0, MIRROR_GATE_MS * timeScale - 2 * TICK_MS);
  }

  /** @param life  a member that restarted has forgotten when it asked */
  asked(member: Member, life: number, atMs: number): Finding {
    const key = `${member} ${life}`;
    const before = this.#askedMs.get(key);
    this.#askedMs.set(key, atMs);
    if (this.#inFlight.has(key)) return `${member} asked again while an opening was in flight`;
    this.#inFlight.add(key);
    if (before === undefined || atMs - before >= this.#gateMs) return null;
    return `${member} asked again after ${Math.round(atMs - before)} ms`;
  }

  /** The member closed its opening. */
  closed(member: Member, life: number): void {
    this.#inFlight.delete(`${member} ${life}`);
  }
}
