/**
 * When the mirror may ask the origin again, in ticks. A gate of one create request in 2 s, jitter
 * of 100–200 ms, and for failed set-ups a backoff of 10 s a failure up to 120 s (nats-server
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
export function mirrorTicks(timeScale: number, tickMs = TICK_MS): MirrorTicks {
  const ticks = (ms: number): number => Math.max(1, Math.round((ms * timeScale) / tickMs));
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
  /** Consecutive set-ups that failed. */
  attempts = 0;
  readonly #ticks: MirrorTicks;
  readonly #prng: Prng;
  /** Outlives leaderships: a member that loses and regains one is held by the same gate. */
  #sinceRequest = Number.POSITIVE_INFINITY;
  #due: number | null = null;

  constructor(ticks: MirrorTicks, prng: Prng) {
    this.#ticks = ticks;
    this.#prng = prng;
  }

  get isPlanned(): boolean {
    return this.#due !== null;
  }

  /** Plans the next request, replacing one that was planned; returns the ticks until then. */
  plan(): number {
    const { gate, jitterMin, jitterMax, backoff, backoffMax } = this.#ticks;
    const gated = Math.max(0, gate - this.#sinceRequest);
    const backedOff = Math.min(backoff * this.attempts, backoffMax);
    this.#due = gated + backedOff + this.#prng.between('jitter', jitterMin, jitterMax);
    return this.#due;
  }

  cancel(): void {
    this.#due = null;
  }

  /** One tick. True: the planned request goes out now. */
  tick(): boolean {
    this.#sinceRequest++;
    if (this.#due === null || --this.#due > 0) return false;
    this.#due = null;
    this.#sinceRequest = 0;
    return true;
  }
}
