/**
 * Faults on servers: the target is resolved when the moment comes, the budget checked, and then a
 * process gets a signal, a route is held or an API is asked. What lasts for a while is taken back
 * by its own time, or when the run is over, whichever comes first.
 */
import { rmSync } from 'node:fs';
import { toErrorData } from '../base/errors.js';
import type { Slot } from '../base/member.js';
import { createPrng, type Prng } from '../base/prng.js';
import {
  breaksMember,
  endsMember,
  OVER_BUDGET,
  restartMsOf,
  type FaultBudget,
} from '../scenario/budget.js';
import type { ClusterEvent, FaultMore, FaultState } from '../scenario/driver.js';
import { touchedLinks, type TouchedLinks } from '../scenario/links.js';
import { resolveStruck, resolveTarget, type LivingMembers } from '../scenario/target.js';
import type {
  FaultPlan,
  LinkAction,
  MemberAction,
  OriginAction,
  Plan,
  Target,
} from '../scenario/types.js';
import type { JetStreamAdmin } from './admin.js';
import type { DrivenOrigin } from './driven-origin.js';
import type { Observer } from './observer.js';
import type { Site } from './site.js';

export interface ServerInjectorOptions {
  readonly plan: Plan;
  readonly slots: readonly Slot[];
  readonly site: Site;
  readonly admin: JetStreamAdmin;
  readonly origin: DrivenOrigin;
  readonly observer: Observer;
  readonly budget: FaultBudget;
  readonly now: () => number;
  readonly onEvent: (event: ClusterEvent) => void;
}

const REFUSED_FOR_MS = 5_000;

interface MemberHere {
  readonly slot: Slot;
}

export class ServerInjector {
  readonly #options: ServerInjectorOptions;
  readonly #faults: FaultPlan[];
  readonly #draws: Prng;
  /** Slots whose server was killed. */
  readonly ended = new Set<Slot>();
  /** What is to be taken back, and when; by server how many faults hold it frozen. */
  readonly #healing = new Map<() => void, NodeJS.Timeout>();
  readonly #frozen = new Map<string, number>();
  /** Servers that are to be started again; a run that is over does not wait for them. */
  readonly #returning = new Set<NodeJS.Timeout>();
  /** When a fault was refused first, by position. */
  readonly #refusedSince = new Map<number, number>();
  #isReleased = false;

  constructor(options: ServerInjectorOptions) {
    this.#options = options;
    this.#faults = [...options.plan.faults];
    this.#draws = createPrng(options.plan.seed).fork('targets');
  }

  /** Returns its position. */
  add(fault: FaultPlan): number {
    return this.#faults.push(fault) - 1;
  }

  /** Under load a follower is not current for moments: only one that stays so is a reason. */
  #refused(at: number, reason: string): boolean {
    const sinceMs = this.#refusedSince.get(at) ?? this.#options.now();
    this.#refusedSince.set(at, sinceMs);
    if (this.#options.now() < sinceMs + REFUSED_FOR_MS) return false;
    this.#tell(this.#faults[at]!, null, 'skipped', { reason });
    return true;
  }

