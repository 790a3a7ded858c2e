/**
 * A cluster without replicas, in virtual time: it does what a script says, and nothing else. Its
 * ledger and its copies are real, so that what is played on it can be judged.
 */
import { loadHasher } from '../../src/base/hasher.js';
import type { Slot } from '../../src/base/member.js';
import { slotsOf } from '../../src/base/member.js';
import { OriginContent } from '../../src/origin/content.js';
import type { ReplicaEvent } from '../../src/replica/types.js';
import type { ClusterEvent, Driver, RunningCluster } from '../../src/scenario/driver.js';
import { madeOrigin } from '../../src/scenario/origins.js';
import { planScenario } from '../../src/scenario/parse.js';
import { play, type PlayOptions, type PlayResult } from '../../src/scenario/play.js';
import type { FaultAction, FaultPlan, Plan } from '../../src/scenario/types.js';
import { RANGE_BYTES, viewOf, writeSkipRange } from '../../src/stream/layout.js';
import { Store } from '../../src/stream/store.js';
import { copyReport } from '../../src/verdict/copy.js';
import { Ledger } from '../../src/verdict/ledger.js';
import type { CopyReader, LedgerReader } from '../../src/verdict/types.js';

export const hasher = await loadHasher();

/** Where the clock of a puppet begins: no time of a run may depend on it. */
const START_MS = 1_000;

/** Runs at so many milliseconds after the origin was opened. */
export type Step = readonly [atMs: number, act: (puppet: Puppet) => void];

export interface Script {
  readonly steps?: readonly Step[];
  /** When there is a leader, in milliseconds after the start; null: never. Default: at once. */
  readonly leaderAtMs?: number | null;
  /** Default: installed on r1. False: no target at this moment. */
  readonly inject?: (puppet: Puppet, at: number) => boolean;
  readonly cannot?: (action: FaultAction) => string | null;
  readonly unseen?: Driver['unseen'];
  readonly lastSeen?: ReadonlyMap<string, number>;
  /** Faults that were claimed when they are disarmed. */
  readonly fired?: readonly number[];
  /** Called when it is started. */
  readonly starts?: (onEvent: (event: ClusterEvent) => void) => void;
  /** What fails, and with what. */
  readonly fails?: Partial<Record<'start' | 'pause' | 'report' | 'close' | 'inject', Error>>;
}

export class Puppet implements RunningCluster {
  readonly plan: Plan;
  /** What was asked of it, with times since the origin was opened, in order. */
  readonly calls: string[] = [];
  readonly content: OriginContent;
  readonly #script: Script;
  readonly #onEvent: (event: ClusterEvent) => void;
  readonly #ledger = new Ledger();
  readonly #faults: FaultPlan[];
  readonly #stores = new Map<Slot, Store>();
  readonly #waiting: Step[];
  #nowMs = START_MS;
  #servedMs: number | null = null;

  constructor(plan: Plan, script: Script, onEvent: (event: ClusterEvent) => void) {
    this.plan = plan;
    this.#faults = [...plan.faults];
    this.#script = script;
    this.#onEvent = onEvent;
    const allocate = (size: number): Uint8Array => new Uint8Array(size);
    this.content = new OriginContent(madeOrigin('sim', plan), {
      seed: plan.seed,
      hasher,
      allocate,
    });
    for (const slot of slotsOf(plan.replicas)) this.#stores.set(slot, new Store({ hasher }));
    this.#waiting = [...(script.steps ?? [])].sort(([one], [other]) => one - other);
  }

  get origin(): { readonly last: number; readonly messages: number } {
    return this.content;
  }

