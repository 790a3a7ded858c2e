/**
 * Carries out the faults of a scenario on a simulated world: those whose time has come, between
 * turns, and those armed for a state, in the middle of the turn that reached it.
 */
import { invariant } from '../base/errors.js';
import { createPrng, type Prng } from '../base/prng.js';
import type { Slot } from '../base/member.js';
import type { ReplicaEvent, ReplicaView } from '../replica/types.js';
import { Arms, armsOf, furthestSeen, waitsForState } from '../scenario/arms.js';
import { breaksMember, durationMs, FaultBudget, OVER_BUDGET } from '../scenario/budget.js';
import type { ClusterEvent, FaultMore, FaultState } from '../scenario/driver.js';
import { touchedLinks } from '../scenario/links.js';
import {
  isLinkAction,
  isMemberAction,
  resolveStruck,
  resolveTarget,
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
import { faultCells } from './coverage.js';
import { MemberFaults, type Give } from './member-faults.js';
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

/** Who strikes: nobody in particular, or the member that reached the fault's state, in its turn. */
interface StruckBy {
  readonly self: SimNode | null;
  readonly give: Give;
}

export class SimInjector {
  readonly #options: SimInjectorOptions;
  readonly #faults: FaultPlan[];
  readonly #budget: FaultBudget;
  readonly #arms: ReadonlyMap<Slot, Arms>;
  readonly #troubles: LinkTroubles;
  readonly #draws: Prng;
  readonly #memberFaults: MemberFaults;

  constructor(options: SimInjectorOptions) {
    this.#options = options;
    const { plan, world } = options;
    this.#faults = [...plan.faults];
    this.#budget = FaultBudget.ofPlan(plan);
    const arms = armsOf(plan.faults);
    this.#arms = new Map(world.nodes.map(({ slot }) => [slot, new Arms(arms, slot, this.#budget)]));
    this.#troubles = new LinkTroubles(world);
    this.#draws = createPrng(plan.seed).fork('targets');
    this.#memberFaults = new MemberFaults({
      world,
      budget: this.#budget,
      onEvent: options.onEvent,
      heal: ({ fault, node }, afterMs, takeBack) => {
        this.#heal(fault, node, afterMs, takeBack);
      },
    });
  }

  /** Slots whose member a fault ended and did not bring back by now. */
  get ended(): ReadonlySet<Slot> {
    return this.#memberFaults.ended;
  }

  disarm(at: number): boolean {
    return this.#budget.claim(at);
  }

  lastSeen(): ReadonlyMap<string, number> {
    const living = [...this.#arms].filter(([slot]) => !this.ended.has(slot));
    return furthestSeen(living.map(([, arms]) => arms.lastSeen()));
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
    const give: Give = (node, input) => {
      node.order(input);
    };
    const fell = this.#strike(fault, fault.target, { self: null, give });
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
      const give: Give = (struck, input) => {
        struck.input(input);
      };
      const fell = here && this.#strike(fault, self, { self: node, give });
      if (!fell) this.#options.onEvent({ kind: 'due', id: fault.id, atMs: this.#nowMs });
    }
  }

  /** What a member reports may be what a fault of it waits for. */
  reported(node: SimNode, event: ReplicaEvent): void {
    this.#memberFaults.reported(node, event);
  }

  get #nowMs(): number {
    return this.#options.world.nowMs;
  }

  #strike(fault: FaultPlan, target: Target | null, by: StruckBy): boolean {
    const { action } = fault;
    if (isLinkAction(action)) return this.#trouble(fault, action, by);
    invariant(action.kind !== 'metaStepDown', 'what cannot be is not injected');
    if (!isMemberAction(action)) return this.#strikeOrigin(fault, action);
    const node = resolveStruck(action, target, this.#members(fault.id, by.self));
    if (node === null) return false;
    this.#strikeMember(fault, action, node, by.give);
    return true;
  }

  /** The living member that the target names now; null: there is none at this moment. */
  #resolve(target: Target | null, id: string, self: SimNode | null): SimNode | null {
    return resolveTarget(target, this.#members(id, self));
  }

  /** A member that was elected leads for what it strikes itself, before its mirror is open. */
  #members(id: string, self: SimNode | null): LivingMembers<SimNode> {
    const { world } = this.#options;
    const leads = self?.replica?.log.role === 'leader';
    return {
      living: world.nodes.filter(({ isAlive }) => isAlive),
      leader: leads ? self : world.leader(),
      isFrozen: (node) => node.isFrozen,
      lastOf: (node) => node.replica!.store.lastSeq,
      draw: (bound) => this.#draws.below(id, bound),
    };
  }

  #strikeMember(fault: FaultPlan, action: MemberAction, node: SimNode, give: Give): void {
    const position = this.#options.world.nodes.indexOf(node);
    if (breaksMember(action) && !this.#budget.break([position])) {
      this.#tell(fault, node.slot, 'skipped', { reason: OVER_BUDGET });
      return;
    }
    this.#fell(fault, node);
    this.#memberFaults.strike({ fault, action, node }, give);
  }

  #trouble(fault: FaultPlan, action: LinkAction, { self }: StruckBy): boolean {
    const { world, plan } = this.#options;
    const positionOf = (node: SimNode | null): number | null =>
      node === null ? null : world.nodes.indexOf(node);
    const touched = touchedLinks(action, {
      slots: world.nodes.map(({ slot }) => slot),
      leader: positionOf(this.#resolve({ kind: 'leader' }, fault.id, self)),
      positionOf: (target) => positionOf(this.#resolve(target, fault.id, self)),
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
    const lastsMs = durationMs(action);
    if (lastsMs > 0) this.#heal(fault, null, lastsMs, () => undefined);
    return true;
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
    const { world, onFault } = this.#options;
    if (onFault !== undefined) {
      const falls = { kind: fault.action.kind, struck: node, leader: world.leader() };
      for (const cell of faultCells(falls)) onFault(cell);
    }
    this.#tell(fault, node?.slot ?? null, 'installed', more);
  }

  #tell(fault: FaultPlan, slot: Slot | null, state: FaultState, more: FaultMore = {}): void {
    const atMs = this.#nowMs;
    this.#options.onEvent({ kind: 'fault', id: fault.id, slot, state, atMs, ...more });
  }
}
