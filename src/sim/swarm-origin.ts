/** Faults of a drawn run that strike the origin: what it says, what it forgets, what it has. */
import type { SimOrigin } from './origin.js';
import type { SwarmAction, SwarmKind } from './swarm-plan.js';

const KINDS = [
  'refuseOpening',
  'spoilAnswer',
  'spoilDelivery',
  'delayAnswer',
  'loseDeliveries',
  'repeatDeliveries',
  'stallOrigin',
  'dropConsumer',
  'delete',
  'expire',
  'recreate',
] as const satisfies readonly SwarmKind[];

export type OriginAction = Extract<SwarmAction, { readonly kind: (typeof KINDS)[number] }>;

export function isOriginAction(action: SwarmAction): action is OriginAction {
  return (KINDS as readonly SwarmKind[]).includes(action.kind);
}

export class SwarmOrigin {
  readonly #origin: SimOrigin;
  readonly #later: (forMs: number, happen: () => void) => void;

  /** @param later  does something after so long, unless the world was healed by then */
  constructor(origin: SimOrigin, later: (forMs: number, happen: () => void) => void) {
    this.#origin = origin;
    this.#later = later;
  }

  /** What is armed against answers strikes no more; what was removed stays so. */
  clear(): void {
    const { service, frames } = this.#origin;
    service.refuseNoMore();
    frames.clear();
  }

  /** False: the fault has no object at this moment. */
  strike(action: OriginAction): boolean {
    const { frames } = this.#origin;
    switch (action.kind) {
      case 'spoilAnswer':
        frames.spoilAnswers(action.how, action.times);
        return true;
      case 'spoilDelivery':
        frames.spoilDeliveries(action.how, action.times);
        return true;
      case 'delayAnswer':
        frames.delayAnswers(action.byMs * 1_000, action.times);
        return true;
      case 'refuseOpening':
      case 'loseDeliveries':
      case 'repeatDeliveries':
        return this.#origin.strike({ kind: action.kind, dose: { times: action.times } });
      case 'delete':
        return this.#origin.strike({ kind: 'originDelete', range: action });
      case 'expire':
        return this.#expire(action);
      case 'recreate':
        return this.#origin.strike({ kind: 'originRecreate', messages: action.messages });
      default:
        return this.#origin.strike(action);
    }
  }

  #expire({ count, times, everyMs }: Extract<OriginAction, { kind: 'expire' }>): true {
    this.#origin.strike({ kind: 'originExpire', count });
    for (let turn = 1; turn < times; turn++) {
      this.#later(turn * everyMs, () => {
        this.#origin.strike({ kind: 'originExpire', count });
      });
    }
    return true;
  }
}