  /** False: it has no object at this moment. */
  async inject(at: number): Promise<boolean> {
    const fault = this.#faults[at]!;
    const { action } = fault;
    const refusal = await this.#options.site.refuses();
    if (refusal !== null) return this.#refused(at, refusal);
    switch (action.kind) {
      case 'partition':
        return this.#part(fault, action);
      case 'stepDown':
      case 'kill':
      case 'wipe':
      case 'reload':
      case 'freeze': {
        const member = resolveStruck(action, fault.target, this.#members(fault.id));
        if (member === null) return false;
        await this.#strike(fault, action, member.slot);
        return true;
      }
      case 'metaStepDown':
        this.#tell(fault, null, 'installed');
        await this.#ask(fault, null, () => this.#options.site.stepDownMeta());
        return true;
      case 'dropConsumer':
      case 'stallOrigin':
      case 'originDelete':
      case 'originPurge':
      case 'originExpire':
      case 'originRecreate':
        return this.#strikeOrigin(fault, action);
      default:
        this.#tell(fault, null, 'skipped', { reason: 'servers cannot be made to suffer it' });
        return true;
    }
  }

  /** Takes back what lasts: the run is over. */
  release(): void {
    this.#isReleased = true;
    for (const [heal, timer] of this.#healing) {
      clearTimeout(timer);
      heal();
    }
    this.#healing.clear();
    for (const timer of this.#returning) clearTimeout(timer);
  }

  // Members.

  async #strike(fault: FaultPlan, action: MemberAction, slot: Slot): Promise<void> {
    const { slots, budget } = this.#options;
    if (breaksMember(action) && !budget.break([slots.indexOf(slot)])) {
      this.#tell(fault, slot, 'skipped', { reason: OVER_BUDGET });
      return;
    }
    const to = action.kind === 'stepDown' && action.to !== 'best' ? action.to : null;
    if (to === slot) {
      this.#tell(fault, slot, 'skipped', { reason: `${slot} leads already` });
      return;
    }
    this.#tell(fault, slot, 'installed');
    if (endsMember(action.kind)) return this.#end(fault, slot);
    if (action.kind === 'freeze') {
      this.#freezeMember(fault, slot, action.forMs);
      return;
    }
    const { site, admin } = this.#options;
    if (action.kind === 'reload') {
      const server = site.servers!.server(site.serverOf(slot));
      return this.#ask(fault, slot, () => server.reload());
    }
    const preferred = to === null ? null : site.serverOf(to);
    await this.#ask(fault, slot, () => admin.stepDown(site.names.mirror, preferred));
  }

  /** Killed; and its disk lost, if that is the fault. */
  async #end(fault: FaultPlan, slot: Slot): Promise<void> {
    const { site, observer, onEvent, now } = this.#options;
    const server = site.servers!.server(site.serverOf(slot));
    this.ended.add(slot);
    observer.gone(slot);
    await server.kill();
    const isWiped = fault.action.kind === 'wipe';
    if (isWiped) rmSync(server.storeDir, { recursive: true, force: true });
    const reason = isWiped ? 'wiped' : 'killed';
    onEvent({ kind: 'exit', slot, atMs: now(), fault: true, by: fault.id, reason });
    const restartMs = restartMsOf(fault.action);
    // It may have ended while the run did: nobody would stop what comes back.
    if (restartMs === null || this.#isReleased) return;
    const timer = setTimeout(() => {
      this.#returning.delete(timer);
      this.#restart(fault, slot).catch((error: unknown) => {
        // A server of ours that does not come back is nothing that the mirror did.
        const reason = `restart after ${fault.id}: ${toErrorData(error).message}`;
        if (!this.#isReleased) onEvent({ kind: 'harness', atMs: now(), reason });
      });
    }, restartMs);
    this.#returning.add(timer);
  }

