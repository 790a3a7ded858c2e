/**
 * One direction between two ends. Whatever crosses it is copied, bytes and all, once for each
 * arrival: two ends never share memory. Order is kept unless a message is drawn to be overtaken.
 */
import type { Prng } from '../base/prng.js';
import type { Agenda } from './agenda.js';
import type { LinkConditions } from './conditions.js';

export interface LinkEnds<T> {
  readonly copy: (payload: T) => T;
  readonly deliver: (payload: T) => void;
}

export class SimLink<T> {
  conditions: LinkConditions;
  /** Nothing gets through, what is under way included. */
  cut = false;
  readonly #agenda: Agenda;
  readonly #prng: Prng;
  readonly #ends: LinkEnds<T>;
  #lastArrivalUs = 0;

  constructor(agenda: Agenda, prng: Prng, conditions: LinkConditions, ends: LinkEnds<T>) {
    this.#agenda = agenda;
    this.#prng = prng;
    this.conditions = conditions;
    this.#ends = ends;
  }

  /** @param fromUs  when it leaves: now, or later when its sender was held up */
  send(payload: T, fromUs: number): void {
    const { lossPerMille, duplicatePerMille } = this.conditions;
    if (this.cut || this.#chance('loss', lossPerMille)) return;
    this.#carry(payload, fromUs);
    if (this.#chance('duplicate', duplicatePerMille)) this.#carry(payload, fromUs);
  }

  #carry(payload: T, fromUs: number): void {
    const arriving = this.#ends.copy(payload);
    this.#agenda.at(this.#arrivalUs(fromUs), () => {
      if (!this.cut) this.#ends.deliver(arriving);
    });
  }

  #arrivalUs(fromUs: number): number {
    const { delayMinUs, delayMaxUs, reorderPerMille, reorderMaxUs } = this.conditions;
    const atUs = fromUs + this.#prng.between('delay', delayMinUs, delayMaxUs);
    if (this.#chance('reorder', reorderPerMille)) {
      return atUs + this.#prng.between('overtaken', 1, Math.max(1, reorderMaxUs));
    }
    this.#lastArrivalUs = Math.max(this.#lastArrivalUs, atUs);
    return this.#lastArrivalUs;
  }

  #chance(label: string, perMille: number): boolean {
    return perMille > 0 && this.#prng.chance(label, perMille, 1_000);
  }
}
