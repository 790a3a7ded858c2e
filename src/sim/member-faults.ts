/**
 * Faults of single members of a simulated world: what ends one, what brings it back from its
 * disk, what holds it up for a while, and what its disk and its clock do meanwhile.
 */
import { invariant } from '../base/errors.js';
import type { Slot } from '../base/member.js';
import type { Input, ReplicaEvent } from '../replica/types.js';
import { endsMember, restartMsOf, type FaultBudget } from '../scenario/budget.js';
import type { ClusterEvent } from '../scenario/driver.js';
import { transferTarget } from '../scenario/target.js';
import type { FaultPlan, MemberAction } from '../scenario/types.js';
import type { SimNode } from './node.js';
import type { SimWorld } from './world.js';

/** How an input reaches a member: at its next turn, or in the middle of the present one. */
export type Give = (node: SimNode, input: Input) => void;

type ActionOf<K> = Extract<MemberAction, { readonly kind: K }>;

/** A fault that strikes one member. */
export interface Strike<A extends MemberAction = MemberAction> {
  readonly fault: FaultPlan;
  readonly action: A;
  readonly node: SimNode;
}

export interface MemberFaultsOptions {
  readonly world: SimWorld;
  readonly budget: FaultBudget;
  readonly onEvent: (event: ClusterEvent) => void;
  /** The fault is over: told after this long, when it was taken back. */
  readonly heal: (strike: Strike, afterMs: number, takeBack: () => void) => void;
}

export class MemberFaults {
  readonly #options: MemberFaultsOptions;
  readonly #ended = new Set<Slot>();
  /** Faults for which disks refuse writes: the first refusal ends the member. */
  readonly #failing = new Map<Slot, Strike>();
  /** Faults that end a slot's member, for the budget: more than one may have been armed. */
  readonly #endings = new Map<Slot, number>();

  constructor(options: MemberFaultsOptions) {
    this.#options = options;
  }

  /** Slots whose member a fault ended and did not bring back by now. */
  get ended(): ReadonlySet<Slot> {
    return this.#ended;
  }

  /** The budget has room for it: what breaks a member was counted. */
  strike(strike: Strike, give: Give): void {
    const { action, node } = strike;
    if (endsMember(action.kind)) {
      this.#endings.set(node.slot, (this.#endings.get(node.slot) ?? 0) + 1);
    }
    switch (action.kind) {
      case 'kill':
        return this.#end(strike, 'killed');
      case 'outOfMemory':
        return this.#end(strike, 'out of memory');
      case 'wipe':
        return this.#end(strike, 'wiped');
      case 'failWrites':
      case 'failSync':
        return this.#failDisk(strike, action.kind === 'failSync' ? 'sync' : 'write');
      case 'tornTail':
        node.disk.tearNext(() => {
          this.#end(strike, 'the power went');
        });
        return;
      case 'freeze':
      case 'slow':
      case 'slowDisk':
      case 'clockRate':
        return this.#hold({ ...strike, action });
      case 'failPropose':
        return this.#failPropose({ ...strike, action }, give);
      case 'overrun':
        return give(node, { type: 'overrun', entries: action.entries });
      case 'stepDown': {
        const { world } = this.#options;
        const to = transferTarget(action, (slot) => world.node(slot).member);
        return give(node, { type: 'stepDown', to });
      }
      case 'flap': {
        const { term } = node.replica!.log;
        give(node, { type: 'stepDown', to: null });
        return give(node, { type: 'campaign', term, deadLeader: null });
      }
      case 'reload':
        invariant(false, 'what cannot be is not injected');
    }
  }

  /** A member whose write failed is over. */
  reported(node: SimNode, event: ReplicaEvent): void {
    if (event.kind !== 'role' || event.cause !== 'writeFailed') return;
    const strike = this.#failing.get(node.slot);
    if (strike === undefined) return;
    this.#options.world.agenda.after(0, () => {
      this.#end(strike, strike.action.kind === 'failSync' ? 'a sync failed' : 'a write failed');
    });
  }

  /** The first fault of a disk is the one that ends its member. */
  #failDisk(strike: Strike, failure: 'write' | 'sync'): void {
    const { disk, slot } = strike.node;
    if (this.#failing.has(slot)) return;
    this.#failing.set(slot, strike);
    disk.failure = failure;
  }

  /** What lasts for a while. Two of a kind on one member add up. */
  #hold(strike: Strike<ActionOf<'freeze' | 'slow' | 'slowDisk' | 'clockRate'>>): void {
    const { action, node } = strike;
    const { world, budget, heal } = this.#options;
    switch (action.kind) {
      case 'freeze': {
        const position = world.nodes.indexOf(node);
        node.freeze(Math.round(action.forMs * 1_000));
        return heal(strike, action.forMs, () => {
          budget.mend([position]);
        });
      }
      case 'slow': {
        const byUs = Math.round(action.byMs * 1_000);
        node.slowUs += byUs;
        return heal(strike, action.forMs, () => {
          node.slowUs -= byUs;
        });
      }
      case 'slowDisk': {
        const byUs = Math.round(action.byMs * 1_000);
        node.disk.slowUs += byUs;
        return heal(strike, action.forMs, () => {
          node.disk.slowUs -= byUs;
        });
      }
      case 'clockRate': {
        const perMille = Math.round((action.factor - 1) * 1_000);
        node.hurry(perMille);
        return heal(strike, action.forMs, () => {
          node.hurry(-perMille);
        });
      }
    }
  }

  #failPropose(strike: Strike<ActionOf<'failPropose'>>, give: Give): void {
    const { action, node } = strike;
    const { dose, code } = action;
    if ('times' in dose) return give(node, { type: 'failPropose', count: dose.times, code });
    const { perMillion } = dose;
    const { life } = node;
    give(node, { type: 'failByChance', perMillion, code });
    this.#options.heal(strike, dose.forMs, () => {
      // A member that began anew meanwhile knows nothing of it.
      if (node.life === life) node.order({ type: 'failByChance', perMillion: -perMillion, code });
    });
  }

  /** It forgets what its disk did not hold. Last of all it may unwind the member's turn. */
  #end(strike: Strike, reason: string): void {
    const { fault, action, node } = strike;
    const { world, onEvent } = this.#options;
    const { slot } = node;
    if (this.#ended.has(slot)) return;
    this.#ended.add(slot);
    this.#failing.delete(slot);
    world.ended(node);
    onEvent({ kind: 'exit', slot, atMs: world.nowMs, fault: true, by: fault.id, reason });
    const restartMs = restartMsOf(action);
    if (restartMs !== null) {
      this.#options.heal(strike, restartMs, () => {
        this.#return(node);
      });
    }
    node.crash();
  }

  /** It remembers its vote and all that it acknowledged: from here on it counts as before. */
  #return(node: SimNode): void {
    const { world, budget } = this.#options;
    const position = world.nodes.indexOf(node);
    const endings = this.#endings.get(node.slot) ?? 0;
    this.#endings.delete(node.slot);
    budget.mend(Array.from({ length: endings }, () => position));
    this.#ended.delete(node.slot);
    world.restart(node);
  }
}
