/**
 * Carries out the faults of a scenario on a simulated world: those whose time has come, between
 * turns, and those armed for a state, in the middle of the turn that reached it.
 */
import { createPrng, type Prng } from '../base/prng.js';
import type { Slot } from '../base/member.js';
import type { Input, ReplicaEvent, ReplicaView } from '../replica/types.js';
import { Arms, armsOf, waitsForState } from '../scenario/arms.js';
import { breaksMember, FaultBudget, OVER_BUDGET } from '../scenario/budget.js';
import type { ClusterEvent, FaultMore, FaultState } from '../scenario/driver.js';
import { touchedLinks } from '../scenario/links.js';
import {
  resolveStruck,
  resolveTarget,
  transferTarget,
  type LivingMembers,
} from '../scenario/target.js';
import type {
  FaultPlan,
  LinkAction,
  MemberAction,
  OriginAction,
  Plan,
  Target,
} from '../scenario/types.js';
import { faultCell } from './coverage.js';
import type { SimNode } from './node.js';
import { LinkTroubles } from './troubles.js';
import type { SimWorld } from './world.js';

export interface SimInjectorOptions {
  readonly plan: Plan;
  readonly world: SimWorld;
  readonly onEvent: (event: ClusterEvent) => void;
  /** Told of the cell that each fault meets as it falls. */
  readonly onFault: ((cell: string) => void) | undefined;
}

/** How an input reaches a member: at its next turn, or in the middle of the present one. */
type Give = (node: SimNode, input: Input) => void;

export class SimInjector {
  readonly #options: SimInjectorOptions;
  readonly #faults: FaultPlan[];
  readonly #budget: FaultBudget;
  readonly #arms: ReadonlyMap<Slot, Arms>;
  readonly #troubles: LinkTroubles;
  readonly #draws: Prng;
  readonly #ended = new Set<Slot>();
  /** Slots whose disk refuses writes: the first refusal ends them. */
  readonly #failing = new Set<Slot>();

  constructor(options: SimInjectorOptions) {
    this.#options = options;
    const { plan, world } = options;
    this.#faults = [...plan.faults];
    const words = new Int32Array(FaultBudget.wordsFor(plan.faults.length));
    const tolerated = FaultBudget.tolerated(plan.replicas, plan.beyondQuorum);
    this.#budget = new FaultBudget(words, tolerated);
    const arms = armsOf(plan.faults);
    this.#arms = new Map(world.nodes.map(({ slot }) => [slot, new Arms(arms, slot, this.#budget)]));
    this.#troubles = new LinkTroubles(world);
    this.#draws = createPrng(plan.seed).fork('targets');
  }

  /** Slots whose member a fault ended for good. */
  get ended(): ReadonlySet<Slot> {
    return this.#ended;
  }

  disarm(at: number): boolean {
    return this.#budget.claim(at);
  }

  lastSeen(): ReadonlyMap<string, number> {
    const seen = new Map<string, number>();
    for (const [slot, arms] of this.#arms) {
      if (this.#ended.has(slot)) continue;
      for (const [fault, value] of arms.lastSeen()) {
        seen.set(fault, Math.max(value, seen.get(fault) ?? 0));
      }
    }
    return seen;
  }

  /** One more, at the next position. */
  add(fault: FaultPlan): void {
    const at = this.#faults.push(fault) - 1;
    if (!waitsForState(fault)) return;
    for (const arms of this.#arms.values()) arms.add({ at, fault });
  }

  /** False: it has no object at this moment. */
  inject(at: number): boolean {
    const fault = this.#faults[at]!;
    const fell = this.#strike(fault, fault.target, (node, input) => {
      node.order(input);
    });
    if (fell) this.#budget.claim(at);
    return fell;
  }

