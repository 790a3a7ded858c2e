/**
 * Carries out the faults of a drawn run on its world: at their time, or from then on at the moment
 * that they wait for, and takes all of them back when the core is healed.
 */
import type { ClusterEvent } from '../scenario/driver.js';
import { HEALED } from './conditions.js';
import { Coverage, faultCells } from './coverage.js';
import type { DiskFailure } from './disk.js';
import type { SwarmMoment } from './moments.js';
import type { SimNode } from './node.js';
import { SwarmNetwork } from './swarm-network.js';
import { isOriginAction, SwarmOrigin } from './swarm-origin.js';
import {
  faultId,
  toleratedOf,
  type SwarmAction,
  type SwarmFault,
  type SwarmKind,
  type SwarmPlan,
} from './swarm-plan.js';
import type { SimWorld } from './world.js';

type ActionOf<K> = Extract<SwarmAction, { readonly kind: K }>;
type Order = Parameters<SimNode['order']>[0];

/** Of one living member. */
type MemberAction = ActionOf<
  | 'stepDown'
  | 'flap'
  | 'freeze'
  | 'kill'
  | 'wipe'
  | 'failWrite'
  | 'failSync'
  | 'tornTail'
  | 'slowDisk'
  | 'clockRate'
  | 'overrun'
  | 'misorder'
  | 'failPropose'
>;

/** A fault that waits for its moment. */
interface Waiting {
  readonly id: string;
  readonly fault: SwarmFault;
}

export class SwarmFaults {
  readonly #world: SimWorld;
  readonly #plan: SwarmPlan;
  readonly #network: SwarmNetwork;
  readonly #origin: SwarmOrigin;
  readonly #onEvent: (event: ClusterEvent) => void;
  /** Faults that fell, by kind; one that had no target is not counted. */
  readonly installed = new Map<SwarmKind, number>();
  /** Where faults fell, and at which moments. */
  readonly coverage = new Coverage();
  /** Members that lost their disk: they forgot their vote and do not come back. */
  readonly wiped = new Set<SimNode>();
  #waiting: Waiting[] = [];
  #healed = false;
  /** A fault strikes just now: what follows from it is no moment of its own. */
  #striking = false;

  constructor(world: SimWorld, plan: SwarmPlan, onEvent: (event: ClusterEvent) => void) {
    this.#world = world;
    this.#plan = plan;
    this.#onEvent = onEvent;
    const later = (forMs: number, happen: () => void): void => {
      this.#later(forMs, happen);
    };
    this.#network = new SwarmNetwork(world, later);
    this.#origin = new SwarmOrigin(world.origin, later);
  }

