/**
 * The faults of a replica's thread: those armed for a state, fired in the middle of the turn that
 * reaches it, and those that the main thread asks for. What ends the thread tells everything first.
 */
import { invariant, LockstepError } from '../base/errors.js';
import type { Member, Slot } from '../base/member.js';
import type { ReplicaHost } from '../replica/host.js';
import type { ReplicaView } from '../replica/types.js';
import { Arms, type Due } from '../scenario/arms.js';
import { breaksMember, FaultBudget, OVER_BUDGET } from '../scenario/budget.js';
import { touchedLinks } from '../scenario/links.js';
import { isLinkAction, isMemberAction, isOfLeaders, transferTarget } from '../scenario/target.js';
import type { Dose, LinkAction, MemberAction } from '../scenario/types.js';
import { perMilleOf, type SharedConditions } from './conditions.js';
import type { ReplicaStart } from './protocol.js';
import type { Reporter } from './reporter.js';

export interface HostFaultsOptions {
  readonly start: ReplicaStart;
  readonly host: () => ReplicaHost;
  readonly reporter: Reporter;
  readonly conditions: SharedConditions;
  /** Tells the origin that the state of a fault of its own was reached. */
  readonly strikeOrigin: (at: number) => void;
}

/** Each array of this many numbers is one step towards the end of a thread's memory. */
const MEMORY_STEP = 16_384;

export class HostFaults {
  readonly arms: Arms;
  readonly #options: HostFaultsOptions;
  readonly #budget: FaultBudget;
  readonly #position: number;
  #failsWrites = false;
  readonly #healing = new Set<NodeJS.Timeout>();

  constructor(options: HostFaultsOptions) {
    this.#options = options;
    const { start } = options;
    this.#budget = new FaultBudget(new Int32Array(start.budget), start.tolerated);
    this.arms = new Arms(start.arms, start.slot, this.#budget);
    this.#position = start.slots.indexOf(start.slot);
  }

  /** Whether the next write is to be refused. */
  get failsWrites(): boolean {
    return this.#failsWrites;
  }

  /** Fires what the state of this moment sets off. */
  fireDue(view: ReplicaView): void {
    for (let due = this.arms.due(view); due !== undefined; due = this.arms.due(view)) {
      this.#fire(due);
    }
  }

  /** A turn is over: a slow host takes its time, one whose write failed is over. */
  turnEnded(): void {
    const { conditions, host } = this.#options;
    if (this.#failsWrites && host().replica.failed !== null) this.#exit();
    conditions.slowDown(this.#position);
  }

  /** What main asks for. Errors: notLeader, when it can only strike who leads. */
  inject(action: MemberAction, to: Member | 'best' | null): null {
    if (isOfLeaders(action.kind) && !this.#leads) {
      throw new LockstepError('notLeader', 'its target did not lead any more');
    }
    this.enact(action, to);
    return null;
  }

  enact(action: MemberAction, to: Member | 'best' | null): void {
    const host = this.#options.host();
    switch (action.kind) {
      case 'stepDown':
        host.input({ type: 'stepDown', to });
        return;
      case 'flap': {
        const { term } = host.replica.log;
        host.input({ type: 'stepDown', to: null });
        host.input({ type: 'campaign', term, deadLeader: null });
        return;
      }
      case 'overrun':
        host.input({ type: 'overrun', entries: action.entries });
        return;
      case 'failPropose':
        this.#failPropose(action.dose, action.code);
        return;
      case 'failWrites':
        this.#failsWrites = true;
        return;
      case 'freeze':
        this.#options.reporter.flush(host);
        this.#options.conditions.block(action.forMs);
        return;
      case 'slow':
        this.#options.conditions.slow(this.#position, action.byMs);
        return;
      case 'clockRate':
        this.#options.conditions.hurry(this.#position, perMilleOf(action));
        return;
      case 'kill':
      case 'wipe':
        return this.#exit();
      case 'outOfMemory':
        this.#options.reporter.flush(host);
        return exhaustMemory();
      default:
        invariant(false, `${action.kind} is skipped on threads`);
    }
  }

  close(): void {
    for (const timer of this.#healing) clearTimeout(timer);
  }

  get #leads(): boolean {
    return this.#options.host().replica.log.role === 'leader';
  }

  #fire({ at, fault, here }: Due): void {
    const { action } = fault;
    if (!here) {
      this.#options.reporter.fault(at, 'due');
      return;
    }
    if (isLinkAction(action)) this.#trouble(at, action);
    else if (isMemberAction(action)) this.#strikeSelf(at, action);
    else this.#options.strikeOrigin(at);
  }

  #strikeSelf(at: number, action: MemberAction): void {
    const { reporter } = this.#options;
    if (isOfLeaders(action.kind) && !this.#leads) {
      reporter.fault(at, 'due');
      return;
    }
    if (breaksMember(action) && !this.#budget.break([this.#position])) {
      reporter.skipped(at, OVER_BUDGET);
      return;
    }
    reporter.installed(at);
    this.enact(
      action,
      transferTarget(action, (slot) => this.#memberOf(slot)),
    );
    if (action.kind !== 'freeze') return;
    this.#budget.mend([this.#position]);
    reporter.fault(at, 'healed');
  }

  /** This member leads: that is all that needs to be known. Main takes it back. */
  #trouble(at: number, action: LinkAction): void {
    const { start, reporter, conditions } = this.#options;
    const touched = touchedLinks(action, {
      slots: start.slots,
      leader: this.#position,
      positionOf: (target) =>
        target.kind === 'slot' ? start.slots.indexOf(target.slot) : this.#position,
    })!;
    if (!start.beyondQuorum && !this.#budget.break(touched.apart)) {
      reporter.skipped(at, OVER_BUDGET);
      return;
    }
    conditions.change(touched.links, action, 1);
    reporter.installed(at, touched);
  }

  #failPropose(dose: Dose, code: 'overrun' | 'writeFailed'): void {
    const host = this.#options.host();
    if ('times' in dose) {
      host.input({ type: 'failPropose', count: dose.times, code });
      return;
    }
    const { perMillion, forMs } = dose;
    host.input({ type: 'failByChance', perMillion, code });
    const timer = setTimeout(() => {
      this.#healing.delete(timer);
      host.input({ type: 'failByChance', perMillion: -perMillion, code });
    }, forMs);
    this.#healing.add(timer);
  }

  #exit(): never {
    this.#options.reporter.flush(this.#options.host());
    process.exit(0);
  }

  #memberOf(slot: Slot): Member {
    const { members, slots } = this.#options.start;
    return members[slots.indexOf(slot)]!;
  }
}

/** Fills the heap until the engine ends this thread; only a thread with a limit comes here. */
function exhaustMemory(): never {
  const held: number[][] = [];
  for (;;) held.push(new Array<number>(MEMORY_STEP).fill(held.length));
}
