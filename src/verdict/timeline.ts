/**
 * The run as a person reads it: who led when, and the moments at which something was refused,
 * rolled back, retried or ended. Bounded: the first moments are kept in words, the others counted.
 */
import type { Slot } from '../base/member.js';
import type { ReplicaEvent } from '../replica/types.js';

const MOMENTS_MAX = 200;

/** A leadership of one slot; `toMs` is null when it lasted to the end. */
export interface LeaderSpan {
  readonly slot: Slot;
  readonly term: number;
  readonly fromMs: number;
  readonly toMs: number | null;
}

export interface Moment {
  readonly atMs: number;
  readonly who: string;
  readonly text: string;
}

export interface RunTimeline {
  readonly leaders: readonly LeaderSpan[];
  /** Rising by time. */
  readonly moments: readonly Moment[];
  /** Moments beyond those kept. */
  readonly omitted: number;
}

export class Timeline {
  readonly #ended: LeaderSpan[] = [];
  readonly #leading = new Map<Slot, LeaderSpan>();
  readonly #moments: Moment[] = [];
  #omitted = 0;

  /** Times are milliseconds of one clock; slots may be reported one after the other. */
  add(slot: Slot, atMs: number, event: ReplicaEvent): void {
    if (event.kind === 'role') this.#role(slot, atMs, event);
    const text = momentText(event);
    if (text !== null) this.note(atMs, slot, text);
  }

  /** A member ended; so does what it led. */
  exit(slot: Slot, atMs: number, reason: string): void {
    this.#endLeading(slot, atMs);
    this.note(atMs, slot, `ended: ${reason}`);
  }

  note(atMs: number, who: string, text: string): void {
    if (this.#moments.length < MOMENTS_MAX) this.#moments.push({ atMs, who, text });
    else this.#omitted++;
  }

  /** @param zeroMs  the time that is told as 0 */
  report(zeroMs: number): RunTimeline {
    const leaders = [...this.#ended, ...this.#leading.values()].map((span) => ({
      ...span,
      fromMs: span.fromMs - zeroMs,
      toMs: span.toMs === null ? null : span.toMs - zeroMs,
    }));
    const moments = this.#moments.map((moment) => ({ ...moment, atMs: moment.atMs - zeroMs }));
    return {
      leaders: leaders.sort((one, other) => one.term - other.term),
      moments: moments.sort((one, other) => one.atMs - other.atMs),
      omitted: this.#omitted,
    };
  }

  #role(slot: Slot, atMs: number, event: Extract<ReplicaEvent, { kind: 'role' }>): void {
    this.#endLeading(slot, atMs);
    if (event.role !== 'leader') return;
    this.#leading.set(slot, { slot, term: event.term, fromMs: atMs, toMs: null });
  }

  #endLeading(slot: Slot, atMs: number): void {
    const span = this.#leading.get(slot);
    if (span === undefined) return;
    this.#leading.delete(slot);
    this.#ended.push({ ...span, toMs: atMs });
  }
}

function momentText(event: ReplicaEvent): string | null {
  switch (event.kind) {
    case 'propose': {
      if (event.refused === null) return null;
      return `refused ${event.what} ${event.first} to ${event.last}: ${event.refused.code}`;
    }
    case 'rollback':
      return `rolled back from ${event.from.seq} to ${event.to.seq}: ${event.cause}`;
    case 'retry':
      if (event.inTicks === null || event.cause === 'leading') return null;
      return `retry ${event.attempt} in ${event.inTicks} ticks: ${event.cause}`;
    case 'condition':
      return event.condition === 'running' ? null : `${event.condition}: ${event.reason}`;
    case 'transfer':
      return `transfer to ${event.to} ${event.state}`;
    default:
      return null;
  }
}