  /** Whatever is due in this turn of the member. */
  fireDue(node: SimNode, view: ReplicaView): void {
    const arms = this.#arms.get(node.slot)!;
    for (let due = arms.due(view); due !== undefined; due = arms.due(view)) {
      const { fault, here } = due;
      if (here) node.settle();
      const self: Target | null = fault.target && { kind: 'slot', slot: node.slot };
      const fell =
        here &&
        this.#strike(fault, self, (struck, input) => {
          struck.input(input);
        });
      if (!fell) this.#options.onEvent({ kind: 'due', id: fault.id, atMs: this.#nowMs });
    }
  }

  /** A member whose write failed is over: it does not come back in a scenario. */
  reported(node: SimNode, event: ReplicaEvent): void {
    if (event.kind !== 'role' || event.cause !== 'writeFailed') return;
    if (!this.#failing.delete(node.slot)) return;
    this.#options.world.agenda.after(0, () => {
      this.#end(node, 'a write failed');
    });
  }

  get #nowMs(): number {
    return this.#options.world.nowMs;
  }

  #strike(fault: FaultPlan, target: Target | null, give: Give): boolean {
    const { action } = fault;
    switch (action.kind) {
      case 'partition':
      case 'link':
        return this.#trouble(fault, action);
      case 'stepDown':
      case 'flap':
      case 'kill':
      case 'outOfMemory':
      case 'failWrites':
      case 'freeze':
      case 'slow':
      case 'failPropose': {
        const node = resolveStruck(action, target, this.#members(fault.id));
        if (node === null) return false;
        this.#strikeMember(fault, action, node, give);
        return true;
      }
      default:
        return this.#strikeOrigin(fault, action);
    }
  }

  /** The living member that the target names now; null: there is none at this moment. */
  #resolve(target: Target | null, id: string): SimNode | null {
    return resolveTarget(target, this.#members(id));
  }

  #members(id: string): LivingMembers<SimNode> {
    const { world } = this.#options;
    return {
      living: world.nodes.filter(({ isAlive }) => isAlive),
      leader: world.leader(),
      isFrozen: (node) => node.isFrozen,
      lastOf: (node) => node.replica!.store.lastSeq,
      draw: (bound) => this.#draws.below(id, bound),
    };
  }

  #strikeMember(fault: FaultPlan, action: MemberAction, node: SimNode, give: Give): void {
    const { world } = this.#options;
    const position = world.nodes.indexOf(node);
    if (breaksMember(action) && !this.#budget.break([position])) {
      this.#tell(fault, node.slot, 'skipped', { reason: OVER_BUDGET });
      return;
    }
    this.#fell(fault, node);
    switch (action.kind) {
      case 'kill':
        return this.#end(node, 'killed');
      case 'outOfMemory':
        return this.#end(node, 'out of memory');
      case 'failWrites':
        this.#failing.add(node.slot);
        node.disk.failure = 'write';
        return;
      case 'freeze':
        node.freeze(Math.round(action.forMs * 1_000));
        return this.#heal(fault, node, action.forMs, () => {
          this.#budget.mend([position]);
        });
      case 'slow':
        node.slowUs += Math.round(action.byMs * 1_000);
        return this.#heal(fault, node, action.forMs, () => {
          node.slowUs -= Math.round(action.byMs * 1_000);
        });
      case 'failPropose':
        return this.#failPropose(fault, action, node, give);
      case 'stepDown': {
        const to = transferTarget(action, (slot) => world.node(slot).member);
        return give(node, { type: 'stepDown', to });
      }
      case 'flap': {
        const { term } = node.replica!.log;
        give(node, { type: 'stepDown', to: null });
        return give(node, { type: 'campaign', term, deadLeader: null });
      }
    }
  }

  #failPropose(
    fault: FaultPlan,
    { dose, code }: Extract<MemberAction, { kind: 'failPropose' }>,
    node: SimNode,
    give: Give,
  ): void {
    if ('times' in dose) return give(node, { type: 'failPropose', count: dose.times, code });
    give(node, { type: 'failPropose', count: 0, perMillion: dose.perMillion, code });
    this.#heal(fault, node, dose.forMs, () => {
      node.order({ type: 'failPropose', count: 0, code });
    });
  }

  #trouble(fault: FaultPlan, action: LinkAction): boolean {
    const { world, plan } = this.#options;
    const positionOf = (node: SimNode | null): number | null =>
      node === null ? null : world.nodes.indexOf(node);
    const touched = touchedLinks(action, {
      slots: world.nodes.map(({ slot }) => slot),
      leader: positionOf(world.leader()),
      positionOf: (target) => positionOf(this.#resolve(target, fault.id)),
    });
    if (touched === null) return false;
    const links = touched.parted;
    if (!plan.beyondQuorum && !this.#budget.break(touched.apart)) {
      this.#tell(fault, null, 'skipped', { reason: OVER_BUDGET, links });
      return true;
    }
    this.#fell(fault, null, { links });
    const takeBack = this.#troubles.install(touched.links, action);
    this.#heal(
      fault,
      null,
      action.forMs,
      () => {
        takeBack();
        if (!plan.beyondQuorum) this.#budget.mend(touched.apart);
      },
      { links },
    );
    return true;
  }

  #strikeOrigin(fault: FaultPlan, action: OriginAction): boolean {
    const { origin } = this.#options.world;
    if (!origin.strike(action)) return false;
    origin.wake();
    this.#fell(fault, null);
    if (action.kind === 'stallOrigin') this.#heal(fault, null, action.forMs, () => undefined);
    return true;
  }

  /** It forgets what its disk did not hold and, in a scenario, does not come back. */
  #end(node: SimNode, reason: string): void {
    const { slot } = node;
    if (this.#ended.has(slot)) return;
    this.#ended.add(slot);
    this.#options.world.ended(node);
    this.#options.onEvent({ kind: 'exit', slot, atMs: this.#nowMs, fault: true, reason });
    node.crash();
  }

  #heal(
    fault: FaultPlan,
    node: SimNode | null,
    afterMs: number,
    takeBack: () => void,
    more?: FaultMore,
  ): void {
    this.#options.world.agenda.after(Math.round(afterMs * 1_000), () => {
      takeBack();
      this.#tell(fault, node?.slot ?? null, 'healed', more);
    });
  }

  /** Before it changes its target. */
  #fell(fault: FaultPlan, node: SimNode | null, more?: FaultMore): void {
    this.#options.onFault?.(faultCell(fault.action.kind, node));
    this.#tell(fault, node?.slot ?? null, 'installed', more);
  }

  #tell(fault: FaultPlan, slot: Slot | null, state: FaultState, more: FaultMore = {}): void {
    const atMs = this.#nowMs;
    this.#options.onEvent({ kind: 'fault', id: fault.id, slot, state, atMs, ...more });
  }
}
