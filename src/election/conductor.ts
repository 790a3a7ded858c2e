/**
 * The main thread's election helper: views in, orders out. It watches every member and, when there
 * is no leader, asks all, takes the best log of a majority whose members hear each other, and
 * orders that one to campaign. It never decides: votes do, so a wrong order costs time, never
 * safety.
 */
import type { Member } from '../base/member.js';
import type { Role } from '../raft/types.js';

/** What a member says of itself. */
export interface MemberView {
  readonly member: Member;
  readonly role: Role;
  readonly term: number;
  readonly leader: Member | null;
  readonly lastIndex: number;
  readonly lastTerm: number;
  /** Members heard of late, itself included. */
  readonly hears: readonly Member[];
}

export type ConductorOrder =
  /** Make yourself heard by every peer, then report again. */
  | { readonly type: 'probe'; readonly to: Member }
  | {
      readonly type: 'campaign';
      readonly to: Member;
      /** The term that was observed: in another one the order is void. */
      readonly term: number;
      readonly deadLeader: Member | null;
    };

export interface ConductorOptions {
  readonly members: readonly Member[];
  /** A view older than this says nothing any more: its member may be frozen. */
  readonly viewMaxAgeMs: number;
  /** How long answers to a probe are waited for: of all members, and of a linked majority. */
  readonly probeMs: number;
  readonly probeMostMs: number;
  /** How long an ordered campaign may take before the next best is asked. */
  readonly orderMs: number;
  /** After every candidate failed: how long the members' own timers have the field. */
  readonly restMs: number;
}

type Phase =
  | { readonly name: 'led' }
  | { readonly name: 'probing'; readonly sinceMs: number }
  | { readonly name: 'ordered'; readonly sinceMs: number }
  | { readonly name: 'resting'; readonly sinceMs: number };

interface TimedView {
  readonly view: MemberView;
  readonly atMs: number;
}

export class Conductor {
  readonly #options: ConductorOptions;
  readonly #views = new Map<Member, TimedView>();
  readonly #gone = new Set<Member>();
  readonly #tried = new Set<Member>();
  #phase: Phase = { name: 'led' };
  #lastLeader: Member | null = null;

  constructor(options: ConductorOptions) {
    this.#options = options;
  }

  /** A member reported. Reports of members that exited are ignored. */
  view(view: MemberView, nowMs: number): void {
    if (!this.#gone.has(view.member)) this.#views.set(view.member, { view, atMs: nowMs });
  }

  /** A member's worker ended: it is no candidate any more, and a leader no longer. */
  exited(member: Member): void {
    this.#gone.add(member);
    this.#views.delete(member);
  }

  /** It runs again, from what its journal held. */
  returned(member: Member): void {
    this.#gone.delete(member);
  }

  /** The leader as the views show it, or null. */
  leader(nowMs: number): Member | null {
    let best: MemberView | null = null;
    for (const member of this.#options.members) {
      const view = this.#freshOf(member, nowMs);
      if (view?.role === 'leader' && (best === null || view.term > best.term)) best = view;
    }
    return best === null || this.#disowned(best, nowMs) ? null : best.member;
  }

  /** What to order now; call it every few milliseconds. */
  tick(nowMs: number): readonly ConductorOrder[] {
    const leader = this.leader(nowMs);
    if (leader !== null) {
      this.#lastLeader = leader;
      this.#tried.clear();
      this.#phase = { name: 'led' };
      return [];
    }
    switch (this.#phase.name) {
      case 'led':
        return this.#probe(nowMs);
      case 'probing':
        return this.#order(nowMs, nowMs - this.#phase.sinceMs);
      case 'ordered':
        if (nowMs - this.#phase.sinceMs < this.#options.orderMs) return [];
        return this.#probe(nowMs);
      case 'resting':
        if (nowMs - this.#phase.sinceMs < this.#options.restMs) return [];
        this.#tried.clear();
        return this.#probe(nowMs);
    }
  }

  #fresh(nowMs: number): MemberView[] {
    const fresh: MemberView[] = [];
    for (const member of this.#options.members) {
      const view = this.#freshOf(member, nowMs);
      if (view !== null) fresh.push(view);
    }
    return fresh;
  }

  #freshOf(member: Member, nowMs: number): MemberView | null {
    const timed = this.#views.get(member);
    if (timed === undefined || nowMs - timed.atMs > this.#options.viewMaxAgeMs) return null;
    return timed.view;
  }

  /** A claim to lead counts for nothing once a majority knows a higher term or follows another. */
  #disowned(claim: MemberView, nowMs: number): boolean {
    let against = 0;
    for (const member of this.#options.members) {
      const view = this.#freshOf(member, nowMs);
      if (view !== null && disowns(view, claim)) against++;
    }
    return against >= this.#majority();
  }

  #majority(): number {
    return Math.floor(this.#options.members.length / 2) + 1;
  }

  #probe(nowMs: number): ConductorOrder[] {
    this.#phase = { name: 'probing', sinceMs: nowMs };
    return this.#options.members
      .filter((member) => !this.#gone.has(member))
      .map((to) => ({ type: 'probe', to }));
  }

  /** Waits for the answers of all for a while, then for those of a linked majority. */
  #order(nowMs: number, sinceMs: number): ConductorOrder[] {
    const { probeMs, probeMostMs } = this.#options;
    if (sinceMs < probeMs) return [];
    const candidates = this.#electable(this.#fresh(nowMs));
    const next = candidates.find((view) => !this.#tried.has(view.member));
    if (next === undefined && sinceMs < probeMostMs) return [];
    if (next === undefined) {
      this.#phase = { name: 'resting', sinceMs: nowMs };
      return [];
    }
    this.#tried.add(next.member);
    this.#phase = { name: 'ordered', sinceMs: nowMs };
    const deadLeader = next.leader ?? this.#lastLeader;
    return [{ type: 'campaign', to: next.member, term: next.term, deadLeader }];
  }

  /** Members that hear a majority which hears them, best log first; ties by order of members. */
  #electable(views: readonly MemberView[]): MemberView[] {
    const linked = views.filter((view) => {
      const mutual = views.filter(
        (other) =>
          other.member === view.member ||
          (view.hears.includes(other.member) && other.hears.includes(view.member)),
      );
      return mutual.length >= this.#majority();
    });
    return linked.sort((a, b) => b.lastTerm - a.lastTerm || b.lastIndex - a.lastIndex);
  }
}

function disowns({ term, leader, hears }: MemberView, claim: MemberView): boolean {
  if (term !== claim.term) return term > claim.term;
  return leader === null ? !hears.includes(claim.member) : leader !== claim.member;
}
