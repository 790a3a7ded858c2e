/**
 * One direction between two ends. Whatever crosses it is copied, bytes and all, once for each
 * arrival: two ends never share memory. Order is kept unless a message is overtaken. A fate that is
 * given for a message strikes as a drawn one would.
 */
import type { Prng } from '../base/prng.js';
import type { Agenda } from './agenda.js';
import type { LinkConditions } from './conditions.js';
import { GivenFates, type FateKind, type LinkFate } from './fates.js';

export interface LinkEnds<T> {
  readonly copy: (payload: T) => T;
  readonly deliver: (payload: T) => void;
  /** It does not arrive, or an arrival of it does not. */
  readonly dropped?: ((payload: T, why: 'lost' | 'cut') => void) | undefined;
}

/** Which fates of single messages are given, and who is told of those that strike. */
export interface LinkFates {
  readonly name: string;
  readonly given: readonly LinkFate[];
  /** Given or drawn. */
  readonly onFate?: ((fate: LinkFate, atMs: number) => void) | undefined;
}

export class SimLink<T> {
  conditions: LinkConditions;
  /** Nothing gets through, what is under way included. */
  cut = false;
  readonly given: GivenFates;
  readonly #agenda: Agenda;
  readonly #prng: Prng;
  readonly #ends: LinkEnds<T>;
  readonly #fates: LinkFates;
  #sent = 0;
  #lastArrivalUs = 0;
  /** What arrives before this waits until then. */
  #cloggedUntilUs = 0;
  #echoes = 0;
  #echoByUs = 0;
  readonly #arrive = (payload: T): void => {
    if (this.cut) this.#ends.dropped?.(payload, 'cut');
    else if (this.#agenda.nowUs >= this.#cloggedUntilUs) this.#ends.deliver(payload);
    else this.#agenda.at(this.#cloggedUntilUs, this.#arrive, payload);
  };

  constructor(
    agenda: Agenda,
    prng: Prng,
    conditions: LinkConditions,
    ends: LinkEnds<T>,
    fates: LinkFates = { name: '', given: [] },
  ) {
    this.#agenda = agenda;
    this.#prng = prng;
    this.conditions = conditions;
    this.#ends = ends;
    this.#fates = fates;
    this.given = new GivenFates(fates.name, fates.given);
  }

  /** Holds everything until then, what is under way included; it comes at once and in order. */
  clog(untilUs: number): void {
    this.#cloggedUntilUs = Math.max(this.#cloggedUntilUs, untilUs);
  }

  /** The next `count` messages that get through come once more, by so much later. */
  echo(count: number, byUs: number): void {
    this.#echoes = count;
    this.#echoByUs = byUs;
  }

  /** From here on it is like this, nothing holds it up and no message has a fate of its own. */
  mend(conditions: LinkConditions): void {
    this.conditions = conditions;
    this.cut = false;
    this.given.clear();
    this.#echoes = 0;
    this.#cloggedUntilUs = 0;
  }

  /** @param fromUs  when it leaves: now, or later when its sender was held up */
  send(payload: T, fromUs: number): void {
    this.#sent++;
    if (this.cut) {
      this.#ends.dropped?.(payload, 'cut');
      return;
    }
    if (this.#isLost()) {
      this.#ends.dropped?.(payload, 'lost');
      return;
    }
    this.#carry(payload, fromUs, this.#overtakenByUs());
    const doubledByUs = this.#doubledByUs();
    if (doubledByUs !== null) this.#carry(payload, fromUs, doubledByUs);
    if (this.#echoes > 0) {
      this.#echoes--;
      this.#carry(payload, fromUs, this.#echoByUs);
    }
  }

  /** @param byUs  null or 0: in order */
  #carry(payload: T, fromUs: number, byUs: number | null): void {
    const arriving = this.#ends.copy(payload);
    this.#agenda.at(this.#arrivalUs(fromUs, byUs ?? 0), this.#arrive, arriving);
  }

  #arrivalUs(fromUs: number, byUs: number): number {
    const { delayMinUs, delayMaxUs } = this.conditions;
    const atUs = fromUs + this.#prng.between('delay', delayMinUs, delayMaxUs);
    if (byUs > 0) return atUs + byUs;
    this.#lastArrivalUs = Math.max(this.#lastArrivalUs, atUs);
    return this.#lastArrivalUs;
  }

  #isLost(): boolean {
    const strikes =
      this.given.of(this.#sent, 'lost') !== null ||
      this.#chance('loss', this.conditions.lossPerMille);
    if (strikes) this.#tell('lost', 0);
    return strikes;
  }

  /** Null: it keeps the order. */
  #overtakenByUs(): number | null {
    const byUs = this.given.of(this.#sent, 'overtaken')?.byUs ?? this.#drawnByUs();
    if (byUs !== null) this.#tell('overtaken', byUs);
    return byUs;
  }

  /** Null: it is not doubled; else by how much the second one is overtaken. */
  #doubledByUs(): number | null {
    let byUs = this.given.of(this.#sent, 'doubled')?.byUs ?? null;
    if (byUs === null && this.#chance('duplicate', this.conditions.duplicatePerMille)) {
      byUs = this.#drawnByUs() ?? 0;
    }
    if (byUs !== null) this.#tell('doubled', byUs);
    return byUs;
  }

  #drawnByUs(): number | null {
    const { reorderPerMille, reorderMaxUs } = this.conditions;
    if (!this.#chance('reorder', reorderPerMille)) return null;
    return this.#prng.between('overtaken', 1, Math.max(1, reorderMaxUs));
  }

  #chance(label: string, perMille: number): boolean {
    return perMille > 0 && this.#prng.chance(label, Math.round(perMille * 1_000), 1_000_000);
  }

  #tell(fate: FateKind, byUs: number): void {
    const { name, onFate } = this.#fates;
    onFate?.({ link: name, nth: this.#sent, fate, byUs }, this.#agenda.nowMs);
  }
}
