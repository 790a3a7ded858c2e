/**
 * The stall clock: the longest time without progress while the cluster owed some. Progress is the
 * highest last sequence of any replica, skips included. Marks come per replica, each in order of
 * time; they are merged when the clock is read.
 */

export interface Stall {
  readonly ms: number;
  /** When the longest stall began; null when there was none. */
  readonly fromMs: number | null;
  /** When it ended. What is nobody's stall lies within, so this may be later than `ms` behind. */
  readonly toMs: number | null;
}

const NONE: Stall = { ms: 0, fromMs: null, toMs: null };

/** A time in which the origin gave nothing by a fault of its own: nobody owes progress then. */
export interface Silence {
  readonly fromMs: number;
  readonly toMs: number;
}

/** How much of a time was silent; silences may overlap. */
export function silentMs(fromMs: number, toMs: number, silences: readonly Silence[]): number {
  let silent = 0;
  let behind = fromMs;
  for (const silence of [...silences].sort((one, other) => one.fromMs - other.fromMs)) {
    const from = Math.max(behind, silence.fromMs);
    const to = Math.min(toMs, silence.toMs);
    if (to <= from) continue;
    silent += to - from;
    behind = to;
  }
  return silent;
}

export class StallClock {
  readonly #marks = new Map<string, { readonly at: number[]; readonly last: number[] }>();
  #fromMs: number | null = null;

  /** From here on the origin has something to give. */
  start(atMs: number): void {
    this.#fromMs ??= atMs;
  }

  progress(who: string, atMs: number, last: number): void {
    let marks = this.#marks.get(who);
    if (marks === undefined) {
      marks = { at: [], last: [] };
      this.#marks.set(who, marks);
    }
    if (last > (marks.last.at(-1) ?? 0)) {
      marks.at.push(atMs);
      marks.last.push(last);
    }
  }

  /** When any replica moved last; the start if none has. */
  lastProgressMs(): number | null {
    let latest = this.#fromMs;
    for (const { at } of this.#marks.values()) {
      const last = at.at(-1);
      if (last !== undefined && (latest === null || last > latest)) latest = last;
    }
    return latest;
  }

  /**
   * The longest stall up to `untilMs`. Once a replica is at `target` nothing more is owed.
   * `paceMs`: what the origin itself takes between two messages, which is nobody's stall; nor is a
   * time in which it was silent.
   */
  longest(
    untilMs: number,
    target: number,
    paceMs: number,
    silences: readonly Silence[] = [],
  ): Stall {
    if (this.#fromMs === null) return NONE;
    const rises: { readonly at: number; readonly last: number }[] = [];
    for (const { at, last } of this.#marks.values()) {
      at.forEach((time, index) => rises.push({ at: time, last: last[index]! }));
    }
    rises.sort((a, b) => a.at - b.at || a.last - b.last);
    let best = NONE;
    let since = this.#fromMs;
    let high = 0;
    const close = (at: number): void => {
      const ms = at - since - silentMs(since, at, silences) - paceMs;
      if (ms > best.ms) best = { ms, fromMs: since, toMs: at };
    };
    for (const rise of rises) {
      if (rise.last <= high) continue;
      close(rise.at);
      since = rise.at;
      high = rise.last;
      if (high >= target) return best;
    }
    close(untilMs);
    return best;
  }
}
