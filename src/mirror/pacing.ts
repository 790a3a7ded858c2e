/**
 * When the mirror may ask the origin again, in ticks. A gate of one create request in 2 s, jitter of
 * 100–200 ms, and for failed requests a backoff of 10 s a failure up to 120 s (nats-server
 * stream.go: scheduleSetupMirrorConsumerRetry, calculateRetryBackoff). All of it is scaled.
 */
import {
  MIRROR_BACKOFF_MAX_MS,
  MIRROR_BACKOFF_MS,
  MIRROR_CREATE_WAIT_MS,
  MIRROR_GATE_MS,
  MIRROR_JITTER_MAX_MS,
  MIRROR_JITTER_MIN_MS,
  MIRROR_SILENCE_MS,
  TICK_MS,
} from '../base/limits.js';
import type { Prng } from '../base/prng.js';

/** The mirror's constants in ticks of one run. */
export interface MirrorTicks {
  readonly gate: number;
  readonly jitterMin: number;
  readonly jitterMax: number;
  readonly backoff: number;
  readonly backoffMax: number;
  readonly silence: number;
  readonly createWait: number;
}

/** Never less than a tick: a scaled wait stays a wait. */
export function mirrorTicks(timeScale: number): MirrorTicks {
  const ticks = (ms: number): number => Math.max(1, Math.round((ms * timeScale) / TICK_MS));
  return {
    gate: ticks(MIRROR_GATE_MS),
    jitterMin: ticks(MIRROR_JITTER_MIN_MS),
    jitterMax: ticks(MIRROR_JITTER_MAX_MS),
    backoff: ticks(MIRROR_BACKOFF_MS),
    backoffMax: ticks(MIRROR_BACKOFF_MAX_MS),
    silence: ticks(MIRROR_SILENCE_MS),
    createWait: ticks(MIRROR_CREATE_WAIT_MS),
  };
}

export class Pacing {
  readonly ticks: MirrorTicks;
  readonly #prng: Prng;
  /** Consecutive failures to set up. */
  attempts = 0;
  #sinceRequest = Number.POSITIVE_INFINITY;
  #due: number | null = null;

  constructor(timeScale: number, prng: Prng) {
    this.ticks = mirrorTicks(timeScale);
    this.#prng = prng;
  }

  /** Plans the next request, replacing one that was planned; returns the ticks until then. */
  schedule(): number {
    const { gate, jitterMin, jitterMax, backoff, backoffMax } = this.ticks;
    const gated = Math.max(0, gate - this.#sinceRequest);
    const backedOff = Math.min(backoff * this.attempts, backoffMax);
    this.#due = gated + backedOff + this.#prng.between('jitter', jitterMin, jitterMax);
    return this.#due;
  }

  cancel(): void {
    this.#due = null;
  }

  /** A request goes out now. */
  requested(): void {
    this.#due = null;
    this.#sinceRequest = 0;
  }

  /** One tick; true when a planned request is due. */
  tick(): boolean {
    this.#sinceRequest++;
    return this.#due !== null && --this.#due <= 0;
  }
}