  get ledger(): LedgerReader {
    const { content } = this;
    return {
      report: () => {
        if (this.#script.fails?.report) return Promise.reject(this.#script.fails.report);
        return Promise.resolve({
          origin: content.state(),
          sentinel: content.sentinel,
          tailGap: null,
          ...this.#ledger.ranges(),
          blocks: content.blockDigests(),
        });
      },
      records: (range) => Promise.resolve(content.partDigests(range)),
    };
  }

  copy(slot: Slot): CopyReader {
    const store = this.#stores.get(slot)!;
    return {
      report: () => Promise.resolve(copyReport(store)),
      records: (range) => Promise.resolve(store.partDigests(range)),
    };
  }

  now(): number {
    return this.#nowMs;
  }

  serve(): Promise<void> {
    this.#servedMs = this.#nowMs;
    this.#runUntil(this.#nowMs);
    return Promise.resolve();
  }

  pause(ms: number): Promise<void> {
    if (this.#script.fails?.pause) return Promise.reject(this.#script.fails.pause);
    this.#runUntil(this.#nowMs + ms);
    return Promise.resolve();
  }

  add(fault: FaultPlan): Promise<void> {
    this.#note(`add ${fault.id}`);
    this.#faults.push(fault);
    return Promise.resolve();
  }

  inject(fault: number): Promise<boolean> {
    this.#note(`inject ${fault}`);
    if (this.#script.fails?.inject) return Promise.reject(this.#script.fails.inject);
    if (this.#script.inject !== undefined) {
      return Promise.resolve(this.#script.inject(this, fault));
    }
    this.fault(this.#faults[fault]!.id, 'installed');
    return Promise.resolve(true);
  }

  release(): void {
    // Nobody is held.
  }

  halt(): Promise<void> {
    this.#note('halt');
    return Promise.resolve();
  }

  living(): Slot[] {
    return [...this.#stores.keys()];
  }

  leader(): Slot | null {
    const { leaderAtMs = 0 } = this.#script;
    return leaderAtMs === null || this.#nowMs < START_MS + leaderAtMs ? null : 'r1';
  }

  disarm(fault: number): boolean {
    this.#note(`disarm ${fault}`);
    return this.#script.fired?.includes(fault) !== true;
  }

  lastSeen(): Promise<ReadonlyMap<string, number>> {
    return Promise.resolve(this.#script.lastSeen ?? new Map());
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#note('close');
    const error = this.#script.fails?.close;
    return error === undefined ? Promise.resolve() : Promise.reject(error);
  }

  // What scripts do.

  emit(event: ClusterEvent): void {
    this.#onEvent(event);
  }

  firstDelivery(): void {
    this.emit({ kind: 'firstDelivery', atMs: this.#nowMs });
  }

  replica(slot: Slot, event: ReplicaEvent): void {
    this.emit({ kind: 'replica', slot, atMs: this.#nowMs, event });
  }

  fault(id: string, state: 'installed' | 'healed' | 'skipped' | 'indeterminate', reason?: string) {
    const event = { kind: 'fault', id, slot: 'r1', state, atMs: this.#nowMs } as const;
    this.emit(reason === undefined ? event : { ...event, reason });
  }

  /** The member ends and is not judged. */
  end(slot: Slot): void {
    this.#stores.delete(slot);
    this.emit({ kind: 'exit', slot, atMs: this.#nowMs, fault: true, reason: 'killed' });
  }

  /** These slots hold everything up to a sequence; of `without` they hold a gap instead. */
  hold(last: number, slots: readonly Slot[] = this.living(), without: readonly number[] = []) {
    for (const slot of slots) {
      const store = this.#stores.get(slot)!;
      while (store.lastSeq < last) this.#holdNext(store, without);
      const { messages } = store;
      this.emit({ kind: 'progress', slot, atMs: this.#nowMs, last: store.lastSeq, messages });
    }
  }

  /** One message that the origin has, told to the ledger, or what lies before it. */
  #holdNext(store: Store, without: readonly number[]): void {
    const expected = store.lastSeq;
    const slice = this.content.slice(expected + 1, 1, Infinity)!;
    const { firstSeq } = slice;
    const passed = { first: expected + 1, last: firstSeq - 1 };
    if (firstSeq > expected + 1) this.#ledger.passedOver(passed);
    else this.#ledger.delivered({ first: firstSeq, last: firstSeq });
    if (firstSeq === expected + 1 && !without.includes(firstSeq)) {
      store.apply(slice.bytes, 1);
      return;
    }
    const skip = new Uint8Array(RANGE_BYTES);
    writeSkipRange(viewOf(skip), 0, expected, Math.max(1, firstSeq - 1 - expected));
    store.apply(skip, 1);
  }

  #runUntil(endMs: number): void {
    const since = this.#servedMs;
    while (since !== null && this.#waiting.length > 0 && since + this.#waiting[0]![0] <= endMs) {
      const [atMs, act] = this.#waiting.shift()!;
      this.#nowMs = Math.max(this.#nowMs, since + atMs);
      act(this);
    }
    this.#nowMs = endMs;
  }

  #note(what: string): void {
    const at = this.#servedMs === null ? 'before' : String(this.#nowMs - this.#servedMs);
    this.calls.push(`${at}: ${what}`);
  }
}

/** Sequences 1-10 and 16-26, the sentinel 26 counted. */
export function planOf(fields: Readonly<Record<string, unknown>> = {}): Plan {
  const origin = { synthetic: { messages: 20, size: 8, gaps: [{ after: 10, count: 5 }] } };
  return planScenario({ version: 1, name: 'a run', origin, ...fields }, 'a test', () => {
    throw new Error('no file is needed');
  });
}

export interface Played extends PlayResult {
  readonly puppet: Puppet | null;
}

export async function playOn(
  plan: Plan,
  script: Script,
  options: Partial<PlayOptions> = {},
): Promise<Played> {
  let puppet: Puppet | null = null;
  const driver: Driver = {
    name: 'threads',
    cannot: (action) => script.cannot?.(action) ?? null,
    unseen: script.unseen ?? [],
    start: (started, onEvent) => {
      script.starts?.(onEvent);
      if (script.fails?.start) return Promise.reject(script.fails.start);
      puppet = new Puppet(started, script, onEvent);
      return Promise.resolve(puppet);
    },
  };
  const result = await play(plan, { driver, hasher, replay: 'lockstep run', ...options });
  return { ...result, puppet };
}