  /** It counts as broken until it answers again. */
  async #restart(fault: FaultPlan, slot: Slot): Promise<void> {
    const { site, slots, budget } = this.#options;
    await site.servers!.server(site.serverOf(slot)).restart();
    this.ended.delete(slot);
    budget.mend([slots.indexOf(slot)]);
    this.#tell(fault, slot, 'healed');
  }

  #freezeMember(fault: FaultPlan, slot: Slot, forMs: number): void {
    const { site, slots, budget } = this.#options;
    const thaw = this.#freeze(site.serverOf(slot));
    this.#later(forMs, () => {
      thaw();
      budget.mend([slots.indexOf(slot)]);
      if (!this.ended.has(slot)) this.#tell(fault, slot, 'healed');
    });
  }

  /** Returns what takes it back. */
  #freeze(name: string): () => void {
    const server = this.#options.site.servers!.server(name);
    this.#frozen.set(name, this.#frozenBy(name) + 1);
    server.freeze();
    return () => {
      this.#frozen.set(name, this.#frozenBy(name) - 1);
      if (this.#frozenBy(name) === 0) server.thaw();
    };
  }

  #frozenBy(name: string): number {
    return this.#frozen.get(name) ?? 0;
  }

  // Links.

  #part(fault: FaultPlan, action: LinkAction): boolean {
    const { plan, budget } = this.#options;
    const touched = this.#touched(action, fault.id);
    if (touched === null) return false;
    const links = touched.parted;
    if (!plan.beyondQuorum && !budget.break(touched.apart)) {
      this.#tell(fault, null, 'skipped', { reason: OVER_BUDGET, links });
      return true;
    }
    const joins = this.#cut(touched);
    this.#tell(fault, null, 'installed', { links });
    this.#later(action.forMs, () => {
      for (const join of joins) join();
      if (!plan.beyondQuorum) budget.mend(touched.apart);
      this.#tell(fault, null, 'healed', { links });
    });
    return true;
  }

  #touched(action: LinkAction, id: string): TouchedLinks | null {
    const { slots } = this.#options;
    const positionOf = (target: Target): number | null => {
      const member = resolveTarget(target, this.#members(id));
      return member === null ? null : slots.indexOf(member.slot);
    };
    return touchedLinks(action, { slots, leader: positionOf({ kind: 'leader' }), positionOf });
  }

  /** Both ways between two servers is one cut. Returns what takes each of them back. */
  #cut({ links }: TouchedLinks): (() => void)[] {
    const { site } = this.#options;
    const servers = site.servers!;
    return links.flatMap(({ from, to }) => {
      const isBothWays = links.some((link) => link.from === to && link.to === from);
      if (isBothWays && from > to) return [];
      return [servers.cut(this.#nameAt(from), this.#nameAt(to), { oneWay: !isBothWays })];
    });
  }

  /** The origin's position is behind those of the slots. */
  #nameAt(position: number): string {
    const { site, slots } = this.#options;
    const slot = slots[position];
    return slot === undefined ? site.originServer! : site.serverOf(slot);
  }

  // Origin.

  async #strikeOrigin(fault: FaultPlan, action: OriginAction): Promise<boolean> {
    const { origin } = this.#options;
    switch (action.kind) {
      case 'stallOrigin': {
        const thaw = this.#freeze(this.#options.site.originServer!);
        this.#tell(fault, null, 'installed');
        this.#later(action.forMs, () => {
          thaw();
          this.#tell(fault, null, 'healed');
        });
        return true;
      }
      case 'dropConsumer':
        this.#tell(fault, null, 'installed');
        await this.#ask(fault, null, () => this.#dropConsumer());
        return true;
      case 'originDelete':
      case 'originPurge':
      case 'originExpire':
      case 'originRecreate': {
        let isStruck = true;
        await this.#ask(fault, null, async () => {
          isStruck = await origin.strike(action);
          if (isStruck) this.#tell(fault, null, 'installed');
        });
        return isStruck;
      }
      default:
        return false;
    }
  }

  /** The consumer of a mirror is in its leader's memory, and in no list that could be asked. */
  async #dropConsumer(): Promise<void> {
    const { site, admin } = this.#options;
    const { servers, originServer, names } = site;
    if (servers === null || originServer === null) return admin.stepDown(names.origin, null);
    await servers.server(originServer).restart();
  }

  // Both.

  /** Whether it happened is not known if nobody answers. Errors: harness, for the run to end. */
  async #ask(fault: FaultPlan, slot: Slot | null, ask: () => Promise<void>): Promise<void> {
    try {
      await ask();
    } catch (error) {
      const { code, message } = toErrorData(error);
      this.#tell(fault, slot, 'indeterminate', { reason: message });
      if (code === 'harness') throw error;
    }
  }

  #members(id: string): LivingMembers<MemberHere> {
    const { slots, observer, site } = this.#options;
    const living = slots.filter((slot) => !this.ended.has(slot)).map((slot) => ({ slot }));
    const leader = observer.leader();
    return {
      living,
      leader: living.find(({ slot }) => slot === leader) ?? null,
      isFrozen: ({ slot }) => this.#frozenBy(site.serverOf(slot)) > 0,
      lastOf: ({ slot }) => observer.lastOf(slot),
      draw: (bound) => this.#draws.below(id, bound),
    };
  }

  #later(afterMs: number, heal: () => void): void {
    const timer = setTimeout(() => {
      this.#healing.delete(heal);
      heal();
    }, afterMs);
    this.#healing.set(heal, timer);
  }

  #tell(fault: FaultPlan, slot: Slot | null, state: FaultState, more: FaultMore = {}): void {
    const { onEvent, now } = this.#options;
    onEvent({ kind: 'fault', id: fault.id, slot, state, atMs: now(), ...more });
  }
}