  schedule(): void {
    const { faults } = this.#plan;
    if (faults.some(({ when }) => when !== undefined)) {
      this.#world.reached = (moment, node, between) => {
        this.#reached(moment, node, between);
      };
    }
    faults.forEach((fault, at) => {
      this.#world.agenda.at(fault.atMs * 1_000, () => {
        if (!this.#healed) this.#begin(fault, faultId(fault, at));
      });
    });
  }

  /** What waited in vain is told, and nothing strikes any more. */
  end(): void {
    this.#healed = true;
    this.#world.reached = null;
    for (const { id, fault } of this.#waiting) {
      this.#tell(id, null, `${fault.when} did not come`);
    }
    this.#waiting = [];
  }

  /** Everybody lives, hears and is heard, except for those who stay outside of the core. */
  heal(): void {
    this.end();
    const world = this.#world;
    world.mend(HEALED);
    this.#origin.clear();
    world.nodes.forEach((node, at) => {
      if (node.disk.failure !== null && node.isAlive) node.crash();
      node.disk.speed = HEALED;
      node.disk.tearNext(null);
      node.hurry(-node.hurriedBy);
      node.thaw();
      if (!this.wiped.has(node)) world.restart(node);
      node.order({ type: 'failNoMore' });
      if (!this.#plan.core.includes(at)) this.#leaveOut(node, at);
    });
  }

  /** An outsider may still be heard: what it says must not keep the core from going on. */
  #leaveOut(node: SimNode, position: number): void {
    const mayBeHeard = position % 2 === 0;
    for (const other of this.#world.nodes) {
      this.#world.cut(other, node, true);
      if (!mayBeHeard) this.#world.cut(node, other, true);
    }
    this.#world.cutOrigin(node, true);
  }

  #begin(fault: SwarmFault, id: string): void {
    if (fault.when !== undefined) {
      this.#waiting.push({ id, fault });
      return;
    }
    const node = this.#targetOf(fault);
    if (node === null) this.#tell(id, null, 'nobody leads at this moment');
    else this.#strike(fault, id, node, (order) => node.order(order));
  }

  /** Who is named does not matter to a fault that strikes the origin or all members. */
  #targetOf({ target, action }: SwarmFault): SimNode | null {
    const { nodes } = this.#world;
    if (target !== 'leader') return nodes[target]!;
    return this.#world.leader() ?? (isImpersonal(action) ? nodes[0]! : null);
  }

  #reached(moment: SwarmMoment, node: SimNode, between: boolean): void {
    if (this.#striking) return;
    const at = this.#waiting.findIndex(({ fault: { when, target } }) => {
      return when === moment && (target === 'leader' || this.#world.nodes[target] === node);
    });
    if (at < 0) return;
    const [{ fault, id }] = this.#waiting.splice(at, 1) as [Waiting];
    this.#striking = true;
    try {
      if (between) node.settle();
      this.#strike(fault, id, node, (order) => {
        if (between) node.input(order);
        else node.order(order);
      });
    } finally {
      this.#striking = false;
    }
  }

  /** A member that dies in the middle of its turn unwinds it: what is to be said is said before. */
  #strike(fault: SwarmFault, id: string, node: SimNode, order: (order: Order) => void): void {
    const { action } = fault;
    const cells = faultCells({
      kind: action.kind,
      struck: isImpersonal(action) ? null : node,
      leader: this.#world.leader(),
      moment: fault.when,
    });
    let strikes = true;
    try {
      strikes = this.#enact(node, action, order);
    } finally {
      this.#tell(id, node, strikes ? null : 'nothing to strike at this moment');
      if (strikes) this.#fell(action.kind, cells);
    }
  }

  #fell(kind: SwarmKind, cells: readonly string[]): void {
    for (const cell of cells) this.coverage.met(cell);
    this.installed.set(kind, (this.installed.get(kind) ?? 0) + 1);
  }

  #tell(id: string, node: SimNode | null, reason: string | null): void {
    const at = { id, slot: node?.slot ?? null, atMs: this.#world.nowMs };
    this.#onEvent(
      reason === null
        ? { kind: 'fault', ...at, state: 'installed' }
        : { kind: 'fault', ...at, state: 'skipped', reason },
    );
  }

  /** False: the fault has no object at this moment. */
  #enact(node: SimNode, action: SwarmAction, order: (order: Order) => void): boolean {
    switch (action.kind) {
      case 'isolate':
        return this.#network.isolate(node, action);
      case 'partition':
        return this.#network.partition(action);
      case 'topology':
        return this.#network.topology(action);
      case 'clog':
        return this.#network.clog(node, action);
      case 'echo':
        return this.#network.echo(node, action);
      case 'cutOrigin':
        return this.#network.cutOrigin(node, action);
      case 'clogOrigin':
        return this.#network.clogOrigin(node, action);
      case 'killAll':
        return this.#killAll(node, action.restartMs);
      case 'falsify':
        this.#world.conductorFaults.falsify(
          node.member,
          action.how,
          this.#world.nowMs + action.forMs,
        );
        return true;
      default:
        if (isOriginAction(action)) return this.#origin.strike(action);
        return node.isAlive && this.#strikeMember(node, action, order);
    }
  }

  #strikeMember(node: SimNode, action: MemberAction, order: (order: Order) => void): boolean {
    switch (action.kind) {
      case 'stepDown': {
        const { to } = action;
        order({
          type: 'stepDown',
          to: typeof to === 'number' ? this.#world.nodes[to]!.member : to,
        });
        return true;
      }
      case 'flap':
        return flap(node, order);
      case 'misorder':
        order({ type: 'campaign', ...standing(node) });
        return true;
      case 'failPropose':
        order({ type: 'failPropose', count: action.times, code: action.code });
        return true;
      case 'freeze':
        node.freeze(action.forMs * 1_000);
        return true;
      case 'kill':
        this.#kill(node, action.restartMs);
        return true;
      case 'wipe':
        return this.#wipe(node);
      case 'failWrite':
        return this.#fail(node, 'write', action.restartMs);
      case 'failSync':
        return this.#fail(node, 'sync', action.restartMs);
      case 'tornTail':
        node.disk.tearNext(() => {
          this.#kill(node, action.restartMs);
        });
        return true;
      case 'slowDisk':
        return this.#slow(node, action);
      case 'overrun':
        if (this.#plan.replicas === 1) return false;
        order({ type: 'overrun', entries: action.entries });
        return true;
      case 'clockRate':
        return this.#hurry(node, action);
    }
  }

  /** Last of all it may unwind the member's turn. */
  #kill(node: SimNode, restartMs: number): void {
    this.#later(restartMs, () => {
      this.#world.restart(node);
    });
    node.crash();
  }

  #killAll(struck: SimNode, restartMs: number): true {
    const others = this.#world.nodes.filter((node) => node !== struck);
    for (const node of [...others, struck]) {
      if (!this.wiped.has(node) && node.isAlive) this.#kill(node, restartMs);
    }
    return true;
  }

  #wipe(node: SimNode): boolean {
    const { replicas, beyondQuorum } = this.#plan;
    const most = beyondQuorum === true ? replicas : toleratedOf(replicas);
    if (this.wiped.size >= most) return false;
    this.wiped.add(node);
    this.#world.ended(node);
    node.crash();
    return true;
  }

  /** The member finds out with its next write, and is out until it is started again. */
  #fail(node: SimNode, failure: DiskFailure, restartMs: number): true {
    node.disk.failure = failure;
    const { life } = node;
    this.#later(restartMs, () => {
      if (node.life !== life || !node.isAlive) return;
      node.crash();
      this.#world.restart(node);
    });
    return true;
  }

  #slow(node: SimNode, { writeUs, forMs }: ActionOf<'slowDisk'>): true {
    node.disk.speed = { writeMinUs: writeUs, writeMaxUs: 2 * writeUs };
    this.#later(forMs, () => {
      node.disk.speed = this.#plan.conditions;
    });
    return true;
  }

  #hurry(node: SimNode, { byPerMille, forMs }: ActionOf<'clockRate'>): true {
    node.hurry(byPerMille);
    this.#later(forMs, () => {
      node.hurry(-byPerMille);
    });
    return true;
  }

  /** Nothing that was to end later touches a healed world. */
  #later(forMs: number, happen: () => void): void {
    this.#world.agenda.after(forMs * 1_000, () => {
      if (!this.#healed) happen();
    });
  }
}

/** It hits the origin or all members, whoever its target is. */
function isImpersonal(action: SwarmAction): boolean {
  const { kind } = action;
  if (kind === 'killAll' || kind === 'partition' || kind === 'topology') return true;
  return isOriginAction(action);
}

/** Both orders are in one turn: whoever is told of roles may see two leaderships as one. */
function flap(node: SimNode, order: (order: Order) => void): boolean {
  const { log } = node.replica!;
  if (log.role !== 'leader') return false;
  order({ type: 'stepDown', to: null });
  order({ type: 'campaign', term: log.term, deadLeader: null });
  return true;
}

/** What an order to campaign must name to be obeyed. */
function standing(node: SimNode): { term: number; deadLeader: SimNode['member'] | null } {
  const { term, leader } = node.replica!.log;
  return { term, deadLeader: leader };
}
