/**
 * A simulated cluster under a scenario. Pausing is what lets virtual time pass: everything that
 * falls into the pause happens before the call returns, and its promise is resolved already.
 */
import { toErrorData } from '../base/errors.js';
import type { Hasher } from '../base/hasher.js';
import type { Slot } from '../base/member.js';
import type { ReplicaView } from '../replica/types.js';
import { Arms, armsOf, type Arm } from '../scenario/arms.js';
import { breaksMember, FaultBudget, OVER_BUDGET } from '../scenario/budget.js';
import type { ClusterEvent, RunningCluster } from '../scenario/driver.js';
import { resolveTarget, transferTarget } from '../scenario/target.js';
import { madeOrigin } from '../scenario/origins.js';
import type { FaultPlan, Plan } from '../scenario/types.js';
import { copyReport } from '../verdict/copy.js';
import type { CopyReader, LedgerReader } from '../verdict/types.js';
import { CALM, type Conditions } from './conditions.js';
import { faultCell } from './coverage.js';
import type { SimNode } from './node.js';
import type { Taps } from './taps.js';
import { SimWorld } from './world.js';

type FaultState = Extract<ClusterEvent, { kind: 'fault' }>['state'];

export interface SimOptions {
  /** Not given: calm. */
  readonly conditions?: Conditions;
  readonly taps?: Taps | undefined;
  /** Told of the cell that each fault meets as it falls. */
  readonly onFault?: (cell: string) => void;
}

export class SimCluster implements RunningCluster {
  readonly #plan: Plan;
  readonly #onEvent: (event: ClusterEvent) => void;
  readonly #onFault: ((cell: string) => void) | undefined;
  readonly #world: SimWorld;
  readonly #budget: FaultBudget;
  readonly #arms: ReadonlyMap<Slot, Arms>;
  readonly #killed = new Set<Slot>();
  /** No time passes any more: the run is over, or lockstep itself failed. */
  #stopped = false;

