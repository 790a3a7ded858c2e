/**
 * What becomes of single messages on a link. Drawn runs draw it by chance; a replay file states it,
 * message by message, so that it outlives a change of the draws. The nth message of a link is the
 * nth that was handed to it since the start of the run, whatever became of the others.
 */

/** `lost` never arrives; `doubled` arrives twice; `overtaken` comes out of its order. */
export type FateKind = 'lost' | 'doubled' | 'overtaken';

export interface LinkFate {
  /** Both ends: `r1 to r2`, `r1 to origin`, `conductor to r3`. */
  readonly link: string;
  readonly nth: number;
  readonly fate: FateKind;
  /**
   * Microseconds: how much later than its delay an overtaken message comes, or the second one of a
   * doubled message; 0: that one keeps the order.
   */
  readonly byUs: number;
}

/** The fates of one link that are given; those that it draws come beside them. */
export class GivenFates {
  readonly #byNth = new Map<number, LinkFate[]>();

  constructor(link: string, fates: readonly LinkFate[]) {
    for (const fate of fates) {
      if (fate.link !== link) continue;
      const same = this.#byNth.get(fate.nth);
      if (same === undefined) this.#byNth.set(fate.nth, [fate]);
      else same.push(fate);
    }
  }

  /** Null: nothing is given. */
  of(nth: number, kind: FateKind): LinkFate | null {
    return this.#byNth.get(nth)?.find(({ fate }) => fate === kind) ?? null;
  }

  /** From here on only what is drawn happens. */
  clear(): void {
    this.#byNth.clear();
  }
}
