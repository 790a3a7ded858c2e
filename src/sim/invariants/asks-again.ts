/**
 * Who leads and has no opening asks for one in time: at once after a loss, a mismatch or a refused
 * proposal, behind the gate of 2 s and its jitter; after failed set-ups with the backoff that they
 * add up to. Nothing waits for a health check, least of all for ever. docs/mirror.md, rules 4 to 6;
 * nats-server pull request 8152, scheduleSetupMirrorConsumerRetry. Times are scaled, and read in
 * ticks of the member's own clock.
 */
import { TICK_MS } from '../../base/limits.js';
import type { Member } from '../../base/member.js';
import type { MirrorCause } from '../../mirror/types.js';
import { SETUP_FAILURES } from './retry-pacing.js';
import type { Finding } from './types.js';

/** Stated here again: a rule that followed the product's own constants could not fail. */
const GATE_AND_JITTER_MS = 2_200;
const BACKOFF_MS = 10_000;
const BACKOFF_MAX_MS = 120_000;
/** Each of gate, jitter and backoff is rounded to ticks, and none is less than one. */
const ROUNDED_TICKS = 4;

interface Wait {
  readonly sinceTick: number;
  readonly ticksMax: number;
}

export class AsksAgain {
  static readonly property = 'asks again';
  readonly #timeScale: number;
  readonly #waits = new Map<Member, Wait>();
  readonly #open = new Set<Member>();
  /** Mirrors that ended blocked or diverged. */
  readonly #stopped = new Set<Member>();
  /** Members whose mirror was taken away. */
  readonly #unconfigured = new Set<Member>();
  /** Set-ups that failed in a row; those of which it is not known are counted. */
  readonly #failures = new Map<Member, number>();

  constructor(timeScale: number) {
    this.#timeScale = timeScale;
  }

  /** Of a member's present life. */
  started(member: Member): void {
    this.#open.delete(member);
    this.#stopped.delete(member);
    this.#unconfigured.delete(member);
    this.#forget(member);
  }

  requested(member: Member): void {
    this.#open.add(member);
    this.#waits.delete(member);
  }

  closed(member: Member, cause: MirrorCause | undefined, tick: number): void {
    this.#open.delete(member);
    const failed = cause !== undefined && SETUP_FAILURES.has(cause);
    if (failed) this.#failures.set(member, (this.#failures.get(member) ?? 0) + 1);
    this.#waits.set(member, { sinceTick: tick, ticksMax: this.#ticksMax(member) });
  }

  /** Messages are proposed: a set-up succeeded. */
  received(member: Member): void {
    this.#failures.delete(member);
  }

  /** Its mirror is given to it, or taken from it. */
  configured(member: Member, mirror: boolean): void {
    if (mirror) this.#unconfigured.delete(member);
    else this.#unconfigured.add(member);
  }

  condition(member: Member, isRunning: boolean): void {
    if (isRunning) this.#stopped.delete(member);
    else this.#stopped.add(member);
  }

  /**
   * A turn is over.
   *
   * @param does  it leads and serves; it leads and hands over, so that it may wait; or neither
   */
  stands(member: Member, does: 'serves' | 'handsOver' | 'nothing', tick: number): Finding {
    const owesNone = this.#stopped.has(member) || this.#unconfigured.has(member);
    if (does === 'nothing' || owesNone) {
      this.#forget(member);
      return null;
    }
    if (does === 'handsOver') this.#waits.delete(member);
    if (does === 'handsOver' || this.#open.has(member)) return null;
    const wait = this.#waits.get(member) ?? { sinceTick: tick, ticksMax: this.#ticksMax(member) };
    this.#waits.set(member, wait);
    const waited = tick - wait.sinceTick;
    if (waited <= wait.ticksMax) return null;
    const most = `${wait.ticksMax} at most`;
    return `${member} leads and asks for no opening since ${waited} ticks, ${most}`;
  }

  #forget(member: Member): void {
    this.#waits.delete(member);
    this.#failures.delete(member);
  }

  #ticksMax(member: Member): number {
    const backoffMs = Math.min(BACKOFF_MS * (this.#failures.get(member) ?? 0), BACKOFF_MAX_MS);
    const ms = (GATE_AND_JITTER_MS + backoffMs) * this.#timeScale;
    return Math.ceil(ms / TICK_MS) + ROUNDED_TICKS;
  }
}
