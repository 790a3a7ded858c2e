/**
 * A simulated cluster under a scenario. Pausing is what lets virtual time pass: everything that
 * falls into the pause happens before the call returns, and its promise is resolved already.
 */
import { toErrorData } from '../base/errors.js';
import type { Hasher } from '../base/hasher.js';
import type { Slot } from '../base/member.js';
import type { ClusterEvent, RunningCluster } from '../scenario/driver.js';
import { madeOrigin } from '../scenario/origins.js';
import type { FaultPlan, Plan } from '../scenario/types.js';
import { Store } from '../stream/store.js';
import { copyReport } from '../verdict/copy.js';
import type { CopyReader, LedgerReader } from '../verdict/types.js';
import { CALM, type Conditions } from './conditions.js';
import { SimInjector } from './injector.js';
import type { Taps } from './taps.js';
import { SimWorld } from './world.js';

export interface SimOptions {
  /** Not given: calm. */
  readonly conditions?: Conditions;
  readonly taps?: Taps | undefined;
  /** Told of the cell that each fault meets as it falls. */
  readonly onFault?: (cell: string) => void;
}

export class SimCluster implements RunningCluster {
  readonly #onEvent: (event: ClusterEvent) => void;
  readonly #world: SimWorld;
  readonly #injector: SimInjector;
  /** What a member holds that was not started yet. */
  readonly #nothing: Store;
  /** No time passes any more: the run is over, or lockstep itself failed. */
  #stopped = false;

  constructor(
    plan: Plan,
    options: SimOptions & {
      readonly hasher: Hasher;
      readonly onEvent: (event: ClusterEvent) => void;
    },
  ) {
    const { onEvent, onFault, hasher } = options;
    this.#nothing = new Store({ hasher });
    this.#onEvent = onEvent;
    this.#world = new SimWorld({
      plan: { ...plan, origin: madeOrigin('sim', plan) },
      conditions: options.conditions ?? CALM,
      hasher,
      onEvent,
      taps: options.taps,
      armed: (node, view) => {
        this.#injector.fireDue(node, view);
      },
      reported: (node, event) => {
        this.#injector.reported(node, event);
      },
    });
    this.#injector = new SimInjector({ plan, world: this.#world, onEvent, onFault });
  }

  get origin(): { readonly last: number; readonly messages: number } {
    return this.#world.origin.content;
  }

  get ledger(): LedgerReader {
    return this.#world.origin.ledger;
  }

  copy(slot: Slot): CopyReader {
    const store = this.#world.node(slot).replica?.store ?? this.#nothing;
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

  release(): void {
    // Nothing here has to wait for a member: it is halted as it is.
  }

  halt(): Promise<void> {
    this.#stopped = true;
    return Promise.resolve();
  }

  living(): Slot[] {
    return this.#world.nodes
      .map(({ slot }) => slot)
      .filter((slot) => !this.#injector.ended.has(slot));
  }

  leader(): Slot | null {
    return this.#world.leader()?.slot ?? null;
  }

  disarm(at: number): boolean {
    return this.#injector.disarm(at);
  }

  lastSeen(): Promise<ReadonlyMap<string, number>> {
    return Promise.resolve(this.#injector.lastSeen());
  }

  add(fault: FaultPlan): Promise<void> {
    this.#injector.add(fault);
    return Promise.resolve();
  }

  inject(at: number): Promise<boolean> {
    return Promise.resolve(this.#injector.inject(at));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve();
  }
}
