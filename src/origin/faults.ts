/**
 * Faults of the origin that are still to strike. Each is armed with a number and used up by the
 * traffic that it meets, or strikes by chance for a while; the service asks before it sends.
 */
import type { ErrorData } from '../base/errors.js';
import type { Prng } from '../base/prng.js';
import type { OriginStrikes } from '../verdict/types.js';

const NEVER = Number.NEGATIVE_INFINITY;
/** Deliveries that a chance is drawn for ahead. */
const AHEAD_MAX = 64;

/** Strikes deliveries by chance, until a time. Those that it spares next are known ahead. */
class Chance {
  readonly #draw: () => boolean;
  readonly #untilMs: number;
  #spared = 0;
  /** Whether the delivery behind the spared ones is struck; null: it has to be drawn. */
  #strikes: boolean | null = null;

  constructor(draw: () => boolean, untilMs: number) {
    this.#draw = draw;
    this.#untilMs = untilMs;
  }

  /** How many of the next deliveries go unharmed: 0, then the next one is struck. */
  sparedNext(nowMs: number): number {
    if (nowMs >= this.#untilMs) return Number.POSITIVE_INFINITY;
    if (this.#spared === 0 && this.#strikes !== true) this.#drawAhead();
    return this.#spared;
  }

  /** So many deliveries went by, at most those spared; or, when none was spared, the struck one. */
  passed(count: number): void {
    if (this.#spared === 0) this.#strikes = null;
    else this.#spared = Math.max(0, this.#spared - count);
  }

  #drawAhead(): void {
    this.#strikes = false;
    while (this.#spared < AHEAD_MAX && !this.#strikes) {
      if (this.#draw()) this.#strikes = true;
      else this.#spared++;
    }
  }
}

/** How many of the next deliveries none of these strikes. */
function sparedBy(chances: readonly Chance[], nowMs: number): number {
  let spared = Number.POSITIVE_INFINITY;
  for (const chance of chances) spared = Math.min(spared, chance.sparedNext(nowMs));
  return spared;
}

/** Whether one of these strikes the next so many, which share a fate. */
function strikes(chances: readonly Chance[], count: number, nowMs: number): boolean {
  const isStruck = sparedBy(chances, nowMs) === 0;
  for (const chance of chances) chance.passed(count);
  return isStruck;
}

export class OriginFaults {
  readonly #prng: Prng;
  #refusals = 0;
  #refusal: ErrorData | null = null;
  #lost = 0;
  #repeated = 0;
  /** Chances that overlap are each drawn for themselves. */
  readonly #refusing: Chance[] = [];
  readonly #losing: Chance[] = [];
  readonly #repeating: Chance[] = [];
  #stalledUntilMs = NEVER;
  readonly #struck = { refused: 0, lost: 0, repeated: 0 };

  constructor(prng: Prng) {
    this.#prng = prng;
  }

  refuse(count: number, error: ErrorData): void {
    this.#refusals += count;
    this.#refusal = error;
  }

  /** Each request to open is refused by this chance until then. */
  refuseByChance(perMillion: number, untilMs: number, error: ErrorData): void {
    this.#refusing.push(this.#chance('refuse', perMillion, untilMs));
    this.#refusal = error;
  }

  /** Requests to open are refused no more, however many were to be. */
  refuseNoMore(): void {
    this.#refusals = 0;
    this.#refusing.length = 0;
  }

  lose(count: number): void {
    this.#lost += count;
  }

  repeat(count: number): void {
    this.#repeated += count;
  }

  /** Each delivery is lost by this chance until then. */
  loseByChance(perMillion: number, untilMs: number): void {
    this.#losing.push(this.#chance('lose', perMillion, untilMs));
  }

  /** Each delivery is sent twice by this chance until then. */
  repeatByChance(perMillion: number, untilMs: number): void {
    this.#repeating.push(this.#chance('repeat', perMillion, untilMs));
  }

  stallUntil(untilMs: number): void {
    this.#stalledUntilMs = Math.max(this.#stalledUntilMs, untilMs);
  }

  /** The error that a request to open gets; null: none is armed. */
  takeRefusal(nowMs: number): ErrorData | null {
    if (this.#refusals > 0) this.#refusals--;
    else if (!strikes(this.#refusing, 1, nowMs)) return null;
    this.#struck.refused++;
    return this.#refusal;
  }

  /**
   * At most this many deliveries may share the next frame, so that one fate fits all of them. A
   * chance is drawn delivery by delivery: those that it spares go first, the struck one alone.
   */
  frameMessagesMax(nowMs: number): number {
    if (this.#lost > 0) return this.#lost;
    if (this.#repeated > 0) return this.#repeated;
    const spared = Math.min(sparedBy(this.#losing, nowMs), sparedBy(this.#repeating, nowMs));
    return Math.max(1, spared);
  }

  /** How often the next frame, of so many deliveries, is sent: 0, 1 or 2 times. */
  takeCopies(count: number, nowMs: number): 0 | 1 | 2 {
    const copies = this.#copiesOf(count, nowMs);
    if (copies === 0) this.#struck.lost += count;
    else if (copies === 2) this.#struck.repeated += count;
    return copies;
  }

  /** Requests that were refused, deliveries that were lost and repeated, up to now. */
  get struck(): OriginStrikes {
    return { ...this.#struck };
  }

  #copiesOf(count: number, nowMs: number): 0 | 1 | 2 {
    if (this.#lost > 0) {
      this.#lost -= count;
      return 0;
    }
    if (this.#repeated > 0) {
      this.#repeated -= count;
      return 2;
    }
    const isLost = strikes(this.#losing, count, nowMs);
    const isRepeated = strikes(this.#repeating, count, nowMs);
    if (isLost) return 0;
    return isRepeated ? 2 : 1;
  }

  isStalled(nowMs: number): boolean {
    return nowMs < this.#stalledUntilMs;
  }

  get stalledUntilMs(): number {
    return this.#stalledUntilMs;
  }

  #chance(label: string, perMillion: number, untilMs: number): Chance {
    return new Chance(() => this.#prng.chance(label, perMillion, 1_000_000), untilMs);
  }
}
