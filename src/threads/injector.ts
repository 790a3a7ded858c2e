/**
 * Faults that the main thread carries out: those whose time has come, and those whose state was
 * reached by a member that could not strike itself. Main resolves the target when the moment comes,
 * checks the budget and asks the thread; whatever lasts for a while, main takes back.
 */
import { invariant, toErrorData } from '../base/errors.js';
import type { Member, Slot } from '../base/member.js';
import { createPrng, type Prng } from '../base/prng.js';
import { waitsForState, type Arm } from '../scenario/arms.js';
import {
  breaksMember,
  durationMs,
  endsMember,
  OVER_BUDGET,
  type FaultBudget,
} from '../scenario/budget.js';
import type { ClusterEvent, FaultMore, FaultState } from '../scenario/driver.js';
import { touchedLinks, type TouchedLinks } from '../scenario/links.js';
import {
  isLinkAction,
  isMemberAction,
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
import { monotonicMs } from './clock.js';
import { perMilleOf, type SharedConditions } from './conditions.js';
import type { ControlledWorker } from './control.js';
import type { OriginControl, OriginReport, ReplicaReport } from './protocol.js';
import type { ReplicaHandle } from './replica-handle.js';

type ReplicaFaultReport = Extract<ReplicaReport, { kind: 'fault' }>;
type OriginFaultReport = Extract<OriginReport, { kind: 'fault' }>;

export interface InjectorOptions {
  readonly plan: Plan;
  readonly onEvent: (event: ClusterEvent) => void;
  readonly replicas: readonly ReplicaHandle[];
  readonly origin: ControlledWorker<OriginControl>;
  readonly budget: FaultBudget;
  readonly conditions: SharedConditions;
  /** Whether the memory of the replicas' threads is limited, so that a fault can exhaust it. */
  readonly runsOut: boolean;
}

/** Beyond the time that a fault itself takes. */
const CALL_DEADLINE_MS = 10_000;

const UNLIMITED = 'memory is limited as threads start: it has to be one of the scenario';

const ENDINGS: Readonly<Partial<Record<MemberAction['kind'], string>>> = {
  kill: 'killed',
  wipe: 'wiped',
  outOfMemory: 'out of memory',
  failWrites: 'a write failed',
};

export class Injector {
  readonly #options: InjectorOptions;
  readonly #faults: FaultPlan[];
  readonly #draws: Prng;
  /** What is still to be taken back. */
  readonly #healing = new Set<NodeJS.Timeout>();
  #closed = false;

  constructor(options: InjectorOptions) {
    this.#options = options;
    this.#faults = [...options.plan.faults];
    this.#draws = createPrng(options.plan.seed).fork('targets');
  }

  /** One more, at the next position; armed by the time that this resolves. */
  async add(fault: FaultPlan): Promise<void> {
    const at = this.#faults.push(fault) - 1;
    const { origin, runsOut } = this.#options;
    if (fault.action.kind === 'outOfMemory' && !runsOut) {
      this.#tell(fault, null, 'skipped', monotonicMs(), { reason: UNLIMITED });
      return;
    }
    if (!waitsForState(fault)) return;
    // The origin first: a member may reach the state and tell it at once.
    await origin.call('arm', [{ at, fault }], { deadlineMs: CALL_DEADLINE_MS });
    await Promise.all(this.#living().map((replica) => this.#arm(replica, { at, fault })));
  }

  /** A member that ends meanwhile meets no state any more. */
  async #arm(replica: ReplicaHandle, arm: Arm): Promise<void> {
    try {
      await replica.worker.call('arm', [arm], { deadlineMs: CALL_DEADLINE_MS });
    } catch (error) {
      if (replica.ending === null) throw error;
    }
  }

  /** False: it has no object at this moment. */
  async inject(at: number): Promise<boolean> {
    const { budget } = this.#options;
    const fault = this.#faults[at]!;
    const { action } = fault;
    if (isLinkAction(action)) {
      const touched = this.#touched(action, fault.id);
      if (touched === null) return false;
      budget.claim(at);
      this.#trouble(fault, action, touched);
      return true;
    }
    invariant(action.kind !== 'metaStepDown', 'what cannot be is not injected');
    if (!isMemberAction(action)) return this.#strikeOrigin(fault, action, at);
    const replica = resolveStruck(action, fault.target, this.#members(fault.id));
    if (replica === null) return false;
    budget.claim(at);
    await this.#strike(fault, action, replica);
    return true;
  }

  /** What a replica's thread says of a fault that is armed there. */
  replicaReported(replica: ReplicaHandle, report: ReplicaFaultReport): void {
    const fault = this.#faults[report.at]!;
    const { action } = fault;
    if (report.state === 'due') {
      this.#options.onEvent({ kind: 'due', id: fault.id, atMs: report.atMs });
      return;
    }
    if (report.state === 'healed') this.#thawed(replica);
    const slot = isLinkAction(action) ? null : replica.slot;
    this.#tell(fault, slot, report.state, report.atMs, moreOf(report));
    if (report.state !== 'installed') return;
    if (isLinkAction(action)) this.#healLinks(fault, action, report.touched!);
    else if (isMemberAction(action)) this.#installed(fault, action, replica);
  }

  originReported({ at, state, atMs }: OriginFaultReport): void {
    const fault = this.#faults[at]!;
    if (state === 'due') this.#options.onEvent({ kind: 'due', id: fault.id, atMs });
    else this.#originStruck(fault, atMs);
  }

  close(): void {
    this.#closed = true;
    for (const timer of this.#healing) clearTimeout(timer);
  }

  #living(): ReplicaHandle[] {
    return this.#options.replicas.filter(({ alive, ending }) => alive && ending === null);
  }

  /** The living member that the target names now; null: there is none at this moment. */
  #resolve(target: Target | null, id: string): ReplicaHandle | null {
    return resolveTarget(target, this.#members(id));
  }

  #members(id: string): LivingMembers<ReplicaHandle> {
    const living = this.#living();
    return {
      living,
      leader: living.find(({ serving }) => serving) ?? null,
      isFrozen: ({ frozen }) => frozen > 0,
      lastOf: ({ last }) => last,
      draw: (bound) => this.#draws.below(id, bound),
    };
  }

  // Members.

  async #strike(fault: FaultPlan, action: MemberAction, replica: ReplicaHandle): Promise<void> {
    const { replicas, budget, conditions } = this.#options;
    const position = replicas.indexOf(replica);
    const { slot, worker } = replica;
    if (breaksMember(action) && !budget.break([position])) {
      this.#tell(fault, slot, 'skipped', monotonicMs(), { reason: OVER_BUDGET });
      return;
    }
    this.#tell(fault, slot, 'installed', monotonicMs());
    this.#installed(fault, action, replica);
    if (action.kind === 'kill' || action.kind === 'wipe') return worker.terminate();
    if (action.kind === 'slow') {
      conditions.slow(position, action.byMs);
      return;
    }
    if (action.kind === 'clockRate') {
      conditions.hurry(position, perMilleOf(action));
      return;
    }
    if (action.kind === 'freeze') {
      void this.#freeze(fault, action, replica);
      return;
    }
    const to = transferTarget(action, (named) => this.#memberOf(named));
    try {
      await worker.call('inject', [action, to], { deadlineMs: CALL_DEADLINE_MS });
    } catch (error) {
      // A thread that the fault itself ended does not answer.
      if (endsMember(action.kind)) return;
      const reason = toErrorData(error).message;
      this.#tell(fault, slot, 'indeterminate', monotonicMs(), { reason });
    }
  }

  /** Nobody waits for the end of it: the run may be over before. */
  async #freeze(
    fault: FaultPlan,
    action: Extract<MemberAction, { kind: 'freeze' }>,
    replica: ReplicaHandle,
  ): Promise<void> {
    const { replicas, budget } = this.#options;
    const deadlineMs = action.forMs + CALL_DEADLINE_MS;
    let state: FaultState = 'healed';
    let more: FaultMore = {};
    try {
      await replica.worker.call('inject', [action, null], { deadlineMs });
    } catch (error) {
      state = 'indeterminate';
      more = { reason: toErrorData(error).message };
    }
    budget.mend([replicas.indexOf(replica)]);
    this.#thawed(replica);
    // One that ended meanwhile was frozen all the same.
    if (!this.#closed && replica.alive) {
      this.#tell(fault, replica.slot, state, monotonicMs(), more);
    }
  }

  #thawed(replica: ReplicaHandle): void {
    replica.frozen--;
    replica.thawedMs = monotonicMs();
  }

  /** What main has to know of a fault in force. */
  #installed(fault: FaultPlan, action: MemberAction, replica: ReplicaHandle): void {
    const reason = ENDINGS[action.kind];
    if (reason !== undefined) this.#ends(fault, action, replica, reason);
    switch (action.kind) {
      case 'freeze':
        replica.frozen++;
        return;
      case 'slow':
      case 'clockRate':
        return this.#hold(fault, action, replica);
      case 'failPropose':
        return this.#healLater(fault, replica.slot, durationMs(action));
      default:
    }
  }

  /** Whose next write fails still lives until then. */
  #ends(fault: FaultPlan, { kind }: MemberAction, replica: ReplicaHandle, reason: string): void {
    const ending = { by: fault.id, reason };
    if (kind === 'failWrites') replica.doom ??= ending;
    else replica.ending ??= ending;
    // It neither lives nor leads from here on, although its thread takes a moment to end.
    if (kind === 'kill' || kind === 'wipe')
      Object.assign(replica, { alive: false, serving: false });
  }

  /** What a host does meanwhile explains that it is late. */
  #hold(
    fault: FaultPlan,
    action: Extract<MemberAction, { kind: 'slow' | 'clockRate' }>,
    replica: ReplicaHandle,
  ): void {
    const { replicas, conditions } = this.#options;
    const position = replicas.indexOf(replica);
    replica.slowed++;
    this.#later(action.forMs, () => {
      replica.slowed--;
      replica.thawedMs = monotonicMs();
      if (action.kind === 'slow') conditions.slow(position, -action.byMs);
      else conditions.hurry(position, -perMilleOf(action));
      this.#tell(fault, replica.slot, 'healed', monotonicMs());
    });
  }

  /** What ends by itself. */
  #healLater(fault: FaultPlan, slot: Slot | null, afterMs: number): void {
    if (afterMs === 0) return;
    this.#later(afterMs, () => {
      this.#tell(fault, slot, 'healed', monotonicMs());
    });
  }

  #memberOf(slot: Slot): Member {
    return this.#options.replicas.find((replica) => replica.slot === slot)!.member;
  }

  // Links.

  #touched(action: LinkAction, id: string): TouchedLinks | null {
    const { replicas } = this.#options;
    const positionOf = (replica: ReplicaHandle | null): number | null =>
      replica === null ? null : replicas.indexOf(replica);
    return touchedLinks(action, {
      slots: replicas.map(({ slot }) => slot),
      leader: positionOf(this.#resolve({ kind: 'leader' }, id)),
      positionOf: (target) => positionOf(this.#resolve(target, id)),
    });
  }

  #trouble(fault: FaultPlan, action: LinkAction, touched: TouchedLinks): void {
    const { plan, budget, conditions } = this.#options;
    const links = touched.parted;
    if (!plan.beyondQuorum && !budget.break(touched.apart)) {
      this.#tell(fault, null, 'skipped', monotonicMs(), { reason: OVER_BUDGET, links });
      return;
    }
    conditions.change(touched.links, action, 1);
    this.#tell(fault, null, 'installed', monotonicMs(), { links });
    this.#healLinks(fault, action, touched);
  }

  #healLinks(fault: FaultPlan, action: LinkAction, touched: TouchedLinks): void {
    const { plan, budget, conditions } = this.#options;
    this.#later(action.forMs, () => {
      conditions.change(touched.links, action, -1);
      if (!plan.beyondQuorum) budget.mend(touched.apart);
      this.#tell(fault, null, 'healed', monotonicMs(), { links: touched.parted });
    });
  }

  // Origin.

  async #strikeOrigin(fault: FaultPlan, action: OriginAction, at: number): Promise<boolean> {
    const { origin, budget } = this.#options;
    const struck = await origin.call('strike', [action], { deadlineMs: CALL_DEADLINE_MS });
    if (!struck) return false;
    budget.claim(at);
    this.#originStruck(fault, monotonicMs());
    return true;
  }

  #originStruck(fault: FaultPlan, atMs: number): void {
    this.#tell(fault, null, 'installed', atMs);
    this.#healLater(fault, null, durationMs(fault.action));
  }

  #later(afterMs: number, happen: () => void): void {
    const timer = setTimeout(() => {
      this.#healing.delete(timer);
      happen();
    }, afterMs);
    this.#healing.add(timer);
  }

  #tell(
    fault: FaultPlan,
    slot: Slot | null,
    state: FaultState,
    atMs: number,
    more: FaultMore = {},
  ): void {
    this.#options.onEvent({ kind: 'fault', id: fault.id, slot, state, atMs, ...more });
  }
}

function moreOf(report: ReplicaFaultReport): FaultMore {
  if (report.state === 'skipped') return { reason: report.reason };
  return report.state === 'installed' && report.touched !== null
    ? { links: report.touched.parted }
    : {};
}
