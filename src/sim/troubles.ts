/** Faults of links on a simulated world: what each fault adds to a link, and takes back again. */
import type { DirectedLink } from '../scenario/links.js';
import type { LinkAction, LinkTrouble } from '../scenario/types.js';
import type { LinkConditions } from './conditions.js';
import type { SimWorld } from './world.js';

/** What of a link a fault changes. */
export interface Touched {
  cut: boolean;
  conditions: LinkConditions;
}

/** Of a link while faults lie on it. */
interface Troubled {
  /** What it is like without them. */
  readonly calm: LinkConditions;
  readonly troubles: LinkTrouble[];
  cuts: number;
}

/** An overtaken message comes later than all that its delay explains. */
const OVERTAKEN_LEAST_US = 2_000;

export class LinkTroubles {
  readonly #world: SimWorld;
  readonly #troubled = new Map<Touched, Troubled>();

  constructor(world: SimWorld) {
    this.#world = world;
  }

  /** Returns what takes it back. Two faults on one link add up, and end in turn. */
  install(links: readonly DirectedLink[], action: LinkAction): () => void {
    const touched = links.flatMap((link) => this.#world.link(link) ?? []);
    for (const link of touched) this.#change(link, action, 1);
    return () => {
      for (const link of touched) this.#change(link, action, -1);
    };
  }

  #change(link: Touched, action: LinkAction, by: 1 | -1): void {
    const troubled = this.#of(link);
    if (action.kind === 'partition') troubled.cuts += by;
    else if (by === 1) troubled.troubles.push(action.trouble);
    else troubled.troubles.splice(troubled.troubles.indexOf(action.trouble), 1);
    link.cut = troubled.cuts > 0;
    link.conditions = troubled.troubles.reduce(worsened, troubled.calm);
    if (troubled.cuts === 0 && troubled.troubles.length === 0) this.#troubled.delete(link);
  }

  #of(link: Touched): Troubled {
    const known = this.#troubled.get(link);
    if (known !== undefined) return known;
    const troubled = { calm: link.conditions, troubles: [], cuts: 0 };
    this.#troubled.set(link, troubled);
    return troubled;
  }
}

function worsened(conditions: LinkConditions, trouble: LinkTrouble): LinkConditions {
  const delayMinUs = conditions.delayMinUs + Math.round(trouble.delayMinMs * 1_000);
  const delayMaxUs = conditions.delayMaxUs + Math.round(trouble.delayMaxMs * 1_000);
  const perMille = (before: number, perMillion: number): number =>
    Math.min(1_000, before + perMillion / 1_000);
  return {
    delayMinUs,
    delayMaxUs,
    lossPerMille: perMille(conditions.lossPerMille, trouble.lossPerMillion),
    duplicatePerMille: perMille(conditions.duplicatePerMille, trouble.duplicatePerMillion),
    reorderPerMille: perMille(conditions.reorderPerMille, trouble.reorderPerMillion),
    reorderMaxUs: Math.max(conditions.reorderMaxUs, 2 * delayMaxUs, OVERTAKEN_LEAST_US),
  };
}
