/** Carries out the faults of a drawn run on its world, and takes all of them back. */
import { LockstepError, toErrorData } from '../base/errors.js';
import type { ClusterEvent } from '../scenario/driver.js';
import { Coverage, faultCell } from './coverage.js';
import type { SimNode } from './node.js';
import {
  faultId,
  HEALED,
  type SwarmAction,
  type SwarmFault,
  type SwarmKind,
  type SwarmPlan,
} from './swarm.js';
import type { SimWorld } from './world.js';

/** Kinds that hit the origin or all members, whoever their target is. */
const IMPERSONAL: ReadonlySet<SwarmKind> = new Set([
  'killAll',
  'partition',
  'dropConsumer',
  'refuseOpening',
  'loseDeliveries',
  'repeatDeliveries',
  'stallOrigin',
]);
const REFUSED = toErrorData(new LockstepError('overrun', 'the origin has no room for a consumer'));

export class SwarmFaults {
  readonly #world: SimWorld;
  readonly #onEvent: (event: ClusterEvent) => void;
  /** Faults that fell, by kind; one that had no target is not counted. */
  readonly installed = new Map<SwarmKind, number>();
  readonly coverage = new Coverage();
  /** How many cuts lie on each direction of each pair, so that two that overlap mend in turn. */
  readonly #cuts = new Map<string, number>();
  #healed = false;

  constructor(world: SimWorld, onEvent: (event: ClusterEvent) => void) {
    this.#world = world;
    this.#onEvent = onEvent;
  }

  schedule({ faults }: SwarmPlan): void {
    faults.forEach((fault, at) => {
      this.#world.agenda.at(fault.atMs * 1_000, () => {
        if (!this.#healed) this.#install(fault, faultId(fault, at));
      });
    });
  }

  /** Everybody lives, hears and is heard, except for those who stay outside of the core. */
  heal({ core }: SwarmPlan): void {
    this.#healed = true;
    const world = this.#world;
    world.mend(HEALED);
    world.origin.service.refuseNext(0, REFUSED);
    world.nodes.forEach((node, at) => {
      if (node.disk.failure !== null && node.isAlive) node.crash();
      node.disk.speed = HEALED;
      node.thaw();
      world.restart(node);
      node.order({ type: 'failPropose', count: 0, code: 'overrun' });
      if (!core.includes(at)) this.#leaveOut(node, at);
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

  #install({ target, action }: SwarmFault, id: string): void {
    const world = this.#world;
    const node = target === 'leader' ? world.leader() : world.nodes[target]!;
    const on = IMPERSONAL.has(action.kind) ? null : node;
    const cell = node === null ? '' : faultCell(action.kind, on);
    const strikes = node !== null && this.#enact(node, action);
    const at = { id, slot: node?.slot ?? null, atMs: world.nowMs };
    this.#onEvent(
      strikes
        ? { kind: 'fault', ...at, state: 'installed' }
        : { kind: 'fault', ...at, state: 'skipped', reason: 'nothing to strike at this moment' },
    );
    if (!strikes) return;
    this.coverage.met(cell);
    this.installed.set(action.kind, (this.installed.get(action.kind) ?? 0) + 1);
  }

  /** False: the fault has no object at this moment. */
  #enact(node: SimNode, action: SwarmAction): boolean {
    const { nodes, origin } = this.#world;
    switch (action.kind) {
      case 'kill':
        return this.#kill(node, action.restartMs);
      case 'killAll':
        for (const each of nodes) this.#kill(each, action.restartMs);
        return true;
      case 'failWrite':
        return this.#failWrite(node, action.restartMs);
      case 'isolate':
        this.#isolate(node, action);
        return true;
      case 'partition':
        return this.#partition(action);
      case 'cutOrigin':
        this.#world.cutOrigin(node, true);
        this.#later(action.forMs, () => this.#world.cutOrigin(node, false));
        return true;
      case 'dropConsumer':
        return origin.service.dropConsumer();
      case 'refuseOpening':
        origin.service.refuseNext(action.times, REFUSED);
        return true;
      case 'loseDeliveries':
        origin.service.loseDeliveries(action.times);
        return true;
      case 'repeatDeliveries':
        origin.service.repeatDeliveries(action.times);
        return true;
      case 'stallOrigin':
        origin.service.stall(action.forMs, this.#world.nowMs);
        return true;
      default:
        return node.isAlive && this.#order(node, action);
    }
  }

  #order(
    node: SimNode,
    action: Extract<SwarmAction, { kind: 'stepDown' | 'failPropose' | 'freeze' }>,
  ): true {
    if (action.kind === 'freeze') node.freeze(action.forMs * 1_000);
    else if (action.kind === 'failPropose') {
      node.order({ type: 'failPropose', count: action.times, code: action.code });
    } else {
      const { to } = action;
      const named = typeof to === 'number' ? this.#world.nodes[to]!.member : to;
      node.order({ type: 'stepDown', to: named });
    }
    return true;
  }

  #kill(node: SimNode, restartMs: number): boolean {
    if (!node.isAlive) return false;
    node.crash();
    this.#later(restartMs, () => this.#world.restart(node));
    return true;
  }

  /** The member finds out with its next write, and is out until it is started again. */
  #failWrite(node: SimNode, restartMs: number): boolean {
    if (!node.isAlive) return false;
    node.disk.failure = 'write';
    const { life } = node;
    this.#later(restartMs, () => {
      if (node.life !== life || !node.isAlive) return;
      node.crash();
      this.#world.restart(node);
    });
    return true;
  }

  #isolate(node: SimNode, { way, forMs }: Extract<SwarmAction, { kind: 'isolate' }>): void {
    for (const other of this.#world.nodes) {
      if (way !== 'in') this.#cut(node, other, forMs);
      if (way !== 'out') this.#cut(other, node, forMs);
    }
  }

  #partition({ mask, forMs }: Extract<SwarmAction, { kind: 'partition' }>): boolean {
    const { nodes } = this.#world;
    const isIn = (at: number): boolean => (mask & (1 << at)) !== 0;
    nodes.forEach((node, at) => {
      nodes.forEach((other, to) => {
        if (isIn(at) !== isIn(to)) this.#cut(node, other, forMs);
      });
    });
    return nodes.some((_, at) => isIn(at)) && nodes.some((_, at) => !isIn(at));
  }

  #cut(from: SimNode, to: SimNode, forMs: number): void {
    const key = `${from.slot} to ${to.slot}`;
    this.#cuts.set(key, (this.#cuts.get(key) ?? 0) + 1);
    this.#world.cut(from, to, true);
    this.#later(forMs, () => {
      const left = this.#cuts.get(key)! - 1;
      this.#cuts.set(key, left);
      if (left === 0) this.#world.cut(from, to, false);
    });
  }

  /** Nothing that was to end later touches a healed world. */
  #later(forMs: number, happen: () => void): void {
    this.#world.agenda.after(forMs * 1_000, () => {
      if (!this.#healed) happen();
    });
  }
}