  constructor(
    plan: Plan,
    options: SimOptions & {
      readonly hasher: Hasher;
      readonly onEvent: (event: ClusterEvent) => void;
    },
  ) {
    this.#plan = plan;
    this.#onEvent = options.onEvent;
    this.#onFault = options.onFault;
    const words = new Int32Array(FaultBudget.wordsFor(plan.faults.length));
    const tolerated = FaultBudget.tolerated(plan.replicas, plan.beyondQuorum);
    this.#budget = new FaultBudget(words, tolerated);
    this.#world = new SimWorld({
      plan: { ...plan, origin: madeOrigin('sim', plan) },
      conditions: options.conditions ?? CALM,
      hasher: options.hasher,
      onEvent: options.onEvent,
      taps: options.taps,
      armed: (node, view) => {
        this.#fireDue(node, view);
      },
    });
    const arms = armsOf(plan.faults);
    this.#arms = new Map(
      this.#world.nodes.map(({ slot }) => [slot, new Arms(arms, slot, this.#budget)]),
    );
  }

  get origin(): { readonly last: number; readonly messages: number } {
    return this.#world.origin.content;
  }

  get ledger(): LedgerReader {
    return this.#world.origin.ledger;
  }

  copy(slot: Slot): CopyReader {
    const { store } = this.#world.node(slot).replica!;
    return {
      report: () => Promise.resolve(copyReport(store)),
      records: (range) => Promise.resolve(store.partDigests(range)),
    };
  }

  now(): number {
    return this.#world.nowMs;
  }

  serve(): Promise<void> {
    this.#world.origin.serve();
    return Promise.resolve();
  }

  /**
   * What a member throws is a fault of lockstep: it ends the run and says nothing of the cluster.
   */
  pause(ms: number): Promise<void> {
    if (this.#stopped) return Promise.resolve();
    try {
      this.#world.run(ms);
    } catch (error) {
      this.#stopped = true;
      this.#onEvent({ kind: 'harness', atMs: this.now(), reason: toErrorData(error).message });
    }
    return Promise.resolve();
  }

  halt(): Promise<void> {
    this.#stopped = true;
    return Promise.resolve();
  }

  living(): Slot[] {
    return this.#world.nodes.filter(({ slot }) => !this.#killed.has(slot)).map(({ slot }) => slot);
  }

  leader(): Slot | null {
    return this.#world.leader()?.slot ?? null;
  }

  disarm(at: number): boolean {
    return this.#budget.claim(at);
  }

  lastSeen(): Promise<ReadonlyMap<string, number>> {
    const seen = new Map<string, number>();
    for (const slot of this.living()) {
      for (const [fault, value] of this.#arms.get(slot)!.lastSeen()) {
        seen.set(fault, Math.max(value, seen.get(fault) ?? 0));
      }
    }
    return Promise.resolve(seen);
  }

  inject(at: number): Promise<boolean> {
    return Promise.resolve(this.#inject(at));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve();
  }

  // Faults.

  #inject(at: number): boolean {
    const fault = this.#plan.faults[at]!;
    const { action } = fault;
    if (action.kind === 'dropConsumer') {
      const dropped = this.#world.origin.service.dropConsumer();
      if (dropped && this.#budget.claim(at)) this.#fell(fault, null);
      return dropped;
    }
    const node = this.#target(fault);
    if (node === null || !this.#budget.claim(at)) return false;
    this.#enact(fault, node, (input) => {
      node.order(input);
    });
    return true;
  }

  /** The living member that the target names now; null: there is none at this moment. */
  #target({ target }: FaultPlan): SimNode | null {
    return resolveTarget(target, {
      living: this.#world.nodes.filter(({ isAlive }) => isAlive),
      leader: this.#world.leader(),
      isFrozen: (node) => node.isFrozen,
    });
  }

  #fireDue(node: SimNode, view: ReplicaView): void {
    const arms = this.#arms.get(node.slot)!;
    for (let arm = arms.due(view); arm !== undefined; arm = arms.due(view)) this.#fire(arm, node);
  }

  /** In the middle of the member's turn. */
  #fire({ fault }: Arm, node: SimNode): void {
    node.settle();
    if (fault.action.kind === 'dropConsumer') {
      this.#world.origin.service.dropConsumer();
      this.#fell(fault, null);
      return;
    }
    this.#enact(fault, node, (input) => {
      node.input(input);
    });
  }

  #enact(fault: FaultPlan, node: SimNode, order: (input: Parameters<SimNode['order']>[0]) => void) {
    const { action } = fault;
    const position = this.#world.nodes.indexOf(node);
    if (breaksMember(action) && !this.#budget.break(position)) {
      this.#tell(fault, node.slot, 'skipped', OVER_BUDGET);
      return;
    }
    this.#fell(fault, node);
    switch (action.kind) {
      case 'kill':
        this.#kill(node);
        return;
      case 'freeze':
        this.#freeze(fault, node, action.forMs);
        return;
      case 'failPropose':
        order({ type: 'failPropose', count: action.times, code: action.code });
        return;
      case 'stepDown':
        order({
          type: 'stepDown',
          to: transferTarget(action, (slot) => this.#world.node(slot).member),
        });
        return;
      case 'dropConsumer':
    }
  }

  /** It forgets what its disk did not hold and, in a scenario, does not come back. */
  #kill(node: SimNode): void {
    const { slot } = node;
    this.#killed.add(slot);
    this.#world.ended(node);
    this.#onEvent({ kind: 'exit', slot, atMs: this.now(), fault: true, reason: 'killed' });
    node.crash();
  }

  #freeze(fault: FaultPlan, node: SimNode, forMs: number): void {
    const position = this.#world.nodes.indexOf(node);
    const forUs = Math.round(forMs * 1_000);
    node.freeze(forUs);
    this.#world.agenda.after(forUs, () => {
      this.#budget.mend(position);
      this.#tell(fault, node.slot, 'healed');
    });
  }

  /** Before it changes its target. */
  #fell(fault: FaultPlan, node: SimNode | null): void {
    this.#onFault?.(faultCell(fault.action.kind, node));
    this.#tell(fault, node?.slot ?? null, 'installed');
  }

  #tell(fault: FaultPlan, slot: Slot | null, state: FaultState, reason?: string): void {
    const event = { kind: 'fault', id: fault.id, slot, state, atMs: this.now() } as const;
    this.#onEvent(reason === undefined ? event : { ...event, reason });
  }
}
