/**
 * What a drawn run comes to: whether its core has reached what it owes, how it stands if it has
 * not, and whether anything excuses that.
 */
import { sameIdentity } from '../mirror/answer.js';
import type { ClusterEvent } from '../scenario/driver.js';
import type { SeedFailure } from '../verdict/sweep.js';
import { excuseOf, type Excuse, type Standing } from './excuse.js';
import { AppliedLag } from './invariants/applied-lag.js';
import type { SimNode } from './node.js';
import type { SwarmFaults } from './swarm-faults.js';
import type { SwarmPlan } from './swarm-plan.js';
import type { SimWorld } from './world.js';

export class SwarmOutcome {
  readonly #plan: SwarmPlan;
  readonly #world: SimWorld;
  readonly #faults: SwarmFaults;
  /** The highest entry that any member ever knew as committed. */
  #committed: { readonly index: number; readonly term: number } | null = null;

  constructor(plan: SwarmPlan, world: SimWorld, faults: SwarmFaults) {
    this.#plan = plan;
    this.#world = world;
    this.#faults = faults;
  }

  event(event: ClusterEvent): void {
    if (event.kind !== 'replica' || event.event.kind !== 'commit') return;
    const { index } = event.event;
    if (index <= (this.#committed?.index ?? 0)) return;
    const term = this.#world.node(event.slot).disk.written.termAt(index);
    if (term !== undefined) this.#committed = { index, term };
  }

  /**
   * The sequence that the core owes: the origin's last. Of an origin that was made anew while the
   * mirror holds something of the one before it nothing more is owed than to say so.
   */
  get owedSeq(): number {
    const { origin } = this.#world;
    if (this.#diverges()) return this.#leaderSeq();
    return origin.service.stream.last;
  }

  isDone(): boolean {
    const core = this.#core();
    const diverges = this.#diverges();
    const { owedSeq } = this;
    if (core.length === 0) return false;
    if (!core.every((node) => node.replica!.store.lastSeq >= owedSeq)) return false;
    return !diverges || this.#world.leader()?.replica!.status().mirror?.condition === 'diverged';
  }

  /** Null: the core owed the progress that it did not make. */
  excuse(): Excuse | null {
    const { nodes } = this.#world;
    const core = this.#plan.core.map((at) => nodes[at]!);
    const members: Standing[] = nodes.map((node) => {
      const linked = core.includes(node) ? this.#plan.core : [];
      const reachable = core.includes(node) && node.isAlive;
      return { reachable, wiped: this.#faults.wiped.has(node), linked, log: node.disk };
    });
    const { preVote = true, checkQuorum = true } = this.#plan.tuning ?? {};
    return excuseOf({ members, committed: this.#committed, preVote, checkQuorum });
  }

  /** A leader that has taken in everything and still tells of a lag; null: nobody does. */
  lagLeft(): SeedFailure | null {
    const leader = this.#world.leader();
    if (leader === null || this.#diverges()) return null;
    const { log, applied, store, openingPhase, mirrorStanding } = leader.replica!;
    const { cursor, lag } = mirrorStanding;
    const hasAll = applied === log.lastIndex && cursor.seq === store.lastSeq;
    const isAtEnd = openingPhase === 'receiving' && store.lastSeq >= this.owedSeq;
    if (!hasAll || !isAtEnd || lag === 0) return null;
    const text = `${leader.slot} has everything up to ${store.lastSeq} and a lag of ${lag}`;
    return { verdict: 'violated', property: AppliedLag.property, text };
  }

  stalled(limitMs: number): SeedFailure {
    const stands = this.#plan.core.map((at) => {
      const { slot, replica } = this.#world.nodes[at]!;
      if (replica === null) return `${slot} down`;
      return `${slot} ${replica.log.role} at ${replica.store.lastSeq}`;
    });
    const leader = this.#world.leader();
    const status = leader?.replica!.status().mirror ?? null;
    const mirror =
      status === null ? '' : `, mirror ${status.condition}, attempts ${status.attempts}`;
    const error = status?.error?.message;
    const within = `${Math.round(limitMs)} ms after healing`;
    const leads = `leads${mirror}, last error ${error ?? 'none'}`;
    const led = leader === null ? 'no leader' : `${leader.slot} ${leads}`;
    const owed = this.#diverges() ? 'diverged' : `at ${this.owedSeq}`;
    const text = `not ${owed} ${within}: ${stands.join(', ')}; ${led}`;
    return { verdict: 'stalled', property: 'catch-up', text };
  }

  #core(): SimNode[] {
    return this.#plan.core
      .map((at) => this.#world.nodes[at]!)
      .filter((node) => !this.#faults.wiped.has(node));
  }

  #leaderSeq(): number {
    return this.#world.leader()?.replica!.store.lastSeq ?? Number.POSITIVE_INFINITY;
  }

  /** Whether the leader copies another life of the origin than the one that is served now. */
  #diverges(): boolean {
    const copied = this.#world.leader()?.replica!.store.identity ?? null;
    if (copied === null) return false;
    return !sameIdentity(copied, this.#world.origin.service.stream.content.identity);
  }
}
