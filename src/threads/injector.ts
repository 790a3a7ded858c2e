/**
 * Faults whose trigger is a time: main resolves the target when the moment comes, checks the budget
 * and asks the member's thread; kill is main's own, it ends the worker.
 */
import { toErrorData } from '../base/errors.js';
import type { Member, Slot } from '../base/member.js';
import { breaksMember, OVER_BUDGET, type FaultBudget } from '../scenario/budget.js';
import type { ClusterEvent } from '../scenario/driver.js';
import { resolveTarget, transferTarget } from '../scenario/target.js';
import type { FaultPlan, Plan } from '../scenario/types.js';
import { monotonicMs } from './clock.js';
import type { ControlledWorker } from './control.js';
import type { MemberFault, OriginControl, ReplicaControl } from './protocol.js';

/** What main knows of one replica. */
export interface ReplicaHandle {
  readonly slot: Slot;
  readonly member: Member;
  readonly worker: ControlledWorker<ReplicaControl>;
  alive: boolean;
  serving: boolean;
  frozen: boolean;
  /** A fault of the scenario ends it or ended it. */
  killed: boolean;
}

export type FaultState = Extract<ClusterEvent, { kind: 'fault' }>['state'];

export interface InjectorOptions {
  readonly plan: Plan;
  readonly onEvent: (event: ClusterEvent) => void;
  readonly replicas: readonly ReplicaHandle[];
  readonly origin: ControlledWorker<OriginControl>;
  readonly budget: FaultBudget;
}

/** Beyond the time that a fault itself takes. */
const CALL_DEADLINE_MS = 10_000;

export class Injector {
  readonly #options: InjectorOptions;

  constructor(options: InjectorOptions) {
    this.#options = options;
  }

  /** False: its target does not exist at this moment. */
  async inject(at: number): Promise<boolean> {
    const { plan, replicas, budget } = this.#options;
    const fault = plan.faults[at]!;
    const { action } = fault;
    if (action.kind === 'dropConsumer') return this.#dropConsumer(fault, at);
    const replica = this.#target(fault);
    if (replica === null || !budget.claim(at)) return false;
    const position = replicas.indexOf(replica);
    if (breaksMember(action) && !budget.break(position)) {
      this.tell(fault, replica.slot, 'skipped', monotonicMs(), OVER_BUDGET);
      return true;
    }
    if (action.kind === 'kill') await this.#kill(fault, replica);
    else await this.#injectInto(fault, action, replica);
    if (action.kind === 'freeze') budget.mend(position);
    return true;
  }

  tell(
    fault: FaultPlan,
    slot: Slot | null,
    state: FaultState,
    atMs: number,
    reason?: string,
  ): void {
    const event = { kind: 'fault', id: fault.id, slot, state, atMs } as const;
    this.#options.onEvent(reason === undefined ? event : { ...event, reason });
  }

  /** The living member that the target names now; null: there is none at this moment. */
  #target(fault: FaultPlan): ReplicaHandle | null {
    const living = this.#options.replicas.filter(({ alive, killed }) => alive && !killed);
    return resolveTarget(fault.target, {
      living,
      leader: living.find(({ serving }) => serving) ?? null,
      isFrozen: ({ frozen }) => frozen,
    });
  }

  async #kill(fault: FaultPlan, replica: ReplicaHandle): Promise<void> {
    replica.killed = true;
    this.tell(fault, replica.slot, 'installed', monotonicMs());
    await replica.worker.terminate();
  }

  async #injectInto(fault: FaultPlan, action: MemberFault, replica: ReplicaHandle): Promise<void> {
    const forMs = action.kind === 'freeze' ? action.forMs : 0;
    const { slot, worker } = replica;
    this.tell(fault, slot, 'installed', monotonicMs());
    if (action.kind === 'freeze') replica.frozen = true;
    try {
      const options = { deadlineMs: forMs + CALL_DEADLINE_MS };
      const to = transferTarget(action, (named) => this.#memberOf(named));
      await worker.call('inject', [action, to], options);
      if (action.kind === 'freeze') this.tell(fault, slot, 'healed', monotonicMs());
    } catch (error) {
      const { message } = toErrorData(error);
      this.tell(fault, slot, 'indeterminate', monotonicMs(), message);
    }
  }

  #memberOf(slot: Slot): Member {
    return this.#options.replicas.find((replica) => replica.slot === slot)!.member;
  }

  async #dropConsumer(fault: FaultPlan, at: number): Promise<boolean> {
    const { origin, budget } = this.#options;
    const dropped = await origin.call('dropConsumer', [], { deadlineMs: CALL_DEADLINE_MS });
    if (dropped && budget.claim(at)) this.tell(fault, null, 'installed', monotonicMs());
    return dropped;
  }
}
